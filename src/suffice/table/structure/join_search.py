"""Columns joined into blocks where that predicts held-out rows better."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from suffice.data.rows import Rows
from suffice.families import Family
from suffice.table.choices import MAX_NAMED, Trial
from suffice.table.families import family_of
from suffice.table.held_out import HeldOut
from suffice.table.structure.arrangements import Arrangement, Blocks, Evaluation
from suffice.table.structure.candidates import Candidate, has_few_values
from suffice.table.structure.dependence import Pair, log_pairs, promising_pairs
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.tally.tally import Floats


class Joined(NamedTuple):
    """The blocks that columns form, what was tried, and the held-out rows it was tried on."""

    blocks: list[Candidate]
    trials: list[Trial]
    held_out: HeldOut | None


def join_columns(
    free: list[Candidate],
    fixed: list[Candidate],
    rows: Rows,
    budget: int,
    combine: str,
    totals: Floats,
    settings: SearchSettings = DEFAULT_SEARCH,
) -> Joined:
    """Return the blocks that the free columns form.

    The search starts from one block a column, and from one normal distribution for all numbers,
    unless one of them is far behind. From each, pairs that depend on each other within the classes
    are joined where that predicts held-out rows better. The second start must gain something to be
    taken, since its blocks say less of each column.

    Parameters
    ----------
    free : a block for each column that may be joined
    fixed : blocks that stay as they are
    rows : Rows of `TableRows`
    budget : int
        Arrangements that are tried.
    combine : as GenerativeClassifier takes it
        How the blocks will be combined in the end.
    totals : (C,)
        Weight of all rows of each class that will be learned.
    settings : SearchSettings
    """
    if budget == 0 or len(free) < 2 or rows.classes < 2:
        return Joined(free, [], None)
    evaluation = Evaluation(rows, (*free, *fixed), combine, totals, settings)
    if len(evaluation.held_out.classes) < 2:
        return Joined(free, [], None)
    stay, start = (tuple(one.family for one in blocks) for blocks in (fixed, free))
    search = JoinSearch(evaluation, stay, start, budget)
    best = search.best()
    blocks = [evaluation.candidate(family) for family in best.blocks]
    return Joined(blocks, search.trials(best), evaluation.held_out)


class JoinSearch:
    """A greedy search for blocks that predict held-out rows, with a budget of trials.

    Parameters
    ----------
    evaluation : of arrangements
    fixed : blocks that stay as they are
    blocks : those that the search starts from
    budget : int
        How many arrangements are tried.
    """

    def __init__(self, evaluation: Evaluation, fixed: Blocks, blocks: Blocks, budget: int) -> None:
        self.evaluation, self.fixed, self.left, self.worked = evaluation, fixed, budget, 0
        self.settings = evaluation.settings
        self.tried: list[tuple[Family[Any], Trial]] = []
        self._pairs: dict[tuple[str, ...], list[Pair]] = {}
        weights = evaluation.fit_weights((*fixed, *blocks), self.settings.weight_scales)
        self.start = Arrangement(blocks, *weights)

    def best(self) -> Arrangement:
        """Return the better of what is found from both starts."""
        together = self.all_together()
        gain, error = 0.0, np.inf
        if together is not None:
            gain, error = self.evaluation.gain(self.start, together)
        apart, far = self.start, self.settings.far_behind
        # A pair of the columns may be worth more than all numbers together.
        nats = max((pair.nats for pair in self.promising_pairs(apart)), default=0.0)
        if gain <= far * error or nats / self.settings.min_pair_table_share > gain:
            apart = self.better_finally(apart, self.join_pairs(apart))
        if together is None or gain < -far * error:
            return apart
        return self.better_finally(apart, self.join_pairs(together))

    def better_finally(self, apart: Arrangement, joined: Arrangement) -> Arrangement:
        """Return the second arrangement if what will be fitted to it is the better by nats.

        Residual coefficients may do for one what weights alone cannot.
        """
        if joined is apart:
            return apart
        least = self.settings.min_gain
        if not self.evaluation.may_have_residuals:
            return joined if self.evaluation.gain(apart, joined)[0] > least else apart
        both = [
            one._replace(fit=self.evaluation.fit_finally((*self.fixed, *one.blocks)))
            for one in (apart, joined)
        ]
        return joined if self.evaluation.gain(*both)[0] > least else apart

    def trials(self, best: Arrangement) -> list[Trial]:
        """Return what was tried; taken is what the best arrangement holds."""
        held = [(f.name, set(f.columns)) for f in best.blocks]
        return [
            trial._replace(taken=any(f.name == n and set(f.columns) <= c for n, c in held))
            for f, trial in self.tried
        ]

    def all_together(self) -> Arrangement | None:
        """Return the best arrangement with one normal distribution for many numbers, if any."""
        table, blocks = self.evaluation.rows.X.table, self.start.blocks
        numbers = [f for f in blocks if table[f.column].numeric and f.name != "bernoulli"]
        many = [f for f in numbers if f.name not in ("categorical", "poisson")]
        groups = dict.fromkeys(
            tuple(f.column for f in group) for group in (numbers, many) if len(group) > 1
        )
        best: Arrangement | None = None
        hopeless, rows, settings = False, self.evaluation.rows, self.settings
        fewest = np.bincount(rows.codes, rows.row_weights, rows.classes).min()
        for name, columns in product(settings.normal_blocks, groups):
            if hopeless and name == "mvn:tied":
                continue
            if name == "mvn" and settings.min_rows_per_column * len(columns) > fewest:
                continue
            rest = tuple(f for f in blocks if f.column not in columns)
            block = family_of(name, columns)
            if block.objection(table) is not None:
                continue
            then = self._try(self.start, rest, block, settings.weight_scales)
            if best is None or then.loss < best.loss:
                best = then
            gain, error = self.evaluation.gain(self.start, then)
            # Covariances that differ between classes may be all there is: they are tried.
            hopeless = gain < -settings.hopeless * error and name == "mvn:tied"
        return best

    def join_pairs(self, now: Arrangement) -> Arrangement:
        """Return the arrangement with pairs joined, the most promising tried first."""
        table, settings = self.evaluation.rows.X.table, self.settings
        columns = self._single_columns(now.blocks)
        least = settings.min_gain + log_pairs(len(columns))
        patience = settings.patience
        for _, a, b in self.promising_pairs(now):
            parts = [next(f for f in now.blocks if columns[at] in f.columns) for at in (a, b)]
            if parts[0] is parts[1]:
                continue
            together = tuple(dict.fromkeys((*parts[0].columns, *parts[1].columns)))
            rest = tuple(f for f in now.blocks if f not in parts)
            for name in self._joining_families(parts):
                if self.left <= 0 or self.worked > settings.max_work:
                    return now
                if name == "mvn" and not all(_is_normal(part) for part in parts):
                    patience -= 1
                    if patience < 0:
                        continue
                scale = now.fit.combination.weight_scale or settings.weight_scales[0]
                block = family_of(name, together)
                if block.objection(table) is not None:
                    continue
                if not self._is_promising(now, rest, block, scale):
                    continue
                then = self._try(now, rest, block, (scale,))
                gain, error = self.evaluation.gain(now, then)
                if gain > max(least, settings.min_gain_errors * error):
                    now, patience = then, settings.patience
                    break
        return now

    def promising_pairs(self, now: Arrangement) -> list[Pair]:
        """Return the pairs of single columns of an arrangement that may say more together."""
        names = self._single_columns(now.blocks)
        if names not in self._pairs:
            rows = self.evaluation.rows
            columns = [rows.X.table[name] for name in names]
            self._pairs[names] = promising_pairs(columns, rows, self.settings)
        return self._pairs[names]

    def _is_promising(
        self, now: Arrangement, rest: Blocks, block: Family[Any], scale: float
    ) -> bool:
        """Say whether a Newton step leaves hope for a block; if not, it counts as tried.

        Weights that predict less than the ones there are, even for rows that they were fitted to,
        will not predict other rows by nats more.
        """
        found, point = now.fit_without_noise.combination, now.fit_without_noise.point
        if point is None or found.method != "blocks":
            return True
        blocks = (*self.fixed, *rest, block)
        start = self._start_near(now, rest)
        behind = point.value - self.evaluation.predicted_maximum(blocks, scale, start)
        if behind < 0:
            return True
        self.left -= 1
        self.worked += self.evaluation.work(len(blocks))
        total = float(self.evaluation.held_out.weights.sum())
        self._record(block, now.loss, now.loss + behind / total)
        return False

    def _record(self, block: Family[Any], before: float, after: float) -> None:
        many = len(block.columns) > MAX_NAMED
        names = f"{len(block.columns)} numbers" if many else ", ".join(block.columns)
        self.tried.append((block, Trial(f"{block.name} of {names}", before, after, False)))

    def _try(
        self, now: Arrangement, rest: Blocks, block: Family[Any], scales: tuple[float, ...]
    ) -> Arrangement:
        """Return the arrangement with a block beside the rest."""
        self.left -= 1
        blocks = (*rest, block)
        self.worked += self.evaluation.work(len(self.fixed) + len(blocks)) * len(scales)
        start = self._start_near(now, rest)
        weights = self.evaluation.fit_weights((*self.fixed, *blocks), scales, start)
        then = Arrangement(blocks, *weights)
        self._record(block, now.loss, then.loss)
        return then

    def _start_near(self, now: Arrangement, rest: Blocks) -> Floats:
        """Return offsets and weights near those of the rest and a further block."""
        found, stay = now.fit.combination, len(self.fixed)
        weights = found.weights.tolist()
        pairs = list(zip(now.blocks, weights[stay:], strict=True))
        held = [weight for block, weight in pairs if block in rest]
        gone = [weight for block, weight in pairs if block not in rest]
        return np.array([*found.offsets, *weights[:stay], *held, sum(gone) / len(gone)])

    def _joining_families(self, parts: list[Family[Any]]) -> tuple[str, ...]:
        """Return the families that two blocks may be joined in."""
        if all(_is_normal(part) for part in parts):
            return self.settings.normal_blocks
        table = self.evaluation.rows.X.table
        columns = [table[name] for part in parts for name in part.columns]
        few = [column.numeric and has_few_values(column, self.settings) for column in columns]
        if all(not column.numeric or one for column, one in zip(columns, few, strict=True)):
            return ("joint",)
        # Numbers that are not normal alone may differ between classes in how they go together.
        numbers = all(column.numeric for column in columns) and not any(few)
        return ("mvn",) if numbers else ()

    def _single_columns(self, blocks: Blocks) -> tuple[str, ...]:
        """Return the columns that pairs are looked for in: those in blocks of their own."""
        names = (f.column for f in blocks if len(f.columns) == 1)
        return tuple(names)[: self.settings.max_pair_columns]


def _is_normal(block: Family[Any]) -> bool:
    """Say whether a block is one of normal distributions."""
    return block.name.startswith(("normal", "mvn"))
