"""Regressions that are interrupted, or asked while they learn: the old model or the new, whole."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fitted_values import PassThrough, assert_read_whole, assert_unchanged_at_any_line, files_of
from suffice import BayesianLinearRegression, LinearRegression, LogisticRegression, Polynomial
from suffice.lab import SelectFeatures
from suffice.linear_model import logistic, regressor

RNG = np.random.default_rng(5)
X = pd.DataFrame(RNG.normal(size=(30, 3)), columns=["a", "b", "c"])
Y = X.to_numpy() @ [1.0, -2.0, 0.5] + RNG.normal(size=30)
LABELS = np.where(RNG.normal(size=30) + Y > 0, "yes", "no")
FILES = files_of("linear_model", "estimators")
REGRESSIONS = {
    "LinearRegression": LinearRegression(),
    "BayesianLinearRegression": BayesianLinearRegression(),
    "BayesianLinearRegression of known noise": BayesianLinearRegression(noise_variance=1.0),
}
CHANGES = {
    "fit": lambda model: model.fit(X[:20], Y[:20]),
    "partial_fit": lambda model: model.partial_fit(X[20:], Y[20:]),
    "forget": lambda model: model.forget(X[:5], Y[:5]),
    "merge": lambda model: model.merge(clone(model).fit(X[20:], Y[20:])),
}


@pytest.fixture(autouse=True)
def _pass_through(monkeypatch):
    for module in (regressor, logistic):
        monkeypatch.setattr(module, "one_blas_thread", PassThrough())


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("model", REGRESSIONS.values(), ids=REGRESSIONS)
def test_a_regression_that_is_interrupted_at_any_line_is_as_it_was(model, change):
    assert_unchanged_at_any_line(clone(model).fit(X[:20], Y[:20]), change, FILES)


@pytest.mark.parametrize("change", [CHANGES["fit"], CHANGES["partial_fit"]], ids=["fit", "partial"])
@pytest.mark.parametrize("model", REGRESSIONS.values(), ids=REGRESSIONS)
def test_a_first_fit_that_is_interrupted_at_any_line_leaves_no_trace(model, change):
    assert_unchanged_at_any_line(clone(model), change, FILES)


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_logistic_regression_that_is_interrupted_at_any_line_is_as_it_was(warm_start):
    model = LogisticRegression(warm_start=warm_start).fit(X[:20], LABELS[:20])
    assert_unchanged_at_any_line(model, lambda model: model.fit(X, LABELS), FILES)


def test_a_call_that_fails_changes_nothing():
    model = LinearRegression().fit(X, Y)
    before = dict(vars(model))
    for act in (
        lambda: model.fit(X, Y[:-1]),
        lambda: model.partial_fit(X[["a"]], Y),
        lambda: model.forget(X + 9.0, Y),
        lambda: model.merge(LinearRegression().fit(X[["a", "b"]], Y)),
    ):
        with pytest.raises(ValueError, match=r"."):
            act()
        assert vars(model) == before


def learn_part(model, part):
    model.fit(X[part], Y[part])


PARTS = [slice(0, 12), slice(9, 30)]


@pytest.mark.slow
@pytest.mark.parametrize("model", REGRESSIONS.values(), ids=REGRESSIONS)
def test_a_regression_that_learns_is_asked_whole(model):
    def read(model):
        mean, sd = model.predict(X[:4], return_std=True)
        return mean.tobytes(), sd.tobytes(), str(model.summary())[-200:]

    # A summary and a prediction are two questions, between which the model may change.
    assert_read_whole(clone(model), learn_part, lambda model: read(copy.copy(model)), PARTS)


def test_a_logistic_regression_that_learns_is_asked_whole():
    def learn(model, classes):
        model.fit(X, np.asarray(classes)[RANKS % len(classes)])

    # The number of classes changes, so that labels of one model do not go with weights of another.
    states = [["no", "yes"], ["eggs", "ham", "spam"]]
    read = lambda model: tuple(model.predict(X[:5]).tolist())  # noqa: E731
    assert_read_whole(LogisticRegression(), learn, read, states)


RANKS = np.argsort(np.argsort(Y)) // 10


def test_attributes_are_there_once_a_model_is_fitted():
    for model, names in (
        (LinearRegression(), ("coef_", "intercept_", "rank_", "singular_", "tally_")),
        (BayesianLinearRegression(), ("prior_scale_", "noise_variance_", "log_evidence_")),
        (LogisticRegression(), ("classes_", "coef_", "n_iter_", "loss_curve_", "converged_")),
    ):
        names = (*names, "n_features_in_", "feature_names_in_")
        assert not [name for name in names if hasattr(model, name)]
        model.fit(X, LABELS if isinstance(model, LogisticRegression) else Y)
        assert not [name for name in names if not hasattr(model, name)]
        assert not hasattr(model.fit(X.to_numpy(), model.predict(X)), "feature_names_in_")
    for name in ("posterior_", "coef_sd_"):
        with pytest.raises(NotFittedError):
            getattr((LogisticRegression() if name == "coef_sd_" else LinearRegression()), name)


def test_weights_that_were_given_say_nothing_of_a_search():
    model = LogisticRegression.from_weights([[1.0]], [0.0], ["no", "yes"])
    assert not [name for name in ("n_iter_", "loss_curve_", "solver_") if hasattr(model, name)]


@pytest.mark.parametrize("model", [*REGRESSIONS.values(), LogisticRegression()], ids=str)
@pytest.mark.parametrize(
    "make_copy", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies_go_their_own_way(model, make_copy):
    labels = LABELS if isinstance(model, LogisticRegression) else Y
    one = clone(model).fit(X, labels)
    expected = one.predict(X).tolist()
    other = make_copy(one)
    assert other.predict(X).tolist() == expected
    other.fit(X[:15], labels[:15])
    assert one.predict(X).tolist() == expected
    assert not hasattr(clone(one), "coef_")


def test_few_classes_stand_above_an_estimator():
    for estimator in (LinearRegression, BayesianLinearRegression, LogisticRegression, Polynomial):
        ours = [cls for cls in estimator.__mro__ if cls.__module__.startswith("suffice.")]
        assert len(ours) <= 3
    assert len([c for c in SelectFeatures.__mro__ if c.__module__.startswith("suffice.")]) == 2


def test_rows_that_do_not_suffice_yet_are_kept_whole():
    model = BayesianLinearRegression()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(X[:1], Y[:1])
    assert not hasattr(model, "coef_")
    assert model.tally_.weight == 1
    model.partial_fit(X[1:], Y[1:])
    np.testing.assert_allclose(model.coef_, BayesianLinearRegression().fit(X, Y).coef_, rtol=1e-9)
