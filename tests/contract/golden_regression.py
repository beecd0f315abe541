"""Linear, Bayesian and logistic regression: every parameter that changes what they find."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import golden_data as data
from golden_values import answers, explanations, fields_of, fitted, value_or_refusal
from suffice import (
    BayesianLinearRegression,
    LinearRegression,
    LogisticRegression,
    MultivariateNormal,
)

FULL = MultivariateNormal([0.5, 0.0, 2.0, 0.0], np.eye(4) + 0.3)
NAMED = MultivariateNormal.from_diagonal(np.zeros(4), [1.0, 2.0, 16.0, 1.0], names=list("abcd"))
LOW_RANK = MultivariateNormal.from_low_rank(np.zeros(4), [[1.0], [0.0], [2.0], [0.5]], np.ones(4))
SCALES = [0.5, 1.0, 5.0, 0.2]
BAYESIAN = {
    "evidence": {},
    "prior_scale=0.3": {"prior_scale": 0.3},
    "prior_scale a column": {"prior_scale": SCALES},
    "prior_scale=inf": {"prior_scale": np.inf},
    "prior full": {"prior": FULL},
    "prior full evidence": {"prior": FULL, "prior_scale": "evidence"},
    "prior diagonal prior_scale=2": {"prior": NAMED, "prior_scale": 2.0},
    "prior low rank": {"prior": LOW_RANK},
    "noise_variance": {"noise_variance": 0.5},
    "noise_variance prior_scale=0.3": {"noise_variance": 0.5, "prior_scale": 0.3},
    "noise_variance flat": {"noise_variance": 0.5, "prior_scale": np.inf},
    "noise_variance prior full": {"noise_variance": 0.5, "prior": FULL, "prior_scale": 1.0},
    "noise prior": {"noise_shape": 3.0, "noise_scale": 2.0},
    "no intercept": {"fit_intercept": False},
    "no intercept prior_scale=1": {"fit_intercept": False, "prior_scale": 1.0},
    "not standardized": {"standardize": False},
    "not standardized prior_scale=1": {"standardize": False, "prior_scale": 1.0},
}
LINEAR = {
    "least squares": {},
    "no intercept": {"fit_intercept": False},
    "positive": {"positive": True},
    "positive no intercept": {"positive": True, "fit_intercept": False},
}
TIGHT = {"tol": 1e-11, "max_iter": 20_000}
LOGISTIC = {
    **{
        f"solver={solver}": {"solver": solver, **TIGHT}
        for solver in ("newton", "lbfgs", "newton-cholesky", "newton-cg", "sag", "saga")
    },
    "solver=gradient": {"solver": "gradient", "step_size": 0.5, "tol": 1e-11, "max_iter": 20_000},
    "solver=gradient step_size=0.1 200 steps": {
        "solver": "gradient",
        "step_size": 0.1,
        "max_iter": 200,
        "tol": 1e-11,
    },
    "C=0.01": {"C": 0.01, **TIGHT},
    "C=100": {"C": 100.0, **TIGHT},
    "C=inf": {"C": np.inf, **TIGHT},
    "C=inf lbfgs": {"C": np.inf, "solver": "lbfgs", **TIGHT},
    "no penalty": {"penalty": None, **TIGHT},
    "penalty=l2": {"penalty": "l2", **TIGHT},
    "no intercept": {"fit_intercept": False, **TIGHT},
    "class_weight=balanced": {"class_weight": "balanced", **TIGHT},
    "weights=reference": {"weights": "reference", **TIGHT},
    "weights=reference C=inf": {"weights": "reference", "C": np.inf, **TIGHT},
    "weights=reference lbfgs": {"weights": "reference", "solver": "lbfgs", **TIGHT},
    "defaults": {},
}
SUMMARY = ("terms", "targets", "estimate", "sd", "lower", "upper", "level")


def standard(rows):
    """Return rows in units of the learned columns' standard deviations."""
    return (rows - data.NUMBERS.mean(axis=0)) / data.NUMBERS.std(axis=0)


ROWS, NEW = standard(data.NUMBERS), standard(data.NEW_WHOLE)


def linear(kind, settings, targets, weights=None, columns=data.COLUMNS):
    """Fit a regression, and return all its results."""
    model = kind(**settings).fit(columns, targets, sample_weight=weights)
    given = {} if weights is None else {"sample_weight": weights}
    found = fitted(model)
    found |= value_or_refusal("predict", lambda: model.predict(data.NEW_COLUMNS))
    found |= value_or_refusal("predict gaps", lambda: model.predict(data.NEW_COLUMNS_MISSING))
    found |= value_or_refusal(
        "predict std", lambda: model.predict(data.NEW_COLUMNS, return_std=True)
    )
    found |= value_or_refusal(
        "predict std gaps", lambda: model.predict(data.NEW_COLUMNS_MISSING, return_std=True)
    )
    found |= value_or_refusal("interval", lambda: model.interval(data.NEW_COLUMNS, 0.9))
    found |= value_or_refusal("summary", lambda: fields_of(model.summary(), *SUMMARY))
    found |= value_or_refusal(
        "summary 0.5", lambda: fields_of(model.summary(0.5), "lower", "upper")
    )
    found |= value_or_refusal("score", lambda: model.score(columns[:20], targets[:20]))
    found |= value_or_refusal(
        "leave_one_out",
        lambda: fields_of(
            model.leave_one_out(columns, targets, **given),
            *("predictions", "residuals", "log_density", "leverage"),
            *("root_mean_square", "mean_log_density"),
        ),
    )
    found |= value_or_refusal(
        "cross_validate",
        lambda: fields_of(
            model.cross_validate(columns, targets, 4),
            *("squared_error", "log_density", "fold_weights", "mean_squared_error"),
        ),
    )
    return found


