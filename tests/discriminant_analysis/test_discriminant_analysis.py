"""Learning, forgetting, merging and answering: what all Gaussian discriminants can do."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.covariance import OAS
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLinear

from suffice.discriminant_analysis import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import DebtError, InputError, MergeError, OneClassWarning, SufficeWarning

MODELS = {
    "linear svd": LinearDiscriminantAnalysis(),
    "linear lsqr": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    "linear eigen auto": LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    "quadratic": QuadraticDiscriminantAnalysis(),
    "quadratic reg_param": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "quadratic auto": QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    "tied": GaussianDiscriminant(),
    "tied mle": GaussianDiscriminant(estimate="mle"),
    "full": GaussianDiscriminant("full"),
    "full map": GaussianDiscriminant("full", estimate="map"),
    "diagonal": GaussianDiscriminant("diagonal"),
    "tied diagonal": GaussianDiscriminant("tied_diagonal", estimate="map"),
    "spherical": GaussianDiscriminant("spherical"),
    "low rank": GaussianDiscriminant("low_rank", estimate="map", max_iter=1000),
}
NO_GAPS = ("linear eigen auto", "quadratic auto")


def fresh(name):
    from sklearn.base import clone

    return clone(MODELS[name])


def rows(seed=0, n=90, features=4, classes=3, gaps=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, features)) @ rng.normal(size=(features, features))
    X = X + 2 * rng.normal(size=(classes, features))[y]
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def same(one, other, X, tolerance=1e-7):
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=tolerance)
    np.testing.assert_allclose(
        one.score_samples(X), other.score_samples(X), rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(one.means_, other.means_, rtol=tolerance, atol=tolerance)


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize("gaps", [False, True])
def test_partial_fit_equals_fit_in_any_split_and_order(name, gaps):
    if gaps and name in NO_GAPS:
        return
    X, y = rows(1, gaps=gaps)
    whole = fresh(name).fit(X, y)
    rng = np.random.default_rng(0)
    for cuts in ([1, 2, 3, 50], [45], [30, 60, 89]):
        order = rng.permutation(len(y))
        model = fresh(name)
        for part in np.split(order, cuts):
            model.partial_fit(X[part], y[part])
        same(model, whole, X)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
def test_forgetting_equals_never_having_learned(name, gaps):
    if gaps and name in NO_GAPS:
        return
    X, y = rows(2, gaps=gaps)
    gone = np.arange(len(y)) % 3 == 0
    model = fresh(name).fit(X, y).forget(X[gone], y[gone])
    same(model, fresh(name).fit(X[~gone], y[~gone]), X)


def test_forgetting_a_whole_class_leaves_the_others(name):
    X, y = rows(3)
    gone = y == 1
    model = fresh(name).fit(X, y).forget(X[gone], y[gone])
    assert model.classes_.tolist() == [0, 2]
    same(model, fresh(name).fit(X[~gone], y[~gone]), X)


@pytest.mark.slow
def test_merging_models_of_different_classes_equals_learning_all(name):
    X, y = rows(4)
    left = y != 2
    one, other = (
        fresh(name).fit(X[left], y[left]),
        fresh(name).fit(X[~left | (y == 0)], y[~left | (y == 0)]),
    )
    both = np.concatenate([np.flatnonzero(left), np.flatnonzero(~left | (y == 0))])
    whole = fresh(name).fit(X[both], y[both])
    same(one + other, whole, X)
    assert one.classes_.tolist() == [0, 1]
    one.merge(other)
    assert one.new_classes_.tolist() == [2]
    same(one, whole, X)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
def test_a_weight_of_k_is_k_repeats(name, gaps):
    if gaps and name in NO_GAPS:
        return
    X, y = rows(5, gaps=gaps)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighed = fresh(name).fit(X, y, sample_weight=weights)
    same(weighed, fresh(name).fit(X.repeat(weights, axis=0), y.repeat(weights)), X)


def test_data_far_from_zero_give_the_same_answers(name):
    X, y = rows(6)
    X = np.round(X, 4)
    near, far = fresh(name).fit(X, y), fresh(name).fit(X + 1e8, y)
    # 1e8 leaves eight digits behind the point to the rows themselves
    np.testing.assert_allclose(far.predict_proba(X + 1e8), near.predict_proba(X), atol=2e-5)


def test_float32_rows_are_summed_in_float64(name):
    X, y = rows(7)
    single = X.astype(np.float32)
    ours = fresh(name).fit(single, y).predict_proba(single)
    np.testing.assert_allclose(
        ours, fresh(name).fit(single.astype(float), y).predict_proba(single), atol=1e-9
    )


def test_integers_columns_first_and_sparse_rows_give_the_same_answers(name):
    X, y = rows(8)
    X = np.round(4 * X).astype(np.int64)
    X[np.abs(X) < 3] = 0
    model = fresh(name).fit(X, y)
    for form in (np.asfortranarray(X), X.astype(np.float32), sparse.csr_array(X), X.tolist()):
        np.testing.assert_allclose(
            fresh(name).fit(form, y).predict_proba(form), model.predict_proba(X), atol=1e-9
        )


@pytest.mark.slow
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_data_frames_are_learned_and_their_names_checked(name, frame):
    X, y = rows(9)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    model = fresh(name).fit(frame(columns), y)
    assert model.feature_names_in_.tolist() == list(columns)
    np.testing.assert_allclose(
        model.predict_proba(frame(columns)), fresh(name).fit(X, y).predict_proba(X), atol=1e-12
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({f"z{j}": X[:, j] for j in range(4)}))


def test_a_pickled_model_goes_on_learning(name):
    X, y = rows(10)
    model = pickle.loads(pickle.dumps(fresh(name).fit(X[:60], y[:60])))
    same(model.partial_fit(X[60:], y[60:]), fresh(name).fit(X, y), X)


def test_one_class_is_allowed_and_said(name):
    X, _ = rows(11)
    with pytest.warns(OneClassWarning, match="has seen one class only"):
        model = fresh(name).fit(X, np.zeros(len(X)))
    assert (model.predict(X) == 0).all()
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))


def test_announced_classes_wait_for_their_rows(name):
    X, y = rows(12)
    two = y < 2
    model = fresh(name).partial_fit(X[two], y[two], classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (90, 3)
    assert set(model.predict(X[two])) <= {0, 1}
    same(model.partial_fit(X[~two], y[~two]), fresh(name).fit(X, y), X)
    with pytest.raises(InputError, match=r"do not exist in the initial classes"):
        model.partial_fit(X[:1], [7])


def spoiled(X, row, cell):
    X = X.copy()
    X[row, 1] = cell
    return X


def test_what_cannot_be_learned_changes_nothing(name):
    X, y = rows(13)
    model = fresh(name).fit(X, y)
    before = pickle.dumps(model)
    state = model.predict_proba(X)
    cases = [
        (lambda: model.partial_fit(spoiled(X, 5, np.inf), y), "infinity: inf in row 5, column 1"),
        (lambda: model.fit(spoiled(X, 5, -np.inf), y), "infinity: -inf in row 5"),
        (lambda: model.partial_fit(X, y, sample_weight=-np.ones(90)), "Weight -1 in row 0"),
        (lambda: model.partial_fit(X, y, sample_weight=np.zeros(90)), "All sample weights are"),
        (lambda: model.partial_fit(X[:, :2], y), "2 features"),
        (lambda: model.fit(X[:0], y[:0]), "0 sample"),
        (lambda: model.forget(X[:1], [9]), "class 9, of which none was learned"),
        (lambda: model.forget(np.vstack([X, X]), np.r_[y, y]), "not all learned"),
        (lambda: model.forget(X, y), "would leave nothing learned"),
        (lambda: model.partial_fit(X, None), "requires y to be passed"),
    ]
    for act, text in cases:
        with pytest.raises(ValueError, match=text):
            act()
        assert pickle.dumps(model) == before
    np.testing.assert_array_equal(model.predict_proba(X), state)


def test_an_infinite_cell_is_refused_when_scoring_too(name):
    X, y = rows(14, n=5000)
    model = fresh(name).fit(X, y)
    bad = spoiled(X, 4321, np.inf)
    bad[:, 0] = np.where(np.arange(5000) % 3 == 0, np.nan, bad[:, 0])
    for answer in (model.predict, model.predict_proba, model.score_samples):
        with pytest.raises(InputError, match="infinity: inf in row 4321, column 1"):
            answer(bad)


def test_answers_do_not_depend_on_the_company_a_row_is_in(name):
    X, y = rows(15, n=3000)
    asked = X.copy()
    asked[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = fresh(name).fit(X, y)
    alone = np.vstack([model.predict_proba(asked[i : i + 1]) for i in range(0, 3000, 171)])
    np.testing.assert_allclose(model.predict_proba(asked)[::171], alone, rtol=1e-9, atol=1e-12)


def test_decisions_follow_the_losses(name):
    X, y = rows(16)
    model = fresh(name).fit(X, y)
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    costly = {"act": [0, 0, 1000], "wait": [1, 1, 1]}
    chosen = model.decide(X, costly)
    risk = model.predict_proba(X)[:, 2]
    np.testing.assert_array_equal(chosen == "wait", risk > 1e-3)


def test_models_are_drawn_from_and_their_evidence_told(name):
    X, y = rows(17, n=200)
    model = fresh(name).fit(X, y)
    drawn, labels = model.sample(500, random_state=1)
    assert drawn.shape == (500, 4)
    assert set(labels) <= set(y)
    assert model.score(drawn, labels) > 0.6
    assert np.isfinite(model.log_evidence_)
    again = model.sample(500, random_state=1)[0]
    np.testing.assert_array_equal(drawn, again)


# Linear and quadratic only.


def test_linear_and_quadratic_count_their_parameters():
    X, y = rows(18)
    assert LinearDiscriminantAnalysis().fit(X, y).n_parameters_ == 2 + 12 + 10
    assert QuadraticDiscriminantAnalysis().fit(X, y).n_parameters_ == 2 + 12 + 30


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_linear_scores_gaps_by_the_marginal_of_what_was_seen(solver):
    X, y = rows(19)
    model = LinearDiscriminantAnalysis(solver=solver, store_covariance=True).fit(X, y)
    asked = X[:8].copy()
    asked[:, [0, 2]] = np.nan
    asked[1::2, 2] = X[1:8:2, 2]
    wanted = []
    for x in asked:
        o = np.flatnonzero(~np.isnan(x))
        block = model.covariance_[np.ix_(o, o)]
        joint = [multivariate_normal(m[o], block).logpdf(x[o]) for m in model.means_]
        wanted.append(joint + np.log(model.priors_))
    wanted = np.array(wanted)
    np.testing.assert_allclose(model.predict_joint_log_proba(asked), wanted, rtol=1e-9)
    part = LinearDiscriminantAnalysis(solver=solver).fit(X[:, [1, 3]], y)
    even = asked[::2][:, [1, 3]]
    np.testing.assert_allclose(model.predict_proba(asked[::2]), part.predict_proba(even), atol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(asked[::2]), part.decision_function(even), rtol=1e-7, atol=1e-9
    )


def test_transform_gives_gaps_for_gaps():
    X, y = rows(20)
    model = LinearDiscriminantAnalysis().fit(X, y)
    asked = spoiled(X, 3, np.nan)
    places = model.transform(asked)
    assert np.isnan(places[3]).all()
    np.testing.assert_allclose(
        np.delete(places, 3, axis=0), np.delete(model.transform(X), 3, axis=0)
    )
    with pytest.raises(InputError, match="infinity"):
        model.transform(spoiled(X, 3, np.inf))


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_a_covariance_estimator_is_for_fit_only(kind):
    X, y = rows(21)
    settings = {"solver": "eigen", "covariance_estimator": OAS()}
    model = kind(**settings).fit(X, y)
    before = pickle.dumps(model)
    for act in (
        lambda: model.partial_fit(X, y),
        lambda: model.forget(X[:1], y[:1]),
        lambda: model.merge(kind(**settings).fit(X, y)),
        lambda: kind(solver="eigen").fit(X, y).merge(model),
    ):
        with pytest.raises(InputError, match=r"needs all rows at once.*nothing was changed"):
            act()
        assert pickle.dumps(model) == before
    with pytest.raises(InputError, match="learns from rows, not from their weights"):
        kind(**settings).fit(X, y, sample_weight=np.ones(90))
    # a first partial_fit is a fit
    first = kind(**settings).partial_fit(X, y)
    np.testing.assert_array_equal(first.predict_proba(X), model.predict_proba(X))


def test_models_that_counted_different_things_do_not_merge():
    X, y = rows(22)
    plain = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(X, y)
    auto = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)
    with pytest.raises(MergeError, match=r"shrinkage is 0.1 here and 'auto' there, so different"):
        plain.merge(auto)
    other = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    assert plain.merge(other).tally_.weights.sum() == 180


def test_shrinkage_by_ledoit_and_wolf_needs_whole_rows():
    X, y = rows(23, gaps=True)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    with pytest.raises(InputError, match="learns from whole rows only"):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
def test_rows_too_few_for_a_quadratic_model_are_kept_until_there_are_more():
    X, y = rows(24)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    model = QuadraticDiscriminantAnalysis()
    with pytest.warns(SufficeWarning, match=r"does not suffice for a Quadratic.* yet"):
        model.partial_fit(X[:2], y[:2])
    with pytest.raises(InputError, match="cannot answer yet: The covariance matrix of class 0"):
        model.predict(X)
    with pytest.raises(InputError, match="cannot answer yet"):
        model.sample(3)
    assert not hasattr(model, "means_")
    model.partial_fit(X[2:], y[2:])
    same(model, QuadraticDiscriminantAnalysis().fit(X, y), X)
    with pytest.warns(SufficeWarning, match="y has only 1 sample in class 2"):
        model.forget(X[y == 2][1:], y[y == 2][1:])
    with pytest.raises(InputError, match="cannot answer yet"):
        model.predict(X)


def test_forgetting_more_than_was_learned_is_refused():
    X, y = rows(25)
    model = LinearDiscriminantAnalysis().fit(X, y)
    with pytest.raises(DebtError):
        model.forget(X[:1] + 1e6, y[:1], sample_weight=[1000.0])


def test_a_singular_covariance_has_no_density_and_says_so():
    X, y = rows(26)
    X = np.column_stack([X, X[:, 0]])
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert model.score(X, y) == TheirLinear().fit(X, y).score(X, y)
    with pytest.raises(InputError, match="is singular, so rows have no density"):
        model.score_samples(X)
    gappy = X.copy()
    gappy[::2, 0] = np.nan
    assert model.score(gappy, y) == model.score(X, y)  # the copy tells what is missing


def test_normalised_weights_do_not_look_like_too_few_rows():
    X, y = rows(27)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        light = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y, np.full(90, 1 / 90))
    heavy = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    np.testing.assert_allclose(light.predict_proba(X), heavy.predict_proba(X), atol=1e-9)
