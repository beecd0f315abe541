"""TextClassifier: documents in, labels out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.importance import (
    increase_of,
    increase_saved,
    note_at_fit,
    note_on_rows,
    rows_to_measure,
)
from suffice.scoring.explanation import Explanation, find_classes
from suffice.tally.tally import Floats
from suffice.text.classify.event_model import EVENTS
from suffice.text.classify.fading import FadedCounts, fades, offset_shares
from suffice.text.classify.learning import LearnsDocuments
from suffice.text.classify.reading import SMOOTH
from suffice.text.classify.reasons import explained, term_scores
from suffice.text.classify.refinement import Refinement
from suffice.text.classify.word_losses import new_increase
from suffice.text.classify.word_tables import TermProbabilities, TopWords, words_of_class
from suffice.text.saved_terms import check_classifier, check_cut, vocabulary_of
from suffice.text.vectorize.names import Names
from suffice.text.vectorize.vectorizer import CountVectorizer
from suffice.threads import with_one_blas_thread
from suffice.validation.importance import Importance
from suffice.validation.information import Dependence, counts_dependence

# What helps where no losses were measured.
CURE = "fit with calibrate='folds' and without refine, or call importance(X, y)"


@with_one_blas_thread
class TextClassifier(LearnsDocuments):
    """Documents in, labels out: naive Bayes on the words of documents (docs: text).

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement", "polya"}, default="multinomial"
        What a document is: words drawn one by one; terms present or absent; words judged by the
        other classes (Rennie's rule); or words drawn with the class's probabilities integrated out
        over the whole document (Dirichlet-multinomial).
    ngrams : int or (int, int), default=1
        Terms are runs of up to this many words, or of so many to so many.
    weighting : {None, "tfidf"}, default=None
        "tfidf" counts ln(1 + count), rows of length 1, times the rarity of the term.
    unknown : {"ignore", "smooth"}, default="ignore"
        A term never learned is left out, or counts as one unknown term with its own pseudocount.
    alpha : float or "evidence", default="evidence"
        Pseudocount of each term; "evidence" takes the number that makes what was learned most
        probable.
    calibrate : {"folds", None}, default="folds"
        "folds" calibrates the probabilities on those of held-out folds (`calibration_`). "loo", an
        older name, does the same.
    refine : {None, "logistic"}, default=None
        "logistic" finishes with a logistic regression on the terms present, each scaled by its
        log-count ratio (Wang and Manning).
    words : CountVectorizer, optional
        How documents are cut into terms, where the default will not do: its settings other than
        `ngram_range`, `min_df`, `max_df`, `max_features`, `binary` and `dtype` are used.
    fit_prior, class_prior : as in MultinomialNB

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    terms_ : ndarray of shape (n_terms,)
        The terms learned.
    alpha_ : float
        The pseudocount that was used.
    tally_ : Groups of Counts of shape (n_classes, n_terms)
    calibration_ : Calibration

    Notes
    -----
    Documents may be a list, a column of numpy, pandas, polars or Arrow, and for all but `fit` one
    string, which is one document. For `fit` they may be a generator of pairs (documents, labels):
    then memory does not grow with their number, and the probabilities are not calibrated, because
    no document is seen twice. A term that no document has any more (after `forget`) is unknown
    again.

    Examples
    --------
    >>> mails = ["cheap pills cheap", "lunch at noon", "cheap watches", "see you at lunch"]
    >>> model = TextClassifier(calibrate=None).fit(mails, ["spam", "ham", "spam", "ham"])
    >>> model.predict(["pills for lunch", "cheap cheap watches"]).tolist()
    ['ham', 'spam']
    >>> model.partial_fit(["quarterly report"], ["work"]).new_classes_.tolist()
    ['work']
    >>> model.forget(["quarterly report"], ["work"]).classes_.tolist()
    ['ham', 'spam']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "event": [StrOptions(set(EVENTS))],
        "ngrams": [Interval(Integral, 1, None, closed="left"), tuple, list],
        "weighting": [StrOptions({"tfidf"}), None],
        "unknown": [StrOptions({"ignore", SMOOTH})],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"evidence"})],
        "calibrate": [StrOptions({"folds", "loo"}), None],
        "refine": [StrOptions({"logistic"}), None],
        "words": [CountVectorizer, None],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }
    _tally_settings = ("event", "weighting")
    _free_settings = ("ngrams", "words")  # how documents are cut is compared as a whole
    _saved = (
        "tally_",
        "classes_closed_",
        "new_classes_",
        "calibration_",
        "calibration_stale_",
        "pruned_",
        "_gross",
        "_alpha_factor",
        "_fading",
        "terms",
        "loss_increase",
        "refined_weights",
        "refined_bias",
        "held_out",
        "rows",
    )

    def __init__(
        self,
        *,
        event: str = "multinomial",
        ngrams: Any = 1,
        weighting: str | None = None,
        unknown: str = "ignore",
        alpha: Any = "evidence",
        calibrate: str | None = "folds",
        refine: str | None = None,
        words: CountVectorizer | None = None,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.event = event
        self.ngrams = ngrams
        self.weighting = weighting
        self.unknown = unknown
        self.alpha = alpha
        self.calibrate = calibrate
        self.refine = refine
        self.words = words
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        return tags

    @property
    def terms_(self) -> Any:
        """The terms learned, by column."""
        check_is_fitted(self, "tally_")
        terms = self._terms.terms
        return terms.array() if isinstance(terms, Names) else np.array(terms, object)

    # Answers.

    def predict_log_proba(self, X: Any) -> Any:
        """Return log p(class | document), (n_documents, n_classes)."""
        check_is_fitted(self, "tally_")
        return self._log_proba_of(self._take_features(X, reset=False))

    def explain(self, document: str, target: Any = None, against: Any = None) -> Explanation:
        """Say which terms of a document speak for and against a class.

        The terms' contributions add up, with what stands before any term (the class prior, the
        terms that are absent under event="bernoulli", the offsets of the calibration), to the
        log-odds of the class.

        Parameters
        ----------
        document : str
        target : a class, optional
            The most probable one if not given.
        against : another class, optional
            All others together if not given.

        Examples
        --------
        >>> mails = ["cheap pills", "lunch at noon", "cheap watches", "see you at lunch"]
        >>> model = TextClassifier(calibrate=None).fit(mails, ["spam", "ham", "spam", "ham"])
        >>> reasons = model.explain("cheap lunch", "spam")
        >>> [name for name, share in zip(reasons.names, reasons.contributions) if share > 0]
        ['cheap']
        """
        check_is_fitted(self, "tally_")
        matrix = self._take_features([document], reset=False)
        terms = [str(term) for term in self._terms.terms]
        return explained(self._scores_of_one(matrix), self.classes_, terms, target, against)

    def term_probabilities(self) -> TermProbabilities:
        """Return p(word | class) of every word learned: the table that naive Bayes is.

        With event="bernoulli" it is the probability that a document has the word. Pseudocounts are
        those of the model (`alpha_`); what calibration and refinement do is not in it.

        Examples
        --------
        >>> mails = ["cheap pills cheap", "lunch at noon", "cheap watches"]
        >>> model = TextClassifier(alpha=1.0).fit(mails, ["spam", "ham", "spam"])
        >>> model.term_probabilities()["cheap"]  # 3 of 5 words, and 6 pseudocounts
        {'ham': 0.1111111111111111, 'spam': 0.36363636363636365}
        """
        check_is_fitted(self, "tally_")
        counts, documents = self._model.feature_count_, self._model.class_count_
        terms = self.terms_
        probability = self._smoothed(counts, documents)[:, : len(terms)]
        return TermProbabilities(terms, self.classes_, probability, counts[:, : len(terms)])

    def top_words(self, target: Any, n: int = 10, by: str = "information") -> TopWords:
        """Return the words that tell most of a class, held against all other classes together.

        Parameters
        ----------
        target : class
        n : int
            How many words.
        by : {"information", "log_ratio", "probability"}
            "log_ratio" is what one such word adds to the log-odds of the class, whether the word
            is common or not; "information" is that times how probable the word is in the class.

        Examples
        --------
        >>> mails = ["cheap pills cheap", "lunch at noon", "cheap watches", "see you at lunch"]
        >>> model = TextClassifier().fit(mails, ["spam", "ham", "spam", "ham"])
        >>> model.top_words("spam", 2).words
        ('cheap', 'pills')
        """
        table = self.term_probabilities()
        at, others = find_classes(self.classes_, np.zeros(len(self.classes_)), target, None)
        counts, documents = self._model.feature_count_, self._model.class_count_
        pooled = counts[others].sum(axis=0)[None], documents[others].sum()[None]
        elsewhere = self._smoothed(*pooled)[0, : len(table.terms)]
        return words_of_class(table, elsewhere, at, n, by)

    def importance(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Importance:
        """Return how much each word matters: what is lost without it, and what it says alone.

        The log-loss without a word is that of documents from which the word is taken out. It was
        measured with the calibration, on documents of held-out folds, for the 200 words of most
        mutual information with the label, and is kept; the others are marked as not measured.

        Parameters
        ----------
        X, y, sample_weight : documents and labels, optional
            Measure those 200 words on these documents instead. They should be new ones: documents
            that were learned miss a word less than they should.

        Examples
        --------
        >>> mails = [f"{word} {at} to you" for at in range(20) for word in ("cheap", "lunch")]
        >>> model = TextClassifier().fit(mails, ["spam", "ham"] * 20)
        >>> sorted(model.importance().to_frame().word[:2])
        ['cheap', 'lunch']
        """
        check_is_fitted(self, "tally_")
        if X is None and y is None:
            measured = getattr(self, "_loss_increase", None)
            note = note_at_fit(
                measured, "documents", CURE, stale=getattr(self, "calibration_stale_", False)
            )
        else:
            rows = rows_to_measure(self, X, y, sample_weight)
            given = rows.X, rows.codes, rows.row_weights
            measured = new_increase(self, *given, self._measured_words())
            note = note_on_rows(measured, "documents")
        names = tuple(str(term) for term in self.terms_)
        found = counts_dependence(self._model.tally_.parts, self._model.alpha_)
        # The last word of an event model may be the unknown one.
        known = Dependence(*(part[: len(names)] for part in found))
        return Importance.of("word", names, known, measured, note)

    def _smoothed(self, counts: Floats, documents: Floats) -> Floats:
        """Return probabilities of terms, (C, V), from counts (C, V) in so many documents (C,)."""
        alpha = float(self.alpha_)
        if self.event == "bernoulli":
            return np.asarray((counts + alpha) / (documents[:, None] + 2 * alpha))
        return np.asarray((counts + alpha) / (counts + alpha).sum(axis=1, keepdims=True))

    def _scores_of_one(self, matrix: Any) -> Any:
        """Return the scores of one document: before any term, and of each of its terms."""
        if hasattr(self, "refinement_"):
            return self.refinement_.scores(matrix)
        rows = self._event_rows(matrix)
        plain = term_scores(self._model, rows)
        if not hasattr(self, "calibration_"):
            return plain
        lengths, found, prior = self._lengths(rows), self.calibration_, self._decision_prior()
        full = float(fades(lengths, self._fading)[0])
        believed = full + (1.0 - full) * found.inverse_temperature
        base = prior + believed * (plain.base - prior)
        base = base + float(offset_shares(lengths)[0]) * found.offsets
        return plain._replace(parts=believed * plain.parts, base=base, noise_rate=found.noise_rate)

    def to_logistic(self) -> Pipeline:
        """Return a pipeline of a CountVectorizer and a logistic regression that answers alike.

        `calibrate="folds"` may leave what no logistic regression has (a noise rate): an error.
        """
        from suffice.linear_model import LogisticRegression

        check_is_fitted(self, "tally_")
        if self.unknown == SMOOTH or self.weighting is not None or hasattr(self, "refinement_"):
            raise InputError(
                f"With unknown={self.unknown!r}, weighting={self.weighting!r} and refine="
                f"{self.refine!r} documents are no rows of counts of known terms. Use "
                "unknown='ignore', weighting=None and refine=None for the bridge."
            )
        words = self._cut_settings().set_params(
            vocabulary=self.terms_.tolist(), binary=self.event == "bernoulli"
        )
        plain = super().to_logistic()  # refuses what no logistic regression has
        if not hasattr(self, "calibration_"):
            logistic = plain.named_steps["logistic"] if isinstance(plain, Pipeline) else plain
            return Pipeline([("words", words), ("logistic", logistic)])
        form, found, prior = self._linear_form(), self.calibration_, self._decision_prior()
        if self.event == "bernoulli":  # whatever the words, a document is a long one
            bias = prior + found.inverse_temperature * (form.bias - prior) + found.offsets
            weights = found.inverse_temperature * form.weights
            logistic = LogisticRegression.from_weights(weights, bias, self.classes_)
            return Pipeline([("words", words), ("logistic", logistic)])
        weights = np.column_stack([form.weights, found.offsets])
        logistic = LogisticRegression.from_weights(weights, form.bias, self.classes_)
        faded = FadedCounts(self._fading, found.inverse_temperature)
        return Pipeline([("words", words), ("faded", faded), ("logistic", logistic)])

    def _log_proba_of(self, X: Any) -> Floats:
        if hasattr(self, "refinement_"):
            return self.refinement_.log_proba(self._known(X))
        return super()._log_proba_of(X)

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each document, (n_documents,)."""
        if hasattr(self, "refinement_"):
            return self.classes_[np.argmax(self.predict_log_proba(X), axis=1)]
        return super().predict(X)

    def predict_proba(self, X: Any) -> Floats:
        """Return p(class | document), (n_documents, n_classes), in the order of `classes_`."""
        if hasattr(self, "refinement_"):
            return np.asarray(np.exp(self.predict_log_proba(X)))
        return super().predict_proba(X)

    def _known(self, matrix: Any) -> Any:
        """Return rows of the known terms alone."""
        matrix = self._narrowed(matrix)
        return matrix[:, :-1] if self.unknown == SMOOTH else matrix

    # What depends on documents, not on the tally alone.

    def _finishes(self) -> bool:
        return self.calibrate is not None or self.refine is not None

    def _finish(self, rows: Rows, *, always: bool = False, complete: bool = True) -> None:
        if len(self.classes_) == 1:
            return  # whatever is asked, there is one answer
        if self.refine is None:
            super()._finish(rows, always=always, complete=complete)
            return
        known = Rows(self._known(rows.X), rows.codes, rows.classes, rows.weights)
        self.refinement_ = Refinement.of(known)

    def _drop_calibration(self) -> None:
        super()._drop_calibration()
        self.__dict__.pop("refinement_", None)

    def _settle(self, groups: Any) -> None:
        super()._settle(groups)
        if "refinement_" in self.__dict__:
            self.refinement_ = self.refinement_.followed(self._kept)

    def _grow_stale(self) -> None:
        if not hasattr(self, "refinement_"):
            super()._grow_stale()
            return
        if len(self.refinement_.bias) != len(self.classes_):
            self._drop_calibration()
            told = "The classes have changed, so answers are not refined any more."
        else:
            told = "The refinement is that of the documents learned before."
        self._warn_stale(told, "refresh_calibration")

    def _saved_state(self) -> dict[str, Any]:
        state = super()._saved_state()
        if state:
            state["terms"] = self.terms_
        if hasattr(self, "_loss_increase"):
            state["loss_increase"] = increase_saved(self._loss_increase)
        if hasattr(self, "refinement_"):
            state["refined_weights"] = self.refinement_.weights
            state["refined_bias"] = self.refinement_.bias
        return state

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_cut(self._cut_settings())
        check_classifier(self, state, given=self._given_vocabulary())
        if "loss_increase" in state:
            increase_of(state["loss_increase"], len(state["terms"]))

    def _restore(self, state: dict[str, Any]) -> None:
        self._terms = vocabulary_of(state.pop("terms"))
        if "loss_increase" in state:
            self._loss_increase = increase_of(state.pop("loss_increase"), len(self._terms))
        refined = [state.pop(name) for name in ("refined_weights", "refined_bias") if name in state]
        super()._restore(state)
        if refined:
            self.refinement_ = Refinement(*refined)
