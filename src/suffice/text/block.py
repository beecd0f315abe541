"""Text as a block of a table: documents of words, beside columns of numbers and levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from suffice.blocks import Family
from suffice.blocks.block import Mask
from suffice.count import count_words
from suffice.data.content import Hashes, table_hashes
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.model.folds import DistinctRows, deal_folds
from suffice.tally import Counts
from suffice.tally.tally import Floats, Index, given
from suffice.text.block_reading import TextReading
from suffice.text.fading import Fading
from suffice.text.names import Names
from suffice.text.term_rows import presences
from suffice.text.vectorizer import CountVectorizer
from suffice.text.vocabulary import Vocabulary

# Documents that the fading of long ones is chosen on.
MOST_TRIED = 3_000


@dataclass(frozen=True, eq=False)
class Text(Family[Counts]):
    """Documents of words, under one of the event models (docs: text).

    The terms, and how much the words of long documents fade, are settings, held once they are
    chosen; new terms come last. Faded scores are no densities: they say what classes differ in.

    Parameters
    ----------
    columns : one name
    event : "multinomial", "bernoulli" or "complement"
    terms : array of str, Names, or None before anything is learned
    fading : float

    Examples
    --------
    >>> import pyarrow as pa
    >>> notes = pa.table({"note": ["late and rude staff", "kind and quick staff", None]})
    >>> table, own = Table.of(notes, {"note": "text"}), np.array([0, 1, 1], np.int32)
    >>> family = Text(("note",)).fitted(table, own, 2, np.empty(0))
    >>> family.count(table, own, 2, np.empty(0)).counts[:, 0]  # documents
    array([1., 1.])
    >>> family.read(family.count(table, own, 2, np.empty(0))).scores(table)[2]
    array([0., 0.])
    """

    event: str = "multinomial"
    terms: Any = None
    fading: float = 0.0
    # What finds the terms in documents; handed on to the family that grows out of this one.
    _known: Vocabulary = field(init=False, repr=False)

    def __post_init__(self) -> None:
        named = self.terms
        if not isinstance(named, Names):
            named = Names.of(() if named is None else [str(term) for term in named])
        object.__setattr__(self, "terms", named)
        object.__setattr__(self, "_known", Vocabulary(named))

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "text" if self.event == "multinomial" else f"text:{self.event}"

    @property
    def settings(self) -> dict[str, Any]:
        """The terms, by column, and the fading."""
        return {"terms": self.terms.array(), "fading": self.fading}

    def objection(self, table: Table) -> str | None:
        """Say why the column holds no documents, or None."""
        if table[self.column].kind == "text":
            return None
        return f"Column {self.column!r} holds no texts. Give strings, or use another family for it."

    def fitted(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with the terms of these documents."""
        self.check(table)
        return self.grown(table)

    def refined(
        self, table: Table, codes: Codes, classes: int, weights: Floats, groups: Hashes
    ) -> Self:
        """Return the family with the fading that suits held-out documents best."""
        if self.event == "bernoulli":
            return self  # absent words speak as well: no document is longer than another
        reading = self.read(self.count(table, codes, classes, weights))
        rows = Rows(self.matrix(table), codes, classes, weights, groups=groups)
        hashes = table_hashes([table[self.column]], len(table))
        if groups.size:
            hashes = hashes ^ groups
        distinct = DistinctRows.of(rows, hashes, MOST_TRIED)
        folds = deal_folds(distinct)
        at = folds.find(hashes, codes)
        missing = np.zeros(len(folds.hashes), np.bool_)
        missing[at[at >= 0]] = table[self.column].gaps[at >= 0]
        held_out, lengths = reading.held_out_scores(folds.rows.X, missing, folds)
        shares = np.bincount(folds.rows.codes, folds.rows.row_weights, classes) + 1.0
        prior = np.log(shares / shares.sum())
        own = folds.rows.codes, folds.rows.row_weights, lengths
        found = replace(self, fading=Fading.alone(held_out, prior, *own).rate)
        object.__setattr__(found, "_known", self._known)
        return found

    def grown(self, table: Table) -> Self:
        """Return the family with the terms that are new."""
        vocabulary, _ = self._known.learned(CountVectorizer(), table[self.column].values)
        grown = replace(self, terms=vocabulary.terms)
        object.__setattr__(grown, "_known", vocabulary)
        return grown

    def matrix(self, table: Table) -> Any:
        """Return the rows of counts of the known terms, CSR (n, V)."""
        counted = self._known.counted(CountVectorizer(), table[self.column].values)
        found = counted.matrix(len(self._known))
        return presences(found) if self.event == "bernoulli" else found

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Counts:
        """Return the documents of each class and the counts of their terms, (C, 1 + V)."""
        seen = ~table[self.column].gaps
        rows = Rows(self.matrix(table), codes, classes, weights)
        _, counts = count_words(rows)
        documents = csr_array(seen.astype(np.float64)[:, None])
        _, held = count_words(Rows(documents, codes, classes, weights))
        together = np.concatenate([held.counts, counts.counts], axis=1)
        return Counts(given(together), counts.log_orderings)

    def merged(
        self, other: Self, tally: Counts, translations: Mapping[str, Index]
    ) -> tuple[Self, Counts]:
        """Return the family with the terms of both, and the other's tally by its columns."""
        if self.name != other.name:
            return super().merged(other, tally, translations)
        vocabulary, where = self._known.united(other._known)
        wide = np.zeros((len(tally.counts), 1 + len(vocabulary)))
        wide[:, 0] = tally.counts[:, 0]
        wide[:, 1 + where] = tally.counts[:, 1:]
        merged = replace(self, terms=vocabulary.terms)
        return merged, Counts(given(wide), tally.log_orderings)

    def levels_in_use(self, tally: Counts) -> dict[str, Mask]:
        """Say which terms are in a document."""
        wide = tally.with_levels(1 + len(self._known))
        return {self.column: np.asarray(wide.counts[:, 1:].any(axis=0))}

    def keep_levels(self, tally: Counts, used: Mapping[str, Mask]) -> tuple[Self, Index | None]:
        """Return the family with the terms that are used, and their places after the documents."""
        mask = used[self.column]
        if mask.all():
            return self, None
        kept = np.flatnonzero(mask)
        return replace(self, terms=self.terms.some(kept)), np.append(0, 1 + kept)

    def read(self, tally: Counts) -> TextReading:
        """Return the terms' shares in each class, the pseudocount by evidence."""
        return TextReading.of(self, tally.with_levels(1 + len(self._known)), "evidence")
