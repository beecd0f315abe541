"""The family of text columns: documents under an event model, with a length discount."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from suffice.count import count_words
from suffice.data.hashes import Hashes, table_hashes
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.families import Family, Posterior
from suffice.families.columns.family import MAX_ROWS_REFIT_PRIOR, Mask
from suffice.families.level_tables import subtract_or_zero
from suffice.scoring import scorer as scoring
from suffice.tally import Counts
from suffice.tally.tally import Floats, Index, as_readonly
from suffice.text.classify.event_model import (
    EventModel,
    draw_documents,
    event_model,
    leave_one_out,
    score_terms,
)
from suffice.text.classify.event_scorer import EVIDENCE
from suffice.text.classify.length_discount import DocumentScores, LengthDiscount, discounts
from suffice.text.classify.term_rows import presences, row_sums
from suffice.text.vectorize.analyzer import WordAnalyzer
from suffice.text.vectorize.matrices import count_matrix
from suffice.text.vectorize.terms import Names
from suffice.text.vectorize.vocabulary import Vocabulary
from suffice.validation.folds import DistinctRows, Folds, assign_folds


class Pieces(NamedTuple):
    """What a document's terms add to the scores of the classes."""

    names: list[str]
    values: list[str]
    scores: Floats
    """(J, C)"""
    base: Floats
    """(C,): what is added whatever terms there are"""


