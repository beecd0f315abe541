"""Cross-validation on tallies: the scores of refits on each training set, from one pass."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
)

from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)
from suffice.errors import InputError

IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)
DIGITS = tuple(part[:300] for part in load_digits(return_X_y=True))

MODELS = [
    (GaussianNB(), IRIS),
    (GaussianNB(estimate="predictive", tie="class"), WINE),
    (BernoulliNB(binarize=8.0), DIGITS),
    (MultinomialNB(), DIGITS),
    (MultinomialNB(estimate="predictive"), DIGITS),
    (ComplementNB(), DIGITS),
    (CategoricalNB(), DIGITS),
    (PoissonNB(), DIGITS),
    (LinearDiscriminantAnalysis(), IRIS),
    (QuadraticDiscriminantAnalysis(), IRIS),
    (GaussianDiscriminant("full"), IRIS),
    (GaussianDiscriminant("spherical"), IRIS),
]


def shuffled(folds):
    return StratifiedKFold(folds, shuffle=True, random_state=0)


def brute_force(model, X, y, splits, sample_weight=None):
    """Return log-loss and accuracy of refits, fold by fold."""
    losses, right = [], []
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
    for train, test in splits:
        model.fit(X[train], y[train], weights[train])
        log_proba = model.predict_log_proba(X[test])
        own = log_proba[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]
        losses.append(np.average(-own, weights=weights[test]))
        right.append(np.average(model.predict(X[test]) == y[test], weights=weights[test]))
    return np.array(losses), np.array(right)


@pytest.mark.parametrize(
    ("model", "data"), MODELS, ids=lambda thing: getattr(thing, "covariance", type(thing).__name__)
)
def test_scores_are_those_of_refits_on_every_training_set(model, data):
    X, y = data
    found = model.cross_validate(X, y, 4)
    losses, right = brute_force(model, X, y, list(shuffled(4).split(X, y)))
    np.testing.assert_allclose(found.log_loss[0], losses, rtol=1e-8)
    np.testing.assert_allclose(found.accuracy[0], right, rtol=1e-12)


def test_weights_count_in_learning_and_in_scores():
    X, y = IRIS
    weights = np.random.default_rng(0).integers(1, 5, len(y)) / 2
    found = GaussianNB().cross_validate(X, y, 3, sample_weight=weights)
    losses, right = brute_force(
        GaussianNB(), X, y, list(shuffled(3).split(X, y)), sample_weight=weights
    )
    np.testing.assert_allclose(found.log_loss[0], losses, rtol=1e-9)
    np.testing.assert_allclose(found.accuracy[0], right, rtol=1e-12)
    assert found.fold_weights.sum() == pytest.approx(weights.sum())


def mean_log_proba(model, X, y):
    """Score by log-probabilities as they are: scikit-learn's own log-loss clips them."""
    at = np.arange(len(y)), np.searchsorted(model.classes_, y)
    return model.predict_log_proba(X)[at].mean()


def test_a_grid_finds_what_a_grid_search_finds():
    X, y = DIGITS
    grid = {"alpha": [0.01, 0.1, 1.0, 10.0], "binarize": [0.0, 4.0, 8.0]}
    found = BernoulliNB().cross_validate(X, y, 5, **grid)
    search = GridSearchCV(BernoulliNB(), grid, cv=shuffled(5), scoring=mean_log_proba).fit(X, y)
    assert found.best == search.best_params_
    assert list(found.settings) == search.cv_results_["params"]
    theirs = -search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found.log_loss.mean(axis=1), theirs, rtol=1e-9)


@pytest.fixture
def counted(monkeypatch):
    """Return how many rows were counted, call by call."""
    calls = []
    for model in (GaussianNB(), BernoulliNB()):
        counter = type(model.fit(*IRIS)._fitted.counter)
        real = counter.count
        monkeypatch.setattr(
            counter,
            "count",
            lambda self, rows, real=real: (calls.append(len(rows.codes)), real(self, rows))[1],
        )
    return calls


def test_the_rows_are_counted_once_however_many_settings_are_tried(counted):
    GaussianNB().cross_validate(*IRIS, 5, var_smoothing=[1e-9, 1e-3], tie=[None, "class", "both"])
    assert counted == [150]


