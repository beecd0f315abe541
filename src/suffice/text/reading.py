"""Reading a tally of terms: the event model that scores documents, each left out exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.bridge import BecomesLogistic, LinearForm
from suffice.count import count_words
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.model import scoring
from suffice.model.calibration import calibrated
from suffice.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from suffice.skin.answers import GenerativeAnswers
from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats, given
from suffice.text.fading import Believed, fades
from suffice.text.own_terms import OwnTerms
from suffice.text.term_tally import TermTally, document_counts, some_terms, term_counts
from suffice.text.vocabulary import Vocabulary
from suffice.text.weighting import rarity, weighted_rows

# The event models, and how each reads the tally of terms.
EVENTS: dict[str, Callable[..., Any]] = {
    "multinomial": MultinomialNB,
    "bernoulli": BernoulliNB,
    "complement": ComplementNB,
    "polya": lambda **settings: MultinomialNB(estimate="predictive", **settings),
}
SMOOTH = "smooth"
# What evidence's pseudocount is multiplied by, if documents left out are then told better.
ALPHA_FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)
# Documents that are left out to calibrate on, and to try pseudocounts on: for a few unknowns as
# many as suffice, evenly taken.
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
    # What left-out documents say of evidence's pseudocount and of long documents.
    _alpha_factor: float = 1.0
    _fading: float = 0.0

    def _count(self, rows: Rows) -> tuple[Floats, Any]:
        matrix = rows.X[:, : self._width_of(rows.X)] if self.unknown == SMOOTH else rows.X
        weights, counts = count_words(replace(rows, X=self._weighted(matrix)))
        if self.weighting is None:
            return weights, counts
        _, documents = count_words(replace(rows, X=_presences(matrix)))
        return weights, Blocks((counts, documents))

    def _weighted(self, matrix: Any) -> Any:
        """Return rows as the tally adds them up."""
        if self.event == "bernoulli":
            return _presences(matrix)
        return matrix if self.weighting is None else weighted_rows(matrix)

    def _width_of(self, matrix: Any) -> int:
        """Return how many columns of rows stand for terms."""
        return int(matrix.shape[1]) - (self.unknown == SMOOTH)

    def _given_vocabulary(self) -> bool:
        """Say whether the terms were named before any document was seen."""
        return False

    def _settle(self, groups: TermTally) -> None:
        seen = document_counts(groups) > 0
        self._kept = np.ones(len(seen), bool) if self._given_vocabulary() else seen
        if not self._kept.all():
            groups = some_terms(groups, np.flatnonzero(self._kept))
            self._terms = self._terms.some(np.flatnonzero(self._kept))
        if not len(self._terms):
            raise InputError(
                "No document has a word: the vocabulary is empty; perhaps the documents only "
                "contain stop words. Give documents with words."
            )
        super()._settle(groups)

    def _read(self, groups: TermTally) -> None:
        model = EVENTS[self.event](
            alpha=self.alpha, fit_prior=self.fit_prior, class_prior=self.class_prior
        )
        counts = term_counts(groups)
        self._rarity = np.ones(counts.shape[1])
        if self.weighting is not None:
            self._rarity = rarity(document_counts(groups), float(groups.weights.sum()))
            counts = counts * self._rarity
        if self.unknown == SMOOTH:
            counts = np.pad(counts, [(0, 0), (0, 1)])
        parts = Counts(given(np.ascontiguousarray(counts)))
        if self.event == "bernoulli":
            absent = np.maximum(groups.weights[:, None] - counts, 0.0)
            parts = Counts(given(np.stack([absent, counts], axis=-1)))
        model.n_features_in_ = counts.shape[1]
        model.classes_closed_ = self.classes_closed_
        model.tally_ = Groups(groups.classes, groups.weights, parts)
        model.classes_ = groups.classes
        model._read(model.tally_)
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
        return _with_column(known, row_sums(matrix) - row_sums(known))

    def _event_rows(self, matrix: Any) -> Any:
        """Return rows as the event model scores them."""
        matrix = self._narrowed(matrix)
        known = matrix[:, :-1] if self.unknown == SMOOTH else matrix
        rows = self._weighted(known)
        if self.weighting is not None:
            cells = rows.data * self._rarity[rows.indices]
            rows = type(rows)((cells, rows.indices, rows.indptr), shape=rows.shape)
        if self.unknown == SMOOTH:
            missed = row_sums(matrix) - row_sums(known)
            present = self.event == "bernoulli"
            rows = _with_column(rows, np.minimum(missed, 1.0) if present else missed)
        return rows

    def _scorer(self) -> scoring.Scorer:
        scorer: scoring.Scorer = self._model._scorer()
        return scorer

    def _log_prior(self) -> Floats:
        prior: Floats = self._model._log_prior()
        return prior

    def _decision_prior(self) -> Floats:
        prior: Floats = self._model._decision_prior()
        return prior

    def _class_prior_is_given(self) -> bool:
        return self.class_prior is not None or not self.fit_prior

    def _features_log_evidence(self) -> float:
        return float(self._model._features_log_evidence())

    def _feature_parameters(self) -> int:
        return int(self._model._feature_parameters())

    def _linear_form(self) -> LinearForm:
        form: LinearForm = self._model._linear_form()
        return LinearForm(form.weights, form.bias)  # rows are ready, whatever the basis

    def _log_proba_of(self, X: Any) -> Floats:
        rows = self._event_rows(X)
        log_proba = scoring.log_proba(self._scorer(), rows, self._decision_prior())
        if not hasattr(self, "calibration_"):
            return log_proba
        return self._calibrated(log_proba * fades(row_sums(rows), self._fading)[:, None])

    def _finish(self, rows: Rows, *, always: bool = False) -> None:
        """Calibrate on documents left out: their fading, the pseudocount, and the sharpness."""
        if self.calibrate is None and not always:
            return
        size = rows.shape[0]
        some = rows.some(np.arange(0, size, max(1, size // MOST_CALIBRATED)))
        self._alpha_factor = self._best_factor(some)
        self._read(self.tally_)
        left_out, lengths = self._left_out(some), row_sums(self._event_rows(some.X))
        answers = left_out.log_proba, left_out.codes, left_out.weights
        self._fading = Believed.of(*answers, lengths).exponent
        faded = left_out.log_proba * fades(lengths, self._fading)[:, None]
        self.calibration_ = calibrated(faded, left_out.codes, left_out.weights)
        self.calibration_stale_ = False

    def _best_factor(self, rows: Rows) -> float:
        """Return what evidence's pseudocount is best multiplied by, judged by documents left out.

        Evidence judges how well the words are foretold; classes are another matter.
        """
        self._alpha_factor = 1.0
        if not isinstance(self.alpha, str):
            return 1.0
        size = rows.shape[0]
        few = rows.some(np.arange(0, size, max(1, size // MOST_TRIED)))
        losses = []
        for factor in ALPHA_FACTORS:
            self._alpha_factor = factor
            self._read(self.tally_)
            tried = self._left_out(few)
            lengths = row_sums(self._event_rows(few.X))
            answers = tried.log_proba, tried.codes, tried.weights
            losses.append(Believed.of(*answers, lengths).log_loss)
        return ALPHA_FACTORS[int(np.argmin(losses))]

    def _drop_calibration(self) -> None:
        super()._drop_calibration()
        if self._alpha_factor != 1.0:
            self._alpha_factor = 1.0
            self._read(self.tally_)
        self._fading = 0.0

    def _left_out_joint(self, rows: Rows) -> Floats | None:
        """Return log p(x, class) (n, C), up to a term that classes share, without each row.

        Terms that only the row has are unknown without it. What was chosen from all documents,
        `alpha_` and the rarities, is held.
        """
        matrix = self._event_rows(rows.X)
        joint: Floats = self._model._left_out_joint(replace(rows, X=matrix))
        if self._given_vocabulary():
            return joint
        smooth = self.unknown == SMOOTH
        counts = self._model.tally_.parts.counts
        if self.event == "bernoulli":
            own = OwnTerms.of(matrix, rows.weights, counts[..., 1].sum(axis=0))
            alpha = float(self.alpha_)
            own.correct_presences(joint, rows.codes, self.tally_.weights, alpha, smooth=smooth)
            return joint
        own = OwnTerms.of(matrix, rows.weights, counts.sum(axis=0))
        held = rows.codes, counts.sum(axis=1), float(self.alpha_), counts.shape[1]
        if self.event == "complement":
            own.correct_complements(joint, *held, smooth=smooth)
        else:
            own.correct_words(joint, *held, polya=self.event == "polya", smooth=smooth)
        return joint

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> list[str]:
        """Draw documents: terms in no order, as many as the classes' documents have on average."""
        weights = np.where(self.tally_.weights > 0, self.tally_.weights, 1.0)
        names = [str(term) for term in self._terms.terms]
        counts = term_counts(self.tally_)
        lengths = rng.poisson((counts.sum(axis=1) / weights)[codes])
        drawn = []
        for code, length in zip(codes.tolist(), lengths.tolist(), strict=True):
            if self.event == "bernoulli":
                chance = (counts[code] + self.alpha_) / (
                    self.tally_.weights[code] + 2 * self.alpha_
                )
                terms = np.flatnonzero(rng.random(len(chance)) < chance)
            else:
                believed = counts[code] + self.alpha_
                if self.event == "polya":
                    believed = rng.dirichlet(believed)
                terms = rng.choice(len(believed), length, p=believed / believed.sum())
            drawn.append(" ".join(names[term] for term in terms))
        return drawn


def _presences(matrix: Any) -> Any:
    """Return a CSR matrix with 1 where a term is present."""
    return type(matrix)(
        (np.ones(len(matrix.data)), matrix.indices, matrix.indptr), shape=matrix.shape
    )


def row_sums(matrix: Any) -> Floats:
    """Return what the cells of each row add up to, (n,)."""
    return np.asarray(matrix.sum(axis=1), np.float64).ravel()


def _with_column(rows: Any, last: Floats) -> Any:
    """Return CSR rows with a column more."""
    from scipy.sparse import csr_array, hstack

    return hstack([rows, csr_array(last[:, None])], format="csr")
