"""Taking documents in: terms get their columns when documents are learned."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from suffice.data.rows import Rows
from suffice.errors import DebtError, InputError
from suffice.text.classify.reading import SMOOTH, ReadsTerms
from suffice.text.term_rows import with_column
from suffice.text.vectorize.counted import Counted
from suffice.text.vectorize.cutter import in_batches, listed_documents, takes_anything
from suffice.text.vectorize.names import Names
from suffice.text.vectorize.vectorizer import CountVectorizer
from suffice.text.vectorize.vocabulary import Vocabulary
from suffice.validation.cross_validation import CrossValidation

# Parameters that decide what rows of counts are made of documents.
ROW_SETTINGS = ("ngrams", "words", "unknown")


class TakesDocuments(ReadsTerms):
    """A classifier that takes documents, and has a column for every term it has learned."""

    ngrams: Any
    words: CountVectorizer | None

    def _cut_settings(self) -> CountVectorizer:
        """Return the vectorizer that says how documents are cut."""
        settings = CountVectorizer() if self.words is None else clone(self.words)
        pair = (1, self.ngrams) if isinstance(self.ngrams, Integral) else tuple(self.ngrams)
        if self.words is not None and pair == (1, 1):
            pair = tuple(self.words.ngram_range)
        whole = len(pair) == 2 and all(isinstance(number, Integral) for number in pair)
        if not whole or not 1 <= pair[0] <= pair[1]:
            raise InputError(
                f"ngrams={self.ngrams!r}: runs of so many words there are none. Give a number, or "
                "two in order."
            )
        settings.ngram_range = (int(pair[0]), int(pair[1]))
        return settings

    def _given_vocabulary(self) -> bool:
        return self.words is not None and self.words.vocabulary is not None

    def _first_row(self, X: Any, y: Any) -> Any:
        return [X] if isinstance(X, str | bytes) else X

    def _take_features(self, X: Any, *, reset: bool) -> Any:
        settings = self._cut_settings()
        if isinstance(X, str | bytes) and not reset:
            X = [X]
        if reset:
            self.__dict__.pop("refinement_", None)  # it weighs other terms
            self._terms = Vocabulary(Names.of(()))
            if self._given_vocabulary():
                settings._validate_vocabulary()
                self._terms = settings._terms
        else:
            # scikit-learn warns of odd stop words once: when documents are first learned.
            settings._stop_words_id = id(settings.stop_words)
        grows = getattr(self, "_grows", reset) and not self._given_vocabulary()
        parts: list[Counted] = []
        for batch in in_batches(X, anything=takes_anything(settings)):
            if grows:
                self._terms, counted = self._terms.learned(settings, batch)
            else:
                counted = self._terms.counted(settings, batch)
            if getattr(self, "_forgets", False):
                self._check_known(
                    settings, batch, counted.unknown, sum(len(part.unknown) for part in parts)
                )
            parts.append(counted)
        counted = Counted.together(parts)
        if reset and not len(counted.unknown):
            raise InputError("Found no documents while a minimum of 1 is required. Give some.")
        matrix = counted.matrix(len(self._terms))
        if self.unknown == SMOOTH:
            matrix = with_column(matrix, counted.unknown)
        return matrix

    def _answer(self, answer: Any, X: Any, scorer: Any = None) -> Any:
        check_is_fitted(self, "tally_")
        rows = self._event_rows(self._take_features(X, reset=False))
        if scorer is None:
            return answer(self._scorer(), rows, self._decision_prior())
        return answer(scorer, rows, self._log_prior())

    def _take_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        taken = super()._take_rows(X, y, sample_weight, reset=reset)
        if getattr(self, "_keeps_rows", False):
            self._recent = taken
        return taken

    def _learned_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        if "_recent" not in self.__dict__:
            return super()._learned_rows(X, y, sample_weight)
        _, rows = self._recent  # they were counted a moment ago
        return replace(rows, X=self._narrowed(rows.X))

    def cross_validate(
        self,
        X: Any,
        y: Any,
        folds: Any = 5,
        *,
        groups: Any = None,
        shuffle: bool = True,
        random_state: Any = 0,
        sample_weight: Any = None,
        **settings_to_try: Any,
    ) -> CrossValidation:
        """Return how well models that learned the other folds foretell each fold.

        Documents are cut once; the terms of a training set are those of its documents alone.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds : int, array-like of shape (n_documents,), or a splitter of scikit-learn's
            An int is that many stratified folds.
        groups : array-like of shape (n_documents,), optional
            Documents of one group stay in one fold.
        shuffle : bool, default=True
            Whether documents are dealt to that many folds at random. Folds that were given, and
            those of a splitter, stay as they are.
        random_state : int, Generator, RandomState or None, default=0
            Which shuffle; None is another one at each call.
        **settings_to_try : lists of values of parameters, of which all combinations are tried
            Other than those that say how documents are cut: `ngrams`, `words`, `unknown`.
        """
        for name in settings_to_try:
            if name.split("__")[0] in ROW_SETTINGS:
                raise InputError(
                    f"{name!r} says what is counted in documents, which are cut once. "
                    "Cross-validate a model with each value instead."
                )
        return super().cross_validate(
            X,
            y,
            folds,
            groups=groups,
            shuffle=shuffle,
            random_state=random_state,
            sample_weight=sample_weight,
            **settings_to_try,
        )

    def _check_known(
        self, settings: CountVectorizer, batch: Any, unknown: NDArray[np.int64], before: int
    ) -> None:
        """Refuse to forget documents (n,) with terms that were never learned."""
        if self._given_vocabulary() or not unknown.any():
            return
        row = int(np.argmax(unknown > 0))
        if getattr(self, "pruned_", False):
            if self.weighting is None:
                return
            raise DebtError(
                f"Document {before + row} has {unknown[row]} terms that were never learned, or "
                "pruned: its tf-idf weights, which depend on all its terms, are not known any "
                "more. Forget documents before pruning, or fit again; nothing was changed."
            )
        known = {str(term) for term in self._terms.terms}
        terms = settings.build_analyzer()(listed_documents(settings, batch)[row])
        first = next((term for term in terms if term not in known), None)
        named = "" if first is None else f", {first!r} the first"
        raise DebtError(
            f"Document {before + row} has {unknown[row]} terms that were never learned{named}. "
            "Forget only documents that were learned; nothing was changed."
        )

    def _taken_in(self) -> dict[str, Any]:
        return {"_terms": self._terms}
