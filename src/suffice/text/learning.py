"""Learning documents: terms and classes come to be known, are forgotten, and are aligned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from suffice.data.rows import Rows
from suffice.errors import DebtError, InputError, MergeError, StaleCalibrationWarning, warn_caller
from suffice.skin.cross_validation import CrossValidation
from suffice.skin.learner import named_alike
from suffice.skin.undo import all_or_nothing
from suffice.tally import Groups
from suffice.text.counted import Counted
from suffice.text.cutter import in_batches, takes_anything
from suffice.text.names import Names
from suffice.text.reading import SMOOTH, ReadsTerms
from suffice.text.term_rows import with_column
from suffice.text.term_tally import spread_terms, term_counts, without_terms
from suffice.text.vectorizer import CUT_SETTINGS, CountVectorizer
from suffice.text.vocabulary import Vocabulary

# Parameters that decide what rows of counts are made of documents.
ROW_SETTINGS = ("ngrams", "words", "unknown")


class LearnsDocuments(ReadsTerms):
    """A classifier that takes documents, and has a column for every term it has learned."""

    ngrams: Any
    words: CountVectorizer | None
    refine: str | None

    # Taking documents in: terms get their columns when documents are learned.

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

    def _take_features(self, X: Any, *, reset: bool) -> Any:
        settings = self._cut_settings()
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
        parts = []
        for batch in in_batches(X, anything=takes_anything(settings)):
            if grows:
                self._terms, counted = self._terms.learned(settings, batch)
            else:
                counted = self._terms.counted(settings, batch)
            parts.append(counted)
        counted = Counted.together(parts)
        if not len(counted.unknown):
            raise InputError("Found no documents while a minimum of 1 is required. Give some.")
        if getattr(self, "_forgets", False):
            self._check_known(counted.unknown)
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
            X, y, folds, groups=groups, sample_weight=sample_weight, **settings_to_try
        )

    # Learning.

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these documents and nothing else.

        Parameters
        ----------
        X : documents, or a generator of pairs (documents, labels)
        y : array-like of shape (n_documents,)
            None if X gives the labels too.
        sample_weight : array-like of shape (n_documents,), optional
        """
        if y is None and isinstance(X, Iterator):
            return self._fit_batches(X)
        with all_or_nothing(self):
            self._keeps_rows = True
            super().fit(X, y, sample_weight)
            self._let_go()
        return self

    def _fit_batches(self, batches: Iterator[Any]) -> Self:
        with all_or_nothing(self):
            self._validate_params()
            groups: Groups[Any] | None = None
            self._grows = True
            for batch in batches:
                documents, labels = _pair(batch)
                counted = self._tallied(documents, labels, None, reset=groups is None)
                groups = (
                    counted if groups is None else groups + named_alike(counted, groups.classes)
                )
            if groups is None:
                raise InputError("The generator gave no documents. Give some.")
            self.classes_closed_ = False
            self.new_classes_ = groups.classes
            self._settle(groups)
            self._drop_calibration()
            self._let_go()
        if self._finishes():
            done = "calibrated" if self.refine is None else "refined"
            warn_caller(
                f"Documents that pass by once are learned, but answers cannot be {done} on them. "
                "Give refresh_calibration all documents, or set calibrate and refine to None.",
                StaleCalibrationWarning,
            )
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further documents; new words and new labels come to be known.

        The same as `fit` on all documents so far, in any order (`terms_` may come in another).

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like, optional
            At the first call: all the classes there will ever be.
        """
        with all_or_nothing(self):
            self._grows = True
            super().partial_fit(X, y, classes, sample_weight)
            self._let_go()
        return self

    def _changed(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> None:
        # What is read again now was learned before: no terms are to come of it.
        self.__dict__.pop("_grows", None)
        super()._changed(X, y, sample_weight)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn documents that were learned: the same as `fit` on the others."""
        with all_or_nothing(self):
            self._forgets = True
            super().forget(X, y, sample_weight)
            self._let_go()
        return self

    def merge(self, other: Self) -> Self:
        """Learn all that another model has learned; terms and classes are aligned by name."""
        check_is_fitted(self, "tally_")
        self._check_mergeable(other)
        with all_or_nothing(self):
            self._terms, where = self._terms.united(other._terms)
            width = len(self._terms)
            known = term_counts(self.tally_).shape[1]
            ours = spread_terms(self.tally_, np.arange(known), width)
            theirs = spread_terms(named_alike(other.tally_, self.classes_), where, width)
            groups = ours + theirs
            self.classes_closed_ = self.classes_closed_ and other.classes_closed_
            self.new_classes_ = np.setdiff1d(groups.classes, self.classes_)
            self._settle(groups)
            self._changed()
        return self

    def prune(self, min_count: float) -> Self:
        """Forget the terms that documents have fewer than `min_count` times in all."""
        check_is_fitted(self, "tally_")
        if self._given_vocabulary():
            raise InputError("The vocabulary was given. Give a smaller one instead of pruning it.")
        totals = term_counts(self.tally_).sum(axis=0)
        kept = np.flatnonzero(totals >= min_count)
        if not kept.size:
            raise InputError(
                f"No term was learned {min_count:g} times or more (the most common "
                f"{totals.max():g} times). Prune less; nothing was changed."
            )
        with all_or_nothing(self):
            self.pruned_ = True
            # Whoever follows the terms sees the others as terms of no document.
            gone = np.ones(len(totals), bool)
            gone[kept] = False
            self._settle(without_terms(self.tally_, gone))
            self._changed()
        return self

    def _check_known(self, unknown: NDArray[np.int64]) -> None:
        """Refuse to forget documents (n,) with terms that were never learned."""
        if self._given_vocabulary() or getattr(self, "pruned_", False) or not unknown.any():
            return
        row = int(np.argmax(unknown > 0))
        raise DebtError(
            f"Document {row} has {unknown[row]} terms that were never learned. Forget only "
            "documents that were learned; nothing was changed."
        )

    def _let_go(self) -> None:
        """Drop what served while documents were learned."""
        for name in ("_grows", "_forgets", "_keeps_rows", "_recent"):
            self.__dict__.pop(name, None)

    def _check_mergeable(self, other: Any) -> None:
        if type(other) is not type(self):
            raise MergeError(
                f"Cannot merge {type(other).__name__} into {type(self).__name__}. Merge models "
                "of one class."
            )
        check_is_fitted(other, "tally_")
        ours, theirs = self._cut_settings(), other._cut_settings()
        settings = [(name, self, other) for name in self._tally_settings]
        settings += [(name, ours, theirs) for name in (*CUT_SETTINGS, "vocabulary")]
        for name, here, there in settings:
            if repr(getattr(here, name)) != repr(getattr(there, name)):
                raise MergeError(
                    f"Cannot merge: {name} is {getattr(here, name)!r} here and "
                    f"{getattr(there, name)!r} there, so different things were counted."
                )

    def _taken_in(self) -> dict[str, Any]:
        return {"_terms": self._terms}


def _pair(batch: Any) -> tuple[Any, Any]:
    """Return the documents and labels of a batch."""
    if not isinstance(batch, tuple) or len(batch) != 2:
        raise InputError(
            f"A generator gave a {type(batch).__name__} without labels. Give pairs (documents, "
            "labels), or documents and y."
        )
    return batch
