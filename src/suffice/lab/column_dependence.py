"""How much each column of a table has to do with the label, read off the tally of its block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from suffice.families.columns.categorical import Categorical
from suffice.families.columns.family import Family
from suffice.families.columns.joint import Joint
from suffice.families.columns.mvn import MultivariateNormal
from suffice.families.columns.normal import Normal
from suffice.families.columns.student import Student
from suffice.lab.dependence import information_of_normals
from suffice.tally import Blocks, Counts, Events, Moments, Tally
from suffice.tally.tally import Floats
from suffice.text.family import Text
from suffice.validation.information import poisson_information, table_information

# Groups that cells of numbers are put into: information in as many cells as rows is chance.
GROUPS = 16


class ColumnDependence(NamedTuple):
    """What a tally says of one column and the label."""

    column: str
    mutual_information: float
    log_bayes_factor: float


def column_dependences(family: Family[Any], tally: Any) -> Iterator[ColumnDependence]:
    """Yield how each column of a block depends on the label, whatever the others hold."""
    for one, part in _columns_alone(family, tally):
        yield ColumnDependence(one.column, _information(one, part), _factor(one, part))


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


def _factor(family: Family[Any], tally: Tally) -> float:
    """Return the log Bayes factor of classes apart against all classes as one.

    Each evidence is that of the prior with most of it, centred on all rows. How strong the common
    part of classes is was chosen, which costs half a log of the rows.
    """
    apart, together = family.posterior(tally), family.posterior(_as_one(tally))
    cost = float(np.log(max(apart.weight, 1.0))) / 2
    return float(apart.log_evidence - together.log_evidence - cost)


def _as_one(tally: Any) -> Any:
    """Return the tally of all classes as one class."""
    if isinstance(tally, Blocks):
        return Blocks(tuple(_as_one(part) for part in tally.parts))
    pooled = tally.pooled()
    if isinstance(pooled, Counts):
        return Counts(pooled.counts[None], pooled.log_orderings[None])
    if isinstance(pooled, Events):
        sums = (pooled.weight, pooled.sum_x, pooled.sum_log_factorial)
        return Events(*(part[None] for part in sums))
    return Moments(*(p[None] for p in (pooled.weight, pooled.origin, pooled.sum_x, pooled.sum_xx)))


def _coarse(weight: Floats) -> Floats:
    """Return the weights (C, B) of ordered cells in few groups of about equal weight."""
    pooled = weight.sum(axis=0)
    middle = np.cumsum(pooled) - pooled / 2
    groups = (GROUPS * middle / max(float(pooled.sum()), 1.0)).astype(np.intp)
    out = np.zeros((len(weight), GROUPS))
    np.add.at(out.T, np.minimum(groups, GROUPS - 1), weight.T)
    return out


def _information(family: Family[Any], tally: Any) -> float:
    """Return the mutual information of the column and the label, in nats."""
    if isinstance(family, Text):
        return float(table_information(tally.counts[:, 1:]))  # the first counts documents
    if isinstance(family, Student):
        return float(table_information(_coarse(tally.weight)))
    if isinstance(tally, Blocks):
        return float(table_information(tally.parts[0].counts))
    if isinstance(tally, Counts):
        return float(table_information(tally.counts))
    if isinstance(tally, Events):
        rate = tally.sum_x / np.where(tally.weight > 0, tally.weight, 1.0)
        return float(poisson_information(tally.weight, rate)[0])
    tied = isinstance(family, Normal) and family.tied
    return float(information_of_normals(tally, (0,) if tied else ())[0])
