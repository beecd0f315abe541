"""How much each feature has to do with the label, read off a tally of each kind."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.empirical_bayes.moments import floor_variance
from suffice.errors import InputError
from suffice.families.gaussians import diagonal_mle, diagonal_prior
from suffice.prior import Dirichlet, Gamma, NormalInverseGamma, NormalInverseWishart
from suffice.tally import Blocks, Counts, Events, Moments, Patterns, Quartics
from suffice.tally.tally import Floats
from suffice.validation.information import (
    Dependence,
    counts_dependence,
    normal_information,
    one_per_feature,
    poisson_information,
    table_information,
)

# What a prior of means and variances is worth where the model leaves it to evidence. The sample
# size of most evidence is one for all features: beside many that know nothing it is so strong that
# none seems to depend on the class, and the answer for a feature would hang on its neighbours.
ONE_ROW = 1.0


@singledispatch
def dependence(tally: Any, model: Any) -> Dependence:
    """Return how the features of a tally, whose first axis stands for classes, depend on them.

    The log Bayes factor is the log evidence of a feature with a parameter a class less that with
    one parameter for all classes, both under the prior of the model (docs: mathematics, section 2).
    """
    raise InputError(
        f"A {type(model).__name__} tallies {type(tally).__name__}, of which no feature can be told "
        "alone. Use a naive Bayes or Gaussian classifier."
    )


@dependence.register
def _counts(tally: Counts, model: Any) -> Dependence:
    return counts_dependence(tally, model.alpha_)


@dependence.register(Blocks)
def _levels(tally: Blocks[Counts], model: Any) -> Dependence:
    tables = [Counts(table) for table in model.category_count_]
    classes, features = len(tables[0].counts), len(tables)
    alpha = one_per_feature(model.alpha_, classes, features)
    information, factor = np.empty(features), np.empty(features)
    for j, table in enumerate(tables):
        prior = Dirichlet.symmetric(alpha[j], table.counts.shape[1])
        information[j] = table_information(table.counts)
        factor[j] = prior.log_evidence(table).sum() - prior.log_evidence(table.pooled())
    return Dependence(information, factor)


@dependence.register
def _events(tally: Events, model: Any) -> Dependence:
    classes, features = tally.weight.shape
    pair = (model.alpha_, model.prior_rows_)
    gamma = Gamma(*(one_per_feature(part, classes, features) for part in pair))
    rate = tally.sum_x / np.where(tally.weight > 0, tally.weight, 1.0)
    apart, together = gamma.log_evidence(tally), gamma.log_evidence(tally.pooled())
    return Dependence(poisson_information(tally.weight, rate), apart.sum(axis=0) - together)


@dependence.register
def _patterns(tally: Patterns, model: Any) -> Dependence:
    return _moments(tally.diagonal(), model)


@dependence.register
def _quartics(tally: Quartics, model: Any) -> Dependence:
    return _moments(tally.moments().diagonal(), model)


@dependence.register
def _moments(tally: Moments, model: Any) -> Dependence:
    """Read moments (C, d), a variance a class or, if the model ties them, one for all."""
    shared = (0,) if _ties_classes(model) else ()
    prior = _prior(tally, _marginal(getattr(model, "prior", "evidence")))
    apart = diagonal_prior(prior, tally, shared).log_evidence(tally).sum(axis=0)
    factor = apart - prior.log_evidence(tally.pooled())
    return Dependence(information_of_normals(tally, shared), factor)


def information_of_normals(tally: Moments, shared: tuple[int, ...]) -> Floats:
    """Return the mutual information (d,) of the label and normal features, from moments (C, d)."""
    mean, variance = diagonal_mle(tally, shared)
    flat = np.broadcast_to(variance, mean.shape) == 0
    # Where a class does not vary, the spread is the one that GaussianNB takes.
    spread = np.where(flat, floor_variance(np.zeros_like(mean), mean), variance)
    return normal_information(tally.weight, mean, spread)


def _ties_classes(model: Any) -> bool:
    """Say whether the classes of a Gaussian model share their variances."""
    if isinstance(model, LinearDiscriminantAnalysis):
        return True
    tie, covariance = getattr(model, "tie", None), getattr(model, "covariance", None)
    return tie in ("class", "both") or covariance in ("tied", "tied_diagonal")


def _marginal(prior: Any) -> NormalInverseGamma | None:
    """Return the prior of a feature alone: that of a NIW has (v - d + 1)/2 and half of S_jj."""
    if isinstance(prior, NormalInverseWishart):
        shape = (prior.degrees - prior.location.shape[-1] + 1) / 2
        scale = np.diagonal(prior.scale_matrix, axis1=-2, axis2=-1) / 2
        rows = np.asarray(prior.pseudo_rows)[..., None]
        return NormalInverseGamma(prior.location, rows, np.asarray(shape)[..., None], scale)
    return prior if isinstance(prior, NormalInverseGamma) else None


def _prior(tally: Moments, given: NormalInverseGamma | None) -> NormalInverseGamma:
    """Return the prior of a mean and a variance, (d,): of one class, or of all classes as one.

    Where the model leaves it to evidence, it is centred on the pooled mean and variance.
    """
    classes, features = tally.weight.shape
    if given is not None:
        fields = (given.location, given.pseudo_rows, given.shape, given.scale)
        return NormalInverseGamma(*(one_per_feature(field, classes, features) for field in fields))
    pooled = tally.pooled()
    variance = pooled.scatter() / np.where(pooled.weight > 0, pooled.weight, 1.0)
    scale = ONE_ROW / 2 * floor_variance(variance, pooled.mean())
    return NormalInverseGamma(pooled.mean(), ONE_ROW, ONE_ROW / 2, scale)
