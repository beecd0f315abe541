"""What a joint table says: shares of combinations, of parts of them, and of what was never seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.columns import MISSING_CODE
from suffice.data.labels import Codes
from suffice.data.plain_rows import PlainCells
from suffice.data.table import Table
from suffice.empirical_bayes.centred import pooled_shares
from suffice.errors import InputError
from suffice.families.columns.combinations import Combinations, shares_product
from suffice.families.columns.family import (
    Cells,
    Family,
    Mask,
    Posterior,
    sample_classes,
    sample_levels,
)
from suffice.families.columns.levels import (
    Levels,
    add_levels,
    keep_used_levels,
    level_codes,
    level_counts,
    level_width,
    values_of_codes,
)
from suffice.families.level_tables import LevelTables
from suffice.scoring.gaussian import by_pattern
from suffice.tally import Counts
from suffice.tally.tally import Floats, Index, as_readonly
from suffice.validation.folds import Folds


@dataclass(frozen=True, eq=False)
class JointPosterior(Posterior[Counts]):
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
        return np.asarray(np.log([level_width(levels) for levels in self.family.levels]))

    @property
    def log_evidence(self) -> float:
        """The log density of the complete rows."""
        return self.tables.log_evidence - self.weight * float(self._log_widths.sum())

    @property
    def n_parameters(self) -> int:
        """One share less than all combinations of levels, seen or not, for each class."""
        return len(self.tables.counts) * max(math.prod(self.family.sizes) - 1, 0)

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
            shares = shares_product([self.shares[at] for at in key], narrow.cells)
            pseudocounts = self.tables.prior_sample_size * shares
            tables = replace(self.tables, counts=counts, pseudocounts=pseudocounts)
            self._parts[key] = narrow, tables
        return self._parts[key]

    def _scores(self, codes: Codes) -> Floats:
        """Return log p(x | class), (n, C), of what is seen of each row of codes (n, d)."""
        seen = codes != MISSING_CODE
        if seen.all():
            return self._part_scores(codes, np.arange(codes.shape[1]))
        out = np.zeros((len(codes), len(self.tables.counts)))
        for rows, columns in by_pattern(seen):
            if columns.size:
                out[rows] = self._part_scores(codes[np.ix_(rows, columns)], columns)
        return out

    def _part_scores(self, codes: Codes, columns: Index) -> Floats:
        """Return the scores of rows of just these columns, without missing values."""
        met, tables = self._part(columns)
        places = met.places(codes)
        scores = tables.scores(places)
        new = np.flatnonzero(places < 0)
        if new.size:
            supposed = shares_product([self.shares[at] for at in columns], codes[new])
            whole = tables.totals + tables.prior_sample_size
            scores[new] = np.log(tables.prior_sample_size * supposed)[:, None] - np.log(whole)
        return np.asarray(scores - self._log_widths[columns].sum())

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C), of what is seen of each row."""
        return self._scores(self.family.codes_of(table))

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row; incomplete ones were never learned."""
        found = self.family.codes_of(table)
        places = self.family.combinations.places(found)
        out: Floats = self.tables.leave_one_out(places, codes, weights) - self._log_widths.sum()
        others = np.flatnonzero(places < 0)
        if others.size:
            out[others] = self._scores(found[others])
        return out

    def held_out_with(
        self, posterior_of: Callable[[Counts], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the scores, (n, C), without each row's fold; of incomplete rows, what is seen."""
        codes = self.family.codes_of(table)
        out = np.zeros((len(codes), folds.rows.classes))
        if posterior_of == self.with_tally:
            everything = self.with_tally(self.training_tally(table, folds))
            for rows, columns in by_pattern(codes != MISSING_CODE):
                if columns.size:
                    own = codes[np.ix_(rows, columns)]
                    out[rows] = everything._fold_scores(own, columns, folds.numbers[rows], folds)
            return out
        held = [posterior_of(part) for part in self.training_tallies(table, folds)]
        for rows, columns in by_pattern(codes != MISSING_CODE):
            for number, one in enumerate(held):
                mine = rows[folds.numbers[rows] == number]
                if mine.size and columns.size:
                    out[mine] = one._part_scores(codes[np.ix_(mine, columns)], columns)
        return out

    def _fold_scores(self, codes: Codes, columns: Index, numbers: Codes, folds: Folds) -> Floats:
        """Return the `_part_scores`, (n, C), of a posterior whose classes are (folds * C)."""
        met, tables = self._part(columns)
        places = met.places(codes)
        classes = folds.rows.classes
        scores = _core.gather_fold_levels(places, numbers, tables.log_table, classes)
        new = np.flatnonzero(places < 0)
        if new.size:
            supposed = shares_product([self.shares[at] for at in columns], codes[new])
            whole = (tables.totals + tables.prior_sample_size).reshape(folds.size, -1)[numbers[new]]
            scores[new] = np.log(tables.prior_sample_size * supposed)[:, None] - np.log(whole)
        return np.asarray(scores - self._log_widths[columns].sum())

    def split(self, table: Table) -> Floats:
        """Return log p(x1), log p(x2 | x1), ... of what is seen, (n, C, d)."""
        codes = self.family.codes_of(table)
        upto = [np.zeros((len(codes), len(self.tables.counts)))]
        for width in range(1, codes.shape[1] + 1):
            first = codes.copy()
            first[:, width:] = MISSING_CODE
            upto.append(self._scores(first))
        return np.diff(np.stack(upto, axis=2), axis=2)

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw combinations for rows of these classes; "other" is none of their levels."""
        one_class = np.zeros(len(codes), np.int32)
        draws = np.stack(
            [sample_levels(share[None, :-1], one_class, rng) for share in self.shares], axis=1
        )
        # Either of the rows that were seen, or of the product that is worth `prior_sample_size`
        # rows.
        rows = self.tables.totals[codes]
        repeats = np.flatnonzero(
            rng.random(len(codes)) * (rows + self.tables.prior_sample_size) < rows
        )
        places = sample_levels(self.tables.counts, codes[repeats], rng)
        draws[repeats] = self.family.seen[places]
        return self._as_cells(draws)

    def _as_cells(self, codes: Codes) -> Cells:
        known = zip(self.family.columns, self.family.levels, strict=True)
        return {
            name: values_of_codes(codes[:, at], levels) for at, (name, levels) in enumerate(known)
        }

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the columns with missing values imputed, given what is seen beside them.

        Each missing value has its own most probable level; draws are of all missing values of a row
        together.
        """
        codes = self.family.codes_of(table)
        incomplete = np.flatnonzero((codes == MISSING_CODE).any(axis=1))
        given, chance = codes[incomplete], np.exp(log_proba[incomplete])
        own = None if rng is None else sample_classes(log_proba[incomplete], rng)
        imputed = given.copy()
        for at, size in enumerate(self.family.sizes):
            rows = np.flatnonzero(given[:, at] == MISSING_CODE)
            if not rows.size:
                continue
            shares = self._shares_of(given[rows] if own is None else imputed[rows], at, size)
            if own is None or rng is None:
                imputed[rows, at] = np.einsum("nc,nck->nk", chance[rows], shares).argmax(axis=1)
            else:
                mine = shares[np.arange(len(rows)), own[rows]]
                imputed[rows, at] = sample_levels(mine, np.arange(len(rows), dtype=np.int32), rng)
        columns = {name: table[name].values.copy() for name in self.family.columns}
        for name, values in self._as_cells(imputed).items():
            missing = table[name].missing[incomplete]
            columns[name][incomplete[missing]] = values[missing]
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


