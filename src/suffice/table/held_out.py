"""Scores of rows in held-out folds, block by block: what the combination is fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Combination
from suffice.combine.weights import HeldOutRows, held_out_rows, log_ratio
from suffice.data.hashes import Hashes, table_hashes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.families import Posterior
from suffice.families.class_prior import ClassPrior
from suffice.logistic.binary import FeatureRows
from suffice.table.residual_features import ResidualFeatures
from suffice.tally.tally import Floats, Index
from suffice.validation.folds import Folds


def cell_hashes(table: Table, columns: Iterable[str]) -> Hashes:
    """Return a hash of what some columns hold, (n,)."""
    names = frozenset(columns)
    if names not in table.known_hashes:
        # The same rows are hashed for the choice of families and for the folds.
        table.known_hashes[names] = table_hashes((table[name] for name in names), len(table))
    return table.known_hashes[names]


def row_hashes(rows: Rows, columns: Iterable[str]) -> Hashes:
    """Return a hash of what some columns of a table hold, and of the group, (n,)."""
    hashes = cell_hashes(rows.X.table, columns)
    return hashes ^ rows.groups if rows.groups.size else hashes


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows of folds, of the classes that have rows in several folds.

    A class whose rows are all in one fold (it has one distinct row, say) is never held out:
    nothing is fitted to its rows, and it keeps its weight without an offset.

    Parameters
    ----------
    folds : Folds of rows of a table (`TableRows`)
    totals : (C,)
        Weight of all rows of each class.
    """

    folds: Folds
    totals: Floats
    # Scores of blocks that are known, by family and whether parameters are plugged in.
    _scores: dict[tuple[Any, bool], Floats] = field(default_factory=dict, repr=False)

    @property
    def table(self) -> Table:
        """The rows of all folds."""
        table: Table = self.folds.rows.X.table
        return table

    @cached_property
    def classes(self) -> Index:
        """The numbers of the classes that are held out, (C',)."""
        return np.flatnonzero(self.folds.scored)

    @cached_property
    def kept(self) -> Index:
        """The numbers of their rows, (n',)."""
        return np.flatnonzero(self.folds.scored[self.folds.rows.codes])

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """The class of each of these rows among the classes that are held out, (n',)."""
        place = np.cumsum(self.folds.scored) - 1
        return np.asarray(place[self.folds.rows.codes[self.kept]], np.int32)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each of these rows, (n',)."""
        return np.asarray(self.folds.rows.row_weights[self.kept])

    def scores(self, posterior: Posterior[Any]) -> Floats:
        """Return log p(x | class) of a block by the rows of other folds, (n', C').

        Of two classes it is the difference, (n',). It is computed once for a family: all its
        posteriors must be of the same rows.
        """
        key = posterior.family, bool(getattr(posterior, "plug_in", False))
        if key not in self._scores:
            found = posterior.held_out(self.table, self.folds)
            if len(self.classes) < found.shape[1]:
                found = np.ascontiguousarray(found[:, self.classes])
            whole = len(self.kept) == len(found)
            self._scores[key] = log_ratio(found if whole else found[self.kept])
        return self._scores[key]

    def rows(self, scores: Sequence[Floats]) -> HeldOutRows:
        """Return the rows with the `scores` of each block."""
        return held_out_rows(*self._log_priors, scores, self.codes, self.weights)

    @cached_property
    def _log_priors(self) -> tuple[Floats, Floats]:
        """The log prior of the classes that are held out, with and without each row, (n', C')."""
        own = self.folds.rows.codes[self.kept]
        prior = ClassPrior.of(self.totals, None, "predictive")
        base = np.repeat(prior.log_prob[None, self.classes], len(own), axis=0)
        without = prior.leave_one_out(own, self.weights, closed=True)
        return base, without[:, self.classes]

    def features(self, features: ResidualFeatures) -> FeatureRows | None:
        """Return the features of the rows, if there are any."""
        if not features.columns:
            return None
        found = features.of(self.table)
        return found if len(self.kept) == len(found) else found.take(self.kept)

    def combined_scores(
        self, posteriors: Iterable[Posterior[Any]], features: ResidualFeatures, found: Combination
    ) -> Floats:
        """Return the scores, (n', C'), under weights, offsets and coefficients of all rows."""
        rows = self.rows([self.scores(posterior) for posterior in posteriors])
        scores = rows.scores(found.params)
        coefficients = found.residual_coefficients
        given = self.features(features) if len(coefficients) else None
        return scores if given is None else np.asarray(scores + given.dense() @ coefficients)

    def with_all_classes(self, found: Combination) -> Combination:
        """Return a combination fitted to the classes that are held out, for all classes."""
        offsets = np.zeros(len(self.totals))
        offsets[self.classes] = found.offsets
        coefficients = np.zeros((len(found.residual_coefficients), len(offsets)))
        coefficients[:, self.classes] = found.residual_coefficients
        return replace(found, offsets=offsets, residual_coefficients=coefficients)
