"""Rows of counts, such as words in a document: multinomial, Polya and complement rule.

Docs: mathematics, sections 2 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputError
from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.families.leave_one_out.counts import (
    leave_one_out_complement,
    leave_one_out_multinomial,
    leave_out_of_own_class,
)
from suffice.families.smoothing import Smoothing, widen
from suffice.prior import Dirichlet
from suffice.prior.predictive import draw_events
from suffice.prior.special import log_gamma_step
from suffice.scoring.discrete import (
    complement_scorer,
    log_ratio_table,
    multinomial_scorer,
    polya_scorer,
)
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True, eq=False)
class Multinomials(ClassConditional):
    """Probabilities of words (C, V), plugged in or, of estimate "predictive", integrated out.

    Parameters
    ----------
    groups : Groups of Counts (C, V)
    smoothing : pseudocounts

    Examples
    --------
    >>> groups = Groups(["ham", "spam"], [1.0, 1.0], Counts([[3.0, 0.0], [1.0, 1.0]]))
    >>> np.exp(Multinomials(groups, Smoothing(1.0, "mean")).log_prob)
    array([[0.8, 0.2],
           [0.5, 0.5]])
    """

    groups: Groups[Counts]
    smoothing: Smoothing

    @property
    def counts(self) -> Floats:
        """How often each class has each word, (C, V)."""
        return self.groups.parts.counts

    @property
    def is_integrated(self) -> bool:
        """Whether the probabilities are integrated out over the whole row (Polya)."""
        return self.smoothing.estimate == "predictive"

    @cached_property
    def log_prob(self) -> Floats:
        """Log p(word | class), (C, V)."""
        return log_ratio_table(self.counts, self.smoothing.added(self.smoothing.concentration)).T

    @cached_property
    def posterior(self) -> Floats:
        """Pseudocounts and counts, (C, V)."""
        return self.counts + widen(self.smoothing.concentration, self.counts.shape)

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class), of the words in one order."""
        if not self.is_integrated:
            return multinomial_scorer(self.log_prob.T)
        return polya_scorer(self.posterior)

    def split(self, cells: Floats) -> ColumnScores:
        """Return what the words of one row add to the scores."""
        columns = np.flatnonzero(cells)  # missing values among them, which add nothing
        missing = np.isnan(cells)
        counts = np.where(missing, 0.0, cells)[columns]
        return ColumnScores(columns, self.scores_of_words(columns, counts, ~missing))

    def scores_of_words(
        self, columns: Index, counts: Floats, seen: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return what words (J,), so many times each, add to the scores, (J, C).

        Where words are hidden (not `seen`, of all (V,)), the others share their probability.
        """
        if self.is_integrated:
            # Each word by itself, and its share of what the length takes off.
            posterior = self.posterior
            total = (posterior if seen is None else posterior[:, seen]).sum(axis=1)
            length = float(counts.sum())
            share = counts[:, None] / (length or 1.0)
            each = log_gamma_step(posterior[:, columns].T, counts[:, None])
            return np.asarray(each - share * log_gamma_step(total, length))
        parts = times(counts, self.log_prob[:, columns].T)
        if seen is None or seen.all():
            return parts
        left = np.exp(self.log_prob[:, seen]).sum(axis=1)
        return parts - counts[:, None] * np.log(np.where(left > 0, left, 1.0))

    def scores_lost(self, columns: Index, counts: Floats, lengths: Floats) -> Floats:
        """Return what the scores of rows lose without one word, (J, C).

        Parameters
        ----------
        columns, counts : (J,)
            Which word it is, and how often the row has it.
        lengths : (J,)
            How many words the row has.
        """
        if not self.is_integrated:
            return self.scores_of_words(columns, counts)
        posterior = self.posterior
        total, many = posterior.sum(axis=1), counts[:, None]
        left = lengths[:, None] - many
        own = log_gamma_step(posterior[:, columns].T, many)
        return np.asarray(own - log_gamma_step(total + left, many))

    def linear_form(self) -> LinearForm:
        """Return weights of the counts."""
        if self.is_integrated:
            raise no_linear_form("Polya")
        weights = np.ascontiguousarray(self.log_prob)
        return LinearForm(weights, np.zeros(len(weights)))

    def sample(self, codes: Index, rng: np.random.Generator) -> Any:
        """Draw rows whose lengths are Poisson about the mean length of their class."""
        weights = self.groups.weights
        lengths = self.counts.sum(axis=1) / np.where(weights > 0, weights, 1.0)
        events = draw_events(rng, lengths[codes])
        if self.is_integrated:
            chances = np.stack([rng.dirichlet(self.posterior[c]) for c in codes])
        else:
            chances = np.exp(self.log_prob)
            # A class without a word, unsmoothed, draws rows of length 0 from whatever it may.
            chances = np.where(chances.any(axis=1, keepdims=True), chances, 1.0)
            chances = (chances / chances.sum(axis=1, keepdims=True))[codes]
        return rng.multinomial(events, chances)

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        alpha, shape = self.smoothing.concentration, self.counts.shape
        concentration = np.broadcast_to(alpha, shape if np.ndim(alpha) else shape[1:])
        return float(np.sum(Dirichlet(concentration).log_evidence(self.groups.parts)))

    @property
    def n_parameters(self) -> int:
        """One probability less than words, for each class."""
        classes, words = self.counts.shape
        return int(classes * (words - 1))

    def with_tally(self, groups: Groups[Counts], kept: Index) -> Self:
        """Return the probabilities of another tally under the same prior."""
        smoothing = self.smoothing.of_classes(kept, len(self.groups.classes))
        return replace(self, groups=groups, smoothing=smoothing)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row."""
        alpha = self.smoothing.concentration
        added = alpha if self.is_integrated else self.smoothing.added(alpha)
        own = leave_one_out_multinomial(learned.rows, self.counts, added, polya=self.is_integrated)
        return leave_out_of_own_class(self, learned, own)


@dataclass(frozen=True, eq=False)
class Complements(Multinomials):
    """Rennie and others' rule: each class is judged by the words of all the others.

    It decides and is no model of the rows: densities, draws and evidence are those of the
    multinomial with the same tally and pseudocounts.

    Parameters
    ----------
    groups, smoothing : as for `Multinomials`
    norm : bool
        Whether the weights of each class add up to 1.
    """

    norm: bool = False

    @cached_property
    def weights(self) -> Floats:
        """What a word adds to the score of a class, (C, V)."""
        added = self.smoothing.added(self.smoothing.concentration)
        table = log_ratio_table(self.counts, added, of_others=True)
        if self.norm:
            for c in range(table.shape[1]):
                table[:, c] = _normalize(table[:, c])
        else:
            np.negative(table, out=table)
        return table.T

    def scorer(self) -> Scorer:
        """Return what adds the scores of the rule."""
        return complement_scorer(self.weights.T)

    def density(self) -> Scorer:
        """Return what adds log p(x | class) of the multinomial."""
        return super().scorer()

    def scores_of_words(
        self, columns: Index, counts: Floats, seen: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return what words (J,), so many times each, add to the scores, (J, C)."""
        return times(counts, self.weights[:, columns].T)

    def linear_form(self) -> LinearForm:
        """Return weights of the counts."""
        weights = np.ascontiguousarray(self.weights)
        return LinearForm(weights, np.zeros(len(weights)))

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return the scores of each row without the row, which is in all complements but one."""
        rows = learned.rows
        scores = joint_log_proba(self.scorer(), rows.X, np.zeros(len(self.counts)))
        added = self.smoothing.added(self.smoothing.concentration)
        scores = leave_one_out_complement(rows, self.counts, added, scores, norm=self.norm)
        return LeftOut(scores, np.zeros(len(scores), np.bool_))


def times(counts: Floats, table: Floats) -> Floats:
    """Return counts (J,) times their rows of a table (J, C); 0 times anything is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(counts[:, None] == 0, 0.0, counts[:, None] * table)


def no_linear_form(distribution: str) -> InputError:
    """Return the error that a distribution is linear in no statistics of a row."""
    return InputError(
        f"A {distribution} distribution is linear in no statistics of a row, so "
        "estimate='predictive' is no logistic regression. Use estimate='mean' or 'map'."
    )


def _normalize(logs: Floats) -> Floats:
    """Return the weights of one class, (V,), that add up to 1.

    Words that the others never had outweigh the rest without bound as alpha falls to 0, and in
    the limit share all the weight.
    """
    never = np.isinf(logs)
    if never.any():
        return np.asarray(never / never.sum())
    total = logs.sum()
    return np.asarray(logs / (total if total != 0 else 1.0))
