"""Naive Bayes: every estimate, prior, pseudocount, tie and calibration."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import golden_data as data
from golden_values import classifier
from suffice import (
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    Gamma,
    GaussianNB,
    MultinomialNB,
    NormalInverseGamma,
    PoissonNB,
)

PRIORS = [0.2, 0.3, 0.5]
NIG = NormalInverseGamma([5.0, 100.0, 0.0], 1.0, 2.0, [1.0, 100.0, 0.01])
GAUSSIAN = {
    **{f"estimate={kind}": {"estimate": kind} for kind in ("mle", "map", "predictive")},
    **{
        f"tie={tie} {kind}": {"tie": tie, "estimate": kind}
        for tie in ("class", "feature", "both")
        for kind in ("mle", "map", "predictive")
    },
    **{
        f"prior given {kind}": {"prior": NIG, "estimate": kind}
        for kind in ("mle", "map", "predictive")
    },
    "prior given tied": {"prior": NIG, "estimate": "predictive", "tie": "class"},
    "priors": {"priors": PRIORS},
    "var_smoothing=0.1": {"var_smoothing": 0.1},
    "var_smoothing=0": {"var_smoothing": 0.0},
    "calibrate=folds": {"calibrate": "folds"},
    "calibrate=loo": {"calibrate": "loo"},
    "calibrate=folds predictive tied": {
        "calibrate": "folds",
        "estimate": "predictive",
        "tie": "class",
    },
}
DISCRETE = {
    **{f"estimate={kind}": {"estimate": kind} for kind in ("mle", "map", "mean", "predictive")},
    "alpha=0.3": {"alpha": 0.3},
    "alpha=3 map": {"alpha": 3.0, "estimate": "map"},
    "alpha=evidence": {"alpha": "evidence"},
    "alpha=evidence predictive": {"alpha": "evidence", "estimate": "predictive"},
    "alpha=0 forced": {"alpha": 0.0},
    "alpha=0 not forced": {"alpha": 0.0, "force_alpha": False},
    "fit_prior=False": {"fit_prior": False},
    "class_prior": {"class_prior": PRIORS},
    "calibrate=folds": {"calibrate": "folds"},
    "calibrate=loo": {"calibrate": "loo"},
    "calibrate=folds alpha=evidence": {"calibrate": "folds", "alpha": "evidence"},
}
FIVE = [0.5, 1.0, 2.0, 0.3, 0.8]
BY_CLASS = [FIVE, [1.0] * 5, [0.2] * 5]
OWN = {
    BernoulliNB: {
        "binarize=None": {"binarize": None},
        "binarize=1.5": {"binarize": 1.5},
        "alpha a feature": {"alpha": FIVE},
        "alpha a class and feature": {"alpha": BY_CLASS},
        "alpha=Beta": {"alpha": Beta(1.0, 3.0)},
        "alpha=Beta map": {"alpha": Beta(2.0, 3.0), "estimate": "map"},
    },
    MultinomialNB: {
        "alpha a feature": {"alpha": FIVE},
        "alpha a class and feature": {"alpha": BY_CLASS},
        "alpha=Dirichlet": {"alpha": Dirichlet(FIVE)},
        "alpha=Dirichlet predictive": {"alpha": Dirichlet(FIVE), "estimate": "predictive"},
    },
    ComplementNB: {
        "alpha a feature": {"alpha": FIVE},
        "norm": {"norm": True},
        "norm calibrate=folds": {"norm": True, "calibrate": "folds"},
    },
    CategoricalNB: {
        "min_categories=6": {"min_categories": 6},
        "min_categories a column": {"min_categories": [4, 5, 6]},
        "alpha a feature": {"alpha": [0.5, 1.0, 2.0]},
        "alpha=evidence min_categories=6": {"alpha": "evidence", "min_categories": 6},
    },
    PoissonNB: {
        "prior_rows=0.2": {"prior_rows": 0.2},
        "prior_rows=4 predictive": {"prior_rows": 4.0, "estimate": "predictive"},
        "alpha a feature": {"alpha": FIVE},
        "alpha a class and feature": {"alpha": BY_CLASS},
        "alpha=Gamma": {"alpha": Gamma(1.5, 0.5)},
        "alpha=Gamma predictive": {"alpha": Gamma(1.5, 0.5), "estimate": "predictive"},
    },
}
COUNTED = (data.COUNTS, data.MISSING_COUNTS, data.NEW_COUNTS, data.NEW_COUNTS_WHOLE)
TABLES = {
    GaussianNB: (data.NUMBERS, data.MISSING, data.NEW, data.NEW_WHOLE),
    BernoulliNB: COUNTED,
    MultinomialNB: COUNTED,
    ComplementNB: COUNTED,
    PoissonNB: COUNTED,
    CategoricalNB: (data.LEVELS, data.MISSING_LEVELS, data.NEW_LEVELS, data.NEW_LEVELS_WHOLE),
}


def plain(kind, settings, *, validate=False):
    """Fit a model to rows without missing values, and return all its results."""
    rows, _, new, whole = TABLES[kind]
    if settings.get("binarize", 0) is None:
        rows, new, whole = rows > 0, np.where(np.isnan(new), new, new > 0), whole > 0
    model = kind(**settings).fit(rows, data.LABELS)
    return classifier(model, rows, data.LABELS, new, whole=whole, validate=validate)


def missing_values(kind, settings):
    """Fit a model to weighted rows with missing values."""
    _, rows, new, _ = TABLES[kind]
    model = kind(**settings).fit(rows, data.LABELS, sample_weight=data.WEIGHTS)
    return classifier(model, rows, data.LABELS, new, weights=data.WEIGHTS, validate=False)


def grouped(kind):
    """Fit a calibrated model to rows that come in groups."""
    rows, _, new, _ = TABLES[kind]
    model = kind(calibrate="folds").fit(rows, data.LABELS, groups=data.GROUPS)
    return classifier(model, rows, data.LABELS, new, validate=False)


def of_sparse(kind):
    """Fit a model to a sparse matrix, and predict one."""
    rows, _, _, whole = TABLES[kind]
    rows, whole = sparse.csr_matrix(rows), sparse.csr_matrix(whole)
    model = kind().fit(rows, data.TWO)
    return classifier(model, rows, data.TWO, whole)


def validated_settings(kind, **settings):
    """Try settings by cross-validation."""
    rows = TABLES[kind][0]
    found = kind().cross_validate(rows, data.LABELS, 4, **settings)
    by_group = kind().cross_validate(rows, data.LABELS, 3, groups=data.GROUPS)
    given = kind().cross_validate(rows, data.LABELS, np.arange(data.ROWS) % 4)
    return {
        "log_loss": found.log_loss,
        "accuracy": found.accuracy,
        "calibration_error": found.calibration_error,
        "best": str(found.best),
        "by group": by_group.log_loss,
        "by given folds": given.log_loss,
        "in runs": kind().cross_validate(rows, data.LABELS, 4, shuffle=False).log_loss,
        "other shuffle": kind().cross_validate(rows, data.LABELS, 4, random_state=7).log_loss,
    }


def cases():
    """Return all cases of naive Bayes by name."""
    found = {}
    for kind in TABLES:
        settings = GAUSSIAN if kind is GaussianNB else DISCRETE | OWN[kind]
        if kind is ComplementNB:
            # A rule, not a model of rows: it has no predictive.
            settings = {k: v for k, v in settings.items() if "predictive" not in k}
        name = kind.__name__
        validate = ("estimate=predictive", "calibrate=folds", "alpha=evidence")
        for setting, given in settings.items():
            found[f"{name} {setting}"] = lambda kind=kind, given=given, on=setting in validate: (
                plain(kind, given, validate=on)
            )
            if setting.startswith(("estimate=", "alpha=evidence", "calibrate=folds", "tie=class")):
                found[f"{name} {setting} gaps weights"] = lambda kind=kind, given=given: (
                    missing_values(kind, given)
                )
        found[f"{name} groups"] = lambda kind=kind: grouped(kind)
        if kind is not CategoricalNB:
            found[f"{name} sparse two classes"] = lambda kind=kind: of_sparse(kind)
        tried = (
            {"estimate": ["mle", "predictive"], "tie": [None, "class"]}
            if kind is GaussianNB
            else {"alpha": [0.1, 1.0, "evidence"], "fit_prior": [True, False]}
        )
        found[f"{name} cross_validate"] = lambda kind=kind, tried=tried: validated_settings(
            kind, **tried
        )
    return found
