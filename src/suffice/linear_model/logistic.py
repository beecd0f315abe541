"""Logistic (softmax) regression."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    HasMethods,
    Hidden,
    Interval,
    StrOptions,
)
from suffice.errors import InputError
from suffice.estimators.features import Columns, read_features
from suffice.estimators.fitted import check_fitted, fitted_for, keep_fitted, no_attribute
from suffice.estimators.labels import read_labels
from suffice.linear_model.softmax_weights import (
    EVIDENCE,
    LAPLACE_FIELDS,
    SEARCH_FIELDS,
    SOLVERS,
    SoftmaxSearch,
    SoftmaxWeights,
    apply_class_weight,
    check_complete,
    check_saved,
    check_weights,
    fit_weights,
    read_settings,
)
from suffice.linear_model.summary import Summary
from suffice.linear_model.weight_prior import GENERATIVE_MEANS, GivenPrior
from suffice.persist.saving import Savable
from suffice.prior import prior
from suffice.prior.predictive import Normal
from suffice.scoring import scorer as scoring
from suffice.scoring.explanation import Explanation
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread
from suffice.validation.cross_validation import LeaveOneOutResult

# What reads sources is loaded when a source is first given: most models meet none.
if TYPE_CHECKING:
    from suffice.data.rows import Rows
    from suffice.engines.progress import Shown
    from suffice.logistic.passes import RowPasses
    from suffice.logistic.softmax_fit import SoftmaxSettings


class LogisticRegression(ClassifierMixin, BaseEstimator, Savable):
    """Softmax regression: scikit-learn's class, with what is known of its weights.

    It minimises - sum_i w_i log p(y_i | x_i) + |W|^2 / (2 C), the intercept not penalised (docs:
    mathematics, section 5): the same optimum as scikit-learn's with an L2 penalty or none, by
    Newton's method from the generative solution of section 4.

    Parameters
    ----------
    penalty : {"l2", None}, optional
        Deprecated as in scikit-learn: None is C=np.inf.
    C : float or "evidence", default=1.0
        Variance of the Gaussian prior of the weights; np.inf is no penalty. "evidence" takes the
        variance that the rows have most evidence for (`C_`).
    l1_ratio : float, default=0.0
        0 only.
    weights : {"all", "reference"}, default="all"
        With more than two classes: "all" has a weight vector for each class, and the penalty is of
        all; "reference" has the last class's fixed at 0. Two classes have one vector, the second
        class's against the first's.
    solver : {"newton", "lbfgs", "gradient"}, default="newton"
        "newton" becomes "lbfgs" where second derivatives would be too many: 1,000 parameters, 200
        for sparse rows. "gradient" is plain gradient ascent. "newton-cholesky" is "newton";
        "newton-cg", "sag" and "saga" are "lbfgs": the optimum is the same.
    prior_mean : array-like of shape (n_features,) or as `coef_`, fitted classifier, \
