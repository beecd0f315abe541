"""Learning, forgetting and merging: always the model of the rows that are left, or no change."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from suffice.errors import (
    DebtError,
    InputError,
    MergeError,
    OneClassWarning,
    PriorError,
    SufficeWarning,
)
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)
from suffice.prior import Beta, Dirichlet, Gamma, NormalInverseGamma

NIG = NormalInverseGamma(location=0.5, pseudo_rows=0.7, shape=1.5, scale=2.0)
CLASSES = np.array(["eggs", "ham", "spam", "toast"])

# Every class with several ways of reading its tally. Smoothing keeps a class of one row from
# having a variance of rounding errors.
MODELS = {
    "gaussian": lambda: GaussianNB(var_smoothing=0.05),
    "gaussian tied over classes": lambda: GaussianNB(var_smoothing=0.05, tie="class"),
    "gaussian tied over features": lambda: GaussianNB(var_smoothing=0.05, tie="feature"),
    "gaussian map": lambda: GaussianNB(estimate="map", prior=NIG),
    "gaussian predictive": lambda: GaussianNB(estimate="predictive", prior=NIG),
    "gaussian predictive tied": lambda: GaussianNB(estimate="predictive", prior=NIG, tie="both"),
    "bernoulli": lambda: BernoulliNB(binarize=1.5),
    "bernoulli beta": lambda: BernoulliNB(alpha=Beta(2.0, 1.5), binarize=0.5, estimate="map"),
    "bernoulli mle": lambda: BernoulliNB(binarize=1.5, estimate="mle"),
    "multinomial": lambda: MultinomialNB(alpha=0.3),
    "multinomial polya": lambda: MultinomialNB(
        alpha=Dirichlet([0.5, 1.0, 2.0]), estimate="predictive"
    ),
    "complement": lambda: ComplementNB(alpha=0.5),
    "complement norm": lambda: ComplementNB(norm=True, fit_prior=False),
    "categorical": lambda: CategoricalNB(alpha=0.5),
    "categorical mle": lambda: CategoricalNB(estimate="mle", fit_prior=False),
    "poisson": lambda: PoissonNB(alpha=2.0, prior_rows=0.5),
    "poisson predictive": lambda: PoissonNB(alpha=Gamma(1.5, 2.0), estimate="predictive"),
    "poisson mle": lambda: PoissonNB(estimate="mle"),
}

alone = pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")


@pytest.fixture(params=list(MODELS))
def make(request):
    return MODELS[request.param]


def rows(rng, make, size, gaps=True):
    """Draw rows, labels and weights that the model may learn from."""
    X = rng.integers(0, 4, (size, 3)).astype(float)
    if isinstance(make(), GaussianNB):
        X = X + rng.normal(size=X.shape)
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, rng.choice(CLASSES, size), rng.choice([0.5, 1.0, 2.0, 3.25], size)


def history_of(seed, size, make):
    """Draw rows of which the last two differ in every column, so that something varies."""
    X, y, w = rows(np.random.default_rng(seed), make, size)
    X[-2:] = [[0.0] * 3, [3.0] * 3]
    return X, y, w


def same(a, b, X, after_forgetting=False):
    """Check that two models have learned the same and say the same."""
    np.testing.assert_array_equal(a.classes_, b.classes_)
    np.testing.assert_allclose(a.class_count_, b.class_count_, rtol=1e-12)
    # What is left of a scatter is known to the digits of what it was taken from.
    assert after_forgetting or a.tally_.agrees(b.tally_, 1e-10)
    # A joint log-probability is compared on its own size, and on that of one cell's.
    np.testing.assert_allclose(
        a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9
    )
    assert a.n_parameters_ == b.n_parameters_


def state(model):
    """Return all that a model holds, to the last bit."""
    return pickle.dumps(vars(model))


def quietly(model, act, *args, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)  # one class, or one row, so far
        return getattr(model, act)(*args, **named)


histories = st.tuples(st.integers(0, 2**32 - 1), st.integers(3, 25))


# ---- learning in parts


@given(histories, st.data())
@settings(max_examples=25)
def check_splits(make, history, data):
    seed, size = history
    X, y, w = history_of(seed, size, make)
    order = data.draw(st.permutations(range(size)))
    batch = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    model, order = make(), np.array(order)
    for number in np.unique(batch):
        mine = order[batch == number]
        quietly(model, "partial_fit", X[mine], y[mine], sample_weight=w[mine])
    same(model, quietly(make(), "fit", X, y, w), X)


def test_partial_fit_is_fit_for_any_split_and_order(make):
    check_splits(make)


def test_row_by_row_is_fit_too(make):
    X, y, w = history_of(0, 30, make)
    model = make()
    for i in range(30):
        one = slice(i, i + 1)
        quietly(model, "partial_fit", X[one], y[one], sample_weight=w[one])
    same(model, make().fit(X, y, w), X)


@alone
def test_a_prior_by_evidence_does_not_depend_on_the_split():
    X, y, _ = rows(np.random.default_rng(1), MODELS["gaussian"], 60)
    for tie in (None, "class", "feature", "both"):
        whole = GaussianNB(estimate="predictive", tie=tie).fit(X, y)
        parts = GaussianNB(estimate="predictive", tie=tie)
        for part in np.array_split(np.arange(60), 7):
            parts.partial_fit(X[part[::-1]], y[part[::-1]])
        # the strength is searched for to 1e-3
        np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-3)
        np.testing.assert_allclose(parts.log_evidence_, whole.log_evidence_, rtol=1e-6)


@alone
@pytest.mark.parametrize("model", ["bernoulli", "multinomial", "poisson", "gaussian"])
def test_sparse_and_dense_batches_mix(model):
    X, y, w = rows(np.random.default_rng(2), MODELS[model], 30, gaps=False)
    mixed = MODELS[model]().fit(sp.csr_matrix(X[:10]), y[:10], w[:10])
    mixed.partial_fit(X[10:], y[10:], sample_weight=w[10:])
    same(mixed, MODELS[model]().fit(X, y, w), X)


# ---- forgetting


@given(histories, st.data())
@settings(max_examples=25)
def check_forgetting(make, history, data):
    seed, size = history
    X, y, w = history_of(seed, size, make)
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    gone[0], gone[-2:] = True, False
    model = quietly(make(), "fit", X, y, w)
    quietly(model, "forget", X[gone], y[gone], w[gone])
    same(model, quietly(make(), "fit", X[~gone], y[~gone], w[~gone]), X, after_forgetting=True)


@pytest.mark.filterwarnings("ignore::suffice.errors.PrecisionWarning")
def test_forgetting_is_never_having_learned(make):
    check_forgetting(make)


def test_a_class_that_is_forgotten_is_no_class_any_more(make):
    X, y, w = rows(np.random.default_rng(3), make, 40)
    ham = y == "ham"
    model = make().fit(X, y, w).forget(X[ham], y[ham], w[ham])
    assert "ham" not in model.classes_
    same(model, make().fit(X[~ham], y[~ham], w[~ham]), X)
    assert model.new_classes_.size == 0
    again = model.partial_fit(X[ham], y[ham], sample_weight=w[ham])
    assert again.new_classes_.tolist() == ["ham"]
    same(again, make().fit(X, y, w), X)


@pytest.mark.parametrize("model", ["gaussian", "multinomial", "poisson", "bernoulli"])
def test_a_class_of_a_closed_set_stays_when_its_rows_are_forgotten(model):
    X, y, _ = rows(np.random.default_rng(4), MODELS[model], 40)
    ham = y == "ham"
    closed = MODELS[model]().partial_fit(X, y, classes=CLASSES).forget(X[ham], y[ham])
    assert closed.classes_.tolist() == CLASSES.tolist()
    assert closed.class_count_[1] == 0
    assert np.isfinite(closed.predict_proba(X)).all()
    assert (closed.predict_proba(X)[:, 1] == 0).all()


def test_forgetting_and_learning_again_changes_nothing(make):
    X, y, w = rows(np.random.default_rng(5), make, 40)
    model = make().fit(X, y, w)
    for i in range(0, 40, 7):
        one = slice(i, i + 1)
        model.forget(X[one], y[one], w[one]).partial_fit(X[one], y[one], sample_weight=w[one])
    same(model, make().fit(X, y, w), X)


# ---- merging


@given(histories, st.data())
@settings(max_examples=25)
def check_merging(make, history, data):
    seed, size = history
    X, y, w = history_of(seed, size, make)
    # a model for each of up to three parts; classes are dealt out so that parts know different ones
    part_of_class = dict(zip(CLASSES, data.draw(st.tuples(*[st.integers(0, 3)] * 4)), strict=True))
    free = np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    part = np.array([part_of_class[label] for label in y])
    part = np.where(part == 3, free, part)
    models = [quietly(make(), "fit", X[part == p], y[part == p], w[part == p]) for p in set(part)]
    before = [state(model) for model in models]
    whole = quietly(make(), "fit", X, y, w)
    for order in (models, models[::-1]):
        total = order[0]
        for model in order[1:]:
            total = quietly(total, "__add__", model)
        same(total, whole, X)
    assert [state(model) for model in models] == before
    merged = clone(models[0])
    vars(merged).update(vars(models[0]))
    for model in models[1:]:
        quietly(merged, "merge", model)
    same(merged, whole, X)


def test_merging_is_learning_both_in_any_order_and_with_any_classes(make):
    check_merging(make)


@alone
def test_merging_says_which_classes_are_new(make):
    rng = np.random.default_rng(6)
    X, _, _ = rows(rng, make, 4, gaps=False)
    a = make().fit(X, ["ham", "ham", "spam", "spam"])
    b = make().fit(X, ["spam", "spam", "eggs", "toast"])
    assert a.merge(b).new_classes_.tolist() == ["eggs", "toast"]


def test_models_of_different_things_do_not_merge():
    X, y = np.ones((4, 3)), [0, 0, 1, 1]
    model = PoissonNB().fit(X, y)
    before = state(model)
    for other, text in [
        (MultinomialNB().fit(X, y), "Cannot merge MultinomialNB into PoissonNB"),
        (PoissonNB().fit(X[:, :2], y), "Cannot merge models of 3 and 2 features"),
    ]:
        with pytest.raises(MergeError, match=text):
            model.merge(other)
        with pytest.raises(MergeError, match=text):
            model + other
    with pytest.raises(NotFittedError):
        model.merge(PoissonNB())
    with pytest.raises(TypeError):
        model + 3
    assert state(model) == before
    named = [PoissonNB().fit(pd.DataFrame(X, columns=list(names)), y) for names in ("abc", "abd")]
    with pytest.raises(MergeError, match="column 2 is 'c' here and 'd' there"):
        named[0].merge(named[1])
    cut = [BernoulliNB(binarize=cut).fit(X, y) for cut in (0.0, 0.5)]
    with pytest.raises(MergeError, match=r"binarize is 0.0 here and 0.5 there"):
        cut[0].merge(cut[1])


# ---- new classes, open and closed


@alone
def test_a_label_never_seen_becomes_a_new_class_visibly(make):
    rng = np.random.default_rng(7)
    X, _, _ = rows(rng, make, 6, gaps=False)
    model = make().fit(X, ["ham", "spam"] * 3)
    assert model.new_classes_.tolist() == ["ham", "spam"]
    model.partial_fit(X[:2], ["ham", "Spam"])
    assert model.new_classes_.tolist() == ["Spam"]
    assert model.classes_.tolist() == ["Spam", "ham", "spam"]
    assert model.class_count_.tolist() == [1.0, 4.0, 3.0]
    model.partial_fit(X[:1], ["ham"])
    assert model.new_classes_.size == 0
    assert model.predict_joint_log_proba(X).shape == (6, 3)


@pytest.mark.parametrize("first_labels", [["ham", "spam"], ["ham", "ham"]])
def test_a_mistyped_label_in_a_closed_set_is_refused_by_label_and_row(make, first_labels):
    rng = np.random.default_rng(8)
    X, _, _ = rows(rng, make, 2, gaps=False)
    model = make().partial_fit(X, first_labels, classes=["spam", "ham"])
    before = state(model)
    with pytest.raises(InputError, match=r"label\(s\) \['Spam'\] .*\['ham' 'spam'\].*row 1"):
        model.partial_fit(X, ["ham", "Spam"])
    assert state(model) == before
    fresh = make()
    with pytest.raises(InputError, match=r"\['Spam'\].*first in row 0"):
        fresh.partial_fit(X, ["Spam", "ham"], classes=["spam", "ham"])
    assert vars(fresh).keys() == make().get_params().keys()


@alone
def test_classes_named_later_must_be_those_known(make):
    X, _, _ = rows(np.random.default_rng(9), make, 2, gaps=False)
    model = make().partial_fit(X, ["ham", "spam"], classes=["ham", "spam"])
    model.partial_fit(X, ["ham", "spam"], classes=["spam", "ham"])
    with pytest.raises(InputError, match="not the same as on last call to partial_fit"):
        model.partial_fit(X, ["ham", "spam"], classes=["ham", "spam", "eggs"])


@alone
def test_fit_opens_a_closed_set_and_starts_anew(make):
    X, _, _ = rows(np.random.default_rng(10), make, 2, gaps=False)
    model = make().partial_fit(X, ["ham", "spam"], classes=["ham", "spam"])
    model.fit(X, ["eggs", "toast"])
    same(
        model.partial_fit(X, ["new", "new"]),
        make().fit([*X, *X], ["eggs", "toast"] + 2 * ["new"]),
        X,
    )


@pytest.mark.parametrize("labels", [[3, 1, 3, 1], [True, False] * 2, [2.0, 1.0] * 2])
def test_classes_keep_their_type(labels):
    X = np.arange(8.0).reshape(4, 2)
    model = PoissonNB().partial_fit(X, labels).partial_fit(X[:1], labels[:1])
    assert model.classes_.dtype == np.array(labels).dtype
    assert model.predict(X).dtype == np.array(labels).dtype


# ---- copies


def test_pickled_and_cloned_models_are_what_they_were(make):
    X, y, w = rows(np.random.default_rng(11), make, 40)
    model = make().fit(X, y, w)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_joint_log_proba(X), model.predict_joint_log_proba(X))
    copy.partial_fit(X, y).forget(X, y)
    same(copy, model, X)
    empty = clone(model)
    assert vars(empty).keys() == make().get_params().keys()
    same(empty.fit(X, y, w), model, X)


# ---- bad input changes nothing


def bad_inputs(model):
    """Yield (what, method, arguments, message) of everything the issue lists."""
    name = type(model).__name__
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    learn = ("fit", "partial_fit", "forget")
    answer = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba")
    answer = (*answer, "score_samples", "decide")

    def changed(row, column, value):
        cells = X.copy()
        cells[row, column] = value
        return cells

    for act in learn:
        yield act, (X, ["ham", None, "ham", "spam"]), r"Input y contains NaN or None \(row 1\)"
        yield act, (X, [0.0, np.nan, 1.0, 0.0]), r"Input y contains NaN \(row 1\)"
        yield act, (X, None), "requires y to be passed"
        yield act, (X, y[:3]), "inconsistent numbers of samples"
        yield act, (X[:0], []), r"Found array with 0 sample\(s\)"
        yield act, (X, y, None, [1, 1, -1, 1]), "Weight -1 in row 2"
        yield act, (X, y, None, [0, 0, 0, 0]), "All sample weights are zero"
        yield act, (changed(2, 1, np.inf), y), "infinity: inf in row 2, column 1"
        yield act, (changed(2, 1, -np.inf), y), "infinity: -inf in row 2, column 1"
        yield act, (X.astype(str), y), r"bytes/strings"
        text = X.astype(object)
        text[3, 2] = "red"
        yield act, (text, y), "Column 2 holds 'red' in row 3"
        if name not in ("GaussianNB", "BernoulliNB"):
            pattern = rf"Negative values in data passed to {name}.*-1 in row 1, column 0"
            yield act, (changed(1, 0, -1.0), y), pattern
        if name == "CategoricalNB":
            yield act, (sp.csr_matrix(X), y), "[Ss]parse"
        else:
            yield act, (sp.csr_matrix(changed(2, 1, np.inf)), y), "inf in row 2, column 1"
    for act in answer:
        yield act, (changed(2, 1, np.inf),), "infinity: inf in row 2, column 1"
        yield act, (changed(2, 1, -np.inf),), "infinity: -inf in row 2, column 1"
        yield act, (X[:, :2],), rf"X has 2 features, but {name} is expecting 3"
        yield act, (X[:0],), r"Found array with 0 sample\(s\)"
        yield act, (X[0],), "Expected 2D array"
        if name in ("CategoricalNB", "PoissonNB"):
            yield act, (changed(1, 0, -1.0),), r"Negative values.*-1 in row 1, column 0"
    for act in ("partial_fit", "forget"):
        yield act, (X[:, :2], y), rf"X has 2 features, but {name} is expecting 3"
        yield act, (X, [1, 2, 1, 2]), "are of different types"
    yield "forget", (X, ["ham", "Spam"] * 2), "rows of class 'Spam', of which none was learned"
    yield "forget", (X, y, None, [9.0] * 4), "those rows were not all learned"
    yield "fit", (X, y, None, [1.0, 2.0]), r"sample_weight.shape == \(2,\), expected \(4,\)"


def test_bad_input_is_refused_with_its_place_and_changes_nothing(make):
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    model = make().fit(X, y)
    before = state(model)
    tried = 0
    for act, (*data, weights), text in (
        (act, data if len(data) == 4 else [*data, None], text)
        for act, data, text in bad_inputs(model)
    ):
        named = {}
        if len(data) == 3:
            data = data[:2]
            named = {"sample_weight": weights}
        with pytest.raises((ValueError, TypeError), match=text):
            getattr(model, act)(*data, **named)
        assert state(model) == before, (act, text)
        tried += 1
    assert tried > 60


def test_wrong_feature_names_are_refused_and_change_nothing(make):
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    model = make().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    before = state(model)
    wrong = pd.DataFrame(X, columns=["a", "b", "d"])
    for act, data in [("partial_fit", (wrong, y)), ("forget", (wrong, y)), ("predict", (wrong,))]:
        with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen.*- d"):
            getattr(model, act)(*data)
        assert state(model) == before
    infinite = pd.DataFrame(X, columns=["a", "b", "c"])
    infinite.loc[2, "b"] = np.inf
    for act in ("partial_fit", "forget", "predict"):
        with pytest.raises(InputError, match=r"inf in row 2, column 1 \('b'\)"):
            getattr(model, act)(*((infinite,) if act == "predict" else (infinite, y)))
        assert state(model) == before


def test_forgetting_more_than_was_learned_is_debt_and_changes_nothing(make):
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    model = make().fit(X, y)
    before = state(model)
    with pytest.raises(DebtError, match=r"Cannot subtract 3 from the 2"):
        model.forget(X[[0, 0, 0]], ["ham"] * 3)
    with pytest.raises(InputError, match="would leave nothing learned"):
        model.forget(X, y)
    assert state(model) == before


def test_forgetting_rows_that_were_never_learned_is_noticed_where_the_tally_shows_it(make):
    X = np.ones((4, 3))
    X[1:, 0] = [0, 2, 3]
    model = make().fit(X, ["ham", "ham", "spam", "spam"])
    before = state(model)
    # the other columns of "ham" never held such a cell, above a threshold or below
    never = 0.0 if getattr(model, "binarize", None) == 0.5 else 3.0
    with pytest.raises(DebtError, match="those rows were not all learned"):
        model.forget([[0.0, never, never]], ["ham"])
    assert state(model) == before


def test_a_first_call_that_fails_leaves_an_empty_model(make):
    X = np.ones((2, 3))
    X[1, 2] = np.inf
    for act in ("fit", "partial_fit"):
        model = make()
        with pytest.raises(InputError, match="inf in row 1, column 2"):
            getattr(model, act)(X, ["ham", "spam"])
        assert vars(model).keys() == make().get_params().keys()
        with pytest.raises(NotFittedError):
            model.predict(X)
    for act in (model.forget, lambda *_: model.merge(model)):
        with pytest.raises(NotFittedError):
            act(X, ["ham", "spam"])


def test_parameters_that_do_not_fit_change_nothing():
    X, y = np.arange(12.0).reshape(4, 3) % 4, [0, 1, 0, 1]
    for model, parameters, text in [
        (GaussianNB(), {"priors": [0.2, 0.3, 0.5]}, "Got 3 priors for 2 classes"),
        (GaussianNB(), {"priors": [0.2, 0.3]}, r"sum of the priors should be 1. It is 0.5"),
        (GaussianNB(), {"priors": [-0.2, 1.2]}, r"Priors must be non-negative. Got -0.2"),
        (GaussianNB(), {"tie": "rows"}, "'tie' parameter of GaussianNB must be"),
        (MultinomialNB(), {"class_prior": [1.0]}, "Got 1 priors for 2 classes"),
        (MultinomialNB(), {"alpha": [1.0, 2.0]}, "Got 2 elements instead of 3"),
        (MultinomialNB(), {"alpha": np.ones((3, 3))}, "alpha has 3 rows for 2 classes"),
        (MultinomialNB(), {"alpha": [1.0, -2.0, 1.0]}, "must be greater than 0. Got -2"),
        (MultinomialNB(), {"alpha": 0.5, "estimate": "map"}, r"below 1 \(alpha=0.5\)"),
        (MultinomialNB(), {"alpha": [1.0, np.nan, 1.0]}, "must be greater than 0. Got nan"),
        (MultinomialNB(), {"alpha": [1.0, np.inf, 1.0]}, "must be greater than 0. Got inf"),
        (MultinomialNB(), {"class_prior": [-0.5, 1.5]}, "class_prior holds -0.5"),
        (MultinomialNB(), {"class_prior": [np.nan, 1.5]}, "class_prior holds nan"),
        (MultinomialNB(), {"alpha": Dirichlet([1.0, 2.0])}, r"of shape \(2,\) for 2 classes and 3"),
        (BernoulliNB(), {"alpha": Beta([1.0, 2.0], 1.0)}, r"Beta has a successes of shape \(2,\)"),
        (PoissonNB(), {"alpha": Gamma(np.ones((4, 3)), 1.0)}, r"Gamma has a shape of shape \(4, 3"),
        (
            GaussianNB(),
            {"estimate": "map", "prior": NormalInverseGamma([0.0, 1.0], 1.0, 1.0, 1.0)},
            r"location of shape \(2,\) for 2 classes and 3 features",
        ),
        (CategoricalNB(), {"min_categories": [2, 3]}, r"shape \(3,\).*Got \(2,\)"),
        (CategoricalNB(), {"min_categories": [2.0, 3.0, 1.0]}, "integral type. Got float64"),
    ]:
        model.fit(X, y)
        before = state(model)
        for act in ("fit", "partial_fit"):
            changed = clone(model)
            vars(changed).update(vars(model))
            changed.set_params(**parameters)
            after = state(changed)
            with pytest.raises((PriorError, ValueError), match=text):
                getattr(changed, act)(X, y)
            assert state(changed) == after
        assert state(model) == before


# ---- one class only


def test_one_class_only_is_allowed_and_says_so(make):
    X, _, _ = rows(np.random.default_rng(12), make, 6, gaps=False)
    with pytest.warns(OneClassWarning, match="has seen one class only, 'ham', and will always"):
        model = make().fit(X, ["ham"] * 6)
    assert model.predict(X).tolist() == ["ham"] * 6
    np.testing.assert_allclose(model.predict_proba(X), 1.0)
    with pytest.warns(OneClassWarning):
        model.partial_fit(X, ["ham"] * 6)
    model.partial_fit(X, ["spam"] * 6)  # no warning now
    with pytest.warns(OneClassWarning, match="'spam'"):
        model.forget(np.concatenate([X, X]), ["ham"] * 12)
