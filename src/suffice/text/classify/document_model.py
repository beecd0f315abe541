"""p(document | class) of a tally of terms, and that of documents which are left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.bernoulli import IndependentBernoullis
from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.prior.special import log_gamma_step
from suffice.scoring.scorer import Scorer
from suffice.tally.tally import ROUNDING, Floats, Index
from suffice.text.classify.event_model import (
    EventModel,
    draw_documents,
    event_model,
    leave_one_out,
    score_terms,
)
from suffice.text.classify.term_counter import TermCounter
from suffice.text.classify.term_rows import (
    document_lengths,
    prepare_rows,
    row_sums,
    weight_counts,
    with_cells,
)
from suffice.text.classify.term_tally import TermTally, document_counts, term_counts


@dataclass(frozen=True)
class SingletonTerms:
    """Terms that one document alone has: how many, and how much of the document they are.

    Parameters
    ----------
    terms : (n,)
        How many terms no other document has.
    amounts : (n,)
        What they add up to in the row.
    lengths : (n,)
        What the whole row adds up to.
    unknown : (n,)
        How much of the document is in terms that were never learned, which are no part of the row.
    weights : (n,)
        Weight of the row in the tally.
    """

    terms: Floats
    amounts: Floats
    lengths: Floats
    unknown: Floats
    weights: Floats

    @classmethod
    def of(
        cls, matrix: Any, weights: Floats, totals: Floats, unknown: Floats, *, given: bool
    ) -> SingletonTerms:
        """Compare rows (CSR) of given weights with the totals of all rows, (V,).

        With a vocabulary that was given there are none: its terms stay known.
        """
        size = matrix.shape[0]
        rows = np.repeat(np.arange(size), np.diff(matrix.indptr))
        cells = matrix.data.astype(np.float64)
        each = weights if weights.size else np.ones(size)
        whole = totals[matrix.indices]
        alone = (cells > 0) & (whole - each[rows] * cells <= ROUNDING * whole)
        own = np.where(given, 0.0, alone)

        def by_row(amounts: Floats) -> Floats:
            return np.asarray(np.bincount(rows, amounts, minlength=size), np.float64)

        return cls(by_row(own), by_row(own * cells), by_row(cells), unknown, each)

    def drop(
        self, scores: Floats, codes: NDArray[Any], words: EventModel, event: str, *, smooth: bool
    ) -> None:
        """Take the terms out of scores (n, C), which are changed, of documents that are left out.

        In a multinomial, a term that is left to no class has the pseudocount in each, so that its
        part in the score is the same for all and is left in. What differs is the total that the
        class's probabilities add up to, with the pseudocounts of all terms or, without these, of
        fewer. The complement rule scores a class by the words of all others. In a Bernoulli model
        the terms are no features any more.

        Parameters
        ----------
        scores : (n, C), changed
        codes : (n,)
            The class of each document.
        words : the event model of all documents
        event : its name
        smooth : bool
            Whether unknown terms are scored as one, which these then are, too.
        """
        alpha = float(words.smoothing.prior)
        if event == "bernoulli":
            left = np.repeat(words.groups.weights[None], len(codes), axis=0)
            left[np.arange(len(codes)), codes] -= self.weights
            present = np.log(alpha) - np.log(left + 2 * alpha)
            scores -= self.terms[:, None] * present
            if smooth:  # seen together as the one unknown term, which was absent before
                absent = np.log1p(-np.exp(present))
                scores += (self.terms + self.unknown > 0)[:, None] * (present - absent)
            return
        of_others, width = event == "complement", words.groups.parts.counts.shape[1]
        left = self._totals_left(codes, words.groups.parts.counts.sum(axis=1), of_others=of_others)
        whole, fewer = left + alpha * width, left + alpha * (width - self.terms)[:, None]
        # Without these terms a class may have neither terms nor pseudocounts: nothing to score.
        fewer = np.where(fewer > 0, fewer, 1.0)
        length = self.lengths[:, None]
        scored = (self.lengths + self.unknown if smooth else self.lengths - self.amounts)[:, None]
        if event == "polya":
            scores += log_gamma_step(whole, length) - log_gamma_step(fewer, scored)
            return
        change = length * np.log(whole) - scored * np.log(fewer)
        scores += -change if of_others else change

    def _totals_left(self, codes: NDArray[Any], totals: Floats, *, of_others: bool) -> Floats:
        """Return the totals of the classes, or of all others, (n, C), without each row."""
        if of_others:
            totals = totals.sum() - totals
        left = np.repeat(totals[None], len(codes), axis=0)
        own = np.zeros(left.shape, bool)
        own[np.arange(len(codes)), codes] = True
        left -= np.where(own != of_others, (self.weights * self.lengths)[:, None], 0.0)
        left[left <= ROUNDING * totals] = 0.0
        return left


class TermScores(NamedTuple):
    """The scores of one document's classes, as a sum over its terms."""

    terms: NDArray[Any]
    """(J,): the columns of the document's terms"""
    counts: Floats
    """(J,)"""
    parts: Floats
    """(J, C): what each term adds to the score of each class"""
    base: Floats
    """(C,): the scores before any term"""
    noise_rate: float = 0.0
    one_against_all: bool = False
    """Whether a class's score is its own log-odds against all others."""