def test_settings_that_change_what_is_counted_are_counted_once_for_each_value(counted):
    BernoulliNB().cross_validate(*DIGITS, 5, alpha=[0.1, 1.0, 2.0], binarize=[0.0, 8.0])
    assert counted == [300, 300]


def test_covariances_that_need_other_tallies_are_tried_side_by_side():
    kinds = ["tied", "full", "diagonal", "spherical"]
    found = GaussianDiscriminant().cross_validate(*IRIS, 5, covariance=kinds)
    for setting, losses in zip(found.settings, found.log_loss, strict=True):
        alone = GaussianDiscriminant(**setting).cross_validate(*IRIS, 5)
        np.testing.assert_allclose(losses, alone.log_loss[0], rtol=1e-12)


def test_the_model_itself_stays_as_it_was():
    fitted = GaussianNB().fit(*IRIS)
    before = dict(vars(fitted))
    fitted.cross_validate(*WINE, 3)
    assert vars(fitted) == before
    fresh = GaussianNB()
    fresh.cross_validate(*IRIS, 3)
    assert not hasattr(fresh, "tally_")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::suffice.errors.ImpossibleRowWarning")
@pytest.mark.parametrize("kind", ["dense", "sparse", "sparse fractions", "sparse booleans"])
@pytest.mark.parametrize("alphas", [(1e-3, 0.1, 7.5), ("evidence", 1.0), (0.0, 1.0)], ids=str)
def test_many_pseudocounts_at_once_give_what_refits_with_each_give(kind, alphas):
    X, y = DIGITS
    X = {"sparse fractions": X / 7.0, "sparse booleans": X > 8}.get(kind, X)
    rows = X if kind == "dense" else sp.csr_matrix(X)
    splits = list(StratifiedKFold(5).split(X, y))
    for settings in ({}, {"fit_prior": False}, {"class_prior": np.arange(1, 11) / 55}):
        together = MultinomialNB(**settings).cross_validate(
            rows, y, StratifiedKFold(5), alpha=list(alphas)
        )
        for at, alpha in enumerate(alphas):
            refit = MultinomialNB(alpha=alpha, **settings)
            losses, right = brute_force(refit, X, y, splits)
            np.testing.assert_allclose(together.log_loss[at], losses, rtol=1e-9)
            np.testing.assert_allclose(together.accuracy[at], right, rtol=1e-12)
            alone = refit.cross_validate(X, y, StratifiedKFold(5))
            errors = alone.calibration_error[0]
            np.testing.assert_allclose(together.calibration_error[at], errors, atol=1e-12)


def test_a_class_that_only_one_fold_holds_is_never_predicted():
    X, y = IRIS[0].copy(), IRIS[1].copy()
    y[:2] = 7
    folds = np.arange(150) % 3
    folds[:2] = 0
    for model, rows in ((GaussianNB(), X), (MultinomialNB(), sp.csr_matrix(np.round(X)))):
        found = model.cross_validate(rows, y, folds)
        assert found.log_loss[0, 0] == np.inf
        assert np.isfinite(found.log_loss[0, 1:]).all()


# ---- folds


def drifting(size=400):
    """Return times in order, labels, and numbers that drift with time as much as classes differ."""
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(0, 1, size))
    y = rng.integers(0, 2, size)
    return times, y, 2 * times[:, None] + y[:, None] + rng.normal(scale=0.5, size=(size, 2))


TIMES, LABELS, NUMBERS = drifting()
EVENTS = np.random.default_rng(1).poisson(np.exp(NUMBERS))
DOCUMENTS = np.array(
    [
        " ".join([f"month{int(12 * t)}", "ab"[label], f"{'ab'[label]}{int(12 * t)}"])
        for t, label in zip(TIMES, LABELS, strict=True)
    ],
    object,
)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (GaussianNB(), NUMBERS),
        (PoissonNB(), EVENTS),
        (GaussianDiscriminant(), NUMBERS),
        (GenerativeClassifier(combine="naive"), NUMBERS),
        (TextClassifier(calibrate=None), DOCUMENTS),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_sorted_rows_are_shuffled_into_folds_as_good_as_any(model, rows):
    mixed = np.random.default_rng(1).permutation(len(LABELS))
    in_order = model.cross_validate(rows, LABELS).mean_log_loss[0]
    at_random = model.cross_validate(rows[mixed], LABELS[mixed]).mean_log_loss[0]
    runs = model.cross_validate(rows, LABELS, shuffle=False).mean_log_loss[0]
    assert in_order == pytest.approx(at_random, rel=0.1)
    assert runs > 1.2 * in_order


