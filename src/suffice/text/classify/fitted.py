"""What a TextClassifier has learned: one frozen value, and how it follows its terms."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.merging import Difference, compare_settings, refuse_different_counts
from suffice.generative import learning
from suffice.generative.fitted import Fitted
from suffice.tally.tally import Floats, Index
from suffice.text.classify.document_model import DocumentModel, TermScores
from suffice.text.classify.importance import informative_words
from suffice.text.classify.length_discount import discounts, document_log_proba, offset_shares
from suffice.text.classify.refinement import Refinement
from suffice.text.classify.term_counter import TermCounter
from suffice.text.classify.term_tally import document_counts, take_terms
from suffice.text.vectorize.analyzer import ANALYZER_SETTINGS
from suffice.validation.importance import LossIncrease
from suffice.validation.information import Dependence, counts_dependence


@dataclass(frozen=True, eq=False)
class TextFitted(Fitted):
    """All that a classifier of documents has learned; the vocabulary is in its counter.

    Parameters
    ----------
    columns, counter, tally, ... : as in `Fitted`
    length_discount : float
        The rate at which long documents are discounted (`LengthDiscount`).
    alpha_factor : float
        What the pseudocount of most evidence is multiplied by, chosen on held-out documents.
    loss_increase : what held-out documents lost without some of their words
    refinement : weights of terms that answers are refined with
    is_pruned : bool
        Whether terms that were learned have been dropped.
    """

    length_discount: float = 0.0
    alpha_factor: float = 1.0
    loss_increase: LossIncrease | None = None
    refinement: Refinement | None = None
    is_pruned: bool = False

    @classmethod
    def of(cls, fitted: Fitted) -> Self:
        """Return a value of what any classifier has learned."""
        return cls(**{field.name: getattr(fitted, field.name) for field in fields(fitted)})

    @property
    def term_counter(self) -> TermCounter:
        """What is counted of documents."""
        return cast(TermCounter, self.counter)

    @property
    def documents(self) -> DocumentModel:
        """p(document | class)."""
        assert self.model is not None
        return cast(DocumentModel, self.model.features)

    @property
    def log_prior(self) -> Floats:
        """What a class's score starts from when documents are classified, (C,)."""
        assert self.model is not None
        return self.model.log_prior

    @property
    def is_calibrated(self) -> bool:
        """Whether probabilities are other than those of the event model."""
        return self.calibration is not None or self.refinement is not None

    # Answers to rows of the counter.

    def log_proba(self, X: Any) -> Floats:
        """Return log p(class | document), (n, C)."""
        if self.refinement is not None:
            return self.refinement.log_proba(self.known_rows(X))
        rows, scorer = self.documents.prepare(X), self.documents.scorer()
        lengths, rate = self.documents.lengths(rows), self.length_discount
        return document_log_proba(scorer, rows, self.log_prior, lengths, self.calibration, rate)

    def score_terms(self, X: Any) -> TermScores:
        """Return the scores of one document: before any term, and of each of its terms."""
        if self.refinement is not None:
            return self.refinement.scores(X)
        prior, rows = self.log_prior, self.documents.prepare(X)
        plain, found = self.documents.score_terms(rows, prior), self.calibration
        if found is None:
            return plain
        lengths = self.documents.lengths(rows)
        full = float(discounts(lengths, self.length_discount)[0])
        weight = full + (1.0 - full) * found.inverse_temperature
        base = prior + weight * (plain.base - prior)
        base = base + float(offset_shares(lengths)[0]) * found.offsets
        return plain._replace(parts=weight * plain.parts, base=base, noise_rate=found.noise_rate)

    def with_alpha_factor(self, factor: float) -> Self:
        """Return the value with another multiple of the pseudocount of most evidence."""
        if self.alpha_factor == factor:
            return self
        assert self.model is not None
        alpha = self.documents.alpha / self.alpha_factor * factor
        model = replace(self.model, features=self.documents.with_alpha(alpha))
        return self.replace(alpha_factor=factor, model=model)

    def measured_words(self) -> Index:
        """Return the words without which documents are scored, to see what is lost."""
        known, counts = self.documents.known_counts, self.documents.words.groups.parts.counts
        if self.term_counter.event == "bernoulli":
            return informative_words(known, counts[:, :1].sum(axis=(1, 2)))
        return informative_words(known, counts.sum(axis=1))

    def dependence(self) -> Dependence:
        """Return how each term depends on the label."""
        found = counts_dependence(self.documents.words.groups.parts, self.documents.alpha)
        # The last word of an event model may be the unknown one.
        return Dependence(*(part[: len(self.term_counter.vocabulary)] for part in found))

    def known_rows(self, X: Any) -> Any:
        """Return rows with the known terms alone."""
        return self.term_counter.known_part(self.documents.narrow(X))

    # Terms that come and go.

    def with_vocabulary_of(self, counter: TermCounter, columns: Index | None = None) -> Self:
        """Return the value with a larger vocabulary, our terms at these columns, or the first."""
        sample = self.sample
        if sample is not None:
            places = np.arange(len(self.term_counter.vocabulary)) if columns is None else columns
            X = self.term_counter.place_rows(sample.rows.X, places, counter)
            sample = replace(sample, rows=replace(sample.rows, X=X))
        return self.replace(counter=counter, sample=sample)

    def used_terms(self) -> NDArray[np.bool_]:
        """Say which terms any document has, (V,); all of a vocabulary that was given are kept."""
        if self.term_counter.is_given:
            return np.ones(len(self.term_counter.vocabulary), np.bool_)
        return np.asarray(document_counts(self.tally) > 0)

    def keep_terms(self, kept: NDArray[np.bool_]) -> Self:
        """Return the value without some terms, which are unknown from now on."""
        refinement = None if self.refinement is None else self.refinement.keep(kept)
        if kept.all():
            return self.replace(refinement=refinement)
        columns = np.flatnonzero(kept)
        changed = self.replace(
            counter=self.term_counter.take(columns),
            tally=take_terms(self.tally, columns),
            gross=None if self.gross is None else take_terms(self.gross, columns),
            loss_increase=None if self.loss_increase is None else self.loss_increase.keep(kept),
            refinement=refinement,
        )
        if self.sample is None:
            return changed
        X = changed.term_counter.take_rows(self.sample.rows.X, kept)
        hashes = changed.term_counter.hashes(replace(self.sample.rows, X=X))
        return changed.replace(sample=self.sample.with_rows(X, hashes))

    def check_words(self) -> None:
        """Refuse to learn from documents without words; what is left of others may have none."""
        if not len(self.term_counter.vocabulary):
            raise InputError(
                "No document has a word: the vocabulary is empty; perhaps the documents only "
                "contain stop words. Give documents with words."
            )

    # Learning.

    def with_first_sample(self, rows: Rows, hashes: Hashes) -> Self:
        """Return the value with a sample of the first documents, whose hashes are (n,)."""
        return self.replace(sample=learning.first_sample(self, rows, hashes))

    def merge(self, other: Self) -> Self:
        """Return what both have learned; terms and classes are aligned by name."""
        counter, columns = self.term_counter.union(other.term_counter)
        other = other.replace(sample=other.with_vocabulary_of(counter, columns).sample)
        return learning.merge(self.with_vocabulary_of(counter), other)

    def grow_stale(self) -> Self:
        """Return the value, what was fitted to documents stale, or gone with its classes."""
        if self.refinement is None:
            found = learning.mark_stale(self)
            gone = self.calibration is not None and found.calibration is None
            return found.drop_calibration() if gone else found
        if len(self.refinement.bias) == len(self.classes):
            fact = "The refinement is that of the documents learned before."
            return learning.warn_stale(self, fact, "refresh_calibration")
        fact = "The classes have changed, so answers are not refined any more."
        return learning.warn_stale(self.drop_calibration(), fact, "refresh_calibration")

    def drop_calibration(self) -> Self:
        """Return the value without all that was fitted to documents."""
        return self.with_alpha_factor(1.0).replace(
            calibration=None,
            calibration_stale=False,
            loss_increase=None,
            refinement=None,
            length_discount=0.0,
        )


def check_same_terms(mine: TermCounter, theirs: TermCounter) -> None:
    """Refuse to merge models that have split documents, or counted terms, in different ways."""
    found = compare_settings(vars(mine), vars(theirs), ("event", "weighting"))
    settings = mine.analyzer.settings, theirs.analyzer.settings
    found += compare_settings(*settings, ANALYZER_SETTINGS)
    given = [one.vocabulary if one.is_given else None for one in (mine, theirs)]
    if given[0] != given[1]:
        found.append(Difference("vocabulary", *given))
    refuse_different_counts(found)
