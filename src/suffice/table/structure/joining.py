"""Columns joined into blocks where that predicts held-out rows better."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from suffice.data.rows import Rows
from suffice.families import Family
from suffice.table.choices import NAMED, Trial
from suffice.table.families import family_of
from suffice.table.held_out import HeldOut
from suffice.table.structure.candidates import Candidate, few_values
from suffice.table.structure.dependence import Pair, price_of_pairs, worth_joining
from suffice.table.structure.trials import Arrangement, Blocks, Trials
from suffice.tally.tally import Floats

# A pair is joined if all rows together gain this many nats beside the price of its being the best
# of many, and so many standard errors.
LEAST_GAIN, LEAST_ERRORS = 3.0, 2.0
# Columns beyond which no pairs are looked for.
MOST_COLUMNS = 100
TOGETHER = ("mvn:tied", "mvn")
# Prior scales of the weights in trials; the last word has the finest choice.
TRIED_SCALES = (0.125, 0.5)
# Standard errors of the gain by which one way is so far behind the other that it is not gone.
FAR = 2.0
# Standard errors by which one normal distribution is so far behind that no more of its kind are
# tried.
HOPELESS = 5.0
# Normal distributions of two numbers that are no normals for themselves: after so many that gain
# nothing no more are tried, since the pairs that tell most of the class come first.
PATIENCE = 4
# How much of what a pair tells of the class shows at least in its table of a few parts.
SHOWN = 0.5
# Rows that each class must have for each column before it is tried with a covariance of its own.
ROWS_A_COLUMN = 1.0
# Multiplications in one pass of all trials' fits together, beyond which no pair is tried.
MOST_WORK = 1 << 29


def joined(
    free: list[Candidate],
    fixed: list[Candidate],
    rows: Rows,
    budget: int,
    combine: str,
    totals: Floats,
) -> tuple[list[Candidate], list[Trial], HeldOut | None]:
    """Return the blocks that the free columns form, what was tried, and on which held-out rows.

    Two ways are gone: from one block a column, and from one normal distribution for all numbers,
    unless one of them is far behind. On each, pairs that depend on each other within the classes
    are joined where that predicts held-out rows better. The second way must gain something to be
    taken, since its blocks say less of each column.

    Parameters
    ----------
    free : a block for each column that may be joined
    fixed : blocks that stay as they are
    rows : Rows of a `Sheet`
    budget : int
        Arrangements that are tried.
    combine : as GenerativeClassifier takes it
        How the blocks will be combined in the end.
    totals : (C,)
        Weight of all rows of each class that will be learned.
    """
    if budget == 0 or len(free) < 2 or rows.classes < 2:
        return free, [], None
    trials = Trials(rows, (*free, *fixed), combine, totals)
    if len(trials.held_out.classes) < 2:
        return free, [], None
    stay, start = (tuple(one.family for one in blocks) for blocks in (fixed, free))
    search = Search(trials, stay, start, budget)
    best = search.best()
    blocks = [trials.read(family) for family in best.blocks]
    return blocks, search.told_of(best), trials.held_out


class Search:
    """A search for blocks that predict held-out rows, with a budget of trials."""

    def __init__(self, trials: Trials, fixed: Blocks, blocks: Blocks, budget: int) -> None:
        self.trials, self.fixed, self.left, self.worked = trials, fixed, budget, 0
        self.tried: list[tuple[Family[Any], Trial]] = []
        self._pairs: dict[tuple[str, ...], list[Pair]] = {}
        self.start = Arrangement(blocks, *trials.fit_weights((*fixed, *blocks), TRIED_SCALES))

    def best(self) -> Arrangement:
        """Return the arrangement at the end of the better way."""
        together = self.all_together()
        gain, error = (0.0, np.inf) if together is None else self.trials.gain(self.start, together)
        apart = self.start
        # A pair of the columns may be worth more than all numbers together.
        worth = max((pair.nats for pair in self.promising_pairs(apart)), default=0.0) / SHOWN
        if gain <= FAR * error or worth > gain:
            apart = self.better_in_the_end(apart, self.pairs(apart))
        if together is None or gain < -FAR * error:
            return apart
        return self.better_in_the_end(apart, self.pairs(together))

    def better_in_the_end(self, apart: Arrangement, end: Arrangement) -> Arrangement:
        """Return the second arrangement if what will be fitted to it is the better by nats.

        Corrections may do for one what weights alone cannot.
        """
        if end is apart:
            return apart
        if not self.trials.may_correct:
            return end if self.trials.gain(apart, end)[0] > LEAST_GAIN else apart
        both = [
            one._replace(fit=self.trials.fit_finally((*self.fixed, *one.blocks)))
            for one in (apart, end)
        ]
        return end if self.trials.gain(*both)[0] > LEAST_GAIN else apart

    def told_of(self, best: Arrangement) -> list[Trial]:
        """Return what was tried; taken is what the best arrangement holds."""
        held = [(f.name, set(f.columns)) for f in best.blocks]
        return [
            trial._replace(taken=any(f.name == n and set(f.columns) <= c for n, c in held))
            for f, trial in self.tried
        ]

    def all_together(self) -> Arrangement | None:
        """Return the best arrangement with one normal distribution for many numbers, if any."""
        table, blocks = self.trials.rows.X.table, self.start.blocks
        numbers = [f for f in blocks if table[f.column].numeric and f.name != "bernoulli"]
        many = [f for f in numbers if f.name not in ("categorical", "poisson")]
        groups = dict.fromkeys(
            tuple(f.column for f in group) for group in (numbers, many) if len(group) > 1
        )
        best: Arrangement | None = None
        hopeless, rows = False, self.trials.rows
        fewest = np.bincount(rows.codes, rows.row_weights, rows.classes).min()
        for name, columns in product(TOGETHER, groups):
            if hopeless and name == "mvn:tied":
                continue
            # With few rows to a column, a class's own covariance is little but its prior.
            if name == "mvn" and ROWS_A_COLUMN * len(columns) > fewest:
                continue
            rest = tuple(f for f in blocks if f.column not in columns)
            block = family_of(name, columns)
            if block.objection(table) is not None:
                continue
            then = self._tried(self.start, rest, block, TRIED_SCALES)
            if best is None or then.loss < best.loss:
                best = then
            gain, error = self.trials.gain(self.start, then)
            # Covariances that differ between classes may be all there is: they are tried.
            hopeless = gain < -HOPELESS * error and name == "mvn:tied"
        return best

    def pairs(self, now: Arrangement) -> Arrangement:
        """Return the arrangement with pairs joined, those that promise most first."""
        table = self.trials.rows.X.table
        columns = _single_columns(now.blocks)
        least = LEAST_GAIN + price_of_pairs(len(columns))
        patience = PATIENCE
        for _, a, b in self.promising_pairs(now):
            parts = [next(f for f in now.blocks if columns[at] in f.columns) for at in (a, b)]
            if parts[0] is parts[1]:
                continue
            together = tuple(dict.fromkeys((*parts[0].columns, *parts[1].columns)))
            rest = tuple(f for f in now.blocks if f not in parts)
            for name in _families(parts, table):
                if self.left <= 0 or self.worked > MOST_WORK:
                    return now
                if name == "mvn" and not all(_is_normal(part) for part in parts):
                    patience -= 1
                    if patience < 0:
                        continue
                scale = now.fit.combination.weight_scale or TRIED_SCALES[0]
                block = family_of(name, together)
                if block.objection(table) is not None:
                    continue
                if not self._promising(now, rest, block, scale):
                    continue
                then = self._tried(now, rest, block, (scale,))
                gain, error = self.trials.gain(now, then)
                if gain > max(least, LEAST_ERRORS * error):
                    now, patience = then, PATIENCE
                    break
        return now

    def promising_pairs(self, now: Arrangement) -> list[Pair]:
        """Return the pairs of single columns of an arrangement that may tell more together."""
        names = _single_columns(now.blocks)
        if names not in self._pairs:
            rows = self.trials.rows
            columns = [rows.X.table[name] for name in names]
            self._pairs[names] = worth_joining(columns, rows, rows.row_weights)
        return self._pairs[names]

    def _promising(self, now: Arrangement, rest: Blocks, block: Family[Any], scale: float) -> bool:
        """Say whether a first look at a block leaves hope; if not, it has been tried.

        Weights that promise less than the ones there are, even for rows that they have seen, will
        not foretell rows that they have not by nats more.
        """
        found, point = now.fit_without_noise.combination, now.fit_without_noise.point
        if point is None or found.method != "blocks":
            return True
        blocks = (*self.fixed, *rest, block)
        behind = point.value - self.trials.predicted_maximum(blocks, scale, self._near(now, rest))
        if behind < 0:
            return True
        self.left -= 1
        self.worked += self.trials.work(len(blocks))
        self._tell(block, now.loss, now.loss + behind / float(self.trials.held_out.weights.sum()))
        return False

    def _tell(self, block: Family[Any], before: float, after: float) -> None:
        many = len(block.columns) > NAMED
        names = f"{len(block.columns)} numbers" if many else ", ".join(block.columns)
        self.tried.append((block, Trial(f"{block.name} of {names}", before, after, False)))

    def _tried(
        self,
        now: Arrangement,
        rest: Blocks,
        block: Family[Any],
        scales: tuple[float, ...],
    ) -> Arrangement:
        """Return the arrangement with a block beside the rest."""
        self.left -= 1
        blocks = (*rest, block)
        self.worked += self.trials.work(len(self.fixed) + len(blocks)) * len(scales)
        start = self._near(now, rest)
        then = Arrangement(blocks, *self.trials.fit_weights((*self.fixed, *blocks), scales, start))
        self._tell(block, now.loss, then.loss)
        return then

    def _near(self, now: Arrangement, rest: Blocks) -> Floats:
        """Return offsets and weights near those of the rest and a further block."""
        found, stay = now.fit.combination, len(self.fixed)
        weights = found.weights.tolist()
        pairs = list(zip(now.blocks, weights[stay:], strict=True))
        held = [weight for block, weight in pairs if block in rest]
        gone = [weight for block, weight in pairs if block not in rest]
        return np.array([*found.offsets, *weights[:stay], *held, sum(gone) / len(gone)])


def _families(parts: list[Family[Any]], table: Any) -> tuple[str, ...]:
    """Return the families that two blocks may be joined in."""
    names = [name for part in parts for name in part.columns]
    if all(_is_normal(part) for part in parts):
        return TOGETHER
    if all(not table[n].numeric or few_values(table[n]) for n in names):
        return ("joint",)
    # Numbers that are no normals for themselves may be told apart by how they go together.
    return ("mvn",) if all(table[n].numeric and not few_values(table[n]) for n in names) else ()


def _single_columns(blocks: Blocks) -> tuple[str, ...]:
    """Return the columns that pairs are looked for in: those in blocks of their own."""
    return tuple(f.column for f in blocks if len(f.columns) == 1)[:MOST_COLUMNS]


def _is_normal(block: Family[Any]) -> bool:
    """Say whether a block is one of normal distributions."""
    return block.name.startswith(("normal", "mvn"))
