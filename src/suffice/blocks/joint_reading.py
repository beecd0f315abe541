"""What a joint table says: shares of combinations, of parts of them, and of what was never seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.blocks.block import Cells, Reading
from suffice.blocks.cells import Combinations, shares_product
from suffice.blocks.draws import drawn_classes, drawn_levels
from suffice.blocks.level_codes import cells_of, width_of
from suffice.blocks.level_tables import LevelTables
from suffice.data.columns import GAP
from suffice.data.labels import Codes
from suffice.data.table import Table
from suffice.kernels.level_tables import gather_folds
from suffice.model.folds import Folds
from suffice.model.marginal import by_pattern
from suffice.tally import Counts
from suffice.tally.tally import Floats, Index

if TYPE_CHECKING:
    from suffice.blocks.joint import Joint


@dataclass(frozen=True, eq=False)
class JointReading(Reading[Counts]):
    """Shares (n_cx + s prod_j p_j(x_j)) / (n_c + s) (docs: mathematics, section 2).

    Parts of a combination have the same form, with their own counts and product, for the levels
    that are not seen sum to 1 in both.

    Parameters
    ----------
    shares : for each column, the shares of its levels and of "other" in all classes, (K + 1,)
    tables : the combinations that were seen, as levels; they leave some of the prior to others
    """

    family: Joint
    tally: Counts
    shares: tuple[Floats, ...]
    tables: LevelTables

    @cached_property
    def _log_widths(self) -> Floats:
        return np.asarray(np.log([width_of(levels) for levels in self.family.levels]))

    @property
    def log_evidence(self) -> float:
        """The log density of the rows without gaps."""
        return self.tables.log_evidence - self.weight * float(self._log_widths.sum())

    @property
    def n_parameters(self) -> int:
        """One share less than combinations, for each class."""
        return len(self.tables.counts) * max(len(self.family.seen) - 1, 0)

    @property
    def n_settings(self) -> int:
        """The shares of each column that the prior is made of."""
        return sum(max(size - 1, 0) for size in self.family.sizes)

    @property
    def weight(self) -> float:
        """The weight of the rows in the tally."""
        return float(self.tally.counts.sum())

    def with_tally(self, tally: Counts) -> Self:
        """Return another tally under the prior of this one."""
        counts = tally.with_levels(len(self.family.seen)).counts
        return replace(self, tally=tally, tables=replace(self.tables, counts=counts))

    @cached_property
    def _parts(self) -> dict[tuple[int, ...], tuple[Combinations, LevelTables]]:
        """Tables of the combinations of some columns, as they were asked for."""
        everything = tuple(range(len(self.shares)))
        return {everything: (self.family.combinations, self.tables)}

    def _part(self, columns: Index) -> tuple[Combinations, LevelTables]:
        key = tuple(columns.tolist())
        if key not in self._parts:
            narrow, which = self.family.combinations.part(columns)
            counts = np.zeros((len(self.tables.counts), len(narrow.cells)))
            np.add.at(counts.T, which, self.tables.counts.T)
            base = shares_product([self.shares[at] for at in key], narrow.cells)
            self._parts[key] = narrow, replace(self.tables, counts=counts, base=base)
        return self._parts[key]

    def _scores(self, codes: Codes) -> Floats:
        """Return log p(x | class), (n, C), of what is seen of each row of codes (n, d)."""
        seen = codes != GAP
        if seen.all():
            return self._part_scores(codes, np.arange(codes.shape[1]))
        out = np.zeros((len(codes), len(self.tables.counts)))
        for rows, columns in by_pattern(seen):
            if columns.size:
                out[rows] = self._part_scores(codes[np.ix_(rows, columns)], columns)
        return out

    def _part_scores(self, codes: Codes, columns: Index) -> Floats:
        """Return the scores of rows of just these columns, without gaps."""
        met, tables = self._part(columns)
        places = met.places(codes)
        scores = tables.scores(places)
        new = np.flatnonzero(places < 0)
        if new.size:
            supposed = shares_product([self.shares[at] for at in columns], codes[new])
            whole = tables.totals + tables.strength
            scores[new] = np.log(tables.strength * supposed)[:, None] - np.log(whole)
        return np.asarray(scores - self._log_widths[columns].sum())

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C), of what is seen of each row."""
        return self._scores(self.family.codes_of(table))

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row; those with gaps were never learned."""
        found = self.family.codes_of(table)
        places = self.family.combinations.places(found)
        out: Floats = self.tables.left_out(places, codes, weights) - self._log_widths.sum()
        others = np.flatnonzero(places < 0)
        if others.size:
            out[others] = self._scores(found[others])
        return out

    def held_out_by(self, read: Callable[[Counts], Self], table: Table, folds: Folds) -> Floats:
        """Return the scores, (n, C), without each row's fold; of rows with gaps, what is seen."""
        codes = self.family.codes_of(table)
        out = np.zeros((len(codes), folds.rows.classes))
        if read == self.with_tally:
            everything = self.with_tally(self.training(table, folds))
            for rows, columns in by_pattern(codes != GAP):
                if columns.size:
                    own = codes[np.ix_(rows, columns)]
                    out[rows] = everything._fold_scores(own, columns, folds.numbers[rows], folds)
            return out
        held = [read(part) for part in self.training_parts(table, folds)]
        for rows, columns in by_pattern(codes != GAP):
            for number, one in enumerate(held):
                mine = rows[folds.numbers[rows] == number]
                if mine.size and columns.size:
                    out[mine] = one._part_scores(codes[np.ix_(mine, columns)], columns)
        return out

    def _fold_scores(self, codes: Codes, columns: Index, numbers: Codes, folds: Folds) -> Floats:
        """Return the `_part_scores`, (n, C), of a reading whose classes are (folds * C)."""
        met, tables = self._part(columns)
        places = met.places(codes)
        scores = np.empty((len(codes), folds.rows.classes))
        gather_folds(places, numbers, tables.log_table, scores)
        new = np.flatnonzero(places < 0)
        if new.size:
            supposed = shares_product([self.shares[at] for at in columns], codes[new])
            whole = (tables.totals + tables.strength).reshape(folds.size, -1)[numbers[new]]
            scores[new] = np.log(tables.strength * supposed)[:, None] - np.log(whole)
        return np.asarray(scores - self._log_widths[columns].sum())

    def split(self, table: Table) -> Floats:
        """Return log p(x1), log p(x2 | x1), ... of what is seen, (n, C, d)."""
        codes = self.family.codes_of(table)
        upto = [np.zeros((len(codes), len(self.tables.counts)))]
        for width in range(1, codes.shape[1] + 1):
            first = codes.copy()
            first[:, width:] = GAP
            upto.append(self._scores(first))
        return np.diff(np.stack(upto, axis=2), axis=2)

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw combinations for rows of these classes; "other" is none of their levels."""
        everyone = np.zeros(len(codes), np.int32)
        drawn = np.stack(
            [drawn_levels(share[None, :-1], everyone, rng) for share in self.shares], axis=1
        )
        # Either of the rows that were seen, or of the product that is worth `strength` rows.
        rows = self.tables.totals[codes]
        repeats = np.flatnonzero(rng.random(len(codes)) * (rows + self.tables.strength) < rows)
        places = drawn_levels(self.tables.counts, codes[repeats], rng)
        drawn[repeats] = self.family.seen[places]
        return self._as_cells(drawn)

    def _as_cells(self, codes: Codes) -> Cells:
        known = zip(self.family.columns, self.family.levels, strict=True)
        return {name: cells_of(codes[:, at], levels) for at, (name, levels) in enumerate(known)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the columns with gaps filled, given what is seen beside them.

        Each gap has its own most probable level; draws are of all gaps of a row together.
        """
        codes = self.family.codes_of(table)
        gappy = np.flatnonzero((codes == GAP).any(axis=1))
        given, chance = codes[gappy], np.exp(log_proba[gappy])
        own = None if rng is None else drawn_classes(log_proba[gappy], rng)
        filled = given.copy()
        for at, size in enumerate(self.family.sizes):
            rows = np.flatnonzero(given[:, at] == GAP)
            if not rows.size:
                continue
            shares = self._shares_of(given[rows] if own is None else filled[rows], at, size)
            if own is None or rng is None:
                filled[rows, at] = np.einsum("nc,nck->nk", chance[rows], shares).argmax(axis=1)
            else:
                mine = shares[np.arange(len(rows)), own[rows]]
                filled[rows, at] = drawn_levels(mine, np.arange(len(rows), dtype=np.int32), rng)
        columns = {name: table[name].values.copy() for name in self.family.columns}
        for name, values in self._as_cells(filled).items():
            missing = table[name].gaps[gappy]
            columns[name][gappy[missing]] = values[missing]
        return columns

    def _shares_of(self, codes: Codes, at: int, size: int) -> Floats:
        """Return p(level of one column | what is seen, class), (n, C, K)."""
        beside = self._scores(codes)
        out = np.empty((*beside.shape, size))
        for level in range(size):
            tried = codes.copy()
            tried[:, at] = level
            out[:, :, level] = np.exp(self._scores(tried) - beside)
        return out