def tried(kind, **settings):
    """Try settings by cross-validation, rows in groups."""
    groups = np.arange(80) % 11
    found = kind().cross_validate(data.COLUMNS, data.TARGET, 5, groups=groups, **settings)
    return {
        "squared_error": found.squared_error,
        "log_density": found.log_density,
        "best": str(found.best),
    }


def logistic(settings, labels=data.LABELS, rows=ROWS, new=NEW, weights=None, given=None):
    """Fit a logistic regression, and return all its results."""
    model = LogisticRegression(**settings).fit(rows, labels, sample_weight=weights)
    return answers_of(model, new, rows, labels)


def answers_of(model, new, rows, labels):
    """Return all results of a logistic regression."""
    found = answers(model, new) | fitted(model) | explanations(model, new[:1])
    found |= value_or_refusal("interval", lambda: model.interval(0.9))
    found |= value_or_refusal("summary", lambda: fields_of(model.summary(), *SUMMARY))
    return found | value_or_refusal("score", lambda: model.score(rows, labels))


def warm_start():
    """Fit twice, the second time from the weights of the first, for a few steps of the gradient."""
    model = LogisticRegression(solver="gradient", warm_start=True, max_iter=30, tol=1e-11)
    model.fit(ROWS, data.LABELS)
    return answers_of(model.fit(ROWS, data.LABELS), NEW, ROWS, data.LABELS)


def given_weights(coef, intercept, classes):
    """Make a model from given weights."""
    model = LogisticRegression.from_weights(np.array(coef), np.array(intercept), classes)
    return answers_of(model, NEW, ROWS, np.resize(classes, len(ROWS)))


def cases():
    """Return all cases of regression by name."""
    found = {}
    incomplete = np.where(np.arange(80)[:, None] % 9 == np.arange(4), np.nan, data.COLUMNS)
    repeated = np.hstack([data.COLUMNS[:, :2], data.COLUMNS[:, :1], data.COLUMNS[:, 3:]])
    for kind, all_settings in ((LinearRegression, LINEAR), (BayesianLinearRegression, BAYESIAN)):
        name = kind.__name__
        for setting, given in all_settings.items():
            for targets_told, targets in (("", data.TARGET), (" two targets", data.TARGETS)):
                found[f"{name} {setting}{targets_told}"] = (
                    lambda kind=kind, given=given, targets=targets: linear(kind, given, targets)
                )
            found[f"{name} {setting} weights"] = lambda kind=kind, given=given: linear(
                kind, given, data.TARGET, data.REPEATS
            )
        found[f"{name} gaps"] = lambda kind=kind: linear(kind, {}, data.TARGET, None, incomplete)
        found[f"{name} repeated column"] = lambda kind=kind: linear(
            kind, {}, data.TARGET, None, repeated
        )
    found["LinearRegression cross_validate"] = lambda: tried(
        LinearRegression, fit_intercept=[True, False]
    )
    found["BayesianLinearRegression cross_validate"] = lambda: tried(
        BayesianLinearRegression, prior_scale=["evidence", 0.1, np.inf]
    )
    for setting, given in LOGISTIC.items():
        found[f"LogisticRegression {setting}"] = lambda given=given: logistic(given)
        found[f"LogisticRegression {setting} two classes"] = lambda given=given: logistic(
            given, data.TWO
        )
    by_class = {"class_weight": {"ant": 1.0, "bee": 2.0, "cow": 0.5}, **TIGHT}
    found["LogisticRegression class_weight given"] = lambda: logistic(by_class)
    found["LogisticRegression weights"] = lambda: logistic(TIGHT, weights=data.WEIGHTS)
    found["LogisticRegression sparse"] = lambda: logistic(
        TIGHT, data.LABELS, sparse.csr_matrix(ROWS), sparse.csr_matrix(NEW)
    )
    found["LogisticRegression sparse lbfgs"] = lambda: logistic(
        {"solver": "lbfgs", **TIGHT}, data.TWO, sparse.csr_matrix(ROWS), sparse.csr_matrix(NEW)
    )
    found["LogisticRegression warm_start"] = warm_start
    found["LogisticRegression separated"] = lambda: logistic(
        {"C": np.inf}, np.where(ROWS[:, 0] > 0, "right", "left")
    )
    found["LogisticRegression from_weights three classes"] = lambda: given_weights(
        [[1.0, 0.0, -1.0], [0.5, 0.5, 0.5], [0.0, 0.1, 0.2]], [0.0, 0.1, -0.1], list("abc")
    )
    found["LogisticRegression from_weights two classes"] = lambda: given_weights(
        [[1.0, -2.0, 0.5]], [0.3], list("ab")
    )
    return found
