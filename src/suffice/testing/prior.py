"""The laws of conjugate priors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.errors import SufficeError
from suffice.prior import Prior
from suffice.tally import Counts
from suffice.testing.laws import Floats, Laws, line_points, panel_points

# Parameters and rows that are drawn.
DRAWS = 4000
# Probabilities below the quantiles that a parameter is integrated between.
TAILS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.15, 0.3, 0.5)
# What numerical integration may be wrong by.
INTEGRATION = 1e-6
# Numbers of events up to which probabilities are summed.
MAX_EVENTS = 100_000

# Parameters (n, ...) and one row to the log probability of the row, (n,).
LogLikelihood = Callable[[Any, Any], Any]


def check_prior(
    prior: Any,
    log_likelihood: LogLikelihood | None = None,
    *,
    tally: Callable[[Any], Any] | None = None,
    improper: Iterable[Mapping[str, Any]] = (),
    seed: int = 0,
    size: int = 8,
) -> None:
    """Raise an AssertionError that names the law if a prior breaks one.

    The laws are learning (the posterior of a + b is that of a, then of b), forgetting, weights,
    zero, one-step predictives, Bayes, integration, normalisation, sampling, improper parameters,
    immutability and pickling. Rows are drawn from the prior's own predictive.

    Parameters
    ----------
    prior : Prior
    log_likelihood : function of parameters (n, ...) and one row that returns (n,), optional
        Evidence is then the integral of prior times likelihood. Without it the likelihood is what
        the prior itself takes it for: posterior times evidence over prior.
    tally : function of rows (n, ...) that returns their tally; `prior.as_tally` if not given
    improper : settings of the class that it has to refuse, beside NaN in any of them
    seed, size : int
        Of the random numbers; how many rows are learned.

    Examples
    --------
    >>> from scipy import stats
    >>> from suffice.prior import Gamma
    >>> check_prior(Gamma(2.0, 0.5), lambda rate, x: stats.poisson.logpmf(x, rate))
    """
    rng = np.random.default_rng(seed)
    laws = Laws(type(prior).__name__, seed, size)
    laws.hold("priors", isinstance(prior, Prior), "it is no Prior.")
    rows = np.asarray(prior.predictive().sample(rng, 2 * size))
    model = _Model(laws, prior, tally, log_likelihood)
    with laws.named("learning"):
        model.check_learning(rows)
    with laws.named("one-step predictives"):
        model.check_evidence(rows, rng)
    with laws.named("Bayes"):
        model.check_bayes(rows, rng)
    for conjugate in (prior, prior.posterior(model.tally_of(rows[:size]))):
        with laws.named("sampling"):
            model.check_parameter(conjugate, rows, rng)
            model.check_predictive(conjugate, rng)
        laws.immutable(conjugate)
    _check_improper(laws, prior, improper)


@dataclass(frozen=True)
class _Model:
    """A prior, and how its rows are tallied and scored."""

    laws: Laws
    prior: Any
    tally: Callable[[Any], Any] | None
    log_likelihood: LogLikelihood | None

    def tally_of(self, rows: Any) -> Any:
        """Return the tally of rows (n, ...)."""
        if self.tally is not None:
            return self.tally(rows)
        if rows.ndim > 1 and self.prior._learns_from is Counts:
            return Counts(rows.sum(axis=0))  # rows of counts, where as_tally takes levels
        return self.prior.as_tally(rows)

    def same(self, law: str, found: Any, due: Any, rows: Any, sentence: str) -> None:
        """Compare two distributions by their densities of parameters and of new rows."""
        rng = np.random.default_rng(self.laws.seed)
        parameters = due.sample(rng, 20)
        a, b = (_sum(conjugate.log_density(parameters), 20) for conjugate in (found, due))
        self.laws.equal(law, a, b, f"{sentence} Their log densities differ.")
        a, b = (_sum(one.predictive().log_density(rows), len(rows)) for one in (found, due))
        self.laws.equal(law, a, b, f"{sentence} Their predictives differ.")

    def check_learning(self, rows: Any) -> None:
        """Check posteriors of sums, differences, multiples and nothing."""
        prior, half = self.prior, len(rows) // 2
        a, b = self.tally_of(rows[:half]), self.tally_of(rows[half:])
        both = prior.posterior(a + b)
        sentence = "the posterior of a + b is not that of a, then of b."
        self.same("learning", prior.posterior(a).posterior(b), both, rows, sentence)
        sentence = "the posterior of a + b is not that of b, then of a."
        self.same("learning", prior.posterior(b).posterior(a), both, rows, sentence)
        sentence = "the posterior of a + b - b is not that of a."
        self.same("forgetting", prior.posterior((a + b) - b), prior.posterior(a), rows, sentence)
        sentence = "the posterior of a.scale(2) is not that of a, then of a."
        twice = prior.posterior(a).posterior(a)
        self.same("weights", prior.posterior(a.scale(2.0)), twice, rows, sentence)
        sentence = "the posterior of a.scale(0.5), twice, is not that of a."
        halves = prior.posterior(a.scale(0.5)).posterior(a.scale(0.5))
        self.same("weights", halves, prior.posterior(a), rows, sentence)
        sentence = "the posterior of nothing, then of a, is not that of a."
        empty = prior.posterior(a.zero()).posterior(a)
        self.same("zero", empty, prior.posterior(a), rows, sentence)
        evidence = prior.log_evidence(a.zero())
        self.laws.equal("zero", np.sum(evidence), 0.0, "the log evidence of nothing is not 0.")

    def check_evidence(self, rows: Any, rng: np.random.Generator) -> None:
        """Check that evidence is the product of the one-step predictives of the rows."""
        prior = self.prior
        evidence = float(np.sum(prior.log_evidence(self.tally_of(rows))))
        for order in (np.arange(len(rows)), rng.permutation(len(rows))):
            conjugate, total = prior, 0.0
            for at in order:
                total += float(np.sum(conjugate.predictive().log_density(rows[at])))
                conjugate = conjugate.posterior(self.tally_of(rows[[at]]))
            sentence = "the log evidence is not the sum of the log predictives, row after row."
            self.laws.equal("one-step predictives", evidence, total, sentence)

    def likelihood(self, conjugate: Any, parameters: Any, row: Any, count: int) -> Floats:
        """Return the log probability of a row given parameters, (count,)."""
        if self.log_likelihood is not None:
            return _sum(self.log_likelihood(parameters, row), count)
        tally = self.tally_of(row[None])
        after = _sum(conjugate.posterior(tally).log_density(parameters), count)
        before = _sum(conjugate.log_density(parameters), count)
        with np.errstate(invalid="ignore"):
            found = after - before + float(np.sum(conjugate.log_evidence(tally)))
        return np.where(before == -np.inf, -np.inf, found)

    def check_bayes(self, rows: Any, rng: np.random.Generator) -> None:
        """Check that posterior is prior times likelihood over evidence."""
        prior, half = self.prior, len(rows) // 2
        after = prior.posterior(self.tally_of(rows[:half]))
        parameters = after.sample(rng, 20)
        tally = self.tally_of(rows[half:])
        sentence = "posterior times evidence is not prior times likelihood."
        due = np.zeros(20)
        for row in rows[half:]:
            due = due + self.likelihood(prior, parameters, row, 20)
        for conjugate in (prior, after):
            density = _sum(conjugate.posterior(tally).log_density(parameters), 20)
            found = density + float(np.sum(conjugate.log_evidence(tally)))
            joint = _sum(conjugate.log_density(parameters), 20) + due
            self.laws.equal("Bayes", found, joint, sentence, 1e-7, 1e-6)

    def check_parameter(self, conjugate: Any, rows: Any, rng: np.random.Generator) -> None:
        """Check draws of the parameter, and integrals over it if it is one number."""
        drawn = conjugate.sample(rng, DRAWS)
        for row in rows[:3]:
            likelihood = np.exp(self.likelihood(conjugate, drawn, row, DRAWS))
            due = float(np.exp(np.sum(conjugate.predictive().log_density(row))))
            sentence = f"the likelihood of {row} averaged over draws is not its predictive."
            self.laws.average("sampling", likelihood, due, sentence)
        if not isinstance(drawn, np.ndarray) or drawn.size != DRAWS:
            return
        points, weights = _parameter_points(conjugate)
        at = points.reshape(points.shape + drawn.shape[1:])
        chances = weights * np.exp(_sum(conjugate.log_density(at), len(points)))
        sentence = "the density of the parameter does not integrate to 1."
        self.laws.equal("normalisation", chances.sum(), 1.0, sentence, INTEGRATION, INTEGRATION)
        tally = self.tally_of(rows[:2])
        joint = chances * np.exp(
            sum(self.likelihood(conjugate, at, row, len(at)) for row in rows[:2])
        )
        evidence = float(np.exp(np.sum(conjugate.log_evidence(tally))))
        sentence = "the evidence of two rows is not the integral of prior times likelihood."
        # Half of the prior may be far from where the rows are, and its quantiles far apart there.
        self.laws.equal("integration", joint.sum() / evidence, 1.0, sentence, 1e-4, 1e-4)
        sentence = "draws of the parameter are not distributed as its density."
        if getattr(conjugate, "points", None) is None:
            self.laws.distributed("sampling", drawn.ravel(), points, chances, sentence)
        else:
            times = np.array([np.sum(drawn == point) for point in points], dtype=np.float64)
            self.laws.frequencies("sampling", times, chances, sentence)

    def check_predictive(self, conjugate: Any, rng: np.random.Generator) -> None:
        """Check that predictives sum to 1, and that draws agree with them."""
        predicted = conjugate.predictive()
        drawn = np.asarray(predicted.sample(rng, DRAWS))
        found = _row_points(drawn)
        if found is None:
            return
        points, weights, discrete = found
        chances = weights * np.exp(_sum(predicted.log_density(points), len(points)))
        word = "sum" if discrete else "integrate"
        sentence = f"the predictive does not {word} to 1."
        self.laws.equal("normalisation", chances.sum(), 1.0, sentence, INTEGRATION, INTEGRATION)
        sentence = "draws of the predictive are not distributed as it says."
        if discrete:
            same = (drawn[:, None] == points[:64]).reshape(DRAWS, min(len(points), 64), -1)
            times = same.all(axis=-1).sum(axis=0)
            rest = [DRAWS - times.sum()], [max(1.0 - chances[:64].sum(), 0.0)]
            times, chances = np.append(times, rest[0]), np.append(chances[:64], rest[1])
            self.laws.frequencies("sampling", times.astype(np.float64), chances, sentence)
        elif drawn.size == DRAWS:
            self.laws.distributed("sampling", drawn.ravel(), points.ravel(), chances, sentence)
        else:
            # Any other density is expected to be its ratio to this one times it: 1.
            other = conjugate.posterior(self.tally_of(drawn[:2])).predictive()
            ratio = _sum(other.log_density(drawn[2:]), DRAWS - 2)
            ratio = ratio - _sum(predicted.log_density(drawn[2:]), DRAWS - 2)
            self.laws.average("sampling", np.exp(ratio), 1.0, sentence)


def _sum(values: Any, count: int) -> Floats:
    """Return log densities (count, ...) summed over all but the first axis."""
    return np.asarray(np.reshape(np.asarray(values, dtype=np.float64), (count, -1)).sum(axis=1))


def _parameter_points(conjugate: Any) -> tuple[Floats, Floats]:
    """Return points and weights for integrals over a parameter of one number."""
    points = getattr(conjugate, "points", None)
    if points is not None:
        return np.asarray(points), np.ones(len(points))
    breaks = []
    for tail in TAILS:
        ends = conjugate.interval(1 - 2 * tail) if tail < 0.5 else conjugate.interval(1e-9)
        breaks += [float(np.ravel(end)[0]) for end in ends]
    return panel_points(breaks)


def _row_points(drawn: Floats) -> tuple[Floats, Floats, bool] | None:
    """Return all rows there are, or points for integrals over them, given draws (n, ...)."""
    numbers = drawn[0].size
    if np.all(drawn == np.floor(drawn)):
        if drawn.ndim == 1:
            points = np.arange(min(50.0 * drawn.max() + 1000.0, MAX_EVENTS))
        elif np.all(drawn.sum(axis=-1) == 1):
            points = np.eye(drawn.shape[-1])
        else:
            return None
        return points, np.ones(len(points)), True
    if numbers == 1:
        line, weights = line_points(drawn.ravel())
        return line.reshape(-1, *drawn.shape[1:]), weights, False
    if numbers != 2 or drawn.ndim != 2:
        return None
    (x, across), (y, down) = (line_points(drawn[:, at], 18.0, 361) for at in (0, 1))
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    return grid, np.ravel(across[:, None] * down), False


def _check_improper(laws: Laws, prior: Any, improper: Iterable[Mapping[str, Any]]) -> None:
    """Check that settings without a distribution are refused."""
    kind = type(prior)
    names = list(inspect.signature(kind.__init__).parameters)[1:]
    given = {name: getattr(prior, name) for name in names}
    wrong = [dict(one) for one in improper]
    for name, value in given.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            wrong.append({name: np.full(value.shape, np.nan)})
    for settings in wrong:
        shown = ", ".join(f"{name}={np.asarray(value)}" for name, value in settings.items())
        laws.refuse(
            "improper parameters",
            SufficeError,
            lambda settings=settings: kind(**{**given, **settings}),  # type: ignore[misc]
            f"{kind.__name__}({shown}) is not refused.",
        )
