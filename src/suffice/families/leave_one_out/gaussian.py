"""Gaussian classes without the row in question: rank-one downdates of what all rows gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.gaussian.covariance import SINGULAR, mle, standardize
from suffice.prior import NormalInverseWishart
from suffice.prior.special import log_gamma_step
from suffice.scoring.gaussian import LOG_TWO_PI
from suffice.tally import Moments
from suffice.tally.tally import ROUNDING, Floats, Index
from suffice.threads import on_all_cores

# The part of a matrix's determinant that must stay without the row: of less, too few digits are
# left, and the class is refitted.
MIN_DETERMINANT_RATIO = 1e-6
# OpenBLAS multiplies on the calling thread while m n k is at most this; beyond, the threads of its
# pool, which all callers share, would wait for each other.
SERIAL_PRODUCT = 1 << 18
# The fewest rows worth a product.
FEWEST_ROWS = 16
# Cells so few that starting threads would take longer than what they do.
MIN_PARALLEL_CELLS = 1 << 16
Mask = NDArray[np.bool_]


class Removal(NamedTuple):
    """What taking a row of weight w from `rows` rows does to their mean and scatter.

    The rest weighs `remaining_weight`, the scatter loses `scatter_factor` u u^T for u = x - mean,
    and the row lies `mean_shift_factor` u from the mean of the rest; nothing is lost and moved
    where no other row is left.
    """

    remaining_weight: Floats
    scatter_factor: Floats
    mean_shift_factor: Floats

    @classmethod
    def of(cls, rows: Floats, weights: Floats) -> Removal:
        """Return the removal of rows of these weights (docs: mathematics, section 3).

        Examples
        --------
        >>> Removal.of(np.array([4.0, 1.0]), np.ones(2))
        Removal(remaining_weight=array([3., 0.]), scatter_factor=array([1.33333333, 0.        ]), \
mean_shift_factor=array([1.33333333, 1.        ]))
        """
        left = rows - weights
        gone = left <= ROUNDING * rows
        safe = np.where(gone, 1.0, left)
        return cls(
            np.where(gone, 0.0, left),
            np.where(gone, 0.0, weights * rows / safe),
            np.where(gone, 1.0, rows / safe),
        )


@dataclass(frozen=True)
class Basis:
    """Coordinates z = turn x in which a matrix is diag(values).

    log_volume is what its log determinant has besides that of `values`.
    """

    turn: Floats
    values: Floats
    log_volume: float = 0.0

    @classmethod
    def whitening(cls, matrix: Floats) -> Basis:
        """Return coordinates in which the matrix (d, d) is the identity."""
        root = np.linalg.cholesky(matrix)
        inverse, failed = dtrtri(root, lower=1)
        assert not failed
        volume = 2 * float(np.log(np.diagonal(root)).sum())
        return cls(np.asarray(inverse), np.ones(len(matrix)), volume)

    @classmethod
    def axes(cls, matrix: Floats) -> Basis:
        """Return the matrix's axes: multiples of the identity are diagonal there too."""
        values, vectors = np.linalg.eigh(matrix)
        return cls(np.ascontiguousarray(vectors.T), np.maximum(values, 0.0))


