"""What the tally of a text column says of documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.blocks import Reading
from suffice.blocks.block import MOST_READ_ANEW
from suffice.blocks.level_tables import left_of
from suffice.count import count_words
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.model import scoring
from suffice.model.folds import Folds
from suffice.tally import Counts
from suffice.tally.tally import Floats
from suffice.text.draws import drawn_documents
from suffice.text.event_model import event_model
from suffice.text.fading import fades
from suffice.text.reasons import term_scores
from suffice.text.term_rows import row_sums

if TYPE_CHECKING:
    from suffice.text.block import Text


class Pieces(NamedTuple):
    """What a document's terms add to the scores of the classes."""

    names: list[str]
    values: list[str]
    scores: Floats
    """(J, C)"""
    base: Floats
    """(C,): what is added whatever terms there are"""


class TextReading(Reading[Counts]):
    """An event model of documents: its tally, its pseudocount, and its scores."""

    def __init__(self, family: Text, tally: Counts, model: Any) -> None:
        self.family, self.tally, self.model = family, tally, model

    @classmethod
    def of(cls, family: Text, tally: Counts, alpha: Any) -> TextReading:
        """Read a tally of documents and their terms, (C, 1 + V), with a pseudocount."""
        documents, counts = tally.counts[:, 0], np.ascontiguousarray(tally.counts[:, 1:])
        classes = np.arange(len(counts))
        model = event_model(
            family.event, classes, documents, counts, closed=True, alpha=alpha, fit_prior=False
        )
        return cls(family, tally, model)

    @property
    def log_evidence(self) -> float:
        """Log probability of the documents given their classes."""
        return float(self.model._features_log_evidence())

    @property
    def n_parameters(self) -> int:
        """How many free parameters all classes have."""
        return int(self.model._feature_parameters())

    @property
    def n_settings(self) -> int:
        """One, the fading: the terms are what documents are made of."""
        return 1

    @property
    def weight(self) -> float:
        """The weight of the documents."""
        return float(self.tally.counts[:, 0].sum())

    def with_tally(self, tally: Counts) -> TextReading:
        """Return another tally under the pseudocount of this one."""
        wide = tally.with_levels(self.tally.counts.shape[1])
        return TextReading.of(self.family, wide, float(self.model.alpha_))

    def scores(self, table: Table) -> Floats:
        """Return the faded log p(words | class), (n, C); 0 for missing documents."""
        matrix = self.family.matrix(table)
        nothing = np.zeros(len(self.tally.counts))
        found = scoring.joint_log_proba(self.model._scorer(), matrix, nothing)
        return self._told(found, matrix, table)

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the `scores` of documents had each not been learned; the terms are held."""
        matrix = self.family.matrix(table)
        rows = Rows(matrix, codes, len(self.tally.counts), weights)
        return self._told(self.model._left_out_scores(rows), matrix, table)

    def held_out(self, table: Table, folds: Folds) -> Floats:
        """Return the `scores` of documents by those of other folds.

        Terms that only the fold has are unknown.
        """
        matrix, missing = self.family.matrix(table), table[self.family.column].gaps
        scores, lengths = self.held_out_scores(matrix, missing, folds)
        return self._faded(scores, lengths, table)

    def held_out_scores(self, matrix: Any, missing: Any, folds: Folds) -> tuple[Floats, Floats]:
        """Return log p(words | class), (n, C), by other folds, and how many words these know, (n,).

        `missing` says which documents are, (n,).
        """
        documents, counts = self.tally.counts[:, 0], self.tally.counts[:, 1:]
        classes, by_words = len(counts), self.family.event != "bernoulli"
        alpha = float(self.model.alpha_) if matrix.shape[0] > MOST_READ_ANEW else "evidence"
        scores, lengths = np.empty((matrix.shape[0], classes)), np.empty(matrix.shape[0])
        for members in folds.members:
            rows = replace(folds.rows.some(members), X=matrix[members])
            held = np.bincount(rows.codes, rows.row_weights * ~missing[members], classes)
            left, words = left_of(documents, held), left_of(counts, count_words(rows)[1].counts)
            # As heavy as all documents are: by their words, or by their number.
            factor = _ratio(documents, left)
            if by_words:
                factor = _ratio(counts.sum(axis=1), words.sum(axis=1))
            known = np.flatnonzero(words.any(axis=0))
            if not known.size:
                scores[members], lengths[members] = 0.0, 0.0
                continue
            model = event_model(
                self.family.event,
                np.arange(classes),
                _ratio(documents, left) * left,
                factor[:, None] * words[:, known],
                closed=True,
                alpha=alpha,
                fit_prior=False,
            )
            seen = rows.X[:, known]
            scores[members] = scoring.joint_log_proba(model._scorer(), seen, np.zeros(classes))
            lengths[members] = row_sums(seen)
        return scores, lengths

    def _told(self, scores: Floats, matrix: Any, table: Table) -> Floats:
        return self._faded(scores, row_sums(matrix), table)

    def _faded(self, scores: Floats, lengths: Floats, table: Table) -> Floats:
        faded = scores * fades(lengths, self.family.fading)[:, None]
        faded[table[self.family.column].gaps] = 0.0
        return np.asarray(faded)

    def pieces(self, table: Table) -> Pieces:
        """Return what each term of the first document adds to the scores."""
        matrix = self.family.matrix(table)[[0]]
        missing = bool(table[self.family.column].gaps[0])
        fade = float(fades(row_sums(matrix), self.family.fading)[0])
        found = term_scores(self.model, matrix)
        names = [self.family.terms[int(term)] for term in found.terms]
        values = [f"{n} x{c:g}" for n, c in zip(names, found.counts.tolist(), strict=True)]
        base = np.zeros(len(self.tally.counts))
        if self.family.event == "bernoulli" and not missing:
            base = fade * (found.base - self.model._log_prior())
        return Pieces(names, values, fade * found.parts, base)

    def sample(self, codes: Codes, rng: np.random.Generator) -> dict[str, Any]:
        """Draw documents: terms in no order."""
        learned = self.tally.counts[:, 1:], self.tally.counts[:, 0]
        names, alpha = self.family.terms.strings(), float(self.model.alpha_)
        drawn = np.empty(len(codes), object)
        drawn[:] = drawn_documents(codes, *learned, names, alpha, self.family.event, rng)
        return {self.family.column: drawn}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> dict[str, Any]:
        """Return the documents as they are, drawn where missing if `rng` is given."""
        column = table[self.family.column]
        filled = np.array(column.values.to_pylist(), object)
        if rng is not None and column.any_gap:
            gaps = np.flatnonzero(column.gaps)
            chances = np.exp(log_proba[gaps])
            codes = np.array([rng.choice(len(p), p=p / p.sum()) for p in chances], np.int32)
            filled[gaps] = self.sample(codes, rng)[self.family.column]
        return {self.family.column: filled}


def _ratio(over: Floats, under: Floats) -> Floats:
    """Return how many times heavier the classes (C,) are; 1 for those without anything."""
    return np.divide(over, under, out=np.ones_like(under), where=under > 0)
