"""How much each feature or column depends on the label, computed from a tally."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.empirical_bayes.normal import floor_variance
from suffice.errors import InputError
from suffice.families.columns.categorical import Categorical
from suffice.families.columns.family import Family
from suffice.families.columns.joint import Joint
from suffice.families.columns.mvn import MultivariateNormal
from suffice.families.columns.normal import Normal
from suffice.families.columns.student import Student
from suffice.families.gaussians import diagonal_mle, diagonal_prior
from suffice.prior import Dirichlet, Gamma, NormalInverseGamma, NormalInverseWishart
from suffice.tally import Blocks, Counts, Events, Moments, Patterns, Quartics, Tally
from suffice.tally.tally import Floats
from suffice.text.family import Text
from suffice.validation.information import (
    Dependence,
    counts_dependence,
    normal_information,
    one_per_feature,
    poisson_information,
    table_information,
)

# Prior sample size of means and variances where the model leaves it to evidence. The one of most
# evidence is shared by all features: among many uninformative ones it is so large that none seems
# to depend on the class, and the result of a feature would depend on the others.
ONE_ROW = 1.0


def dependence(tally: Any, model: Any) -> Dependence:
    """Return how the features of a tally, whose first axis stands for classes, depend on them.

    The log Bayes factor is the log evidence of a feature with a parameter a class less that with
    one parameter for all classes, both under the prior of the model (docs: mathematics, section 2).
    """
    if isinstance(tally, Counts):
        return counts_dependence(tally, model.alpha_)
    if isinstance(tally, Blocks):
        return _level_dependence(model)
    if isinstance(tally, Events):
        return _event_dependence(tally, model)
    if isinstance(tally, Patterns):
        return _moment_dependence(tally.diagonal(), model)
    if isinstance(tally, Quartics):
        return _moment_dependence(tally.moments().diagonal(), model)
    if isinstance(tally, Moments):
        return _moment_dependence(tally, model)
    raise InputError(
        f"A {type(model).__name__} tallies {type(tally).__name__}, whose features cannot be ranked "
        "one by one. Use a naive Bayes or Gaussian classifier."
    )


def _level_dependence(model: Any) -> Dependence:
    tables = [Counts(table) for table in model.category_count_]
    classes, features = len(tables[0].counts), len(tables)
    alpha = one_per_feature(model.alpha_, classes, features)
    information, factor = np.empty(features), np.empty(features)
    for j, table in enumerate(tables):
        prior = Dirichlet.symmetric(alpha[j], table.counts.shape[1])
        information[j] = table_information(table.counts)
        factor[j] = prior.log_evidence(table).sum() - prior.log_evidence(table.pooled())
    return Dependence(information, factor)


def _event_dependence(tally: Events, model: Any) -> Dependence:
    classes, features = tally.weight.shape
    pair = (model.alpha_, model.prior_rows_)
    gamma = Gamma(*(one_per_feature(part, classes, features) for part in pair))
    apart, together = gamma.log_evidence(tally), gamma.log_evidence(tally.pooled())
    return Dependence(_event_information(tally), apart.sum(axis=0) - together)


def _event_information(tally: Events) -> Floats:
    """Return the mutual information (d,) of the label and Poisson features."""
    rate = tally.sum_x / np.where(tally.weight > 0, tally.weight, 1.0)
    return poisson_information(tally.weight, rate)


def _moment_dependence(tally: Moments, model: Any) -> Dependence:
    """Return the dependence of normal features (C, d); classes may share their variances."""
    shared = (0,) if _ties_classes(model) else ()
    prior = _prior(tally, _marginal(getattr(model, "prior", "evidence")))
    apart = diagonal_prior(prior, tally, shared).log_evidence(tally).sum(axis=0)
    factor = apart - prior.log_evidence(tally.pooled())
    return Dependence(_normal_information(tally, shared), factor)


def _normal_information(tally: Moments, shared: tuple[int, ...]) -> Floats:
    """Return the mutual information (d,) of the label and normal features, from moments (C, d)."""
    mean, variance = diagonal_mle(tally, shared)
    flat = np.broadcast_to(variance, mean.shape) == 0
    # Where a class does not vary, its variance is the one that GaussianNB takes.
    floored = np.where(flat, floor_variance(np.zeros_like(mean), mean), variance)
    return normal_information(tally.weight, mean, floored)


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
        parts = (given.location, given.pseudo_rows, given.shape, given.scale)
        return NormalInverseGamma(*(one_per_feature(part, classes, features) for part in parts))
    pooled = tally.pooled()
    variance = pooled.scatter() / np.where(pooled.weight > 0, pooled.weight, 1.0)
    scale = ONE_ROW / 2 * floor_variance(variance, pooled.mean())
    return NormalInverseGamma(pooled.mean(), ONE_ROW, ONE_ROW / 2, scale)


# Groups that cells of numbers are put into: information in as many cells as rows is chance.
GROUPS = 16


class ColumnDependence(NamedTuple):
    """How much one column depends on the label."""

    column: str
    mutual_information: float
    log_bayes_factor: float


def column_dependences(family: Family[Any], tally: Any) -> Iterator[ColumnDependence]:
    """Yield how each column of a block depends on the label, whatever the others hold."""
    for one, part in _columns_alone(family, tally):
        yield ColumnDependence(
            one.column, _mutual_information(one, part), _log_bayes_factor(one, part)
        )


def _columns_alone(family: Family[Any], tally: Any) -> Iterator[tuple[Family[Any], Any]]:
    """Yield families and tallies of a block's columns, each by itself."""
    if isinstance(family, Joint):
        for at, (name, levels) in enumerate(zip(family.columns, family.levels, strict=True)):
            counts = np.zeros((len(tally.counts), family.sizes[at]))
            np.add.at(counts.T, family.seen[:, at], tally.counts.T)
            yield Categorical((name,), levels), Counts(counts)
    elif isinstance(family, MultivariateNormal):
        cells = tally.diagonal()
        sums = (cells.weight, cells.origin, cells.sum_x, cells.sum_xx)
        for at, name in enumerate(family.columns):
            yield Normal((name,), family.tied), Moments(*(part[:, [at]] for part in sums))
    else:
        yield family, tally


