"""What leaving a row out does to each kind of covariance: one part a class."""

from __future__ import annotations

import numpy as np

from suffice.data.labels import Codes
from suffice.model.covariance import SINGULAR, mle, standardised
from suffice.model.left_out_gaussian import SURE, Basis, Part, Removal
from suffice.prior import NormalInverseWishart
from suffice.tally import Moments
from suffice.tally.tally import Floats, Index


def rows_by_class(codes: Codes, classes: int) -> list[Index]:
    """Return the numbers of the rows of each class.

    Examples
    --------
    >>> [numbers.tolist() for numbers in rows_by_class(np.array([1, 0, 1]), 2)]
    [[1], [0, 2]]
    """
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=classes))[:-1])


def covariance_parts(
    moments: Moments,
    groups: list[Index],
    weights: Floats,
    *,
    tied: bool,
    axes: bool,
    least: float = 0.0,
) -> list[Part]:
    """Return the parts of maximum-likelihood covariances, one a class or one for all (`tied`).

    Parameters
    ----------
    moments : (C, d, d)
    groups : rows of each class
    weights : (n,)
    axes : bool
        Whether the coordinates are the axes of the covariances, else those that whiten them.
    least : float
        What the values of the correlation matrix must stay above.
    """
    covariances = mle(moments, tied=tied).covariance
    bases = [Basis.axes(one) if axes else Basis.whitening(one) for one in covariances]
    margins = [SURE if axes else margin(one, least) for one in covariances]
    total = moments.weight.sum()
    parts = []
    for c, numbers in enumerate(groups):
        w = weights[numbers]
        removal = Removal.of(moments.weight[c], w)
        rows, at = (total, 0) if tied else (moments.weight[c], c)
        # Of a class without other rows nothing is left to divide.
        rest = np.where(removal.rest > 0, rows - w, rows) if not tied else rows - w
        terms = rows / rest, removal.pull / rest
        parts.append(Part(c, numbers, bases[at], removal, *terms, margins[at]))
    return parts


def weighed_parts(
    moments: Moments, groups: list[Index], weights: Floats, priors: Floats
) -> list[Part]:
    """Return the parts of the classes' covariances weighed by given class probabilities (C,).

    The class's own covariance is then divided by fewer rows than its part in the mixture says,
    so each class has axes of its own; and so has each weight of its rows.
    """
    scatter, rows = moments.scatter(), moments.weight
    each = scatter * (priors / rows)[:, None, None]
    whole = each.sum(axis=0)
    parts = []
    for c, numbers in enumerate(groups):
        others = whole - each[c]
        sizes, which = np.unique(weights[numbers], return_inverse=True)
        for number, w in enumerate(sizes):
            mine = numbers[which == number]
            removal = Removal.of(rows[c], np.full(len(mine), w))
            rest = float(removal.rest[0]) or 1.0
            basis = Basis.axes(others + priors[c] / rest * scatter[c])
            terms = np.ones(len(mine)), priors[c] * removal.pull / rest
            parts.append(Part(c, mine, basis, removal, *terms, margin(whole)))
    return parts


def posterior_parts(
    believed: NormalInverseWishart,
    groups: list[Index],
    weights: Floats,
    sharers: Floats,
    *,
    predictive: bool,
) -> list[Part]:
    """Return the parts of most probable covariances, or of Student-t's (`predictive`).

    Parameters
    ----------
    believed : posterior of C classes, which may share one covariance
    groups : rows of each class
    weights : (n,)
    sharers : (n,)
        How many classes share a covariance without the row.
    """
    d = believed.location.shape[1]
    bases = [Basis.whitening(matrix) for matrix in believed.scale_matrix]
    parts = []
    for c, numbers in enumerate(groups):
        w, at = weights[numbers], min(c, len(bases) - 1)
        removal = Removal.of(believed.pseudo_rows[c], w)
        degrees = believed.degrees[at] - w
        if predictive:
            terms = np.ones(len(w)), removal.pull
            parts.append(Part(c, numbers, bases[at], removal, *terms, degrees=degrees - d + 1))
        else:
            divisor = degrees + d + 1 + sharers[numbers]
            terms = 1 / divisor, removal.pull / divisor
            parts.append(Part(c, numbers, bases[at], removal, *terms))
    return parts


def margin(covariance: Floats, least: float = 0.0) -> float:
    """Return how much a determinant may shrink before a covariance may count as singular.

    Taking out a row that shrinks it to the part p leaves no value of the correlation matrix below
    p of the least one; `least` is what such a value must stay above.
    """
    d = len(covariance)
    smallest = float(np.linalg.eigvalsh(standardised(covariance)[1])[0])
    # Ten times the bound: the value itself is known to a few roundings only.
    return max(SURE, max(10 * SINGULAR * d, least) / max(smallest, SINGULAR))
