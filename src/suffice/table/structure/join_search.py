"""Columns joined into blocks where that lowers the log-loss of held-out rows.

Pairs of columns that depend on each other within the classes are found by their tables
(`promising_pairs`), arrangements of columns into blocks are compared on held-out folds
(`Evaluation`), and a greedy search joins the most promising pairs first (`JoinSearch`).
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from suffice import _core
from suffice.combine.calibration import fit_noise_rate
from suffice.combine.select import MAX_WEIGHTS, fit_candidates, lowest_loss, select_combination
from suffice.combine.weights import HeldOutRows, WeightFit, weights_prior
from suffice.data.columns import Column
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.families import Family
from suffice.generative.held_out import deal_rows
from suffice.logistic.likelihood import LogPosterior
from suffice.table.choices import MAX_NAMED, Trial
from suffice.table.held_out import HeldOut, cell_hashes
from suffice.table.residual_features import choose_features, may_have_residuals
from suffice.table.structure.families import Candidate, family_of, fit_candidate, has_few_values
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.tally.tally import Floats

Blocks = tuple[Family[Any], ...]
Key = tuple[str, tuple[str, ...]]


# Which pairs of columns say more of the class together than each for itself.


class Pair(NamedTuple):
    """Two columns by number, and by how many nats they predict the class better together."""

    nats: float
    first: int
    second: int


def encode_cells(column: Column, settings: SearchSettings = DEFAULT_SEARCH) -> tuple[Codes, int]:
    """Return a code for each cell, missing values among them, and how many codes there are.

    Examples
    --------
    >>> encode_cells(Column("a", "number", np.array([1.0, 2.0, np.nan, 2.0])))
    (array([1, 2, 0, 2], dtype=int32), 3)
    """
    if not column.numeric:
        # An unknown level has no place here: rows that are learned have known ones.
        return np.asarray(column.values, np.int32) + 1, len(column.levels) + 1
    edges, bins = column.distinct[1:], settings.pair_bins
    if len(edges) >= bins and not has_few_values(column, settings):
        ordered = column.ordered
        edges = np.unique(ordered[len(ordered) * np.arange(1, bins) // bins])
    return _core.find_bins(column.values, edges) + 1, len(edges) + 2


def promising_pairs(
    columns: list[Column], rows: Rows, settings: SearchSettings = DEFAULT_SEARCH
) -> list[Pair]:
    """Return pairs of columns that predict the class better together, the largest gain first.

    It is judged by rows that are left out of the pair's table. The best of many pairs looks good by
    chance, so that each pays the logarithm of their number (docs: classifier, blocks).
    """
    if len(columns) < 2:
        return []
    codes, levels = zip(*(encode_cells(column, settings) for column in columns), strict=True)
    gains = _core.pair_gains(
        np.stack(codes),
        np.array(levels),
        rows.codes,
        rows.weights,
        rows.classes,
        np.array(settings.pair_prior_sample_sizes, np.float64),
        settings.max_pair_cells,
    )
    found = np.argwhere(gains > log_pairs(len(columns))).tolist()
    return sorted((Pair(float(gains[a, b]), b, a) for a, b in found), reverse=True)


def log_pairs(columns: int) -> float:
    """Return the logarithm of the number of pairs of columns.

    Examples
    --------
    >>> round(log_pairs(20), 2)
    5.25
    """
    return float(np.log(max(columns * (columns - 1) / 2, 1.0)))


# How well arrangements predict held-out rows.


class Arrangement(NamedTuple):
    """Blocks, and the weights that suit them, with a noise rate where it pays and without."""

    blocks: Blocks
    fit: WeightFit
    fit_without_noise: WeightFit

    @property
    def loss(self) -> float:
        """Held-out log-loss of a row."""
        return self.fit.combination.held_out_log_loss


class Evaluation:
    """How well arrangements of columns into blocks predict rows that they have not learned.

    What is fitted or scored once for a block is kept: arrangements share most of their blocks.

    Parameters
    ----------
    rows : Rows of `TableRows`
        Few enough to be scored many times.
    known : blocks of all columns, whose posteriors given these rows are known
    combine : as GenerativeClassifier takes it
    totals : (C,)
        Weight of all rows of each class that will be learned.
    settings : SearchSettings
    """

    def __init__(
        self,
        rows: Rows,
        known: tuple[Candidate, ...],
        combine: str,
        totals: Floats,
        settings: SearchSettings,
    ) -> None:
        self.rows, self.combine, self.totals = rows, combine, totals
        self.settings = settings
        columns = (name for one in known for name in one.family.columns)
        own = np.bincount(rows.codes, rows.row_weights, rows.classes).astype(np.float64)
        self.held_out = HeldOut(deal_rows(rows, cell_hashes(rows.X.table, columns)), own)
        self._candidates = {_key(one.family): one for one in known}

    def candidate(self, family: Family[Any]) -> Candidate:
        """Return a block with settings taken from the rows, and its posterior."""
        key = _key(family)
        if key not in self._candidates:
            self._candidates[key] = fit_candidate(family, self.rows)
        return self._candidates[key]

    def work(self, blocks: int) -> int:
        """Return how many multiplications a pass over the rows takes for so many blocks."""
        return len(self.held_out.codes) * len(self.held_out.classes) * blocks**2

    def fit_weights(
        self, blocks: Blocks, scales: tuple[float, ...], start: Floats | None = None
    ) -> tuple[WeightFit, WeightFit]:
        """Return the best weights for these blocks, with the loss of each row.

        A weight for each, unless they are too many; weights close together are a temperature. A
        noise rate is fitted where it pays, as it will be in the end; the second weights are
        without. `start` are offsets and weights that may be near.
        """
        rows = self._held_out_rows(blocks)
        method = "blocks" if len(blocks) <= MAX_WEIGHTS else "temperature"
        found = lowest_loss(fit_candidates(rows, method, scales, start))
        return fit_noise_rate(rows, found), found

    def final_fit(self, blocks: Blocks) -> WeightFit:
        """Return what would be fitted to these blocks in the end, residual coefficients too."""
        rows = self.held_out.folds.rows
        features = choose_features(
            blocks, rows, self.combine, self.totals, trial=True, settings=self.settings
        )
        found = self.held_out.features(features)
        return select_combination(self._held_out_rows(blocks), self.combine, found)

    def predicted_maximum(self, blocks: Blocks, scale: float, start: Floats) -> float:
        """Return the log posterior that one Newton step predicts for weights of this scale."""
        rows = self._held_out_rows(blocks)
        return LogPosterior(rows, weights_prior(*rows.size, scale)).predicted_maximum(start)

    def _held_out_rows(self, blocks: Blocks) -> HeldOutRows:
        posteriors = (self.candidate(family).posterior for family in blocks)
        return self.held_out.rows([self.held_out.scores(one) for one in posteriors])

    def gain(self, before: Arrangement, after: Arrangement) -> tuple[float, float]:
        """Return by how many nats all rows are predicted better, and its standard error."""
        weights = self.held_out.weights
        better = before.fit.losses - after.fit.losses
        total = float(weights @ better)
        deviations = np.sqrt(weights) * (better - total / weights.sum())
        saved = self.settings.block_price * (len(before.blocks) - len(after.blocks))
        return total + saved, float(np.sqrt(np.sum(deviations**2)))


def _key(family: Family[Any]) -> Key:
    return family.name, family.columns


# The search.


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
    settings: SearchSettings,
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
        together = self.join_all_numbers()
        gain, error = 0.0, np.inf
        if together is not None:
            gain, error = self.evaluation.gain(self.start, together)
        apart, far = self.start, self.settings.far_behind
        # A pair of the columns may be worth more than all numbers together.
        nats = max((pair.nats for pair in self.promising_pairs(apart)), default=0.0)
        if gain <= far * error or nats / self.settings.min_pair_table_share > gain:
            apart = self.better_of_final_fits(apart, self.join_pairs(apart))
        if together is None or gain < -far * error:
            return apart
        return self.better_of_final_fits(apart, self.join_pairs(together))

    def better_of_final_fits(self, apart: Arrangement, joined: Arrangement) -> Arrangement:
        """Return the second arrangement if what will be fitted to it is the better by nats.

        Residual coefficients may do for one what weights alone cannot.
        """
        if joined is apart:
            return apart
        evaluation = self.evaluation
        both = [apart, joined]
        if may_have_residuals(evaluation.combine, evaluation.totals, self.settings):
            fits = [evaluation.final_fit((*self.fixed, *one.blocks)) for one in both]
            both = [one._replace(fit=fit) for one, fit in zip(both, fits, strict=True)]
        return joined if evaluation.gain(*both)[0] > self.settings.min_gain else apart

    def trials(self, best: Arrangement) -> list[Trial]:
        """Return what was tried; taken is what the best arrangement holds."""
        held = [(f.name, set(f.columns)) for f in best.blocks]
        return [
            trial._replace(taken=any(f.name == n and set(f.columns) <= c for n, c in held))
            for f, trial in self.tried
        ]

    def join_all_numbers(self) -> Arrangement | None:
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
