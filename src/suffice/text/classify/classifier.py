"""TextClassifier: documents in, labels out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice._sklearn import Interval, StrOptions
from suffice.data.hashes import Hashes
from suffice.data.plain_rows import read_text
from suffice.data.rows import Rows
from suffice.data.schema import Field, Schema
from suffice.engines.plan import CountingPlan
from suffice.engines.sample import PlanParts, Sample
from suffice.errors import InputError, StaleCalibrationWarning, warn_caller
from suffice.estimators.features import Columns
from suffice.estimators.fitted import keep_fitted
from suffice.estimators.labels import NoRowsError, read_labels, with_groups
from suffice.estimators.merging import check_same_class
from suffice.families.class_prior import ClassPrior, discrete_class_prior
from suffice.generative import learning
from suffice.generative.classifier import TallyClassifier
from suffice.generative.counts import ClassCounts
from suffice.generative.fitted import Batch, Fitted, Generative, Labels
from suffice.generative.held_out import Candidate, score_candidates
from suffice.generative.importance import (
    check_labels_given,
    code_rows_to_measure,
    note_at_fit,
    note_on_rows,
)
from suffice.generative.row_buffer import Codes, RowReader
from suffice.prior import Dirichlet
from suffice.scoring import scorer as scoring
from suffice.scoring.explanation import Explanation, find_classes
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.text.classify import persistence
from suffice.text.classify.document_model import DocumentModel
from suffice.text.classify.event_scorer import EVENTS, EVIDENCE, SMOOTH
from suffice.text.classify.explanation import (
    TermProbabilities,
    TopWords,
    explain_terms,
    words_of_class,
)
from suffice.text.classify.fitted import TextFitted, check_same_terms
from suffice.text.classify.held_out import calibrate_documents, leave_one_out
from suffice.text.classify.importance import measure_increase
from suffice.text.classify.refinement import fit_refinement
from suffice.text.classify.saved_state import FIELDS
from suffice.text.classify.term_counter import (
    TermCounter,
    as_documents,
    labelled_batches,
)
from suffice.text.classify.term_tally import term_counts
from suffice.text.vectorize.analyzer import WordAnalyzer
from suffice.text.vectorize.sklearn_analyzer import analyzer_of
from suffice.text.vectorize.vectorizer import CountVectorizer, vectorizer_with_ngrams
from suffice.text.vectorize.vocabulary import Vocabulary
from suffice.threads import with_one_blas_thread
from suffice.validation.cross_validation import CrossValidation, LeaveOneOutResult
from suffice.validation.importance import Importance

# What helps where no losses were measured.
CURE = "fit with calibrate='folds' and without refine, or call importance(X, y)"
# How many documents of a stream wait at most, to be counted together.
MAX_DOCUMENTS_WAITING = 1_000
# Parameters that decide what rows of counts are made of documents.
ROW_SETTINGS = ("ngrams", "words", "unknown")


@with_one_blas_thread
class TextClassifier(TallyClassifier):
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
        How documents are split into terms, where the default will not do: its settings other than
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
    no document is seen twice. `partial_fit` learns new words as well as new labels; `terms_` may
    then be in another order than after one `fit`. A term that no document has any more (after
    `forget`) is unknown again.

    `score_samples` returns log p(document) of its terms one by one. With event="complement" it is
    that of the multinomial: the rule is no model of documents.

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
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({EVIDENCE})],
        "calibrate": [StrOptions({"folds", "loo"}), None],
        "refine": [StrOptions({"logistic"}), None],
        "words": [CountVectorizer, None],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", Dirichlet, None],
    }
    _free_settings = ("ngrams", "words")  # analyzers are compared instead
    _saved = FIELDS
    _takes_documents = True

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

    # Learning.

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
        if y is not None or not isinstance(X, Iterator):
            return super().fit(X, y, sample_weight, groups)
        self._validate_params()
        fitted = self._fit_batches(X)
        if self._needs_rows:
            what = "calibrated" if self.refine is None else "refined"
            warn_caller(
                f"Documents that pass by once are learned, but answers cannot be {what} on them. "
                "refresh_calibration() does it on those that the model keeps; or set calibrate and "
                "refine to None.",
                StaleCalibrationWarning,
            )
        return keep_fitted(self, fitted)

    def merge(self, other: Self) -> Self:
        """Learn all that another model has learned; terms and classes are aligned by name."""
        mine, theirs = self._check_mergeable(other)
        return keep_fitted(self, self._refit(mine.merge(theirs)))

    def prune(self, min_count: float) -> Self:
        """Forget the terms that documents have fewer than `min_count` times in all."""
        fitted = self._check_fitted()
        if fitted.term_counter.is_given:
            raise InputError("The vocabulary was given. Give a smaller one instead of pruning it.")
        totals = term_counts(fitted.tally).sum(axis=0)
        kept = totals >= min_count
        if not kept.any():
            raise InputError(
                f"No term was learned {min_count:g} times or more (the most common "
                f"{totals.max():g} times). Prune less; nothing was changed."
            )
        return keep_fitted(self, self._refit(fitted.keep_terms(kept).replace(is_pruned=True)))

    # Answering.

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(document, class), (n_documents, n_classes).

        With event="complement" these are the scores of the rule.
        """
        joint: Floats = self._answer(scoring.joint_log_proba, self._check_ready(), X)
        return joint

    def explain(self, document: str, target: Any = None, against: Any = None) -> Explanation:
        """Return what each term of a document adds to the log-odds of a class.

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
        fitted = self._check_ready()
        scores = fitted.score_terms(fitted.term_counter.read([document]))
        return explain_terms(scores, fitted.classes, fitted.term_counter.terms, target, against)

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
        fitted = self._check_ready()
        counts, terms = fitted.documents.known_counts, fitted.term_counter.vocabulary.array()
        probability = fitted.documents.term_probabilities()
        return TermProbabilities(terms, fitted.classes, probability, counts)

    def top_words(self, target: Any, n: int = 10, by: str = "information") -> TopWords:
        """Return the most informative words of a class against all other classes together.

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
        fitted, table = self._check_ready(), self.term_probabilities()
        at, others = find_classes(fitted.classes, np.zeros(len(fitted.classes)), target, None)
        elsewhere = fitted.documents.term_probabilities(others)[0]
        return words_of_class(table, elsewhere, at, n, by)

    def importance(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Importance:
        """Return how much each word matters: the log-loss without it, and its own information.

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
        fitted = self._check_ready()
        if X is None and y is None:
            measured = fitted.loss_increase
            stale = fitted.calibration is not None and fitted.calibration_stale
            note = note_at_fit(measured, "documents", CURE, stale=stale)
        else:
            check_labels_given(y)
            batch = self._label(fitted.term_counter, self._read(fitted, X), y, sample_weight)
            rows = code_rows_to_measure(batch.classes, batch.rows, fitted.classes)
            measured = measure_increase(fitted.log_proba, rows, fitted.measured_words())
            note = note_on_rows(measured, "documents")
        names = tuple(fitted.term_counter.terms)
        return Importance.of("word", names, fitted.dependence(), measured, note)

    # Validating.

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
        """Return how well models that learned the other folds predict each fold.

        Documents are split once; the terms of a training set are those of its documents alone.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds, groups, shuffle, random_state : as in `MultinomialNB.cross_validate`
        **settings_to_try : lists of values of parameters, of which all combinations are tried
            Other than those that say what is counted in documents: `ngrams`, `words`, `unknown`.
        """
        for name in settings_to_try:
            if name.split("__")[0] in ROW_SETTINGS:
                raise InputError(
                    f"{name!r} says what is counted in documents, which are split once. "
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

    def to_logistic(self) -> Any:
        """Return a pipeline of a CountVectorizer and a logistic regression that answers alike.

        `calibrate="folds"` may leave what no logistic regression has (a noise rate): an error.
        """
        # Loaded when first used: a first fit does without it.
        from suffice.text.classify.to_logistic import to_pipeline

        fitted = self._check_ready()
        if self.unknown == SMOOTH or self.weighting is not None or fitted.refinement is not None:
            raise InputError(
                f"With unknown={self.unknown!r}, weighting={self.weighting!r} and refine="
                f"{self.refine!r} documents are no rows of counts of known terms. Use "
                "unknown='ignore', weighting=None and refine=None for to_logistic."
            )
        words = self._vectorizer().set_params(
            vocabulary=self.terms_.tolist(), binary=self.event == "bernoulli"
        )
        return to_pipeline(fitted, words, type(self).__name__)

    def evidence_of(self) -> str:
        """Return what `log_evidence_` is the probability of: words, or presence, of the terms."""
        features: Any = self._check_ready().ready_model.features
        what = "presence" if self.event == "bernoulli" else "words given lengths"
        return f"{what}, {features.width} terms"

    # What was learned, by the names that users know.

    @property
    def n_features_in_(self) -> int:
        """Documents have no columns."""
        raise AttributeError(f"{type(self).__name__} has no 'n_features_in_': it takes documents.")

    @property
    def terms_(self) -> Any:
        """The terms learned, by column."""
        return self._check_fitted().term_counter.vocabulary.array()

    @property
    def alpha_(self) -> float:
        """The pseudocount that was used."""
        return float(self._learned("alpha_").features.alpha)

    @property
    def class_count_(self) -> Floats:
        """Weight of the documents of each class, (n_classes,)."""
        return self._known("class_count_").tally.weights

    @property
    def class_log_prior_(self) -> Floats:
        """Log probability of each class, (n_classes,)."""
        log_prob: Floats = self._learned("class_log_prior_").prior.log_prob
        return log_prob

    @property
    def pruned_(self) -> bool:
        """Whether terms that were learned have been dropped; only there if they have."""
        if not cast(TextFitted, self._known("pruned_")).is_pruned:
            raise AttributeError(f"This {type(self).__name__} was not pruned.")
        return True

    # What is counted, and the posterior of a tally.

    @property
    def _needs_rows(self) -> bool:
        """Whether anything is fitted to documents, so that some of them are kept."""
        return self.calibrate is not None or self.refine is not None

    def _vectorizer(self) -> CountVectorizer:
        """Return a vectorizer of its own that says how documents are split."""
        return vectorizer_with_ngrams(self.words, self.ngrams)

    def _counter(self) -> TermCounter:
        return self._counter_of(self._vectorizer())

    def _counter_of(self, vectorizer: CountVectorizer) -> TermCounter:
        """Return what is counted of documents that are split as a vectorizer says."""
        given = vectorizer._given_terms()
        return TermCounter(
            analyzer_of(vectorizer),
            Vocabulary.empty() if given is None else given.vocabulary,
            self.event,
            self.weighting,
            with_unknown=self.unknown == SMOOTH,
            is_given=given is not None,
        )

    def _posterior(self, fitted: Any) -> Generative:
        groups = fitted.tally
        prior = discrete_class_prior(groups.weights, self.class_prior, fit_prior=self.fit_prior)
        documents = DocumentModel.of(fitted.term_counter, groups, self.alpha)
        if self.alpha == EVIDENCE and fitted.alpha_factor != 1.0:
            documents = documents.with_alpha(documents.alpha * fitted.alpha_factor)
        decision = None
        if self.event == "complement" and len(groups.classes) > 1:
            # The rule has no prior: every class starts from 0.
            decision = ClassPrior.fixed(np.ones(len(groups.classes)), groups.weights)
        return Generative(prior, documents, decision)

    # How documents are learned.

    def _batch(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        groups: Any = None,
        before: Any = None,
    ) -> Batch:
        """Return labelled documents, with a counter that knows all of their terms."""
        if before is None:
            counter, matrix = self._counter().learn(X)
            if not matrix.shape[0]:
                raise InputError("Found no documents while a minimum of 1 is required. Give some.")
        else:
            counter, matrix = before.term_counter.learn(as_documents(X))
        return self._label(counter, matrix, y, sample_weight, groups)

    def _label(
        self, counter: TermCounter, matrix: Any, y: Any, sample_weight: Any, groups: Any = None
    ) -> Batch:
        """Return rows of counts with their labels."""
        classes, rows = read_labels(matrix, y, sample_weight, None, type(self).__name__)
        return Batch(with_groups(rows, groups), classes, Columns(0), counter)

    def _learn(self, before: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Fitted:
        known = learning.known_classes(classes, before)
        batch = self._batch(as_documents(X), y, sample_weight, before=before)
        if before is None:
            return self._start(batch, known, closed=classes is not None)
        return self._refit(learning.learn(before, batch, self._keep(before, batch, forget=False)))

    def _forget(self, before: Any, X: Any, y: Any, sample_weight: Any) -> Fitted:
        matrix = before.term_counter.read_learned(as_documents(X), pruned=before.is_pruned)
        batch = self._label(before.term_counter, matrix, y, sample_weight)
        return self._refit(learning.forget(before, batch, self._keep(before, batch, forget=True)))

    def _fit_batches(self, batches: Iterator[Any]) -> TextFitted:
        """Return what is learned of a stream of documents, batch by batch, without calibration."""
        fitted: TextFitted | None = None
        for documents, labels in labelled_batches(batches):
            try:
                batch = self._batch(documents, labels, None, before=fitted)
            except NoRowsError:
                continue
            if fitted is None:
                first = learning.learn_first(batch, batch.classes[:0], closed=False)
                fitted = TextFitted.of(first)
                if self._needs_rows:
                    hashes = fitted.term_counter.hashes(batch.rows)
                    fitted = fitted.with_first_sample(batch.rows, hashes)
            else:
                kept = self._keep(fitted, batch, forget=False)
                fitted = learning.learn(fitted, batch, kept)
        if fitted is None:
            raise InputError("The generator gave no documents. Give some.")
        fitted = fitted.keep_terms(fitted.used_terms()).replace(new_classes=fitted.classes)
        fitted.check_words()
        return self._with_model(fitted, waits=False)

    def _fit_rows(self, fitted: Fitted, batch: Batch, *, waits: bool = False) -> TextFitted:
        found, rows = TextFitted.of(fitted), batch.rows
        kept = found.used_terms()
        if not kept.all():
            found = found.keep_terms(kept)
            rows = replace(rows, X=found.term_counter.take_rows(rows.X, kept))
        found.check_words()
        found = self._with_model(found, waits=False)
        if not self._needs_rows:
            return found
        hashes = found.term_counter.hashes(rows)
        return self._calibrate(found.with_first_sample(rows, hashes), rows, hashes=hashes)

    def _keep(self, before: Any, batch: Any, *, forget: bool) -> learning.Kept:
        if before.sample is None:
            return learning.Kept(None, None if forget else before.held_out)
        before = before.with_vocabulary_of(batch.counter)
        hashes = batch.counter.hashes(batch.rows)
        return learning.update_sample(before, batch, hashes, forget=forget)

    def _refit(self, fitted: Any) -> TextFitted:
        kept: TextFitted = fitted.keep_terms(fitted.used_terms())
        return self._with_model(kept, waits=False).grow_stale()

    def _calibrate(
        self,
        fitted: Any,
        rows: Rows,
        *,
        complete: bool = True,
        measure: bool = True,
        hashes: Hashes | None = None,
    ) -> TextFitted:
        found: TextFitted = fitted
        if len(found.classes) == 1:
            return found  # every answer is the one class
        if self.refine is None:
            hashes = found.term_counter.hashes(rows) if hashes is None else hashes
            asked = {"complete": complete, "measure": measure}
            return calibrate_documents(found, self.alpha, rows, hashes, **asked)
        return found.replace(refinement=fit_refinement(replace(rows, X=found.known_rows(rows.X))))

    # One document at a time.

    def _one_row(self, x: Any) -> Any:
        if isinstance(x, str):
            return x
        raise InputError(
            f"x is a {type(x).__name__}. Give one document as a str; partial_fit and forget take "
            "several."
        )

    def _read_one(self, fitted: Any, x: Any) -> Any:
        return self._read(fitted, self._one_row(x))

    def _row_reader(self, fitted: Any) -> RowReader | None:
        # A function of the user's may refuse a document.
        return read_text if type(fitted.term_counter.analyzer) is WordAnalyzer else None

    def _room(self, fitted: Any) -> int:
        return MAX_DOCUMENTS_WAITING

    def _learn_waiting(self, fitted: Any, cells: list[Any], codes: Codes) -> Fitted:
        return self._learn(fitted, cells, fitted.classes[codes], None, None)

    def _check_mergeable(self, other: Any) -> tuple[TextFitted, TextFitted]:
        mine = self._check_fitted()
        check_same_class(type(self), type(other))
        check_is_fitted(other)
        check_same_terms(mine.term_counter, other._fitted.term_counter)
        return mine, other._fitted

    # Learning from sources.

    def _needs_sample(self) -> bool:
        return self._needs_rows

    def _feature_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) == 1:
            return names
        raise InputError(
            f"A TextClassifier learns from one column, and there are {len(names)} besides the "
            f"target: {', '.join(map(repr, names[:10]))}. Name the one with the documents "
            "(features=)."
        )

    def _plan_parts(self, features: tuple[str, ...], sample: Sample | None) -> PlanParts:
        schema = Schema(tuple(Field(name, "text") for name in self._feature_columns(features)))
        settings: dict[str, Any] = {
            "event": self.event,
            "weighting": self.weighting,
            "unknown": self.unknown,
        }
        counter = self._counter()
        if counter.is_given:  # words that were given are kept, and no others are counted
            settings["vocabulary"] = counter.terms
        return PlanParts(schema, settings | dict(counter.analyzer.settings))

    def _counts_of_columns(self, features: tuple[str, ...]) -> ClassCounts:
        return ClassCounts(Columns(0), self._counter())

    def _unit_batch(self, counts: ClassCounts, X: Any, y: Any, weights: Any) -> Batch:
        counter, matrix = cast(TermCounter, counts.counter).learn(X.column(0))
        return self._label(counter, matrix, y, weights)

    def _count_rows(
        self, counts: ClassCounts, plan: CountingPlan, X: Any, y: Any, weights: Any, forget: bool
    ) -> ClassCounts:
        counter = cast(TermCounter, counts.counter)
        if weights is None and counts.kept.sample is None:
            classes, rows = read_labels(X, y, None, None, type(self).__name__)
            if counter.sums_at_once(len(classes)):
                found = counter.sum_words(X.column(0), rows.codes, len(classes))
                return counts.add_groups(found[0], Groups(classes, *found[1:]))
        return super()._count_rows(counts, plan, X, y, weights, forget)

    def _unit_hashes(self, counts: ClassCounts, X: Any, y: Any, weights: Any) -> Hashes:
        batch = self._unit_batch(counts, X, y, weights)
        return cast(TermCounter, batch.counter).hashes(batch.rows)

    def _bare(self, counts: ClassCounts) -> TextFitted:
        groups = counts.counted
        return TextFitted(Columns(0), counts.counter, groups, new_classes=groups.classes)

    def _fit_sample(self, features: tuple[str, ...], sample: Sample) -> Fitted:
        batch = self._batch(sample.features.column(0), sample.target, sample.weights)
        return self._start(batch, batch.classes[:0], closed=False)

    def _fitted_from(
        self, plan: CountingPlan, counts: ClassCounts, sample: Sample | None
    ) -> TextFitted:
        found = self._start_of(plan, counts)
        found.check_words()
        found = self._with_model(found, waits=False)
        if sample is None or not self._needs_rows:
            return found
        matrix = found.term_counter.read(sample.features.column(0))
        batch = self._label(found.term_counter, matrix, sample.target, sample.weights)
        classes = batch.classes.astype(found.classes.dtype)
        rows = learning.recode_rows(batch.rows, classes, found.classes)
        hashes = found.term_counter.hashes(rows)
        found = found.with_first_sample(rows, hashes)
        assert found.sample is not None
        found = found.replace(sample=found.sample.as_part(complete=sample.complete))
        return self._calibrate(found, rows, complete=sample.complete, hashes=hashes)

    def _read_unit(self, fitted: Any, X: Any) -> Any:
        return fitted.term_counter.read(X.column(0))

    def _start_of(self, plan: CountingPlan, counts: ClassCounts) -> TextFitted:
        found = self._bare(counts)
        return found.keep_terms(found.used_terms())

    def _fitted_of_state(self, state: dict[str, Any]) -> TextFitted:
        return persistence.fitted_of(state, self._counter())

    def _learned_columns(self) -> None:
        """Documents are of no column: which one has them is said each time."""

    # How documents are answered and validated.

    def _check_fitted(self) -> TextFitted:
        return cast(TextFitted, super()._check_fitted())

    def _check_ready(self) -> TextFitted:
        return cast(TextFitted, super()._check_ready())

    def _read(self, fitted: Any, X: Any) -> Any:
        return fitted.term_counter.read(as_documents(X))

    def _log_proba(self, fitted: Any, array: Any) -> Floats:
        log_proba: Floats = fitted.log_proba(array)
        return log_proba

    def _learned_rows(self, fitted: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
        batch = self._label(fitted.term_counter, self._read(fitted, X), y, sample_weight)
        return learning.check_learned(fitted, batch, type(self).__name__)

    def _leave_one_out(self, fitted: Any, rows: Rows) -> LeaveOneOutResult:
        return leave_one_out(fitted, rows, type(self).__name__)

    def _cross_validation_scores(
        self, models: list[Any], batch: Batch, experiment: Any
    ) -> tuple[Floats, Floats, Floats]:
        candidates = [model._term_candidate(batch.counter) for model in models]
        return score_candidates(candidates, experiment)

    def _term_candidate(self, counter: TermCounter) -> Candidate:
        """Return how this model learns a tally of a counter's terms, for cross-validation."""
        counter = replace(counter, event=self.event, weighting=self.weighting)

        def fit(groups: Groups[Any], rows: Callable[[Labels], Rows]) -> Fitted:
            fitted = TextFitted(Columns(0), counter, groups, new_classes=groups.classes)
            fitted = fitted.replace(model=self._posterior(fitted))
            if not self._needs_rows:
                return fitted
            return self._calibrate(fitted, rows(groups.classes), measure=False)

        return Candidate(counter, fit, self._log_proba)

    # Saving.

    def _state(self, fitted: Any) -> dict[str, Any]:
        return persistence.state_of(fitted)

    def _rows_to_save(self, fitted: Any) -> dict[str, Any]:
        return persistence.rows_to_save(fitted, type(self).__name__)

    def _check_saved(self, state: dict[str, Any]) -> None:
        persistence.check_state(state, self._vectorizer(), self)

    def _restore(self, state: dict[str, Any]) -> None:
        vectorizer = self._vectorizer()
        # scikit-learn warns of odd stop words once: when documents are first learned.
        vectorizer._stop_words_id = id(vectorizer.stop_words)
        fitted = persistence.fitted_of(state, self._counter_of(vectorizer))
        fitted = self._with_model(fitted, waits=False)
        keep_fitted(self, persistence.with_saved_rows(fitted, state.get("rows")))
