"""What the tally of a text column says of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.blocks import Reading
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.model import scoring
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, given
from suffice.text.fading import fades
from suffice.text.reading import EVENTS
from suffice.text.reasons import term_scores

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
        model = EVENTS[family.event](alpha=alpha, fit_prior=False)
        parts = Counts(given(counts), tally.log_orderings)
        if family.event == "bernoulli":
            absent = np.maximum(documents[:, None] - counts, 0.0)
            parts = Counts(given(np.stack([absent, counts], axis=-1)))
        model.n_features_in_ = counts.shape[1]
        model.classes_closed_ = True
        model.classes_ = np.arange(len(counts))
        model.tally_ = Groups(model.classes_, documents, parts)
        model._read(model.tally_)
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

    def _told(self, scores: Floats, matrix: Any, table: Table) -> Floats:
        lengths = np.asarray(matrix.sum(axis=1), np.float64).ravel()
        faded = scores * fades(lengths, self.family.fading)[:, None]
        faded[table[self.family.column].gaps] = 0.0
        return np.asarray(faded)

    def pieces(self, table: Table) -> Pieces:
        """Return what each term of the first document adds to the scores."""
        matrix = self.family.matrix(table)[[0]]
        missing = bool(table[self.family.column].gaps[0])
        fade = float(
            fades(np.asarray(matrix.sum(axis=1), np.float64).ravel(), self.family.fading)[0]
        )
        found = term_scores(self.model, matrix, 1.0, None)
        names = [self.family.terms[int(term)] for term in found.terms]
        values = [f"{n} x{c:g}" for n, c in zip(names, found.counts.tolist(), strict=True)]
        base = np.zeros(len(self.tally.counts))
        if self.family.event == "bernoulli" and not missing:
            base = fade * (found.base - self.model._log_prior())
        return Pieces(names, values, fade * found.parts, base)

    def sample(self, codes: Codes, rng: np.random.Generator) -> dict[str, Any]:
        """Draw documents: terms in no order."""
        documents, counts = self.tally.counts[:, 0], self.tally.counts[:, 1:]
        alpha, names = float(self.model.alpha_), self.family.terms.strings()
        lengths = counts.sum(axis=1) / np.maximum(documents, 1.0)
        drawn = np.empty(len(codes), object)
        for row, code in enumerate(codes.tolist()):
            if self.family.event == "bernoulli":
                chance = (counts[code] + alpha) / (documents[code] + 2 * alpha)
                terms = np.flatnonzero(rng.random(len(chance)) < chance)
            else:
                believed = counts[code] + alpha
                terms = rng.choice(
                    len(names), rng.poisson(lengths[code]), p=believed / believed.sum()
                )
            drawn[row] = " ".join(names[term] for term in terms)
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
