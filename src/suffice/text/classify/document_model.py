"""p(document | class): an event model of the terms that were learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.scoring.scorer import Scorer
from suffice.tally.debt import gross_scale
from suffice.tally.tally import Floats, Index
from suffice.text.classify.draws import draw_documents
from suffice.text.classify.event_model import (
    EventModel,
    count_of,
    event_model,
    score_terms,
    term_counts_of,
    term_probabilities,
    with_pseudocount,
)
from suffice.text.classify.singleton_terms import SingletonTerms, drop_singletons
from suffice.text.classify.term_counter import TermCounter
from suffice.text.term_rows import narrow_rows, rarity, row_sums, with_cells, with_column
from suffice.text.term_tally import TermTally, document_counts, term_counts


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
    rarity : (known terms,), or None without tf-idf
        What each term's counts are multiplied by.
    words : the event model of the known terms; a last column may be that of unknown ones

    Examples
    --------
    >>> from suffice.data.rows import Rows
    >>> from suffice.tally import Groups
    >>> from suffice.text.vectorize.cutting import WordCutter
    >>> from suffice.text.vectorize.vocabulary import Vocabulary
    >>> counter, matrix = TermCounter(WordCutter(), Vocabulary.empty()).learn(["to be", "be be"])
    >>> tally = Groups([0, 1], *counter.count(Rows(matrix, np.array([0, 1], np.int32), 2)))
    >>> np.exp(DocumentModel.of(counter, tally, 1.0).words.log_prob)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """

    counter: TermCounter
    groups: TermTally
    known: NDArray[np.bool_] | None
    rarity: Floats | None
    words: EventModel

    @classmethod
    def of(cls, counter: TermCounter, groups: TermTally, alpha: Any) -> Self:
        """Return the model of a tally, with a pseudocount or that of most evidence."""
        counts, documents = term_counts(groups), document_counts(groups)
        known, weights = None, None
        if not counter.is_given and not (documents > 0).all():
            known = documents > 0
            counts, documents = counts[:, known], documents[known]
        if counter.weighting is not None:
            weights = rarity(documents, float(groups.weights.sum()))
            counts = counts * weights
        if counter.with_unknown:
            counts = np.pad(counts, [(0, 0), (0, 1)])
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
        return term_counts_of(self.words)

    @property
    def known_counts(self) -> Floats:
        """How often each class has each known term, (C, V), the unknown one aside."""
        return self.all_counts[:, : self.width - self.counter.with_unknown]

    def term_probabilities(self, classes: Index | None = None) -> Floats:
        """Return p(term | class) of all classes, (C, V), or of some taken together, (1, V)."""
        counts, documents = self.all_counts, self.groups.weights
        if classes is not None:
            counts, documents = counts[classes].sum(axis=0)[None], documents[classes].sum()[None]
        found = term_probabilities(self.counter.event, counts, documents, self.alpha)
        return found[:, : self.width - self.counter.with_unknown]

    def with_alpha(self, alpha: float) -> Self:
        """Return the model with another pseudocount."""
        return replace(self, words=with_pseudocount(self.words, alpha))

    def narrow(self, X: Any) -> Any:
        """Return rows of the counter with the known terms alone; all others are unknown."""
        if self.known is None:
            return X
        return narrow_rows(X, self.known, with_unknown=self.counter.with_unknown)

    def prepare(self, X: Any) -> Any:
        """Return rows of the counter as the event model scores them."""
        counter, matrix = self.counter, self.narrow(X)
        known = counter.known_part(matrix)
        rows = counter.weight_rows(known)
        if self.rarity is not None:
            rows = with_cells(rows, rows.data * self.rarity[rows.indices])
        if counter.with_unknown:
            missed = row_sums(matrix) - row_sums(known)
            present = counter.event == "bernoulli"
            rows = with_column(rows, np.minimum(missed, 1.0) if present else missed)
        return rows

    def lengths(self, rows: Any) -> Floats:
        """Return how many words prepared rows have, (n,), as far as the length discount goes.

        Absent words speak as well in the Bernoulli model, so that its documents are all long.
        """
        if self.counter.event == "bernoulli":
            return np.full(rows.shape[0], np.inf)
        return row_sums(rows)

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
        documents, the pseudocount and the rarities, is held.
        """
        rows, words = learned.rows, self.words
        matrix, unknown = self.learned_part(self.prepare(rows.X))
        tally = words.groups
        scored = LearnedRows(
            replace(rows, X=matrix), tally, count_of(words), gross_scale(None, tally), True
        )
        scores = words.leave_one_out(scored, log_prior).scores
        counter = self.counter
        if (counter.is_given and not counter.with_unknown) or not self.width:
            return LeftOut(scores, np.zeros(len(scores), np.bool_))
        own = self.singletons(matrix, rows.weights, unknown)
        drop_singletons(scores, own, rows.codes, words, counter.event, smooth=counter.with_unknown)
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
        present = term_counts_of(self.words).sum(axis=0)
        given = self.counter.is_given
        return SingletonTerms.of(matrix, weights, present, unknown, given=given)
