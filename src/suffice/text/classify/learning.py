"""Learning documents: terms and classes come to be known, are forgotten, and are aligned."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from suffice.errors import InputError, MergeError, StaleCalibrationWarning, warn_caller
from suffice.estimators.intake import NoRowsError
from suffice.estimators.learner import named_alike
from suffice.estimators.settings import differences
from suffice.estimators.undo import all_or_nothing
from suffice.tally import Groups
from suffice.tally.tally import Index
from suffice.text.classify.reading import SMOOTH
from suffice.text.classify.taking import TakesDocuments
from suffice.text.term_rows import row_sums, unknown_last, with_column
from suffice.text.term_tally import spread_terms, term_counts, without_terms
from suffice.text.vectorize.vectorizer import CUT_SETTINGS


class LearnsDocuments(TakesDocuments):
    """A classifier that learns documents, forgets them, and merges what others have learned."""

    refine: str | None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from these documents and nothing else.

        Parameters
        ----------
        X : documents, or a generator of pairs (documents, labels)
        y : array-like of shape (n_documents,)
            None if X gives the labels too.
        sample_weight : array-like of shape (n_documents,), optional
        groups : array-like of shape (n_documents,), optional
            Documents of a group (a thread, an author) are held out together to calibrate on.
        """
        if y is None and isinstance(X, Iterator):
            return self._fit_batches(X)
        with all_or_nothing(self):
            self._keeps_rows = True
            super().fit(X, y, sample_weight, groups)
            self._let_go()
        return self

    def _fit_batches(self, batches: Iterator[Any]) -> Self:
        with all_or_nothing(self):
            self._validate_params()
            groups: Groups[Any] | None = None
            self._grows = True
            for batch in batches:
                documents, labels = _pair(batch)
                try:
                    counted = self._tallied(documents, labels, None, reset=groups is None)
                except NoRowsError:
                    continue
                groups = (
                    counted if groups is None else groups + named_alike(counted, groups.classes)
                )
            if groups is None:
                raise InputError("The generator gave no documents. Give some.")
            self.__dict__.pop("_gross", None)
            self.classes_closed_ = False
            self.new_classes_ = groups.classes
            self._settle(groups)
            self._check_words()
            self._drop_calibration()
            self._let_go()
        if self._finishes():
            done = "calibrated" if self.refine is None else "refined"
            warn_caller(
                f"Documents that pass by once are learned, but answers cannot be {done} on them. "
                "refresh_calibration() does it on those that the model keeps; or set calibrate and "
                "refine to None.",
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

    def _changed(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> None:
        # What is read again now was learned before: no terms are to come of it.
        self.__dict__.pop("_grows", None)
        if X is not None:
            self._check_words()
        super()._changed(X, y, sample_weight, groups)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn documents that were learned: the same as `fit` on the others.

        Terms and classes that no document has any more are gone. Give documents with the weights
        they were learned with; a plausible one that was never learned cannot be noticed.
        """
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
            scale = spread_terms(named_alike(other._scale_with(), self.classes_), where, width)
            self.tally_ = ours
            groups = self._merge_tally(other, theirs, scale)
            self.classes_closed_ = self.classes_closed_ and other.classes_closed_
            self.new_classes_ = np.setdiff1d(groups.classes, self.classes_)
            self._merge_documents(other, where)
            self._settle(groups)
            self._changed()
        return self

    def _merge_documents(self, other: Self, where: Index) -> None:
        """Unite the kept documents, given the columns that the other's terms have here."""
        if not hasattr(other, "_sample"):
            self._merge_rows(other)
            return
        sample = other._sample
        given = unknown_last(sample.rows.X, len(where), smooth=other.unknown == SMOOTH)
        known = given[:, : len(where)]
        shape = len(sample), len(self._terms)
        X = csr_array((known.data, where[known.indices], known.indptr), shape=shape)
        if self.unknown == SMOOTH:
            X = with_column(X, row_sums(given) - row_sums(known))
        rows = self._rows_to_keep(replace(sample.rows, X=X))
        moved = copy(other)
        moved._sample = sample.with_rows(rows.X, sample.hashes)
        self._merge_rows(moved)

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

    def _check_words(self) -> None:
        """Refuse to learn from documents without words; what is left of others may have none."""
        if not len(self._terms):
            raise InputError(
                "No document has a word: the vocabulary is empty; perhaps the documents only "
                "contain stop words. Give documents with words."
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
        found = differences(self, other, self._tally_settings)
        found += differences(ours, theirs, (*CUT_SETTINGS, "vocabulary"))
        self._refuse_different(found)


def _pair(batch: Any) -> tuple[Any, Any]:
    """Return the documents and labels of a batch."""
    if isinstance(getattr(batch, "text", None), str):
        raise InputError(
            f"A generator gave a {type(batch).__name__} without a label. Give the texts and their "
            "labels: fit([message.text for message in read_mail(path)], labels)."
        )
    if not isinstance(batch, tuple) or len(batch) != 2:
        raise InputError(
            f"A generator gave a {type(batch).__name__} without labels. Give pairs (documents, "
            "labels), or documents and y."
        )
    return batch
