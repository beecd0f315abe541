"""The same results as scikit-learn's classes, to 1e-9, and its estimator checks."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice.naive_bayes as ours
from suffice.errors import OneClassWarning
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)

DISCRETE = ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"]
WORDS = ["MultinomialNB", "ComplementNB"]


def datasets():
    found = {
        loader.__name__.removeprefix("load_"): loader(return_X_y=True)
        for loader in (load_iris, load_wine, load_digits, load_breast_cancer)
    }
    rng = np.random.default_rng(0)
    found["random"] = rng.normal(size=(120, 7)) * 5 + 9, rng.integers(0, 5, 120)
    return found


DATA = datasets()


def whole(X):
    """Return cells of a data set as small counts, many of them 0."""
    return np.floor(np.abs(X) % 6).astype(np.int64)


def relative(mine, other):
    """Compare arrays relative to the size of the numbers in each row, infinities as they are."""
    mine, other = np.asarray(mine, float), np.asarray(other, float)
    assert mine.shape == other.shape
    finite = np.isfinite(other)
    np.testing.assert_array_equal(mine[~finite], other[~finite])
    size = np.max(np.abs(np.where(finite, other, 0.0)), axis=-1, keepdims=True, initial=1e-300)
    assert np.all(np.abs(np.where(finite, mine - other, 0.0)) <= 1e-9 * np.maximum(size, 1.0))


def same_answers(mine, other, X):
    relative(mine.predict_joint_log_proba(X), other.predict_joint_log_proba(X))
    relative(mine.predict_log_proba(X), other.predict_log_proba(X))
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))


def same_attributes(mine, other):
    fitted = [
        name for name in vars(other) if name.endswith("_") and not name.startswith(("_", "n_cat"))
    ]
    assert "classes_" in fitted
    assert len(fitted) >= 5
    for name in fitted:
        a, b = getattr(mine, name), getattr(other, name)
        if isinstance(b, list):  # CategoricalNB holds an array a column
            assert len(a) == len(b)
            for x, y in zip(a, b, strict=True):
                relative(x, y)
        elif name in ("classes_", "feature_names_in_"):
            np.testing.assert_array_equal(a, b)
        else:
            relative(np.atleast_1d(a), np.atleast_1d(b))


def compare(name, X, y, fit=None, **settings):
    mine = getattr(ours, name)(**settings).fit(X, y, **(fit or {}))
    other = getattr(theirs, name)(**settings).fit(X, y, **(fit or {}))
    same_attributes(mine, other)
    same_answers(mine, other, X)
    return mine


@pytest.fixture(params=list(DATA))
def data(request):
    return DATA[request.param]


# ---- Gaussian


@pytest.mark.parametrize("smoothing", [1e-9, 0.01])
def test_gaussian_equals_scikit_learn(data, smoothing):
    compare("GaussianNB", *data, var_smoothing=smoothing)


def test_gaussian_with_priors_equals_scikit_learn(data):
    X, y = data
    classes = len(np.unique(y))
    priors = np.arange(1, classes + 1) / np.arange(1, classes + 1).sum()
    compare("GaussianNB", X, y, priors=priors)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_gaussian_of_other_types_equals_scikit_learn(dtype):
    X, y = DATA["wine"]
    X = X.astype(dtype)
    mine = GaussianNB().fit(X, y)
    # scikit-learn sums float32 in float32: its answer for the same numbers in float64 is the truth
    same_answers(mine, theirs.GaussianNB().fit(X.astype(np.float64), y), X.astype(np.float64))


def test_gaussian_with_weights_equals_scikit_learn_without_smoothing():
    # Smoothing is set apart: scikit-learn takes it from the unweighted variance, so that there a
    # weight of 2 is not a row twice.
    for name in ("iris", "wine", "random"):
        X, y = DATA[name]
        weights = np.random.default_rng(1).exponential(size=len(y))
        compare("GaussianNB", X, y, {"sample_weight": weights}, var_smoothing=0.0)


def test_gaussian_with_whole_weights_equals_scikit_learn_on_repeated_rows(data):
    X, y = data
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    mine = GaussianNB().fit(X, y, sample_weight=weights)
    other = theirs.GaussianNB().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    same_attributes(mine, other)
    same_answers(mine, other, X)


# ---- discrete


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.1}, {"alpha": 3.5, "fit_prior": False}])
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_equals_scikit_learn(name, settings, data):
    X, y = data
    compare(name, whole(X), y, **settings)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_with_weights_and_class_prior_equals_scikit_learn(name, data):
    X, y = data
    rng = np.random.default_rng(3)
    prior = rng.dirichlet(np.ones(len(np.unique(y))))
    compare(name, whole(X), y, {"sample_weight": rng.exponential(size=len(y))}, class_prior=prior)


@pytest.mark.parametrize("name", WORDS)  # scikit-learn's BernoulliNB fails on such an alpha
def test_discrete_with_a_pseudocount_a_feature_equals_scikit_learn(name, data):
    X, y = data
    alpha = np.random.default_rng(4).exponential(size=X.shape[1]) + 0.01
    compare(name, whole(X), y, alpha=alpha)


@pytest.mark.filterwarnings("ignore:alpha too small:UserWarning")
@pytest.mark.parametrize("name", [*WORDS, "CategoricalNB"])
def test_discrete_without_forced_alpha_equals_scikit_learn(name):
    X, y = DATA["wine"]
    compare(name, whole(X), y, alpha=1e-12, force_alpha=False)
    compare(name, whole(X), y, alpha=1e-12, force_alpha=True)


@pytest.mark.filterwarnings("ignore:alpha too small:UserWarning")
@pytest.mark.parametrize(("force", "alpha"), [(False, 1e-10), (True, 1e-12)])
def test_the_absence_of_what_was_always_there_keeps_its_digits(force, alpha):
    # scikit-learn takes log(1 - p) of a p that is 1 but for the last digits
    model = BernoulliNB(alpha=1e-12, force_alpha=force).fit([[1], [1], [1], [0]], [0, 0, 0, 1])
    exact = np.log(0.75) + np.log(alpha) - np.log(3 + 2 * alpha)
    np.testing.assert_allclose(model.predict_joint_log_proba([[0]])[0, 0], exact, rtol=1e-12)
    other = theirs.BernoulliNB(alpha=1e-12, force_alpha=force)
    other.fit([[1], [1], [1], [0]], [0, 0, 0, 1])
    assert abs(other.predict_joint_log_proba([[0]])[0, 0] - exact) > 1e-8


def test_an_alpha_that_is_raised_warns_as_in_scikit_learn():
    X, y = DATA["wine"]
    with pytest.warns(UserWarning, match="alpha too small will result in numeric errors"):
        MultinomialNB(alpha=0.0, force_alpha=False).fit(whole(X), y)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name", ["BernoulliNB", *WORDS])
def test_discrete_on_sparse_rows_equals_scikit_learn(name, index):
    rng = np.random.default_rng(5)
    X = sp.random_array((200, 300), density=0.05, rng=rng, format="csr")
    X.data = np.ceil(X.data * 5)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    y = rng.integers(0, 40, 200)  # more classes than are scored together
    mine = compare(name, X, y, {"sample_weight": rng.exponential(size=200)})
    np.testing.assert_allclose(mine.predict_proba(X), mine.predict_proba(X.toarray()), rtol=1e-9)


@pytest.mark.parametrize("binarize", [0.0, 1.0, 2.5])
def test_bernoulli_thresholds_equal_scikit_learn(binarize, data):
    X, y = data
    compare("BernoulliNB", X, y, binarize=binarize)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_bernoulli_cells_as_they_are_equal_scikit_learn(form):
    # 0 and 1, and the fractions in between that scikit-learn takes as part of an event
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 90)
    compare("BernoulliNB", form(rng.integers(0, 2, (90, 5)).astype(float)), y, binarize=None)
    compare("BernoulliNB", form(rng.random((90, 5))), y, binarize=None)


@pytest.mark.parametrize("settings", [{"norm": True}, {"norm": True, "alpha": 0.2}])
def test_complement_with_norm_equals_scikit_learn(settings, data):
    X, y = data
    compare("ComplementNB", whole(X), y, **settings)


def test_complement_of_one_class_equals_scikit_learn():
    X = np.array([[1, 2], [3, 0]])
    with pytest.warns(OneClassWarning, match="one class only, 7"):
        mine = ComplementNB().fit(X, [7, 7])
    other = theirs.ComplementNB().fit(X, [7, 7])
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("fewest", [None, 9, "array"])
def test_categorical_with_fewest_levels_equals_scikit_learn(fewest, data):
    X, y = data
    if fewest == "array":
        fewest = np.arange(3, 3 + X.shape[1])
    mine = compare("CategoricalNB", whole(X), y, min_categories=fewest)
    other = theirs.CategoricalNB(min_categories=fewest).fit(whole(X), y)
    np.testing.assert_array_equal(mine.n_categories_, other.n_categories_)


@pytest.mark.parametrize("name", ["GaussianNB", *DISCRETE])
def test_partial_fit_in_batches_equals_scikit_learn(name):
    X, y = DATA["digits"]
    X = X if name == "GaussianNB" else whole(X)
    # scikit-learn's GaussianNB takes its smoothing from the last batch, its CategoricalNB meets
    # no new levels only if told how many there are
    settings = {"GaussianNB": {"var_smoothing": 1e-2}, "CategoricalNB": {"min_categories": 17}}
    mine = getattr(ours, name)(**settings.get(name, {}))
    other = getattr(theirs, name)(**settings.get(name, {}))
    for part in np.array_split(np.arange(len(y)), 4):
        mine.partial_fit(X[part], y[part], classes=np.arange(10))
        other.partial_fit(X[part], y[part], classes=np.arange(10))
    if name == "GaussianNB":
        other.fit(X, y)
    same_attributes(mine, other)
    same_answers(mine, other, X)


@pytest.mark.parametrize("name", ["GaussianNB", *DISCRETE])
def test_frames_and_names_of_classes_equal_scikit_learn(name):
    X, y = DATA["iris"]
    frame = pd.DataFrame(X if name == "GaussianNB" else whole(X), columns=list("abcd"))
    compare(name, frame, np.array(["setosa", "versicolor", "virginica"])[y])


def test_models_work_in_a_grid_search():
    X, y = DATA["iris"]
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2], "tie": [None, "class"]})
    assert search.fit(X, y).best_score_ > 0.9


# ---- scikit-learn's own checks of every estimator


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@parametrize_with_checks(
    [BernoulliNB(), CategoricalNB(), ComplementNB(), GaussianNB(), MultinomialNB(), PoissonNB()]
)
def test_scikit_learns_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@parametrize_with_checks(
    [
        MultinomialNB(estimate="predictive"),
        PoissonNB(estimate="predictive"),
    ]
)
def test_scikit_learns_estimator_checks_pass_with_parameters_integrated_out(estimator, check):
    check(estimator)