def _log_bayes_factor(family: Family[Any], tally: Tally) -> float:
    """Return the log Bayes factor of classes apart against all classes as one.

    Each evidence is that of the prior that maximises it, centred on all rows. The prior sample
    size was chosen too, which costs half the log of the number of rows.
    """
    apart, together = family.posterior(tally), family.posterior(_pool_classes(tally))
    cost = float(np.log(max(apart.weight, 1.0))) / 2
    return float(apart.log_evidence - together.log_evidence - cost)


def _pool_classes(tally: Any) -> Any:
    """Return the tally of all classes as one class."""
    if isinstance(tally, Blocks):
        return Blocks(tuple(_pool_classes(part) for part in tally.parts))
    pooled = tally.pooled()
    return type(pooled)(*(getattr(pooled, field.name)[None] for field in fields(pooled)))


def _group_cells(weight: Floats) -> Floats:
    """Return the weights (C, B) of ordered cells in few groups of about equal weight."""
    pooled = weight.sum(axis=0)
    middle = np.cumsum(pooled) - pooled / 2
    groups = (GROUPS * middle / max(float(pooled.sum()), 1.0)).astype(np.intp)
    out = np.zeros((len(weight), GROUPS))
    np.add.at(out.T, np.minimum(groups, GROUPS - 1), weight.T)
    return out


def _mutual_information(family: Family[Any], tally: Any) -> float:
    """Return the mutual information of the column and the label, in nats."""
    if isinstance(family, Text):
        return float(table_information(tally.counts[:, 1:]))  # the first counts documents
    if isinstance(family, Student):
        return float(table_information(_group_cells(tally.weight)))
    if isinstance(tally, Blocks):
        return float(table_information(tally.parts[0].counts))
    if isinstance(tally, Counts):
        return float(table_information(tally.counts))
    if isinstance(tally, Events):
        return float(_event_information(tally)[0])
    tied = isinstance(family, Normal) and family.tied
    return float(_normal_information(tally, (0,) if tied else ())[0])
