"""Linear discriminants from class means and one covariance, however singular it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from suffice.gaussian.covariance import solve, standardize
from suffice.scoring.gaussian import LinearScorer
from suffice.tally.tally import Floats, Index


class Directions(NamedTuple):
    """Where classes differ most: columns (d, r), and the part of the difference each shows."""

    scalings: Floats
    explained: Floats


def whitening_directions(
    means: Floats, centre: Floats, within: Floats, shares: Floats, tol: float
) -> Directions:
    """Return the directions that whiten `within` and then turn to the means, as an SVD would.

    The singular values of the rows are the roots of the eigenvalues of their covariance, so the
    ranks are decided as scikit-learn's SVD of the rows decides them: directions within classes
    by `tol`, those between classes by `tol` of the largest.

    Parameters
    ----------
    means : (C, d)
    centre : (d,)
    within : (d, d)
    shares : (C,)
        Weights of the classes' differences from the centre.
    tol : float
    """
    spread, correlation = standardize(within)
    values, vectors = np.linalg.eigh(correlation)
    singular = np.sqrt(np.maximum(values, 0.0))
    kept = singular > tol
    whitening = vectors[:, kept] / spread[:, None] / singular[kept]
    between = (np.sqrt(shares)[:, None] * (means - centre)) @ whitening
    _, sizes, turned = np.linalg.svd(between, full_matrices=False)
    total = float(np.square(sizes).sum())
    explained = np.square(sizes) / total if total > 0 else np.zeros(len(sizes))
    kept = sizes > tol * sizes.max(initial=0.0)
    return Directions(whitening @ turned.T[:, kept], explained)


def projection_scorer(
    means: Floats, centre: Floats, within: Floats, shares: Floats, tol: float
) -> LinearScorer:
    """Return the scorer by distances in the space of `whitening_directions`."""
    scalings = whitening_directions(means, centre, within, shares, tol).scalings
    places = (means - centre) @ scalings

    def part(seen: Index) -> LinearScorer:
        block = within[seen[:, None], seen]
        return projection_scorer(means[:, seen], centre[seen], block, shares, tol)

    bias = -np.square(places).sum(axis=1) / 2
    return LinearScorer(centre, places @ scalings.T, bias, part)


def least_squares_scorer(
    means: Floats, centre: Floats, within: Floats, *, raw: bool = False
) -> LinearScorer:
    """Return the scorer Sigma^-1 mu_c . x - mu_c . Sigma^-1 mu_c / 2 (docs: mathematics, 4).

    `raw` keeps the term of x that all classes have in common, and that they lose otherwise by
    being measured from the centre.
    """
    away = means - centre
    pull = solve(within, np.vstack([away, centre]).T).T
    weights, common = pull[:-1], pull[-1]
    bias = -np.einsum("cj,cj->c", away, weights) / 2
    if raw:
        weights, bias = weights + common, bias + centre @ common / 2

    def part(seen: Index) -> LinearScorer:
        block = within[seen[:, None], seen]
        return least_squares_scorer(means[:, seen], centre[seen], block, raw=raw)

    return LinearScorer(centre, weights, bias, part)


def eigen_directions(between: Floats, within: Floats) -> Directions:
    """Return the eigenvectors of `between` in the metric of `within`, the largest first."""
    values, vectors = eigh(between, within)
    total = float(values.sum())
    explained = values / total if total != 0 else np.zeros_like(values)
    return Directions(vectors[:, ::-1], explained[::-1])