@dataclass(frozen=True, eq=False)
class Joint(Family[Counts]):
    """Combinations of levels with Dirichlet priors centred on the product of the columns' shares.

    A combination that was never seen has its share of that product; so has one with a level that
    nobody knows. Complete rows are learned from, others scored by what is seen of them.

    Parameters
    ----------
    columns : two names or more
    levels : for each column, the numbers that are levels, or None for a category
    sizes : how many levels each column has
    seen : (M, d)
        Codes of the combinations that were seen, in the order of the tally.

    Examples
    --------
    >>> rows = [{"a": "x", "b": "u"}, {"a": "y", "b": "v"}, {"a": "x", "b": None}]
    >>> table, own = Table.of(rows), np.array([0, 1, 1], np.int32)
    >>> family = Joint(("a", "b")).fit_settings(table, own, 2, np.empty(0))
    >>> family.seen.tolist(), family.count(table, own, 2, np.empty(0)).counts.tolist()
    ([[0, 0], [1, 1]], [[1.0, 0.0], [0.0, 1.0]])
    """

    levels: tuple[Levels, ...] = ()
    sizes: tuple[int, ...] = ()
    seen: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0), np.int32))

    width: ClassVar[int] = 2

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "joint"

    @cached_property
    def combinations(self) -> Combinations:
        """The combinations that were seen."""
        return Combinations(self.seen, self.sizes)

    def objection(self, table: Table) -> str | None:
        """Say which column has no levels, or None."""
        for name in self.columns:
            if table[name].kind == "text":
                return (
                    f"Column {name!r} holds texts, which are no levels. Join columns of levels, or "
                    "make the column a category."
                )
        return None

    def plain_cells(self, column: str) -> PlainCells:
        """Return the numbers that are levels; a category has any strings."""
        levels = self.levels[self.columns.index(column)]
        return PlainCells(levels=None if levels is None else frozenset(levels))

    def fit_settings(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with the levels and combinations of these rows."""
        columns = len(self.columns)
        none = np.empty((0, columns), np.int32)
        return replace(
            self, levels=((),) * columns, sizes=(0,) * columns, seen=none
        ).with_levels_of(table)

    def with_levels_of(self, table: Table) -> Self:
        """Return the family with levels and combinations that are new in these rows added last."""
        self.check(table)
        columns = [table[name] for name in self.columns]
        levels = tuple(add_levels(c, old) for c, old in zip(columns, self.levels, strict=True))
        sizes = tuple(
            len(column.levels) if known is None else len(known)
            for column, known in zip(columns, levels, strict=True)
        )
        wider = replace(self, levels=levels)
        found = wider.codes_of(table)
        return replace(
            wider, sizes=sizes, seen=self.combinations.with_levels_of(found, sizes).cells
        )

    def without_levels(self) -> Self:
        """Return the family without levels and combinations."""
        columns = len(self.columns)
        levels = tuple(None if known is None else () for known in self.levels)
        none = np.empty((0, columns), np.int32)
        return replace(self, levels=levels, sizes=(0,) * columns, seen=none)

    def codes_of(self, table: Table) -> Codes:
        """Return the codes of the columns' levels side by side, (n, d)."""
        known = zip(self.columns, self.levels, strict=True)
        return np.stack([level_codes(table[name], levels) for name, levels in known], axis=1)

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Counts:
        """Return the weight of each combination by class, (C, M)."""
        found = self.codes_of(table)
        places = self.combinations.places(found)
        missing = np.flatnonzero(places < 0)
        new = missing[(found[missing] != MISSING_CODE).all(axis=1)]
        if new.size:
            raise InputError(
                f"Row {new[0]} has a combination of {', '.join(self.columns)} that is not known. "
                "Let the schema and the family grow before they count (grown)."
            )
        counts, _ = level_counts(places, codes, classes, weights, len(self.seen))
        return Counts(as_readonly(counts))

    def add_row(self, tally: Counts, table: Table, code: int) -> Counts | None:
        """Return the counts with the combination of one row more; None if it is new."""
        found = self.codes_of(table)
        if (found == MISSING_CODE).any():
            return tally
        place = int(self.combinations.places(found)[0])
        return tally.add_at((code, place), counts=1.0) if place >= 0 else None

    def merge(
        self, other: Self, tally: Counts, translations: Mapping[str, Index]
    ) -> tuple[Self, Counts]:
        """Return the family that knows the combinations of both, and the other's tally in it."""
        numbers = [[known is None for known in family.levels] for family in (self, other)]
        if other.name != self.name or numbers[0] != numbers[1]:
            return super().merge(other, tally, translations)
        levels: list[Levels] = []
        sizes, cells = [], other.seen.copy()
        for at, (mine, theirs) in enumerate(zip(self.levels, other.levels, strict=True)):
            if mine is None or theirs is None:
                places = translations[self.columns[at]]
                levels.append(None)
            else:
                joined = tuple(dict.fromkeys((*mine, *theirs)))
                places = np.array([joined.index(level) for level in theirs], np.intp)
                levels.append(joined)
            sizes.append(max(self.sizes[at], int(places.max(initial=-1)) + 1))
            cells[:, at] = places[other.seen[:, at]]
        grown = self.combinations.with_levels_of(cells, tuple(sizes))
        family = replace(self, levels=tuple(levels), sizes=tuple(sizes), seen=grown.cells)
        counts = np.zeros((len(tally.counts), len(grown.cells)))
        counts[:, grown.places(cells)] = tally.counts
        return family, Counts(as_readonly(counts))

    def levels_in_use(self, tally: Counts) -> dict[str, Mask]:
        """Say which levels of each column are in a combination that has rows."""
        seen = self.seen[self._combinations_in_use(tally)]
        return {
            name: np.bincount(seen[:, at], minlength=size) > 0
            for at, (name, size) in enumerate(zip(self.columns, self.sizes, strict=True))
        }

    def keep_levels(self, tally: Counts, used: Mapping[str, Mask]) -> tuple[Self, Index | None]:
        """Return the family with the combinations that have rows, and their places."""
        masks = [used[name] for name in self.columns]
        kept = np.flatnonzero(self._combinations_in_use(tally))
        if len(kept) == len(self.seen) and all(mask.all() for mask in masks):
            return self, None
        cells = self.seen[kept]
        for at, mask in enumerate(masks):
            cells[:, at] = (np.cumsum(mask) - 1)[cells[:, at]]
        levels = tuple(map(keep_used_levels, self.levels, masks))
        sizes = tuple(int(mask.sum()) for mask in masks)
        return replace(self, levels=levels, sizes=sizes, seen=cells), kept

    def _combinations_in_use(self, tally: Counts) -> Mask:
        return np.asarray(tally.with_levels(len(self.seen)).counts.any(axis=0))

    def posterior(self, tally: Counts) -> JointPosterior:
        """Return the shares of the combinations, their prior sample size by evidence."""
        counts = tally.with_levels(len(self.seen)).counts
        pooled, shares = counts.sum(axis=0), []
        for at, size in enumerate(self.sizes):
            shares.append(as_readonly(pooled_shares(np.bincount(self.seen[:, at], pooled, size))))
        tables = LevelTables.centred(counts, shares_product(shares, self.seen), None)
        return JointPosterior(self, tally, tuple(shares), tables)
