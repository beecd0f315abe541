"""What is missing of a row, given what is seen of it: conditional Student t's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from suffice.blocks.draws import drawn_classes
from suffice.model.laws import DenseLaw
from suffice.model.marginal import by_pattern
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True)
class Conditional:
    """Fills the gaps of rows whose classes have multivariate t's (docs: mathematics, section 6).

    The missing part of a t of v degrees is, given s seen cells at squared distance q, a t of v + s
    degrees about their regression, its matrix times (v + q) / (v + s).
    """

    law: DenseLaw

    def filled(self, cells: Floats, log_proba: Floats, rng: np.random.Generator | None) -> Floats:
        """Return rows (n, d) without gaps: expectations over the classes, or draws."""
        out = cells.copy()
        seen = ~np.isnan(cells)
        gappy = np.flatnonzero(~seen.all(axis=1))
        codes = np.empty(0, np.int32) if rng is None else drawn_classes(log_proba[gappy], rng)
        for numbers, shown in by_pattern(seen[gappy]) if gappy.size else []:
            rows = gappy[numbers]
            hidden = np.setdiff1d(np.arange(cells.shape[1]), shown)
            if rng is None:
                expected = [
                    self._regression(c, cells[rows], shown, hidden)[0]
                    for c in range(log_proba.shape[1])
                ]
                chance = np.exp(log_proba[rows]).T[:, :, None]
                out[np.ix_(rows, hidden)] = (chance * np.stack(expected)).sum(axis=0)
                continue
            for c in np.unique(codes[numbers]).tolist():
                mine = rows[codes[numbers] == c]
                out[np.ix_(mine, hidden)] = self._drawn(c, cells[mine], shown, hidden, rng)
        return out

    def _regression(
        self, c: int, cells: Floats, shown: Index, hidden: Index
    ) -> tuple[Floats, Floats, Floats]:
        """Return what is expected (n, h), squared distances (n,) and what is left (h, h)."""
        location, matrix = self.law.location[c], self.law.matrix[min(c, len(self.law.matrix) - 1)]
        assert self.law.stretch is not None
        matrix = matrix * self.law.stretch[c]
        if not len(shown):
            wide = np.broadcast_to(location, cells.shape)
            return wide, np.zeros(len(cells)), matrix
        root = np.linalg.cholesky(matrix[np.ix_(shown, shown)])
        away = solve_triangular(root, (cells[:, shown] - location[shown]).T, lower=True)
        across = solve_triangular(root, matrix[np.ix_(shown, hidden)], lower=True)
        left = matrix[np.ix_(hidden, hidden)] - across.T @ across
        return location[hidden] + away.T @ across, np.square(away).sum(axis=0), left

    def _drawn(
        self, c: int, cells: Floats, shown: Index, hidden: Index, rng: np.random.Generator
    ) -> Floats:
        centre, distance, left = self._regression(c, cells, shown, hidden)
        degrees = self.law.degrees[c]
        after = degrees + len(shown)
        noise = rng.standard_normal(centre.shape) @ np.linalg.cholesky(left).T
        stretch = (degrees + distance) / rng.chisquare(after, len(cells))
        return np.asarray(centre + noise * np.sqrt(stretch)[:, None])
