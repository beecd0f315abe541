"""Answering: what every generative classifier says of rows, given how it scores them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from suffice.count.refusal import refusal_of
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.calibrates import Calibrates
from suffice.estimators.decides import Decides
from suffice.estimators.explains import ColumnScores, explain_columns, one_row
from suffice.estimators.intake import names_of, owner
from suffice.prior import Dirichlet
from suffice.scoring import scorer as scoring
from suffice.scoring.explanation import Explanation
from suffice.tally import Counts
from suffice.tally.tally import Floats


class GenerativeAnswers(Decides, Calibrates):
    """A classifier that knows p(x | class) and p(class).

    A subclass gives a scorer (`_scorer`), what the columns of a row add to its scores (`_split`),
    the log prior of its classes (`_log_prior`), draws of features given classes
    (`_sample_features`), the evidence of its features (`_features_log_evidence`), and a count of
    its parameters (`_feature_parameters`).
    """

    @abstractmethod
    def _scorer(self) -> scoring.Scorer:
        """Return what adds log p(x | class)."""

    @abstractmethod
    def _split(self, cells: Floats) -> ColumnScores:
        """Return what columns of a row (d,) add to log p(x | class), up to a term of x."""

    def _decision_prior(self) -> Floats:
        """Return what a class's score starts from when rows are classified, (C,)."""
        return self._log_prior()

    @abstractmethod
    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Any:
        """Draw a row of each of these classes."""

    @abstractmethod
    def _features_log_evidence(self) -> float:
        """Return the log marginal likelihood of the features, given the labels."""

    @abstractmethod
    def _feature_parameters(self) -> int:
        """Return how many free parameters the features have."""

    def _answer(self, answer: Any, X: Any, scorer: scoring.Scorer | None = None) -> Any:
        check_is_fitted(self, "tally_")
        array = self._take_features(X, reset=False)
        try:
            if scorer is None:
                return answer(self._scorer(), array, self._decision_prior())
            return answer(scorer, array, self._log_prior())
        except scoring.Refused as refusal:
            rows = Rows(
                array, np.empty(0, np.int32), 0, names=names_of(self), estimator_name=owner(self)
            )
            raise refusal_of(rows, refusal.row) from None

    def _log_proba_of(self, X: Any) -> Floats:
        return self._calibrated(scoring.log_proba(self._scorer(), X, self._decision_prior()))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, (n_samples,)."""
        if hasattr(self, "calibration_"):
            best = np.argmax(self.predict_log_proba(X), axis=1)
        else:
            best = self._answer(scoring.best_class, X)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return p(class | x), (n_samples, n_classes), in the order of `classes_`."""
        if hasattr(self, "calibration_"):
            return np.asarray(np.exp(self.predict_log_proba(X)))
        proba: Floats = self._answer(scoring.proba, X)
        return proba

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log p(class | x), (n_samples, n_classes)."""
        log_proba: Floats = self._answer(scoring.log_proba, X)
        return self._calibrated(log_proba)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), (n_samples, n_classes)."""
        joint: Floats = self._answer(scoring.joint_log_proba, X)
        return joint

    def score_samples(self, X: Any) -> Floats:
        """Return log p(x), (n_samples,): low for rows unlike anything learned.

        Gaps are marginalised, so rows with more gaps have higher densities.
        """
        density: Floats = self._answer(scoring.log_density, X)
        return density

    def explain(self, row: Any, target: Any = None, against: Any = None) -> Explanation:
        """Return what each column of one row adds to the log-odds of a class.

        The contributions and the `base`, which stands before any column, add up to the log-odds.
        Columns that are not independent given the class are told one after the other: each by what
        it adds to those before it; where scores are linear, by its weight and its distance from
        the mean.

        Parameters
        ----------
        row : as for `predict`; one row
        target : class, optional
            The most probable one if not given.
        against : class, optional
            All others together if not given.
        """
        self._answer(scoring.joint_log_proba, row)  # refuses cells that cannot be scored
        cells = one_row(self._take_features(row, reset=False))
        found = self._split(cells)
        base, noise_rate = self._decision_prior() + found.bias, 0.0
        calibration = getattr(self, "calibration_", None)
        if calibration is not None:
            found = found._replace(parts=calibration.inverse_temperature * found.parts)
            base = calibration.inverse_temperature * base + calibration.offsets
            noise_rate = calibration.noise_rate
        return explain_columns(self, cells, found, base, noise_rate, (target, against))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw labelled rows from the model: (n_samples, n_features) and (n_samples,)."""
        check_is_fitted(self, "tally_")
        if n_samples < 1:
            raise InputError(f"Cannot draw {n_samples} rows. Ask for one or more.")
        rng = generator(random_state)
        prior = np.exp(self._log_prior())
        codes = rng.choice(len(prior), size=n_samples, p=prior / prior.sum())
        return self._sample_features(codes, rng), self.classes_[codes]

    @property
    def n_parameters_(self) -> int:
        """How many free parameters the model has (docs: mathematics, section 4)."""
        check_is_fitted(self, "tally_")
        return self._class_parameters() + self._feature_parameters()

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the learned labels and rows under the prior."""
        check_is_fitted(self, "tally_")
        return self._class_log_evidence() + self._features_log_evidence()

    def _class_parameters(self) -> int:
        return 0 if self._class_prior_is_given() else len(self.classes_) - 1

    def _class_log_evidence(self) -> float:
        """Return the log-probability of the labels; a learned prior is uniform over simplices."""
        weights = self.tally_.weights
        if self._class_prior_is_given():
            seen = weights > 0
            return float(weights[seen] @ self._log_prior()[seen])
        return float(Dirichlet(np.ones(len(weights))).log_evidence(Counts(weights)))


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator from what scikit-learn's users give as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState) or random_state is None:
        return np.random.default_rng(check_random_state(random_state).randint(2**31))
    return np.random.default_rng(random_state)
