"""Logistic (softmax) regression."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.intake import take_rows
from suffice.estimators.undo import all_or_nothing
from suffice.linear_model.logistic_answers import SoftmaxAnswers, refuse_row
from suffice.linear_model.logistic_doubts import check_given, warn_of
from suffice.linear_model.logistic_settings import SOLVERS, penalty_of, solver_of
from suffice.logistic.regression import SoftmaxFit, SoftmaxSettings, fit_softmax
from suffice.logistic.start import first_missing_row
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class LogisticRegression(SoftmaxAnswers):
    """Softmax regression: scikit-learn's class, with what is known of its weights.

    It minimises - sum_i w_i log p(y_i | x_i) + |W|^2 / (2 C), the intercept not penalised (docs:
    mathematics, section 5): the same optimum as scikit-learn's with an L2 penalty or none, by
    Newton's method from the generative solution of section 4.

    Parameters
    ----------
    penalty : {"l2", None}, optional
        Deprecated as in scikit-learn: None is C=np.inf.
    C : float, default=1.0
        Variance of the Gaussian prior of the weights; np.inf is no penalty.
    l1_ratio : float, default=0.0
        0 only.
    weights : {"all", "reference"}, default="all"
        With more than two classes: "all" has a weight vector for each class, and the penalty is of
        all; "reference" has the last class's fixed at 0. Two classes have one vector, the second
        class's against the first's.
    solver : {"newton", "lbfgs", "gradient"}, default="newton"
        "newton" becomes "lbfgs" where second derivatives would be too many: 1,000 unknowns, 200
        for sparse rows. "gradient" is plain gradient ascent. "newton-cholesky" is "newton";
        "newton-cg", "sag" and "saga" are "lbfgs": the optimum is the same.
    step_size : float, default=0.1
        Of "gradient", on the mean log-likelihood.
    tol : float, default=1e-4
        "newton" stops when a further step would change scores by less than tol squared. The others
        have converged when no entry of the mean gradient is above tol; "lbfgs" tries for a tenth.
    max_iter : int, default=100
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    warm_start : bool, default=False
        Start from the weights that were found last.
    random_state, verbose, n_jobs, intercept_scaling : accepted for scikit-learn's sake
        Nothing is random, nothing is printed, all cores are used, and liblinear is not there.
    dual : bool, default=False
        False only.

    Attributes
    ----------
    classes_ : (n_classes,)
    coef_ : (1, n_features) or (n_classes, n_features)
    intercept_ : (1,) or (n_classes,)
    coef_sd_, intercept_sd_ : alike
        Standard deviations of the normal distribution that fits the posterior at its mode
        (Laplace), from second derivatives at the optimum: right to 1e-8. With "all" weights of
        three or more classes they are those of weights with sum 0 over classes, of which alone the
        rows speak.
    loss_curve_ : list of float
        The objective at the start and after each step.
    n_iter_ : (1,)
    converged_ : bool
    solver_ : str
        The solver that was used.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["no", "no", "yes", "no", "yes", "yes"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.coef_.round(3), model.coef_sd_.round(3)
    (array([[0.767]]), array([[0.547]]))
    >>> model.predict_proba([[2.5]]).round(3)
    array([[0.5, 0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [
            StrOptions({"l1", "l2", "elasticnet"}),
            None,
            Hidden(StrOptions({"deprecated"})),
        ],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions(SOLVERS)],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "weights": [StrOptions({"all", "reference"})],
        "step_size": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "newton",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        weights: str = "all",
        step_size: float = 0.1,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.weights = weights
        self.step_size = step_size

    @classmethod
    def from_weights(
        cls,
        coef: ArrayLike,
        intercept: ArrayLike,
        classes: ArrayLike,
        feature_names: Any = None,
        n_features: int | None = None,
        **settings: Any,
    ) -> Self:
        """Return a model that has these weights: p(class | x) = softmax(coef x + intercept).

        Parameters
        ----------
        coef : (n_classes, n_features), or (1, n_features) for two classes
        intercept : (n_classes,), or (1,)
        classes : (n_classes,), sorted
        feature_names : names of the columns, optional
        n_features : int, optional
            Checked against `coef`.
        **settings
            Parameters of the class.

        Examples
        --------
        >>> model = LogisticRegression.from_weights([[1.0], [-1.0]], [0.0, 0.0], ["a", "b"])
        >>> model.predict_proba([[0.0], [1.0]]).round(3)
        array([[0.5  , 0.5  ],
               [0.881, 0.119]])
        """
        model = cls(**settings)
        weights = np.array(coef, dtype=np.float64, ndmin=2)
        levels = np.array(intercept, dtype=np.float64, ndmin=1)
        names = np.asarray(classes)
        check_given(weights, levels, names, n_features)
        model.coef_, model.intercept_, model.classes_ = weights, levels, names
        model.n_features_in_ = weights.shape[1]
        if feature_names is not None:
            model.feature_names_in_ = np.asarray(feature_names, dtype=object)
            if model.feature_names_in_.shape != (weights.shape[1],):
                raise InputError(
                    f"{model.feature_names_in_.size} feature_names for {weights.shape[1]} columns. "
                    "Name every column once."
                )
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows and nothing else.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Every cell must be a number.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is the row twice, one of weight 0 is not there.
        """
        with all_or_nothing(self):
            self._validate_params()
            settings = self._settings()
            start = self._warm()
            classes, rows = take_rows(self, X, y, sample_weight, reset=True, sparse=True)
            gap = first_missing_row(rows)
            if gap >= 0:
                refuse_row(rows, gap)
            if len(classes) < 2:
                raise InputError(
                    "This solver needs samples of at least 2 classes in the data, but the data "
                    f"contains only one class: {classes.tolist()[0]!r}. Learn rows of another "
                    "class too."
                )
            rows = self._class_weighted(rows, classes)
            self._check_warm(start, rows)
            self.classes_ = classes
            self._keep(fit_softmax(rows, settings, start), rows)
        return self

    def _settings(self) -> SoftmaxSettings:
        return SoftmaxSettings(
            solver_of(self),
            penalty_of(self),
            self.weights == "all",
            bool(self.fit_intercept),
            float(self.tol),
            int(self.max_iter),
            float(self.step_size),
        )

    def _warm(self) -> tuple[Floats, Floats] | None:
        """Return the weights found last, if they are to be started from."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        weights = self.coef_ if isinstance(self.coef_, np.ndarray) else self.coef_.toarray()
        return weights, np.broadcast_to(self.intercept_, len(weights))

    @staticmethod
    def _check_warm(start: tuple[Floats, Floats] | None, rows: Rows) -> None:
        if start is None:
            return
        shapes = [(rows.classes, rows.shape[1])]
        if rows.classes == 2:
            shapes.insert(0, (1, rows.shape[1]))
        if start[0].shape not in shapes:
            raise InputError(
                f"Initialization coef is of shape {start[0].shape} where these rows need "
                f"{shapes[0]}. Use warm_start=False for rows of other columns or classes."
            )

    def _class_weighted(self, rows: Rows, classes: Any) -> Rows:
        if self.class_weight is None:
            return rows
        given = rows.row_weights
        held = np.bincount(rows.codes, given, len(classes))
        if self.class_weight == "balanced" and not held.all():
            raise InputError(
                f"The rows of class {classes.tolist()[int(np.argmin(held))]!r} have no weight, so "
                "class_weight='balanced' has nothing to weigh. Weigh a row of it, or leave it out."
            )
        by_class = compute_class_weight(
            self.class_weight, classes=classes, y=classes[rows.codes], sample_weight=given
        )
        weights = given * by_class[rows.codes]
        if not weights.any():
            raise InputError("All class weights are zero: nothing would be learned. Weigh a class.")
        return replace(rows, weights=weights)

    def _keep(self, fit: SoftmaxFit, rows: Rows) -> None:
        self.coef_, self.intercept_ = fit.coefficients, fit.intercepts
        self.__dict__.pop("_sds", None)
        if fit.sds is not None:
            self._sds = fit.sds
        self.loss_curve_ = [-value for value in fit.found.values]
        self.n_iter_ = np.array([fit.found.steps], dtype=np.int32)
        self.converged_ = fit.found.converged and not fit.unbounded
        self.solver_ = fit.solver
        self._total = float(rows.weights.sum()) if rows.weights.size else float(rows.shape[0])
        warn_of(fit, self.max_iter, self.tol)

    def _rows_told(self) -> str:
        return f"{self._total:g} rows, " if hasattr(self, "_total") else ""

    def _facts(self) -> tuple[tuple[str, str], ...]:
        loss = self.loss_curve_[-1]
        return (
            ("loss", f"{loss:.4f}"),
            ("C", f"{self.C:g}"),
            ("solver", f"{self.solver_} ({self.n_iter_[0]} steps)"),
        )
