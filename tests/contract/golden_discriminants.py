"""Discriminant analysis: every covariance, prior, solver and shrinkage."""

from __future__ import annotations

import numpy as np
from sklearn.covariance import OAS

import golden_data as data
from golden_values import classifier, cross_validation, leave_one_out
from suffice import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    NormalInverseGamma,
    NormalInverseWishart,
    QuadraticDiscriminantAnalysis,
)

COVARIANCES = ("tied", "full", "diagonal", "tied_diagonal", "spherical", "low_rank")
TIGHT = {"tol": 1e-13, "max_iter": 2000}
CENTRE, SCALE = [5.0, 100.0, 0.0], np.diag([1.0, 100.0, 0.01])
WISHART = NormalInverseWishart(CENTRE, 1.0, 5.0, SCALE)
NIG = NormalInverseGamma(CENTRE, 1.0, 2.0, np.diag(SCALE))
PRIORS = [0.2, 0.3, 0.5]
GAUSSIAN = {
    **{
        f"{covariance} {estimate}": {"covariance": covariance, "estimate": estimate}
        for covariance in COVARIANCES
        for estimate in ("mle", "map", "predictive")
        if (covariance, estimate) != ("low_rank", "predictive")
    },
    **{
        f"{covariance} prior given {estimate}": {
            "covariance": covariance,
            "prior": WISHART if covariance in ("tied", "full") else NIG,
            "estimate": estimate,
        }
        for covariance in ("tied", "full", "diagonal", "tied_diagonal")
        for estimate in ("map", "predictive")
    },
    "low_rank rank=2": {"covariance": "low_rank", "estimate": "mle", "rank": 2},
    "low_rank rank=1 map": {"covariance": "low_rank", "estimate": "map", "rank": 1},
    **{
        f"{covariance} shrinkage={shrinkage}": {
            "covariance": covariance,
            "estimate": "mle",
            "shrinkage": shrinkage,
        }
        for covariance in ("tied", "full")
        for shrinkage in (0.0, 0.3, "auto")
    },
    "low_rank shrinkage=0.3": {
        "covariance": "low_rank",
        "estimate": "mle",
        "shrinkage": 0.3,
        "rank": 1,
    },
    "priors": {"priors": PRIORS},
    **{
        f"calibrate=folds {covariance}": {"covariance": covariance, "calibrate": "folds"}
        for covariance in ("tied", "full", "diagonal")
    },
    "calibrate=loo mle": {"estimate": "mle", "calibrate": "loo"},
}
LINEAR = {
    **{f"solver={solver}": {"solver": solver} for solver in ("svd", "lsqr", "eigen")},
    **{
        f"solver={solver} shrinkage={shrinkage}": {"solver": solver, "shrinkage": shrinkage}
        for solver in ("lsqr", "eigen")
        for shrinkage in (0.0, 0.4, "auto")
    },
    "priors": {"priors": PRIORS},
    "n_components=1": {"n_components": 1},
    "store_covariance": {"store_covariance": True},
    "covariance_estimator": {"solver": "lsqr", "covariance_estimator": OAS()},
    "calibrate=folds": {"calibrate": "folds"},
    "calibrate=folds eigen shrinkage": {
        "calibrate": "folds",
        "solver": "eigen",
        "shrinkage": 0.4,
    },
}
QUADRATIC = {
    **{f"solver={solver}": {"solver": solver} for solver in ("svd", "eigen")},
    **{
        f"solver=eigen shrinkage={shrinkage}": {"solver": "eigen", "shrinkage": shrinkage}
        for shrinkage in (0.0, 0.4, "auto")
    },
    "reg_param=0.2": {"reg_param": 0.2},
    "priors": {"priors": PRIORS},
    "store_covariance": {"store_covariance": True},
    "covariance_estimator": {"solver": "eigen", "covariance_estimator": OAS()},
    "calibrate=folds": {"calibrate": "folds"},
    "calibrate=folds reg_param=0.2": {"calibrate": "folds", "reg_param": 0.2},
}
SETTINGS = {
    GaussianDiscriminant: GAUSSIAN,
    LinearDiscriminantAnalysis: LINEAR,
    QuadraticDiscriminantAnalysis: QUADRATIC,
}


def made(kind, settings):
    """Return a model, with EM to its end where it can be set."""
    return kind(**settings, **(TIGHT if kind is GaussianDiscriminant else {}))


def plain(kind, settings):
    """Fit a model to rows without missing values, and return all its results."""
    model = made(kind, settings).fit(data.NUMBERS, data.LABELS)
    return classifier(
        model,
        data.NUMBERS,
        data.LABELS,
        data.NEW,
        whole=data.NEW_WHOLE,
        # Without closed form, a row left out is a refit: one such case is enough.
        leave=settings.get("covariance") != "low_rank" or settings.get("rank") == 2,
        validate=("calibrate" in settings or "estimate" not in settings)
        and "covariance_estimator" not in settings,
    )