@dataclass(frozen=True, eq=False)
class DocumentModel(ClassConditional):
    """An event model of documents, given the tally of their terms (docs: text).

    Rows are those of the counter: counts of all terms that it knows. Terms that no document of the
    tally has are unknown to the model, unless the vocabulary was given.

    Parameters
    ----------
    counter : TermCounter
    groups : tally of the counter's terms
    known : (V,), bool, or None if all terms are known
    idf : (known terms,), or None without tf-idf
        Inverse document frequencies, which each term's counts are multiplied by.
    words : the event model of the known terms; a last column may be that of unknown ones

    Examples
    --------
    >>> from suffice.data.rows import Rows
    >>> from suffice.tally import Groups
    >>> from suffice.text.vectorize.analyzer import WordAnalyzer
    >>> from suffice.text.vectorize.vocabulary import Vocabulary
    >>> counter, matrix = TermCounter(WordAnalyzer(), Vocabulary.empty()).learn(["to be", "be be"])
    >>> tally = Groups([0, 1], *counter.count(Rows(matrix, np.array([0, 1], np.int32), 2)))
    >>> np.exp(DocumentModel.of(counter, tally, 1.0).words.log_prob)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """

    counter: TermCounter
    groups: TermTally
    known: NDArray[np.bool_] | None
    idf: Floats | None
    words: EventModel

    @classmethod
    def of(cls, counter: TermCounter, groups: TermTally, alpha: Any) -> Self:
        """Return the model of a tally, with a pseudocount or that of most evidence."""
        counts, documents = term_counts(groups), document_counts(groups)
        known = None
        if not counter.is_given and not (documents > 0).all():
            known = documents > 0
            counts, documents = counts[:, known], documents[known]
        total = float(groups.weights.sum())
        weighting, unknown = counter.weighting, counter.with_unknown
        counts, weights = weight_counts(
            counts, documents, total, weighting=weighting, with_unknown=unknown
        )
        words = event_model(counter.event, groups.classes, groups.weights, counts, alpha)
        return cls(counter, groups, known, weights, words)

    @property
    def alpha(self) -> float:
        """The pseudocount of each term."""
        return float(self.words.smoothing.prior)

    @property
    def width(self) -> int:
        """How many columns the event model has."""
        return int(self.words.groups.parts.counts.shape[1])

    @property
    def all_counts(self) -> Floats:
        """How often each class has each column of the event model, (C, width)."""
        counts: Floats = self.words.groups.parts.counts
        return counts[..., 1] if self.counter.event == "bernoulli" else counts

    @property
    def known_counts(self) -> Floats:
        """How often each class has each known term, (C, V), the unknown one aside."""
        return self.all_counts[:, : self.width - self.counter.with_unknown]

    def term_probabilities(self, classes: Index | None = None) -> Floats:
        """Return p(term | class) of all classes, (C, V), or of some taken together, (1, V)."""
        counts, documents = self.all_counts, self.groups.weights
        if classes is not None:
            counts, documents = counts[classes].sum(axis=0)[None], documents[classes].sum()[None]
        counts, totals = counts + self.alpha, documents[:, None] + 2 * self.alpha
        if self.counter.event != "bernoulli":
            totals = counts.sum(axis=1, keepdims=True)
        return np.asarray(counts / totals)[:, : self.width - self.counter.with_unknown]

    def with_alpha(self, alpha: float) -> Self:
        """Return the model with another pseudocount."""
        smoothing = replace(self.words.smoothing, prior=alpha)
        return replace(self, words=replace(self.words, smoothing=smoothing))

    def narrow(self, X: Any) -> Any:
        """Return rows of the counter with the known terms alone; all others are unknown."""
        return X if self.known is None else self.counter.take_rows(X, self.known)

    def prepare(self, X: Any) -> Any:
        """Return rows of the counter as the event model scores them."""
        counter, matrix = self.counter, self.narrow(X)
        known = counter.known_part(matrix)
        missed = row_sums(matrix) - row_sums(known) if counter.with_unknown else None
        return prepare_rows(known, missed, counter.event, counter.weighting, self.idf)

    def lengths(self, rows: Any) -> Floats:
        """Return how many words prepared rows have, (n,), as far as the length discount goes."""
        return document_lengths(rows, self.counter.event)

    def scorer(self) -> Scorer:
        """Return what adds log p(document | class) of prepared rows."""
        return self.words.scorer()

    def density(self) -> Scorer:
        """Return what adds log p(document | class); the complement rule has the multinomial's."""
        return self.words.density()

    def split(self, cells: Floats) -> ColumnScores:
        """Return what the terms of one prepared row add to the scores."""
        return self.words.split(cells)

    def score_terms(self, rows: Any, log_prior: Floats) -> TermScores:
        """Return what each term of one prepared row adds to the scores, after the log prior."""
        parts, bias = score_terms(self.words, rows)
        return TermScores(rows.indices, rows.data.astype(np.float64), parts, log_prior + bias)

    def scores_lost(self, columns: Index, counts: Floats, lengths: Floats) -> Floats:
        """Return what the scores of prepared rows lose without one term, (J, C).

        Parameters
        ----------
        columns, counts : (J,)
            Which term it is, and how often the row has it.
        lengths : (J,)
            How many terms the row has.
        """
        if isinstance(self.words, IndependentBernoullis):
            return self.words.scores_of_terms(columns, counts)
        return self.words.scores_lost(columns, counts, lengths)

    def linear_form(self) -> LinearForm:
        """Return weights of the terms of prepared rows."""
        return self.words.linear_form()._replace(basis=None)

    def sample(self, codes: Index, rng: np.random.Generator) -> list[str]:
        """Draw documents: terms in no order, as many as the classes' documents have on average."""
        learned = term_counts(self.groups), self.groups.weights
        terms, event = self.counter.terms, self.counter.event
        return draw_documents(codes, *learned, terms, self.alpha, event, rng)

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the documents, given their classes; 0 without any term."""
        return self.words.log_evidence if self.width else 0.0

    @property
    def n_parameters(self) -> int:
        """How many free parameters all classes have."""
        return self.words.n_parameters if self.width else 0

    def with_tally(self, groups: TermTally, kept: Index) -> Self:
        """Return the model of another tally with the same pseudocount."""
        return type(self).of(self.counter, groups, self.alpha)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(document | class) of each document without it.

        Terms that only the document has are unknown without it. What was chosen from all
        documents, the pseudocount and `idf`, is held.
        """
        rows, counter = learned.rows, self.counter
        matrix, unknown = self.learned_part(self.prepare(rows.X))
        scores = leave_one_out(self.words, replace(rows, X=matrix), log_prior)
        if self.width and (counter.with_unknown or not counter.is_given):
            own = self.singletons(matrix, rows.weights, unknown)
            own.drop(scores, rows.codes, self.words, counter.event, smooth=counter.with_unknown)
        return LeftOut(scores, np.zeros(len(scores), np.bool_))

    def left_out_lengths(self, X: Any, weights: Floats) -> Floats:
        """Return the `lengths` of documents of given weights, each without being learned, (n,)."""
        matrix, unknown = self.learned_part(self.prepare(X))
        lengths = self.lengths(matrix) + unknown
        if not self.counter.with_unknown:
            # Words that only the document has are unknown without it.
            lengths -= self.singletons(matrix, weights, unknown).amounts
        return lengths

    def learned_part(self, matrix: Any) -> tuple[Any, Floats]:
        """Return prepared rows without their unknown terms, and how many these were, (n,).

        Documents that were learned have some if the vocabulary was given or pruned.
        """
        unknown = np.zeros(matrix.shape[0])
        if not self.counter.with_unknown:
            return matrix, unknown
        last = matrix.indices == matrix.shape[1] - 1
        if last.any():
            unknown = row_sums(matrix[:, [-1]])
            matrix = with_cells(matrix, np.where(last, 0.0, matrix.data))
        return matrix, unknown

    def singletons(self, matrix: Any, weights: Floats, unknown: Floats) -> SingletonTerms:
        """Return the terms that each prepared row alone has."""
        totals, given = self.all_counts.sum(axis=0), self.counter.is_given
        return SingletonTerms.of(matrix, weights, totals, unknown, given=given)