@dataclass(frozen=True)
class Part:
    """Rows of one class, and what the matrix is without each of them.

    Parameters
    ----------
    own : int
        Their class.
    numbers : (b,)
    basis : Basis
        Of the matrix of all rows, M.
    removal : Removal
        From the class's location; all fields (b,).
    grow, shed : (b,)
        Without the row, the matrix is grow M - shed u u^T.
    margin : float
        A row needs a refit where the determinant shrinks to this part of it or less.
    degrees : (b,), empty if normal
        Degrees of freedom of the t without the row.
    """

    own: int
    numbers: Index
    basis: Basis
    removal: Removal
    matrix_factor: Floats
    downdate_factor: Floats
    margin: float = MIN_DETERMINANT_RATIO
    degrees: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class LeaveOneOutGaussian:
    """Log densities of rows under classes that have not learned them (mathematics, 3).

    With q = u^T M^-1 u everything follows by Sherman-Morrison and the determinant lemma.

    Parameters
    ----------
    location : (C, d)
    rows : (C,)
        How many rows each location is worth, for Student-t's.
    tied : bool
        Whether one matrix serves all classes: then all their densities change, else only that of
        the row's own class.
    shrinkage : float
        The matrix is shrunk by this much to its mean variance. Needs a basis of axes.
    added : float
        The matrix is (1 - added) times itself plus this on the diagonal. Needs a basis of axes.
    floor : float
        A row needs a refit without which a value of the matrix falls to this.
    """

    location: Floats
    rows: Floats
    tied: bool
    shrinkage: float = 0.0
    added: float = 0.0
    floor: float = 0.0

    def fill(self, rows: Rows, parts: Sequence[Part], out: Floats) -> Mask:
        """Set the log densities (n, C), or those of own classes; return which need a refit."""
        needs_refit = np.zeros(rows.shape[0], np.bool_)
        d = self.location.shape[1]
        step = max(FEWEST_ROWS, SERIAL_PRODUCT // (d * d))
        away = self.location - self.location.mean(axis=0)
        places = {id(p.basis): away @ p.basis.turn.T for p in parts} if self.tied else {}
        blocks = [
            (part, slice(low, low + step))
            for part in parts
            for low in range(0, len(part.numbers), step)
        ]

        def work(first: int, last: int) -> None:
            for part, cut in blocks[first:last]:
                numbers = part.numbers[cut]
                cells = rows.sample(numbers) - self.location[part.own]
                at = places.get(id(part.basis))
                found, needs_refit[numbers] = self._block(part, cut, cells, at)
                if self.tied:
                    out[numbers] = found
                else:
                    out[numbers, part.own] = found[:, 0]

        if rows.shape[0] * rows.shape[1] < MIN_PARALLEL_CELLS:
            work(0, len(blocks))
        else:
            on_all_cores(work, [(i, i + 1) for i in range(len(blocks))])
        return needs_refit

    def _block(
        self, part: Part, cut: slice, cells: Floats, places: Floats | None
    ) -> tuple[Floats, Mask]:
        """Return log densities (b, C), or (b, 1) if untied, of rows less their own location."""
        needs_refit = ~np.isfinite(cells).all(axis=1)
        cells[needs_refit] = 0.0
        z = cells @ part.basis.turn.T
        squares = z * z
        values, shed = self._shrunk(part, cut, squares)
        low = (values <= self.floor).any(axis=1)
        values[low] = 1.0 + self.floor
        lowered = shed * (squares / (values - self.floor)).sum(axis=1)
        needs_refit |= low | (1.0 - lowered <= part.margin)
        pulled = z / values
        q = np.einsum("ij,ij->i", z, pulled)
        left = np.where(needs_refit, 1.0, 1.0 - shed * q)
        log_volume = part.basis.log_volume + np.log(values).sum(axis=1) + np.log(left)
        own = np.square(part.removal.mean_shift_factor[cut]) * q / left
        if places is None:
            distance = own[:, None]
        else:
            step = places[part.own] - places
            across = pulled @ step.T  # u^T M^-1 (m_own - m_c)
            between = (1.0 / values) @ np.square(step).T
            distance = (q[:, None] + 2 * across + between) + (
                (shed / left)[:, None] * np.square(q[:, None] + across)
            )
            distance[:, part.own] = own
        if not part.degrees.size:
            constant = cells.shape[1] * LOG_TWO_PI + log_volume
            return -(constant[:, None] + distance) / 2, needs_refit
        return self._student(part, cut, distance, log_volume), needs_refit

    def _shrunk(self, part: Part, cut: slice, squares: Floats) -> tuple[Floats, Floats]:
        """Return the values (b, d) of grow M and the factor of u u^T, both shrunk as asked."""
        grow, shed = part.matrix_factor[cut], part.downdate_factor[cut]
        values = grow[:, None] * part.basis.values
        if self.shrinkage == 0 and self.added == 0:
            return values, shed
        average = values.mean(axis=1) - shed * squares.mean(axis=1)
        kept = (1 - self.shrinkage) * (1 - self.added)
        ridge = self.added + self.shrinkage * average
        return kept * values + ridge[:, None], kept * shed

    def _student(self, part: Part, cut: slice, distance: Floats, log_volume: Floats) -> Floats:
        """Return log densities of t's whose scale matrix is M (1 + 1 / rows) / degrees."""
        d = self.location.shape[1]
        degrees = part.degrees[cut]
        own = 1 + 1 / part.removal.remaining_weight[cut]
        if self.tied:
            scale_factor = np.repeat(1 + 1 / self.rows[None], len(degrees), axis=0)
            scale_factor[:, part.own] = own
        else:
            scale_factor = own[:, None]
        constant = log_gamma_step(degrees / 2, d / 2)
        constant = constant - (d * np.log(np.pi) + log_volume) / 2
        tail = (degrees + d)[:, None] / 2 * np.log1p(distance / scale_factor)
        return np.asarray(constant[:, None] - d / 2 * np.log(scale_factor) - tail)


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
    margins = [
        MIN_DETERMINANT_RATIO if axes else determinant_margin(one, least) for one in covariances
    ]
    total = moments.weight.sum()
    parts = []
    for c, numbers in enumerate(groups):
        w = weights[numbers]
        removal = Removal.of(moments.weight[c], w)
        rows, at = (total, 0) if tied else (moments.weight[c], c)
        # Of a class without other rows nothing is left to divide.
        rest = np.where(removal.remaining_weight > 0, rows - w, rows) if not tied else rows - w
        terms = rows / rest, removal.scatter_factor / rest
        parts.append(Part(c, numbers, bases[at], removal, *terms, margins[at]))
    return parts


def weighted_parts(
    moments: Moments, groups: list[Index], weights: Floats, priors: Floats
) -> list[Part]:
    """Return the parts of the classes' covariances weighted by given class probabilities (C,).

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
            rest = float(removal.remaining_weight[0]) or 1.0
            basis = Basis.axes(others + priors[c] / rest * scatter[c])
            terms = np.ones(len(mine)), priors[c] * removal.scatter_factor / rest
            parts.append(Part(c, mine, basis, removal, *terms, determinant_margin(whole)))
    return parts


def posterior_parts(
    posterior: NormalInverseWishart,
    groups: list[Index],
    weights: Floats,
    sharers: Floats,
    *,
    predictive: bool,
) -> list[Part]:
    """Return the parts of most probable covariances, or of Student-t's (`predictive`).

    Parameters
    ----------
    posterior : posterior of C classes, which may share one covariance
    groups : rows of each class
    weights : (n,)
    sharers : (n,)
        How many classes share a covariance without the row.
    """
    d = posterior.location.shape[1]
    bases = [Basis.whitening(matrix) for matrix in posterior.scale_matrix]
    parts = []
    for c, numbers in enumerate(groups):
        w, at = weights[numbers], min(c, len(bases) - 1)
        removal = Removal.of(posterior.pseudo_rows[c], w)
        degrees = posterior.degrees[at] - w
        if predictive:
            terms = np.ones(len(w)), removal.scatter_factor
            parts.append(Part(c, numbers, bases[at], removal, *terms, degrees=degrees - d + 1))
        else:
            divisor = degrees + d + 1 + sharers[numbers]
            terms = 1 / divisor, removal.scatter_factor / divisor
            parts.append(Part(c, numbers, bases[at], removal, *terms))
    return parts


def determinant_margin(covariance: Floats, least: float = 0.0) -> float:
    """Return how much a determinant may shrink before a covariance may count as singular.

    Taking out a row that shrinks it to the part p leaves no value of the correlation matrix below
    p of the least one; `least` is what such a value must stay above.
    """
    d = len(covariance)
    smallest = float(np.linalg.eigvalsh(standardize(covariance)[1])[0])
    # Ten times the bound: the value itself is known to a few roundings only.
    return max(MIN_DETERMINANT_RATIO, max(10 * SINGULAR * d, least) / max(smallest, SINGULAR))