def weighted(kind, settings, rows):
    """Fit a model to weighted rows, with or without missing values."""
    model = made(kind, settings).fit(rows, data.LABELS, sample_weight=data.WEIGHTS)
    # Without each row, EM would run to its end once more.
    leave = rows is data.NUMBERS or settings.get("covariance") in ("diagonal", "spherical")
    return classifier(
        model, rows, data.LABELS, data.NEW, weights=data.WEIGHTS, validate=False, leave=leave
    )


def leave_out_with_missing(kind, settings):
    """Leave out each of a few rows with missing values."""
    rows, labels = data.MISSING[:15], data.LABELS[:15]
    return leave_one_out(made(kind, settings).fit(rows, labels), rows, labels)


def nearly_singular(kind, settings, tol):
    """Fit a model to a column that repeats two others but for a little noise."""
    rng = np.random.default_rng(11)
    sums = (
        data.NUMBERS[:, [0]]
        + data.NUMBERS[:, [2]]
        + 1e-3 * rng.normal(size=(data.ROWS, 1)).round(4)
    )
    rows = np.hstack([data.NUMBERS, sums])
    new = np.hstack([data.NEW_WHOLE, data.NEW_WHOLE[:, [0]] + data.NEW_WHOLE[:, [2]]])
    model = kind(**settings, tol=tol).fit(rows, data.LABELS)
    return classifier(model, rows, data.LABELS, new, validate=False)


def grouped(kind):
    """Fit a calibrated model to rows in groups."""
    model = made(kind, {"calibrate": "folds"})
    model.fit(data.NUMBERS, data.LABELS, groups=data.GROUPS)
    return classifier(model, data.NUMBERS, data.LABELS, data.NEW, validate=False)


def two_classes(kind):
    """Fit a model to two classes."""
    model = made(kind, {}).fit(data.NUMBERS, data.TWO)
    return classifier(model, data.NUMBERS, data.TWO, data.NEW, whole=data.NEW_WHOLE)


def tried(kind, **settings):
    """Try settings by cross-validation."""
    return cross_validation(made(kind, {}), data.NUMBERS, data.LABELS, 4, **settings)


def cases():
    """Return all cases of discriminant analysis by name."""
    found = {}
    for kind, all_settings in SETTINGS.items():
        name = kind.__name__
        for setting, settings in all_settings.items():
            found[f"{name} {setting}"] = lambda kind=kind, settings=settings: plain(kind, settings)
        for setting in [t for t in all_settings if t in WEIGHTED]:
            settings = all_settings[setting]
            for rows_name, rows in (("weights", data.NUMBERS), ("gaps weights", data.MISSING)):
                found[f"{name} {setting} {rows_name}"] = (
                    lambda kind=kind, settings=settings, rows=rows: weighted(kind, settings, rows)
                )
        found[f"{name} groups"] = lambda kind=kind: grouped(kind)
        found[f"{name} two classes"] = lambda kind=kind: two_classes(kind)
    for tol in (1e-2, 1e-8):
        found[f"LinearDiscriminantAnalysis nearly singular tol={tol}"] = lambda tol=tol: (
            nearly_singular(LinearDiscriminantAnalysis, {}, tol)
        )
        found[f"QuadraticDiscriminantAnalysis nearly singular tol={tol}"] = lambda tol=tol: (
            nearly_singular(QuadraticDiscriminantAnalysis, {"reg_param": 0.1}, tol)
        )
    found["GaussianDiscriminant left out with gaps"] = lambda: leave_out_with_missing(
        GaussianDiscriminant, {"covariance": "tied", "estimate": "map"}
    )
    found["GaussianDiscriminant cross_validate"] = lambda: tried(
        GaussianDiscriminant,
        covariance=["tied", "full", "diagonal"],
        estimate=["map", "predictive"],
    )
    found["LinearDiscriminantAnalysis cross_validate"] = lambda: tried(
        LinearDiscriminantAnalysis, priors=[None, PRIORS]
    )
    found["QuadraticDiscriminantAnalysis cross_validate"] = lambda: tried(
        QuadraticDiscriminantAnalysis, reg_param=[0.0, 0.2, 0.6]
    )
    return found


WEIGHTED = {
    "tied predictive",
    "full predictive",
    "full map",
    "tied mle",
    "full mle",
    "diagonal predictive",
    "spherical map",
    "low_rank mle",
    "solver=svd",
    "solver=eigen",
    "solver=lsqr shrinkage=0.4",
    "reg_param=0.2",
}