def test_folds_that_were_given_are_not_shuffled():
    X, y = IRIS
    given = np.arange(len(y)) % 3
    found = GaussianNB().cross_validate(X, y, given, random_state=5)
    splits = [(np.flatnonzero(given != fold), np.flatnonzero(given == fold)) for fold in range(3)]
    losses, _ = brute_force(GaussianNB(), X, y, splits)
    np.testing.assert_allclose(found.log_loss[0], losses, rtol=1e-9)


@pytest.mark.parametrize(
    "splitter",
    [KFold(4, shuffle=True, random_state=0), GroupKFold(3), LeaveOneGroupOut()],
    ids=lambda s: type(s).__name__,
)
def test_scikit_learns_splitters_cut_as_they_do_there(splitter):
    X, y = IRIS
    groups = None if isinstance(splitter, KFold) else np.arange(150) % 6
    found = GaussianNB().cross_validate(X, y, splitter, groups=groups)
    losses, right = brute_force(GaussianNB(), X, y, list(splitter.split(X, y, groups)))
    np.testing.assert_allclose(found.log_loss[0], losses, rtol=1e-9)
    np.testing.assert_allclose(found.accuracy[0], right)


def test_rows_that_no_split_leaves_out_are_always_learned():
    X, y = IRIS
    split = ShuffleSplit(1, test_size=0.3, random_state=0)
    found = GaussianNB().cross_validate(X, y, split)
    losses, _ = brute_force(GaussianNB(), X, y, list(split.split(X, y)))
    np.testing.assert_allclose(found.log_loss[0], losses, rtol=1e-9)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (1, "1 folds of 150 rows"),
        (60, "no class has more than 50 rows"),
        ([0, 1], r"folds of shape \(2,\) for 150 rows"),
        (ShuffleSplit(4, test_size=0.5, random_state=0), "left out by two splits"),
    ],
)
def test_folds_that_cannot_be_are_refused(folds, message):
    with pytest.raises(InputError, match=message):
        GaussianNB().cross_validate(*IRIS, folds)


# ---- the result


def test_the_result_prints_the_best_setting_first_and_gives_its_columns():
    found = GaussianNB().cross_validate(*WINE, 5, var_smoothing=[1e-9, 1e-2])
    lines = str(found).splitlines()
    assert f"var_smoothing={found.best['var_smoothing']!r}" in lines[1]
    columns = found.to_dict()
    assert columns["var_smoothing"] == [1e-9, 1e-2]
    assert len(columns["log_loss"]) == len(columns["accuracy"]) == 2


def test_calibration_error_is_that_of_ten_bins():
    X, y = DIGITS
    found = GaussianNB().cross_validate(X, y, 2)
    train, test = next(shuffled(2).split(X, y))
    model = GaussianNB().fit(X[train], y[train])
    proba = model.predict_proba(X[test])
    sure, right = proba.max(axis=1), model.predict(X[test]) == y[test]
    error = 0.0
    for low in np.arange(10) / 10:
        mine = (sure >= low) & ((sure < low + 0.1) | (low == 0.9))
        if mine.any():
            error += mine.mean() * abs(sure[mine].mean() - right[mine].mean())
    assert found.calibration_error[0, 0] == pytest.approx(error, rel=1e-9)


def test_log_loss_is_not_clipped_as_scikit_learns_is():
    X, y = DIGITS
    found = GaussianNB().cross_validate(X, y, 2)
    train, test = next(shuffled(2).split(X, y))
    model = GaussianNB().fit(X[train], y[train])
    clipped = log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_)
    assert found.log_loss[0, 0] > clipped
