"""Reading a tally of terms: the event model that scores documents, each left out exactly."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from suffice.count import count_words
from suffice.data.documents import Documents
from suffice.data.hashes import Hashes, array_hashes, string_hashes
from suffice.data.rows import Rows
from suffice.estimators.answers import GenerativeAnswers
from suffice.estimators.explains import ColumnScores
from suffice.estimators.held_out import folds_of_rows
from suffice.estimators.saved_rows import cells_of
from suffice.generative.legacy_bridge import BecomesLogistic, LinearForm
from suffice.persist.refusal import refuse
from suffice.scoring import scorer as scoring
from suffice.tally import Blocks, Counts
from suffice.tally.tally import Floats, Index
from suffice.text.classify.draws import drawn_documents
from suffice.text.classify.event_model import event_model
from suffice.text.classify.fading import Fading
from suffice.text.classify.held_out import choose_fading, held_out_documents, loss_without_words
from suffice.text.classify.own_terms import OwnTerms
from suffice.text.classify.word_losses import informative_words
from suffice.text.term_rows import (
    presences,
    rarity,
    row_sums,
    unknown_first,
    unknown_last,
    weighted_rows,
    with_cells,
    with_column,
)
from suffice.text.term_tally import TermTally, document_counts, some_terms, term_counts
from suffice.text.vectorize.names import Names
from suffice.text.vectorize.vocabulary import Vocabulary
from suffice.validation.importance import LossIncrease
from suffice.validation.row_sample import MAX_ROWS, RowSample

SMOOTH = "smooth"
# What evidence's pseudocount is multiplied by, if held-out documents are then told better.
ALPHA_FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)
# Documents that are held out to calibrate on, and to try pseudocounts on: for a few unknowns as
# many as suffice.
MOST_CALIBRATED = 10_000
MOST_TRIED = 3_000


class ReadsTerms(BecomesLogistic, GenerativeAnswers):
    """A classifier of rows of term counts, whose tally is the terms' counts by class, (C, V).

    Rows are CSR matrices (n, V) of counts as they were taken in; with `unknown="smooth"` a last
    column has the number of unknown terms. The event model has the same columns, of terms that
    any document has.
    """

    event: str
    weighting: str | None
    unknown: str
    alpha: Any
    fit_prior: bool
    class_prior: Any

    _terms: Vocabulary
    _model: Any
    # What held-out documents say of evidence's pseudocount and of long documents.
    _alpha_factor: float = 1.0
    _fading: float = 0.0  # its rate
    # What held-out documents lost without some of their words, when they were calibrated on.
    _loss_increase: LossIncrease

    def _count(self, rows: Rows) -> tuple[Floats, Any]:
        matrix = rows.X[:, : self._width_of(rows.X)] if self.unknown == SMOOTH else rows.X
        weights, terms = count_words(replace(rows, X=self._weighted(matrix)))
        # Words stand in one order: a document is no bag of which there are several orderings.
        counts = Counts(terms.counts)
        if self.weighting is None:
            return weights, counts
        _, documents = count_words(replace(rows, X=presences(matrix)))
        return weights, Blocks((counts, Counts(documents.counts)))

    def _weighted(self, matrix: Any) -> Any:
        """Return rows as the tally adds them up."""
        if self.event == "bernoulli":
            return presences(matrix)
        return matrix if self.weighting is None else weighted_rows(matrix)

    def _width_of(self, matrix: Any) -> int:
        """Return how many columns of rows stand for terms."""
        return int(matrix.shape[1]) - (self.unknown == SMOOTH)

    def _given_vocabulary(self) -> bool:
        """Say whether the terms were named before any document was seen."""
        return False

    def _name_of_sum(self, path: tuple[int, ...], at: tuple[int, ...]) -> str:
        return f"the word {str(self._terms.terms[at[1]])!r}"

    def _settle(self, groups: TermTally) -> None:
        seen = document_counts(groups) > 0
        self._kept = np.ones(len(seen), bool) if self._given_vocabulary() else seen
        if not self._kept.all():
            kept = np.flatnonzero(self._kept)
            groups = some_terms(groups, kept)
            self._terms = self._terms.some(kept)
            if "_gross" in self.__dict__:
                self._gross = some_terms(self._gross, kept)
            if "_loss_increase" in self.__dict__:
                self._loss_increase = self._loss_increase.keep(self._kept)
        super()._settle(groups)
        if "_sample" in self.__dict__ and not self._kept.all():
            rows = self._sample.rows
            wide = unknown_last(rows.X, len(self._kept), smooth=self.unknown == SMOOTH)
            rows = replace(rows, X=self._narrowed(wide))
            hashes = self._row_hashes(rows)
            self._sample = self._sample.with_rows(self._rows_to_keep(rows).X, hashes)

    def _rows_to_keep(self, rows: Rows) -> Rows:
        return replace(rows, X=unknown_first(rows.X)) if self.unknown == SMOOTH else rows

    def _cells_from(self, saved: Any, size: int) -> Any:
        smooth = self.unknown == SMOOTH
        matrix = cells_of(saved, size, len(self._terms) + smooth)
        if not issparse(matrix) or np.any(matrix.data < 0) or np.isnan(matrix.data).any():
            refuse("Its kept documents are no counts of terms.")
        return matrix

    def _hashes_of_kept(self, rows: Rows) -> Hashes:
        wide = unknown_last(rows.X, len(self._terms), smooth=self.unknown == SMOOTH)
        return self._row_hashes(replace(rows, X=wide))

    def _kept_rows(self, sample: RowSample) -> Rows:
        rows = super()._kept_rows(sample)
        width = len(self._terms)
        return replace(rows, X=unknown_last(rows.X, width, smooth=self.unknown == SMOOTH))

    def _read(self, groups: TermTally) -> None:
        counts = term_counts(groups)
        self._rarity = np.ones(counts.shape[1])
        if self.weighting is not None:
            self._rarity = rarity(document_counts(groups), float(groups.weights.sum()))
            counts = counts * self._rarity
        if self.unknown == SMOOTH:
            counts = np.pad(counts, [(0, 0), (0, 1)])
        model = event_model(
            self.event,
            groups.classes,
            groups.weights,
            counts,
            closed=self.classes_closed_,
            alpha=self.alpha,
            fit_prior=self.fit_prior,
            class_prior=self.class_prior,
        )
        if isinstance(self.alpha, str) and self._alpha_factor != 1.0:
            model.alpha = model.alpha_ * self._alpha_factor
            model._read(model.tally_)
        self._model = model
        self.alpha_ = model.alpha_
        self.class_count_, self.class_log_prior_ = model.class_count_, model.class_log_prior_

    def _narrowed(self, matrix: Any) -> Any:
        """Return rows that were taken in before some terms turned out to be in no document.

        Those terms are unknown.
        """
        if self._kept.all() or self._width_of(matrix) != len(self._kept):
            return matrix
        known = matrix[:, np.flatnonzero(self._kept)]
        if self.unknown != SMOOTH:
            return known
        return with_column(known, row_sums(matrix) - row_sums(known))

    def _event_rows(self, matrix: Any) -> Any:
        """Return rows as the event model scores them."""
        matrix = self._narrowed(matrix)
        known = matrix[:, :-1] if self.unknown == SMOOTH else matrix
        rows = self._weighted(known)
        if self.weighting is not None:
            rows = with_cells(rows, rows.data * self._rarity[rows.indices])
        if self.unknown == SMOOTH:
            missed = row_sums(matrix) - row_sums(known)
            present = self.event == "bernoulli"
            rows = with_column(rows, np.minimum(missed, 1.0) if present else missed)
        return rows

    def _row_hashes(self, rows: Rows) -> Hashes:
        """Return a hash of the terms and counts of each document, whatever columns they have."""
        terms = self._terms.terms
        names: Any = [repr(term) for term in terms]
        if isinstance(terms, Names):
            names = Documents(terms.letters, terms.begins)
        # The last column of unknown terms, if there is one, has no name.
        return array_hashes(rows.X, np.append(string_hashes(names), np.uint64(1)))

    def _with_held_prior(self, kept: Index) -> Self:
        held = copy(self)
        held.alpha, held._alpha_factor = float(self.alpha_), 1.0
        held.class_prior, held.fit_prior = None, False
        held.__dict__.pop("refinement_", None)
        return held

    def _scored_rows(self, X: Any) -> Any:
        return self._event_rows(X)

    def _scorer(self) -> scoring.Scorer:
        scorer: scoring.Scorer = self._model._scorer()
        return scorer

    def _split(self, cells: Floats) -> ColumnScores:
        found: ColumnScores = self._model._split(cells)
        return found

    def _log_prior(self) -> Floats:
        prior: Floats = self._model._log_prior()
        return prior

    def _decision_prior(self) -> Floats:
        prior: Floats = self._model._decision_prior()
        return prior

    def _class_prior_is_given(self) -> bool:
        return self.class_prior is not None or not self.fit_prior

    def _features_log_evidence(self) -> float:
        # When all documents with words were forgotten, those that are left have the chance 1.
        return float(self._model._features_log_evidence()) if self._model.n_features_in_ else 0.0

    def _feature_parameters(self) -> int:
        return int(self._model._feature_parameters()) if self._model.n_features_in_ else 0

    def _linear_form(self) -> LinearForm:
        form: LinearForm = self._model._linear_form()
        return LinearForm(form.weights, form.bias)  # rows are ready, whatever the basis

    def _log_proba_of(self, X: Any) -> Floats:
        rows, prior = self._event_rows(X), self._decision_prior()
        if not hasattr(self, "calibration_"):
            return scoring.log_proba(self._scorer(), rows, prior)
        said = scoring.joint_log_proba(self._scorer(), rows, np.zeros_like(prior))
        faded = Fading(self._fading)
        return faded.log_proba(said, prior, self._lengths(rows), self.calibration_)

    def _lengths(self, rows: Any) -> Floats:
        """Return how many words rows of the event model have, (n,), as far as fading goes.

        Absent words speak as well in the Bernoulli model, so that its documents are all long.
        """
        if self.event == "bernoulli":
            return np.full(rows.shape[0], np.inf)
        return row_sums(rows)

    def score_samples(self, X: Any) -> Floats:
        """Return log p(document), (n_documents,): of its terms one by one, whatever the class.

        With event="complement" it is that of the multinomial: the rule is no model of documents.
        """
        check_is_fitted(self, "tally_")
        words = self._model._word_scorer() if self.event == "complement" else None
        density: Floats = self._answer(scoring.log_density, X, words)
        return density

    def _finish(self, rows: Rows, *, always: bool = False, complete: bool = True) -> None:
        """Calibrate on documents of held-out folds: their fading, pseudocount, sharpness."""
        if self.calibrate is None and not always:
            return
        rows = replace(rows, X=self._narrowed(rows.X))
        few = folds_of_rows(self, rows, MOST_TRIED, complete=complete)
        self._alpha_factor = 1.0
        self._read(self.tally_)
        factors = ALPHA_FACTORS if isinstance(self.alpha, str) else (1.0,)
        words = self._measured_words()
        many = rows.shape[0] > MOST_TRIED
        tried = held_out_documents(self, few, factors, words[:0] if many else words)
        best, faded = choose_fading(tried)
        self._fading = faded.rate
        self._alpha_factor = ALPHA_FACTORS[best]
        self._read(self.tally_)
        said = tried[best]
        if many:
            few = folds_of_rows(self, rows, MOST_CALIBRATED, complete=complete)
            said = held_out_documents(self, few, (1.0,), words)[0]
        self.calibration_ = faded.calibration(*said.documents)
        self.calibration_stale_ = False
        self.__dict__.pop("_loss_increase", None)
        increase = loss_without_words(said, faded, self.calibration_)
        if increase is not None:
            self._loss_increase = increase
        some = slice(MAX_ROWS)
        answers = faded.log_proba(
            said.likelihoods[some], said.prior, said.lengths[some], self.calibration_
        )
        kept = np.flatnonzero(few.scored[few.rows.codes])[some]
        self._keep_answers(answers, said.codes[some], said.weights[some], few, kept)

    def _scores_words_anew(self) -> bool:
        """Say whether what is left of a document without a word must be scored as a document."""
        return self.weighting is not None or self.unknown == SMOOTH

    def _measured_words(self) -> Index:
        """Return the words without which documents are scored, to see what is lost."""
        counts = self._model.tally_.parts.counts
        if counts.ndim == 2:
            return informative_words(counts[:, : len(self._terms)], counts.sum(axis=1))
        return informative_words(counts[:, : len(self._terms), 1], counts[:, 0].sum(axis=-1))

    def _drop_calibration(self) -> None:
        super()._drop_calibration()
        self.__dict__.pop("_loss_increase", None)
        if self._alpha_factor != 1.0:
            self._alpha_factor = 1.0
            self._read(self.tally_)
        self._fading = 0.0

    def _left_out_joint(self, rows: Rows) -> Floats | None:
        """Return log p(x, class) (n, C), up to a term that classes share, without each row.

        Terms that only the row has are unknown without it. What was chosen from all documents,
        `alpha_` and the rarities, is held.
        """
        matrix, unknown = self._learned_part(self._event_rows(rows.X))
        joint: Floats = self._model._left_out_joint(replace(rows, X=matrix))
        smooth, given = self.unknown == SMOOTH, self._given_vocabulary()
        counts = self._model.tally_.parts.counts
        if (given and not smooth) or not counts.shape[1]:
            return joint
        alpha = float(self.alpha_)
        present = self._present_counts().sum(axis=0)
        own = OwnTerms.of(matrix, rows.weights, present, unknown, given=given)
        if self.event == "bernoulli":
            own.correct_presences(joint, rows.codes, self.tally_.weights, alpha, smooth=smooth)
            return joint
        held = rows.codes, counts.sum(axis=1), alpha, counts.shape[1]
        if self.event == "complement":
            own.correct_complements(joint, *held, smooth=smooth)
        else:
            own.correct_words(joint, *held, polya=self.event == "polya", smooth=smooth)
        return joint

    def _calibrated_without(self, log_proba: Floats, rows: Rows) -> Floats:
        if not hasattr(self, "calibration_"):
            return log_proba
        matrix, unknown = self._learned_part(self._event_rows(rows.X))
        prior = np.asarray(self._model._left_out_log_prior(replace(rows, X=matrix)))
        possible = np.isfinite(log_proba)
        said = np.where(possible, log_proba, 0.0) - np.where(possible, prior, 0.0)
        said[~possible] = -np.inf
        lengths = self._lengths(matrix) + unknown
        if self.unknown != SMOOTH:
            # Words that only the document has are unknown without it.
            present = self._present_counts().sum(axis=0)
            given = self._given_vocabulary()
            lengths -= OwnTerms.of(matrix, rows.weights, present, unknown, given=given).amounts
        prior = np.where(possible, prior, -np.inf)
        return Fading(self._fading).log_proba(said, prior, lengths, self.calibration_)

    def _present_counts(self) -> Floats:
        """Return how often each class has each term, (C, V)."""
        counts: Floats = self._model.tally_.parts.counts
        return counts[..., 1] if self.event == "bernoulli" else counts

    def _learned_part(self, matrix: Any) -> tuple[Any, Floats]:
        """Return rows without their unknown terms, which were not learned, and these, (n,).

        Documents that were learned have some if the vocabulary was given or pruned.
        """
        unknown = np.zeros(matrix.shape[0])
        if self.unknown != SMOOTH:
            return matrix, unknown
        last = matrix.indices == matrix.shape[1] - 1
        if last.any():
            unknown = row_sums(matrix[:, [-1]])
            matrix = with_cells(matrix, np.where(last, 0.0, matrix.data))
        return matrix, unknown

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> list[str]:
        """Draw documents: terms in no order, as many as the classes' documents have on average."""
        names = [str(term) for term in self._terms.terms]
        learned = term_counts(self.tally_), self.tally_.weights
        return drawn_documents(codes, *learned, names, float(self.alpha_), self.event, rng)