"naive_bayes", "discriminant", optional
        Mean of the weights' prior, 0 by default: weights shrink towards it. A fitted model gives
        the weights of its `to_logistic()`, or its `coef_`. The names are Gaussian classes of the
        same rows that share their variances, or their covariance. The intercept has no prior.
    prior_precision : array-like of shape (n_features,) or (n_features, n_features), optional
        Precision of each weight vector is prior_precision / C; by default the identity. One
        number a column is a diagonal.
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
        three or more classes they are those of weights with sum 0 over classes: the rows do not
        determine the sum.
    covariance_ : (R (n_features + 1), R (n_features + 1))
        Laplace's covariance of all weights, R rows of `coef_` one after the other, each with its
        intercept first, as in `summary`.
    log_evidence_ : float
        log p(y | X), weights integrated out by Laplace's approximation. The intercepts have a flat
        prior of density 1: compare models that have as many of them.
    n_parameters_ : int
        Weights and intercepts of all classes but one.
    C_ : float
        The variance that was used.
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

    _saved: ClassVar[tuple[str, ...]] = (
        "coef_",
        "intercept_",
        "classes_",
        "n_features_in_",
        "feature_names_in_",
        "_sparse",
        "_sds",
        *LAPLACE_FIELDS,
        *SEARCH_FIELDS,
    )
    _fitted: SoftmaxWeights
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [
            StrOptions({"l1", "l2", "elasticnet"}),
            None,
            Hidden(StrOptions({"deprecated"})),
        ],
        "C": [Interval(Real, 0, None, closed="right"), StrOptions({EVIDENCE})],
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
        "prior_mean": [
            "array-like",
            StrOptions(set(GENERATIVE_MEANS)),
            HasMethods(["predict_proba"]),
            None,
        ],
        "prior_precision": ["array-like", None],
    }

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float | str = 1.0,
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
        prior_mean: Any = None,
        prior_precision: Any = None,
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
        self.prior_mean = prior_mean
        self.prior_precision = prior_precision

    @classmethod
    @one_blas_thread
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
        weights = np.array(coef, dtype=np.float64, ndmin=2)
        levels = np.array(intercept, dtype=np.float64, ndmin=1)
        names = np.asarray(classes)
        check_weights(weights, levels, names, n_features)
        columns = Columns(weights.shape[1])
        if feature_names is not None:
            named = np.asarray(feature_names, dtype=object)
            if named.shape != (columns.count,):
                raise InputError(
                    f"{named.size} feature_names for {columns.count} columns. Name every column "
                    "once."
                )
            columns = Columns(columns.count, tuple(named.tolist()))
        return keep_fitted(cls(**settings), SoftmaxWeights(columns, names, weights, levels))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # Learning.

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
        with one_blas_thread:
            self._validate_params()
            settings = read_settings(self.get_params(deep=False))
            name = type(self).__name__
            array, columns = read_features(X, None, name)
            classes, rows = read_labels(array, y, sample_weight, columns.names, name)
            check_complete(rows)
            fitted = self._fit_rows(rows, classes, columns, settings)
        return keep_fitted(self, fitted)

    def _fit_rows(
        self, rows: Rows | RowPasses, classes: Any, columns: Columns, settings: SoftmaxSettings
    ) -> SoftmaxWeights:
        """Return the weights of rows in memory, or that are read again at each pass."""
        return fit_weights(
            rows,
            classes,
            columns,
            settings,
            self.class_weight,
            self._fitted if self.warm_start and self.__sklearn_is_fitted__() else None,
            GivenPrior(self.prior_mean, self.prior_precision),
            by_evidence=self.C == EVIDENCE,
        )

    def fit_from(
        self,
        source: Any,
        target: str,
        *,
        table: Any = None,
        query: str | None = None,
        features: Sequence[str] | str | None = None,
        ignore: Collection[str] = (),
        weight: str | None = None,
        progress: Shown = False,
    ) -> Self:
        """Learn from the rows of a source and nothing else, without holding them in memory.

        It is what `fit` learns of these rows, in several passes over the source: one counts
        classes and moments, each step of the solver takes one more, second derivatives at the end
        some. A source that is slow to read again, or can be read once, is read once: its numbers
        are spooled to a temporary file. Up to 20,000 rows are learned in memory. Rows without a
        target are left out, with a warning (docs: sources).

        Parameters
        ----------
        source : path, pattern or folder; data frame; Arrow table, reader or dataset; "-" for \
standard input; DuckDB relation; connection, with `table` or `query`
            Not a Spark data frame, whose rows stay on its cluster.
        target : name of the column to predict
        table, query : what to read of a connection
        features : names of the columns to learn from; all others if not given
            Every cell must be a number.
        ignore : names of columns to leave out
        weight : name of a column with the weight of each row
        progress : whether to write to stderr how far it is; or a function to be given such lines

        Examples
        --------
        >>> import pyarrow as pa
        >>> rows = pa.table({"size": [0.0, 1.0, 2.0, 3.0], "kind": ["a", "b", "a", "b"]})
        >>> LogisticRegression().fit_from(rows, target="kind").predict({"size": 2.5}).tolist()
        ['b']
        """
        from suffice.engines.passes import read_in_passes

        with one_blas_thread:
            self._validate_params()
            settings = read_settings(self.get_params(deep=False))
            discriminant = GivenPrior(self.prior_mean).needs_products

            def needs_products(classes: int, columns: int) -> bool:
                return discriminant or settings.starts_from_products(classes, columns)

            given = source, table, query, target, features, ignore, weight
            with read_in_passes(self, *given, progress, check_complete, needs_products) as found:
                found.warn_left_out()
                columns = Columns(len(found.columns), found.columns)
                fitted = self._fit_rows(found.rows, found.classes, columns, settings)
        return keep_fitted(self, fitted)

    def predict_to(
        self,
        source: Any,
        destination: Any,
        *,
        table: Any = None,
        query: str | None = None,
        into: str | None = None,
        features: Sequence[str] | str | None = None,
        columns: Sequence[str] | None = None,
        escape_formulas: bool = False,
        reasons: int = 0,
        prefix: str = "",
        progress: Shown = False,
    ) -> int:
        """Write `label` and `p_CLASS` for the rows of a source beside them; return how many.

        There is nothing under the final name before all is written (docs: sources).

        Parameters
        ----------
        source, table, query, progress : as in `fit_from`
        destination : path that ends in .parquet, .csv or .jsonl, binary stream, or connection
        into : name of the table to make, with a connection; "csv" or "jsonl", with a stream
        features : not needed, since columns are those that were learned
        columns : names of the source's columns to write beside; all if not given
        escape_formulas : whether to put an apostrophe before strings of a CSV file that a
            spreadsheet would run as formulas
        reasons : how many of the strongest reasons for the label to write, `reason_1`, ...
        prefix : what the names of the new columns begin with
        """
        from suffice.engines.predicting import predict_source

        with one_blas_thread:
            return predict_source(
                self,
                source,
                destination,
                table=table,
                query=query,
                into=into,
                features=features,
                columns=columns,
                escape_formulas=escape_formulas,
                reasons=reasons,
                prefix=prefix,
                progress=progress,
            )

    # What the engines ask (`suffice.engines.predicting`).

    _takes_documents: ClassVar[bool] = False

    def _feature_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return names

    def _learned_columns(self) -> tuple[str, ...]:
        return check_fitted(self).columns.terms()

    def _answer_names(self) -> tuple[str, ...]:
        from suffice.engines.predicting import class_answer_names

        return class_answer_names(check_fitted(self).classes)

    def _unit_answers(self, X: Any) -> dict[str, Any]:
        from suffice.engines.predicting import class_answers

        return class_answers(check_fitted(self).classes, self._score_unit(scoring.proba, X))

    def _unit_log_proba(self, X: Any) -> Floats:
        return self._score_unit(scoring.log_proba, X)

    def _score_unit(self, score: Any, X: Any) -> Floats:
        """Return a scoring function of rows, a pyarrow.Table."""
        from suffice.engines.numbers import numbers_of

        fitted = check_fitted(self)
        array = numbers_of(X, fitted.columns.terms(), every=True)
        return fitted.score_array(score, array, type(self).__name__)

    @one_blas_thread
    def sparsify(self) -> Self:
        """Keep `coef_` in a CSR matrix."""
        check_is_fitted(self, msg="Estimator, %(name)s, must be fitted before sparsifying.")
        return keep_fitted(self, self._fitted.sparsify())

    @one_blas_thread
    def densify(self) -> Self:
        """Keep `coef_` in an array again."""
        check_is_fitted(self, msg="Estimator, %(name)s, must be fitted before densifying.")
        return keep_fitted(self, self._fitted.densify())

    # What was learned.

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def _search_for(self, attribute: str) -> SoftmaxSearch:
        """Return how weights were found; AttributeError if they were given."""
        search = fitted_for(self, attribute).search
        if search is None:
            raise no_attribute(self, attribute)
        return search

    @property
    def classes_(self) -> NDArray[Any]:
        """(n_classes,)."""
        return np.asarray(fitted_for(self, "classes_").classes)

    @property
    def coef_(self) -> Any:
        """(1, n_features) or (n_classes, n_features)."""
        return fitted_for(self, "coef_").coefficients

    # Code that was written for scikit-learn's class puts weights into a fitted model by hand.

    @coef_.setter
    def coef_(self, weights: Any) -> None:
        keep_fitted(self, replace(fitted_for(self, "coef_"), coefficients=weights))

    @property
    def intercept_(self) -> Floats:
        """(1,) or (n_classes,)."""
        return np.asarray(fitted_for(self, "intercept_").intercepts)

    @intercept_.setter
    def intercept_(self, intercepts: Any) -> None:
        keep_fitted(self, replace(fitted_for(self, "intercept_"), intercepts=intercepts))

    @property
    def n_features_in_(self) -> int:
        """How many columns were learned."""
        return fitted_for(self, "n_features_in_").columns.count

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns, if they had any."""
        return fitted_for(self, "feature_names_in_").columns.feature_names_in()

    @property
    def loss_curve_(self) -> list[float]:
        """The objective at the start and after each step."""
        return self._search_for("loss_curve_").losses

    @property
    def n_iter_(self) -> NDArray[np.int32]:
        """Steps of the solver, (1,)."""
        return self._search_for("n_iter_").n_iter

    @property
    def converged_(self) -> bool:
        """Whether the optimum was found."""
        return bool(self._search_for("converged_").converged)

    @property
    def solver_(self) -> str:
        """The solver that was used."""
        return self._search_for("solver_").solver

    @property
    def coef_sd_(self) -> Floats:
        """Laplace's standard deviations of `coef_`."""
        return check_fitted(self).check_deviations(type(self).__name__)[0]

    @property
    def intercept_sd_(self) -> Floats:
        """Laplace's standard deviations of `intercept_`."""
        return check_fitted(self).check_deviations(type(self).__name__)[1]

    @property
    def covariance_(self) -> Floats:
        """Laplace's covariance of intercepts and coefficients, in the order of `summary`."""
        fitted = check_fitted(self)
        covariance = fitted.check_covariance(type(self).__name__)
        vectors, size = len(fitted.intercepts), len(covariance)
        order = np.arange(size).reshape(vectors, -1)
        if size // vectors > fitted.columns.count:
            order = np.roll(order, 1, axis=1)
        return np.asarray(covariance[np.ix_(order.ravel(), order.ravel())])

    @property
    def log_evidence_(self) -> float:
        """Laplace's log p(y | X), the weights integrated out."""
        return check_fitted(self).check_log_evidence(type(self).__name__)

    @one_blas_thread
    def evidence_of(self) -> str:
        """Return what `log_evidence_` is the probability of, by the intercepts' flat prior."""
        return f"labels given rows{'' if self.fit_intercept else ', no intercept'}"

    @property
    def n_parameters_(self) -> int:
        """Weights and intercepts of all classes but one: n + 1 for two classes."""
        fitted = fitted_for(self, "n_parameters_")
        return (len(fitted.classes) - 1) * (fitted.columns.count + bool(self.fit_intercept))

    @property
    def C_(self) -> float:  # noqa: N802 - after scikit-learn's C
        """The variance of the weights' prior that was used."""
        variance = fitted_for(self, "C_").variance
        if variance is None:
            raise no_attribute(self, "C_")
        return float(variance)

    # Predictions.

    @one_blas_thread
    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> LeaveOneOutResult:
        """Return the prediction of each learned row by weights fitted to all the others.

        They are one step of Newton's method away from the weights of all rows, with the Hessian of
        the others; C is held (docs: logistic).

        Parameters
        ----------
        X, y, sample_weight : the rows that were learned, all of them
        """
        fitted, name = check_fitted(self), type(self).__name__
        array, columns = read_features(X, fitted.columns, name)
        classes, rows = read_labels(array, y, sample_weight, columns.names, name)
        rows = apply_class_weight(rows, classes, self.class_weight)
        total = float(rows.row_weights.sum())
        search = self._search_for("leave_one_out")
        if not np.array_equal(classes, fitted.classes) or not np.isclose(total, search.total):
            raise InputError(
                f"{total:g} rows of classes {classes.tolist()[:5]} are not those that were "
                f"learned: {search.total:g} of {fitted.classes.tolist()[:5]}. Give exactly these."
            )
        return fitted.leave_one_out(rows, name)

    @one_blas_thread
    def decision_function(self, X: Any) -> Floats:
        """Return the scores W x + b, (n_samples, n_classes).

        With two classes: the log odds of the second, (n_samples,).
        """
        scores = check_fitted(self).score(scoring.joint_log_proba, X, type(self).__name__)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    @one_blas_thread
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, (n_samples,)."""
        fitted = check_fitted(self)
        best = fitted.score(scoring.best_class, X, type(self).__name__)
        return np.asarray(fitted.classes[best])

    @one_blas_thread
    def predict_proba(self, X: Any) -> Floats:
        """Return p(class | x), (n_samples, n_classes), in the order of `classes_`."""
        return check_fitted(self).score(scoring.proba, X, type(self).__name__)

    @one_blas_thread
    def predict_log_proba(self, X: Any) -> Floats:
        """Return log p(class | x), (n_samples, n_classes)."""
        return check_fitted(self).score(scoring.log_proba, X, type(self).__name__)

    @one_blas_thread
    def explain(self, row: Any, target: Any = None, against: Any = None) -> Explanation:
        """Return what each column of one row adds to the log-odds of a class: weight times cell.

        The contributions and the `base`, that of the intercepts, add up to the log-odds.

        Parameters
        ----------
        row : as for `predict`; one row
        target : class, optional
            The most probable one if not given.
        against : class, optional
            All others together if not given.

        Examples
        --------
        >>> from suffice.linear_model import LogisticRegression
        >>> model = LogisticRegression.from_weights([[2.0, -1.0]], [0.5], ["no", "yes"])
        >>> print(model.explain([[1.0, 3.0]], "yes"))
        yes against the rest: log-odds -0.500, probability 0.3775
        x1 = 3    -3.000  --------------------
        x0 = 1    +2.000  +++++++++++++
        (before)  +0.500  +++
        """
        return check_fitted(self).explain(row, target, against, type(self).__name__)

    @one_blas_thread
    def interval(self, level: float = 0.95) -> prior.Interval:
        """Return the interval of each coefficient that holds it with probability `level`.

        Two arrays like `coef_`, from the normal distribution that fits the posterior at its mode.
        """
        fitted = check_fitted(self)
        sd, _ = fitted.check_deviations(type(self).__name__)
        return Normal(fitted.dense_coefficients(), np.square(sd)).interval(level)

    @one_blas_thread
    def summary(self, level: float = 0.95) -> Summary:
        """Return the table of coefficients: estimate, standard deviation, interval.

        Two classes have one part, of the log odds of the second; more have one part each.
        """
        name, intercept = type(self).__name__, bool(self.fit_intercept)
        return check_fitted(self).summarize(name, intercept=intercept, C=self.C, level=level)

    # Saving.

    def _saved_state(self) -> dict[str, Any]:
        return self._fitted.saved() if self.__sklearn_is_fitted__() else {}

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_saved(state)

    def _restore(self, state: dict[str, Any]) -> None:
        keep_fitted(self, SoftmaxWeights.restore(state))

    def _rows_learned(self) -> float | None:
        search = check_fitted(self).search
        return None if search is None else search.total