class TextPosterior(Posterior[Counts]):
    """An event model of documents: its tally, its pseudocount, and its scores."""

    def __init__(self, family: Text, tally: Counts, model: EventModel) -> None:
        self.family, self.tally, self.model = family, tally, model

    @classmethod
    def of(cls, family: Text, tally: Counts, alpha: Any) -> TextPosterior:
        """Return the model of a tally of documents and their terms, (C, 1 + V)."""
        documents, counts = tally.counts[:, 0], np.ascontiguousarray(tally.counts[:, 1:])
        classes = np.arange(len(counts))
        return cls(family, tally, event_model(family.event, classes, documents, counts, alpha))

    @property
    def log_evidence(self) -> float:
        """Log probability of the documents given their classes."""
        return float(self.model.log_evidence)

    @property
    def n_parameters(self) -> int:
        """How many free parameters all classes have."""
        return int(self.model.n_parameters)

    @property
    def n_settings(self) -> int:
        """One, the length discount: the terms are what documents are made of."""
        return 1

    @property
    def weight(self) -> float:
        """The weight of the documents."""
        return float(self.tally.counts[:, 0].sum())

    @property
    def alpha(self) -> float:
        """The pseudocount of each term."""
        return float(self.model.smoothing.prior)

    def with_tally(self, tally: Counts) -> TextPosterior:
        """Return another tally under the pseudocount of this one."""
        wide = tally.with_levels(self.tally.counts.shape[1])
        return TextPosterior.of(self.family, wide, self.alpha)

    def scores(self, table: Table) -> Floats:
        """Return the discounted log p(words | class), (n, C); 0 for missing documents."""
        matrix = self.family.matrix(table)
        nothing = np.zeros(len(self.tally.counts))
        found = scoring.joint_log_proba(self.model.scorer(), matrix, nothing)
        return self._discount(found, row_sums(matrix), table)

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the `scores` of documents had each not been learned; the terms are held."""
        matrix = self.family.matrix(table)
        rows = Rows(matrix, codes, len(self.tally.counts), weights)
        scores = leave_one_out(self.model, rows, np.zeros((len(codes), rows.classes)))
        return self._discount(scores, row_sums(matrix), table)

    def held_out(self, table: Table, folds: Folds) -> Floats:
        """Return the `scores` of documents by those of other folds.

        Terms that only the fold has are unknown.
        """
        matrix, missing = self.family.matrix(table), table[self.family.column].missing
        scores, lengths = self.held_out_scores(matrix, missing, folds)
        return self._discount(scores, lengths, table)

    def held_out_scores(self, matrix: Any, missing: Any, folds: Folds) -> tuple[Floats, Floats]:
        """Return log p(words | class), (n, C), by other folds, and how many words these know, (n,).

        `missing` says which documents are, (n,).
        """
        documents, counts = self.tally.counts[:, 0], self.tally.counts[:, 1:]
        classes, by_words = len(counts), self.family.event != "bernoulli"
        alpha = self.alpha if matrix.shape[0] > MAX_ROWS_REFIT_PRIOR else EVIDENCE
        scores, lengths = np.empty((matrix.shape[0], classes)), np.empty(matrix.shape[0])
        for members in folds.members:
            rows = replace(folds.rows.take(members), X=matrix[members])
            held = np.bincount(rows.codes, rows.row_weights * ~missing[members], classes)
            left = subtract_or_zero(documents, held)
            words = subtract_or_zero(counts, count_words(rows)[1].counts)
            known = np.flatnonzero(words.any(axis=0))
            if not known.size:
                scores[members], lengths[members] = 0.0, 0.0
                continue
            # Scaled to the weight of all documents: by their words, or by their number.
            by_number = _ratio(documents, left)
            factor = _ratio(counts.sum(axis=1), words.sum(axis=1)) if by_words else by_number
            scaled = by_number * left, factor[:, None] * words[:, known]
            model = event_model(self.family.event, np.arange(classes), *scaled, alpha)
            seen = rows.X[:, known]
            scores[members] = scoring.joint_log_proba(model.scorer(), seen, np.zeros(classes))
            lengths[members] = row_sums(seen)
        return scores, lengths

    def _discount(self, scores: Floats, lengths: Floats, table: Table) -> Floats:
        """Return scores (n, C), discounted by length; 0 for missing documents."""
        discounted = scores * discounts(lengths, self.family.length_discount)[:, None]
        discounted[table[self.family.column].missing] = 0.0
        return np.asarray(discounted)

    def pieces(self, table: Table) -> Pieces:
        """Return what each term of the first document adds to the scores."""
        matrix = self.family.matrix(table)[[0]]
        missing = bool(table[self.family.column].missing[0])
        share = float(discounts(row_sums(matrix), self.family.length_discount)[0])
        parts, bias = score_terms(self.model, matrix)
        names = [self.family.terms[int(term)] for term in matrix.indices]
        values = [f"{n} x{c:g}" for n, c in zip(names, matrix.data.tolist(), strict=True)]
        base = np.zeros(len(self.tally.counts)) if missing else share * bias
        return Pieces(names, values, share * parts, base)

    def sample(self, codes: Codes, rng: np.random.Generator) -> dict[str, Any]:
        """Draw documents: terms in no order."""
        learned = self.tally.counts[:, 1:], self.tally.counts[:, 0]
        names, alpha = self.family.terms.strings(), self.alpha
        drawn = np.empty(len(codes), object)
        drawn[:] = draw_documents(codes, *learned, names, alpha, self.family.event, rng)
        return {self.family.column: drawn}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> dict[str, Any]:
        """Return the documents as they are, drawn where missing if `rng` is given."""
        column = table[self.family.column]
        filled = np.array(column.values.to_pylist(), object)
        if rng is not None and column.any_missing:
            rows = np.flatnonzero(column.missing)
            proba = np.exp(log_proba[rows])
            codes = np.array([rng.choice(len(p), p=p / p.sum()) for p in proba], np.int32)
            filled[rows] = self.sample(codes, rng)[self.family.column]
        return {self.family.column: filled}


def _ratio(over: Floats, under: Floats) -> Floats:
    """Return the ratio of two weights of each class, (C,); 1 where the second is 0."""
    return np.divide(over, under, out=np.ones_like(under), where=under > 0)


# Documents that the length discount is chosen on.
MAX_TRIED = 3_000


@dataclass(frozen=True, eq=False)
class Text(Family[Counts]):
    """Documents of words, under one of the event models (docs: text).

    The terms, and how much long documents are discounted, are settings, held once they are chosen;
    new terms come last. Discounted scores are no densities: they say what classes differ in.

    Parameters
    ----------
    columns : one name
    event : "multinomial", "bernoulli" or "complement"
    terms : array of str, Names, Vocabulary, or None before anything is learned
    length_discount : float

    Examples
    --------
    >>> import pyarrow as pa
    >>> notes = pa.table({"note": ["late and rude staff", "kind and quick staff", None]})
    >>> table, own = Table.of(notes, {"note": "text"}), np.array([0, 1, 1], np.int32)
    >>> family = Text(("note",)).fit_settings(table, own, 2, np.empty(0))
    >>> family.count(table, own, 2, np.empty(0)).counts[:, 0]  # documents
    array([1., 1.])
    >>> family.posterior(family.count(table, own, 2, np.empty(0))).scores(table)[2]
    array([0., 0.])
    """

    event: str = "multinomial"
    terms: Any = None
    length_discount: float = 0.0
    # It finds the terms in documents; a family that grows out of this one is given it as terms.
    _vocabulary: Vocabulary = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found = self.terms
        if not isinstance(found, Vocabulary):
            if not isinstance(found, Names):
                found = Names.of(() if found is None else [str(term) for term in found])
            found = Vocabulary(found)
        object.__setattr__(self, "terms", found.terms)
        object.__setattr__(self, "_vocabulary", found)

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "text" if self.event == "multinomial" else f"text:{self.event}"

    @property
    def settings(self) -> dict[str, Any]:
        """The terms, by column, and the length discount, under the names that files have."""
        return {"terms": self.terms.array(), "fading": self.length_discount}

    @classmethod
    def with_settings(cls, columns: tuple[str, ...], event: str, **settings: Any) -> Self:
        """Return the family with its `settings`."""
        if "fading" in settings:
            settings["length_discount"] = settings.pop("fading")
        return cls(columns, event=event, **settings)

    def objection(self, table: Table) -> str | None:
        """Say why the column holds no documents, or None."""
        if table[self.column].kind == "text":
            return None
        return f"Column {self.column!r} holds no texts. Give strings, or use another family for it."

    def fit_settings(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with the terms of these documents."""
        self.check(table)
        return self.with_levels_of(table)

    def refine_settings(
        self, table: Table, codes: Codes, classes: int, weights: Floats, groups: Hashes
    ) -> Self:
        """Return the family with the length discount of the lowest held-out log-loss."""
        if self.event == "bernoulli":
            return self  # absent words are scored as well: no document is longer than another
        posterior = self.posterior(self.count(table, codes, classes, weights))
        rows = Rows(self.matrix(table), codes, classes, weights, groups=groups)
        hashes = table_hashes([table[self.column]], len(table))
        if groups.size:
            hashes = hashes ^ groups
        distinct = DistinctRows.of(rows, hashes, MAX_TRIED)
        folds = assign_folds(distinct)
        at = folds.find(hashes, codes)
        missing = np.zeros(len(folds.hashes), np.bool_)
        missing[at[at >= 0]] = table[self.column].missing[at >= 0]
        held_out, lengths = posterior.held_out_scores(folds.rows.X, missing, folds)
        shares = np.bincount(folds.rows.codes, folds.rows.row_weights, classes) + 1.0
        prior = np.log(shares / shares.sum())
        scores = DocumentScores(held_out, prior, lengths)
        discount = LengthDiscount.without_temperature(
            scores, folds.rows.codes, folds.rows.row_weights
        )
        return replace(self, terms=self._vocabulary, length_discount=discount.rate)

    def with_levels_of(self, table: Table) -> Self:
        """Return the family with the terms that are new."""
        vocabulary, _ = self._vocabulary.learn(WordAnalyzer(), table[self.column].values)
        return replace(self, terms=vocabulary)

    def without_levels(self) -> Self:
        """Return the family without terms."""
        return replace(self, terms=None)

    def matrix(self, table: Table) -> Any:
        """Return the rows of counts of the known terms, CSR (n, V)."""
        counted = self._vocabulary.count(WordAnalyzer(), table[self.column].values)
        found = count_matrix(counted, len(self._vocabulary))
        return presences(found) if self.event == "bernoulli" else found

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Counts:
        """Return the documents of each class and the counts of their terms, (C, 1 + V)."""
        seen = ~table[self.column].missing
        rows = Rows(self.matrix(table), codes, classes, weights)
        _, counts = count_words(rows)
        documents = csr_array(seen.astype(np.float64)[:, None])
        _, held = count_words(Rows(documents, codes, classes, weights))
        together = np.concatenate([held.counts, counts.counts], axis=1)
        return Counts(as_readonly(together), counts.log_orderings)

    def merge(
        self, other: Self, tally: Counts, translations: Mapping[str, Index]
    ) -> tuple[Self, Counts]:
        """Return the family with the terms of both, and the other's tally by its columns."""
        if self.name != other.name:
            return super().merge(other, tally, translations)
        vocabulary, where = self._vocabulary.union(other._vocabulary)
        wide = np.zeros((len(tally.counts), 1 + len(vocabulary)))
        wide[:, 0] = tally.counts[:, 0]
        wide[:, 1 + where] = tally.counts[:, 1:]
        merged = replace(self, terms=vocabulary.terms)
        return merged, Counts(as_readonly(wide), tally.log_orderings)

    def levels_in_use(self, tally: Counts) -> dict[str, Mask]:
        """Say which terms are in a document."""
        wide = tally.with_levels(1 + len(self._vocabulary))
        return {self.column: np.asarray(wide.counts[:, 1:].any(axis=0))}

    def keep_levels(self, tally: Counts, used: Mapping[str, Mask]) -> tuple[Self, Index | None]:
        """Return the family with the terms that are used, and their places after the documents."""
        mask = used[self.column]
        if mask.all():
            return self, None
        kept = np.flatnonzero(mask)
        return replace(self, terms=self.terms.take(kept)), np.append(0, 1 + kept)

    def posterior(self, tally: Counts) -> TextPosterior:
        """Return the terms' shares in each class, the pseudocount by evidence."""
        return TextPosterior.of(self, tally.with_levels(1 + len(self._vocabulary)), EVIDENCE)
