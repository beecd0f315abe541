"""What the browser needs of classifiers of arrays: naive Bayes, discriminants, logistic ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError
from suffice.families.bernoulli import IndependentBernoullis
from suffice.families.categorical import IndependentCategories
from suffice.families.class_conditional import ClassConditional
from suffice.families.dense_normal import DenseNormals
from suffice.families.linear_discriminant import LinearDiscriminant
from suffice.families.multinomial import Complements, Multinomials
from suffice.families.normal import IndependentNormals
from suffice.families.poisson import IndependentPoissons
from suffice.families.quadratic_discriminant import QuadraticDiscriminant
from suffice.gaussian.covariance import mle, solve, toward_mean_variance
from suffice.generative.fitted import Fitted
from suffice.report.browser_blocks import (
    TypicalCells,
    moments,
    normal_inverse_wishart,
    of_moments,
)
from suffice.report.browser_columns import number_column
from suffice.report.json_numbers import browser_prior, numbers, plain_labels
from suffice.tally.tally import Floats

NO_NOISE = 0.0


def browser_generative(fitted: Fitted, name: str) -> dict[str, Any]:
    """Return a classifier as a table model: a block a column, or one of all columns."""
    model, calibration = fitted.ready_model, fitted.calibration
    names = [str(term) for term in fitted.columns.terms()]
    blocks = _blocks(model.features, names, name)
    weight, offsets, rate = 1.0, np.zeros(len(fitted.classes)), NO_NOISE
    if calibration is not None:
        weight, rate = calibration.inverse_temperature, calibration.noise_rate
        offsets = calibration.offsets
    return {
        "kind": "table",
        "classes": plain_labels(fitted.classes.tolist()),
        "class_prior": browser_prior(model.decision_prior),
        "columns": _columns(model.features, names),
        "blocks": blocks,
        "combination": {
            "method": "naive" if calibration is None else calibration.method,
            "weights": [weight] * len(blocks),
            "prior_weight": weight,
            "offsets": numbers(offsets),
            "noise_rate": rate,
            "residuals": [],
        },
    }


def browser_logistic(model: Any) -> dict[str, Any]:
    """Return a logistic regression as a table model: its block is linear in the columns."""
    weights, bias = np.asarray(model.coef_), np.asarray(model.intercept_)
    if len(weights) == 1:
        weights, bias = np.concatenate([np.zeros_like(weights), weights]), np.append(0.0, bias)
    bias = np.broadcast_to(bias, len(weights))
    names = [str(one) for one in getattr(model, "feature_names_in_", _places(weights.shape[1]))]
    block = {"family": "linear", "columns": names, "coefficients": numbers(weights)}
    return {
        "kind": "table",
        "classes": plain_labels(model.classes_.tolist()),
        # The intercepts are fitted: there is no prior of the classes beside them.
        "class_prior": {"weights": None, "added": None, "given": [1] * len(weights)},
        "columns": [number_column(one) for one in names],
        "blocks": [block],
        "combination": {
            "method": "naive",
            "weights": [1],
            "offsets": numbers(bias),
            "noise_rate": NO_NOISE,
            "residuals": [],
        },
    }


def _columns(features: ClassConditional, names: list[str]) -> list[dict[str, Any]]:
    """Return the columns, with typical numbers where moments are tallied."""
    typical = [TypicalCells()] * len(names)
    if isinstance(features, IndependentNormals):
        typical = of_moments(features.groups.parts)
    elif isinstance(features, DenseNormals):
        typical = of_moments(features.moments.diagonal())
    elif isinstance(features, QuadraticDiscriminant | LinearDiscriminant):
        typical = of_moments(features.found.moments.diagonal())
    return [
        number_column(name, one.typical, one.low, one.high)
        for name, one in zip(names, typical, strict=True)
    ]


def _places(count: int) -> list[str]:
    return [f"x{at}" for at in range(count)]


def _blocks(features: ClassConditional, names: list[str], name: str) -> list[dict[str, Any]]:
    """Return a block for each column, or one for all where rows are counts of words."""
    if isinstance(features, IndependentNormals) and 1 not in features.settings.shared:
        return [_normal(features, at, one) for at, one in enumerate(names)]
    if isinstance(features, IndependentPoissons):
        return [_poisson(features, at, one) for at, one in enumerate(names)]
    if isinstance(features, IndependentBernoullis):
        return [_bernoulli(features, at, one) for at, one in enumerate(names)]
    if isinstance(features, IndependentCategories):
        return [_categorical(features, at, one) for at, one in enumerate(names)]
    if isinstance(features, Multinomials) and not getattr(features, "norm", False):
        alpha = features.smoothing.added(features.smoothing.concentration)
        if np.ndim(alpha) == 0:
            return [_counts(features, float(alpha), names)]
    block = _discriminant(features, names)
    if block is not None:
        return [block]
    raise InputError(
        f"A page cannot compute this {name} with its settings. Use the default ones, or learn with "
        "GenerativeClassifier."
    )


def _column(values: Any, at: int, classes: int) -> Floats:
    """Return the entries (C,) of a column, of something that broadcasts to (C, d)."""
    wide = np.atleast_2d(np.asarray(values, np.float64))
    return np.broadcast_to(wide[:, min(at, wide.shape[1] - 1)], (classes,))


def _normal(features: IndependentNormals, at: int, name: str) -> dict[str, Any]:
    tally, tied = features.groups.parts, 0 in features.settings.shared
    classes = len(tally.weight)
    sums = {"weight": tally.weight, "origin": tally.origin}
    sums |= {"sum_x": tally.sum_x, "sum_xx": tally.sum_xx}
    found: dict[str, Any] = {
        "family": "normal",
        "columns": [name],
        "logarithm": False,
        "tied": tied,
        "estimate": features.settings.estimate if features.prior is not None else "mle",
        "tally": {key: numbers(part[:, at]) for key, part in sums.items()},
        "variance_floor": 0.0,
    }
    prior = features.prior
    if prior is None:
        return found | {"variance_floor": features.variance_floor, "prior": None}
    scales = 1 if tied else classes
    return found | {
        "prior": {
            "location": numbers(_column(prior.location, at, classes)),
            "pseudo_rows": numbers(_column(prior.pseudo_rows, at, classes)),
            "shape": numbers(_column(prior.shape, at, scales)),
            "scale": numbers(_column(prior.scale, at, scales)),
        }
    }


def _poisson(features: IndependentPoissons, at: int, name: str) -> dict[str, Any]:
    tally, classes = features.groups.parts, len(features.groups.classes)
    events, rows = features._prior if features.is_integrated else features._added
    return {
        "family": "poisson",
        "columns": [name],
        "plug_in": not features.is_integrated,
        "tally": {"weight": numbers(tally.weight[:, at]), "sum_x": numbers(tally.sum_x[:, at])},
        "prior": {
            "shape": numbers(_column(events, at, classes)),
            "rate": numbers(_column(rows, at, classes)),
        },
    }


def _bernoulli(features: IndependentBernoullis, at: int, name: str) -> dict[str, Any]:
    counts, classes = features.groups.parts.counts, len(features.groups.classes)
    present, absent = map(features.smoothing.added, features.smoothing.successes_and_failures)
    return {
        "family": "presence",
        "columns": [name],
        "threshold": features.binarize,
        "tally": {"absent": numbers(counts[:, at, 0]), "present": numbers(counts[:, at, 1])},
        "prior": {
            "absent": numbers(_column(absent, at, classes)),
            "present": numbers(_column(present, at, classes)),
        },
    }


def _categorical(features: IndependentCategories, at: int, name: str) -> dict[str, Any]:
    table, classes = features.tables[at], len(features.groups.classes)
    levels = table.counts.shape[1]
    return {
        "family": "categorical",
        "columns": [name],
        "levels": list(range(levels)),
        "tally": {"counts": numbers(table.counts), "left_out": [0] * classes},
        "prior": {
            "pseudocounts": numbers(np.broadcast_to(table.pseudocounts, (classes, levels))),
            "other": numbers(np.broadcast_to(table.other, (classes,))),
            "sample_size": numbers(np.broadcast_to(table.prior_sample_size, (classes,))),
        },
    }


def _discriminant(features: ClassConditional, names: list[str]) -> dict[str, Any] | None:
    """Return normals of all columns together, or None if their covariances are not read so."""
    if isinstance(features, DenseNormals) and features.settings.estimate == "predictive":
        tied = features.settings.tied
        assert features.prior is not None
        return {
            "family": "mvn",
            "columns": names,
            "tied": tied,
            "plug_in": False,
            "tally": moments(features.moments),
            "prior": normal_inverse_wishart(features.prior, features.moments, tied=tied),
        }
    if not isinstance(features, QuadraticDiscriminant | LinearDiscriminant):
        return None
    found, settings = features.found, features.settings
    mean, each = mle(found.moments, tied=False)
    shrinkage = 0.0 if settings.shrinkage is None else settings.shrinkage
    if isinstance(shrinkage, str) or not np.allclose(
        toward_mean_variance(each, shrinkage), found.covariances, rtol=1e-12, atol=0.0
    ):
        return None
    block: dict[str, Any] = {
        "family": "gaussian",
        "columns": names,
        "tally": moments(found.moments),
        "shrinkage": float(shrinkage),
        "unit_share": 0.0,
        "class_shares": None,
    }
    if isinstance(features, QuadraticDiscriminant):
        unit_share = features.settings.reg_param if features.settings.solver == "svd" else 0.0
        return block | {"unit_share": float(unit_share)}
    # Of directions that a tolerance has left out, the weights of the columns know nothing.
    plain = solve(features.within, (mean - features.centre).T).T
    if not np.allclose(features.linear().weights, plain, rtol=1e-9, atol=1e-9):
        return None
    pooled = features.settings.solver == "svd"
    return block | {"class_shares": numbers(features.class_prob), "pooled": pooled}


def _counts(features: Multinomials, alpha: float, names: list[str]) -> dict[str, Any]:
    event = "polya" if features.is_integrated else "multinomial"
    return {
        "family": "counts",
        "columns": names,
        "event": "complement" if isinstance(features, Complements) else event,
        "alpha": alpha,
        "tally": {"counts": numbers(features.counts)},
    }
