"""The table of coefficients that people know from statistics packages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.estimators.features import Columns
from suffice.gaussian import MultivariateNormal
from suffice.linear_model.fitted import PairTally, Solution
from suffice.prior.coefficients import CoefficientsKnownNoise
from suffice.prior.predictive import MultivariateStudentT, Normal, StudentT
from suffice.tally.tally import Floats


@dataclass(frozen=True)
class Summary(Tabular):
    """Estimates, standard deviations and intervals of coefficients; prints as a table.

    Parameters
    ----------
    title : str
    facts : pairs of a name and a value, shown above the table
    targets : (t,) names, empty if there is one target without a name
    terms : (k,) names, "intercept" first if there is one
    estimate, sd, lower, upper : (t, k)
    level : float
        The probability that the intervals hold.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.8])
    >>> print(model.summary())
    LinearRegression: 4 rows, 1 column
    R^2 0.9818, noise sd 0.2025
               estimate       sd   2.5 %  97.5 %
    intercept      0.15    0.248  -0.917   1.217
    x0             0.94  0.09055  0.5504    1.33
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    targets: tuple[str, ...]
    terms: tuple[str, ...]
    estimate: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by target, term and kind."""
        kinds = ("estimate", "sd", "lower", "upper")
        return {
            target: {
                term: {kind: float(getattr(self, kind)[row, at]) for kind in kinds}
                for at, term in enumerate(self.terms)
            }
            for row, target in enumerate(self.targets or ("y",))
        }

    def _printed(self) -> PrintedTable:
        tails = [f"{100 * tail:.4g} %" for tail in ((1 - self.level) / 2, (1 + self.level) / 2)]
        kinds = (self.estimate, self.sd, self.lower, self.upper)
        sections = []
        for row in range(len(self.estimate)):
            lines = [
                (term, *(f"{kind[row, at]:.4g}" for kind in kinds))
                for at, term in enumerate(self.terms)
            ]
            sections.append(Section(lines, f"y: {self.targets[row]}" if self.targets else ""))
        facts = ", ".join(f"{name} {value}" for name, value in self.facts)
        return PrintedTable(("", "estimate", "sd", *tails), sections, above=(self.title, facts))

    def _columns(self) -> dict[str, list[Any]]:
        targets, terms = len(self.estimate), len(self.terms)
        columns: dict[str, list[Any]] = {}
        if self.targets:
            columns["target"] = [name for name in self.targets for _ in range(terms)]
        columns["term"] = list(self.terms) * targets
        for kind in ("estimate", "sd", "lower", "upper"):
            columns[kind] = getattr(self, kind).ravel().tolist()
        return columns


def summarize_targets(
    estimator_name: str, learned: PairTally, solution: Solution, level: float
) -> Summary:
    """Return the table of the coefficients of a linear regression."""
    columns, targets = learned.columns, learned.targets
    posterior = coefficient_posterior(learned, solution)
    marginal: StudentT | Normal
    if isinstance(posterior, MultivariateNormal):
        location = np.atleast_2d(posterior.mean)
        squares = np.broadcast_to(posterior.variances, location.shape)
        marginal = Normal(location, squares)
    else:
        location = np.atleast_2d(posterior.location)
        squares = np.atleast_2d(np.diagonal(posterior.scale_matrix, axis1=-2, axis2=-1))
        marginal = StudentT(posterior.degrees[..., None], location, squares)
    lower, upper = marginal.interval(level)
    named = targets.names or ()
    if len(set(named)) < targets.count:
        named = tuple(f"y{at}" for at in range(targets.count))
    return Summary(
        f"{estimator_name}: {float(learned.moments.weight):g} rows, {count_columns(columns.count)}",
        solution.facts,
        () if targets.single and not targets.names else named,
        coefficient_names(columns, intercept=solution.fit_intercept),
        location,
        np.sqrt(squares),
        lower,
        upper,
        level,
    )


def count_columns(columns: int) -> str:
    """Return "1 column", "2 columns"."""
    return f"{columns} column{'s' if columns != 1 else ''}"


def coefficient_posterior(
    learned: PairTally, solution: Solution
) -> MultivariateNormal | MultivariateStudentT:
    """Return the posterior of (intercept, coefficients) of each target.

    A multivariate normal if the noise is known, else a multivariate t.
    """
    posterior, targets = solution.posterior, learned.targets
    location, covariance = posterior.coefficients, posterior.joint_covariance()
    if solution.fit_intercept:
        location = np.column_stack([posterior.intercepts, location])
    else:
        covariance = covariance[1:, 1:]
    coefficients = posterior.posterior
    mean = targets.shape_by_target(location)
    if isinstance(coefficients, CoefficientsKnownNoise):
        terms = coefficient_names(learned.columns, intercept=solution.fit_intercept)
        return MultivariateNormal(mean, coefficients.noise_variance * covariance, terms)
    unit = coefficients.noise_scale / coefficients.noise_shape
    scale = unit[0] * covariance if targets.single else unit[:, None, None] * covariance
    return MultivariateStudentT(2 * coefficients.noise_shape, mean, scale)


def coefficient_names(columns: Columns, *, intercept: bool) -> tuple[str, ...]:
    """Return the names of the coefficients, that of the intercept first.

    >>> coefficient_names(Columns(2, ("age", "height")), intercept=True)
    ('intercept', 'age', 'height')
    """
    names = columns.terms()
    if not intercept:
        return names
    return ("(intercept)" if "intercept" in names else "intercept", *names)
