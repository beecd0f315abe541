"""Every law of `suffice.testing` is broken by something, and then named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

from suffice.count import count_moments
from suffice.errors import InputError
from suffice.families import IndependentNormals, NormalSettings, family_of
from suffice.prior import Gamma, NormalInverseGamma
from suffice.tally import Events, Moments, Tally
from suffice.testing import check_family, check_prior, check_tally


def broken(law: str) -> Any:
    """Return a context that expects an AssertionError naming the law, the seed and the size."""
    return pytest.raises(AssertionError, match=rf"(?s)breaks the law of {law}: .*\(seed=3, size=")


# ---- tallies


def fixed(value: Any) -> np.ndarray:
    """Return a number as an array that cannot be written to."""
    array = np.array(value, dtype=np.float64)
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Heap(Tally):
    """How many rows there are, and the sum of their squares."""

    weight: Any
    total: Any

    _sums: ClassVar[tuple[str, ...]] = ("weight", "total")

    def __init__(self, weight: Any, total: Any) -> None:
        object.__setattr__(self, "weight", fixed(weight))
        object.__setattr__(self, "total", fixed(total))


def heap_of(kind: type[Heap]) -> Any:
    return lambda rows, weights: kind(weights.sum(), weights @ np.square(rows).sum(axis=1))


def test_a_lawful_tally_passes() -> None:
    check_tally(heap_of(Heap), seed=3)


class FullZero(Heap):
    def zero(self) -> FullZero:
        return self


class FavoursTheFirst(Heap):
    def __add__(self, other: Any) -> Any:
        lean = self.weight * other.weight * (self.total - other.total)
        return type(self)(self.weight + other.weight, self.total + other.total + 1e-3 * lean)


class AddsAProduct(Heap):
    def __add__(self, other: Any) -> Any:
        product = np.square(self.total * other.total)
        return type(self)(self.weight + other.weight, self.total + other.total + product)


class KeepsTheTotal(Heap):
    def subtract(self, other: Any, gross: Any = None) -> Any:
        left = super().subtract(other, gross)
        return type(self)(left.weight, self.total)


class RefusesToForget(Heap):
    def subtract(self, other: Any, gross: Any = None) -> Any:
        if other.weight > 0:
            raise InputError("Nothing is forgotten.")
        return self


class ScalesTheWeight(Heap):
    def scale(self, factor: float) -> Any:
        scaled = super().scale(factor)
        return type(self)(scaled.weight, self.total * (factor != 0))


class TakesAnyFactor(Heap):
    def scale(self, factor: float) -> Any:
        return type(self)(self.weight * factor, self.total * factor)


class OwesRows(Heap):
    def subtract(self, other: Any, gross: Any = None) -> Any:
        return type(self)(self.weight - other.weight, self.total - other.total)


class RaisesAnother(Heap):
    def subtract(self, other: Any, gross: Any = None) -> Any:
        if other.weight > self.weight:
            raise InputError("Not enough rows.")
        return super().subtract(other, gross)


class ChangesWhenRefused(Heap):
    def subtract(self, other: Any, gross: Any = None) -> Any:
        if other.weight > self.weight:
            object.__setattr__(self, "total", fixed(0.0))
        return super().subtract(other, gross)


class EqualToAll(Heap):
    def allclose(self, other: Any, relative: float = 1e-9) -> bool:
        return True


class EqualToNone(Heap):
    def allclose(self, other: Any, relative: float = 1e-9) -> bool:
        return False


class Writeable(Heap):
    def __init__(self, weight: Any, total: Any) -> None:
        super().__init__(weight, total)
        object.__setattr__(self, "total", np.array(total, dtype=np.float64))


class Settable(Heap):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


class CountsItsSums(Heap):
    def __add__(self, other: Any) -> Any:
        found = super().__add__(other)
        object.__setattr__(self, "total", fixed(self.total * (1 + 1e-15)))
        return found


class PicklesItsWeight(Heap):
    def __reduce__(self) -> Any:
        return type(self), (self.weight, 0.0)

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(self.weight, self.total)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (FullZero, "zero"),
        (FavoursTheFirst, "commutativity"),
        (AddsAProduct, "associativity"),
        (KeepsTheTotal, "subtraction"),
        (RefusesToForget, "subtraction"),
        (ScalesTheWeight, "scaling"),
        (TakesAnyFactor, "scaling"),
        (OwesRows, "debt"),
        (RaisesAnother, "debt"),
        (ChangesWhenRefused, "debt"),
        (EqualToAll, "equality"),
        (EqualToNone, "equality"),
        (Writeable, "immutability"),
        (Settable, "immutability"),
        (CountsItsSums, "immutability"),
        (PicklesItsWeight, "pickling"),
    ],
)
def test_a_broken_tally_is_caught_by_name(kind: type[Heap], law: str) -> None:
    with broken(law):
        check_tally(heap_of(kind), seed=3)


def test_a_count_that_forgets_the_weights_is_caught() -> None:
    with broken("weights"):
        check_tally(lambda rows, weights: Heap(len(rows), np.square(rows).sum()), seed=3)


def test_sums_that_do_not_add_are_caught() -> None:
    def about_the_mean(rows: Any, weights: Any) -> Heap:
        mean = np.average(rows, axis=0, weights=weights)
        return Heap(weights.sum(), weights @ np.square(rows - mean).sum(axis=1))

    with broken("batches"):
        check_tally(about_the_mean, seed=3)


def by_column(kind: type[Heap]) -> Any:
    return lambda rows, weights: kind(np.full(2, weights.sum()), weights @ np.square(rows))


class PoolsByMean(Heap):
    def pooled(self) -> Any:
        return type(self)(self.weight.mean(), self.total.mean())


class ExpandsInOrder(Heap):
    def expand(self, index: Any, size: int) -> Any:
        return super().expand(np.sort(index), size)


@pytest.mark.parametrize("kind", [PoolsByMean, ExpandsInOrder])
def test_classes_that_are_not_pooled_are_caught(kind: type[Heap]) -> None:
    check_tally(by_column(Heap), classes=2, seed=3)
    with broken("pooling"):
        check_tally(by_column(kind), classes=2, seed=3)


def test_something_that_is_not_a_tally_is_caught() -> None:
    with broken("tallies"):
        check_tally(lambda rows, weights: rows, seed=3)


# ---- priors


def poisson(rate: Any, x: Any) -> Any:
    return stats.poisson.logpmf(x, rate)


class OwnGamma(Gamma):
    """A Gamma, to be broken in one way each."""


class Discounts(OwnGamma):
    def posterior(self, data: Any) -> Any:
        tally = self.as_tally(data)
        return type(self)(0.9 * self.shape + tally.sum_x, 0.9 * self.rate + tally.weight)


class WholeBatchesOnly(OwnGamma):
    def posterior(self, data: Any) -> Any:
        tally = self.as_tally(data)
        return type(self)(self.shape + tally.sum_x, self.rate + 8 * np.floor(tally.weight / 8))


class CreditsNothing(OwnGamma):
    def log_evidence(self, data: Any) -> Any:
        return super().log_evidence(data) + 1.0


class ForgetsFactorials(OwnGamma):
    def log_evidence(self, data: Any) -> Any:
        tally = self.as_tally(data)
        return super().log_evidence(tally) + tally.sum_log_factorial


class AnotherDensity(OwnGamma):
    def log_density(self, parameter: Any) -> Any:
        return Gamma(self.shape + 1, self.rate).log_density(parameter)


class NotNormalised(OwnGamma):
    def log_density(self, parameter: Any) -> Any:
        return super().log_density(parameter) + 0.01


class DrawsTheMean(OwnGamma):
    def sample(self, rng: Any, size: Any = None) -> Any:
        return np.sqrt(super().sample(rng, size) * self.mean())


class TakesNaN(OwnGamma):
    def __init__(self, shape: Any, rate: Any) -> None:
        super().__init__(np.nan_to_num(shape, nan=1.0), np.nan_to_num(rate, nan=1.0))


class CanBeWritten(OwnGamma):
    def __init__(self, shape: Any, rate: Any) -> None:
        super().__init__(shape, rate)
        object.__setattr__(self, "shape", np.array(self.shape))


class PicklesItsShape(OwnGamma):
    def __reduce__(self) -> Any:
        return type(self), (self.shape, 1.0)

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(self.shape, self.rate)


def test_a_lawful_prior_passes() -> None:
    check_prior(OwnGamma(2.0, 0.5), poisson, seed=3)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (Discounts, "learning"),
        (WholeBatchesOnly, "weights"),
        (CreditsNothing, "zero"),
        (ForgetsFactorials, "one-step predictives"),
        (AnotherDensity, "Bayes"),
        (NotNormalised, "normalisation"),
        (DrawsTheMean, "sampling"),
        (TakesNaN, "improper parameters"),
        (CanBeWritten, "immutability"),
        (PicklesItsShape, "pickling"),
    ],
)
def test_a_broken_prior_is_caught_by_name(kind: type[Gamma], law: str) -> None:
    with broken(law):
        check_prior(kind(2.0, 0.5), poisson, seed=3)


@pytest.mark.parametrize("kind", [AnotherDensity, DrawsTheMean])
def test_some_priors_are_caught_without_a_likelihood(kind: type[Gamma]) -> None:
    with broken("(Bayes|sampling|normalisation)"):
        check_prior(kind(2.0, 0.5), seed=3)


def test_a_tally_that_forgets_half_is_caught() -> None:
    class Lossy(Events):
        def subtract(self, other: Any, gross: Any = None) -> Any:
            left = super().subtract(other, gross)
            return type(self)(left.weight, self.sum_x, left.sum_log_factorial)

    with broken("forgetting"):
        check_prior(Gamma(2.0, 0.5), poisson, tally=Lossy.of, seed=3)


def test_a_wrong_likelihood_beyond_all_draws_is_caught_by_integration() -> None:
    far = float(Gamma(2.0, 0.5).interval(1 - 2e-6).upper)

    def larger_tail(rate: Any, x: Any) -> Any:
        return poisson(rate, x) + np.where(np.asarray(rate) > far, 40.0, 0.0)

    with broken("integration"):
        check_prior(Gamma(2.0, 0.5), larger_tail, seed=3)


def test_a_predictive_of_another_width_is_caught() -> None:
    class Wide:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def log_density(self, x: Any) -> Any:
            return self.inner.log_density(x)

        def sample(self, rng: Any, size: Any = None) -> Any:
            return 2.0 * self.inner.sample(rng, size)

    class WideDraws(NormalInverseGamma):
        def predictive(self) -> Any:
            return Wide(super().predictive())

    with broken("sampling"):
        check_prior(WideDraws(0.0, 1.0, 3.0, 2.0), seed=3)


def test_settings_that_must_be_refused_are_named() -> None:
    with broken("improper parameters"):
        check_prior(Gamma(2.0, 0.5), improper=[{"shape": 1.0}], seed=3)
    with broken("priors"):
        check_prior(3.0, seed=3)


# ---- distributions of rows

OWN = np.arange(60) % 2
X = np.random.default_rng(0).normal(size=(60, 2)) + OWN[:, None]
PREDICTIVE = NormalSettings("predictive")
NIG = NormalInverseGamma(0.0, 1.0, 2.0, 1.0)


def check_normals(kind: type[IndependentNormals], count: Any = count_moments) -> None:
    fit = partial(kind.fit, settings=PREDICTIVE, prior=NIG)
    check_family(fit, X, OWN, count=count, seed=3)


class PlainScores(IndependentNormals):
    def leave_one_out(self, learned: Any, log_prior: Any) -> Any:
        found = super().leave_one_out(learned, log_prior)
        nothing = np.zeros(found.scores.shape[1])
        _, _, scores = self.scorer().answer(learned.rows.X, nothing, "joint")
        return found._replace(scores=scores)


class NoEvidence(IndependentNormals):
    @property
    def log_evidence(self) -> float:
        return 0.0


class FillsIn:
    """A scorer that takes missing values for 0."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    reads_sparse = False

    def answer(self, X: Any, log_prior: Any, answer: Any) -> Any:
        return self.inner.answer(np.nan_to_num(X), log_prior, answer)


class FillsMissing(IndependentNormals):
    def density(self) -> Any:
        return FillsIn(super().density())


class DrawsTheFirstClass(IndependentNormals):
    def sample(self, codes: Any, rng: Any) -> Any:
        return super().sample(np.zeros_like(codes), rng)


class DrawsTooFar(IndependentNormals):
    def sample(self, codes: Any, rng: Any) -> Any:
        return super().sample(codes, rng) * 1.3


class ForgetsTheOrigin(IndependentNormals):
    def with_tally(self, groups: Any, kept: Any) -> Any:
        cells = groups.parts
        moved = Moments(cells.weight, 0.9 * cells.origin, cells.sum_x, cells.sum_xx)
        return super().with_tally(replace_parts(groups, moved), kept)


def replace_parts(groups: Any, parts: Any) -> Any:
    return type(groups)(groups.classes, groups.weights, parts)


class SplitsNothing(IndependentNormals):
    def split(self, cells: Any) -> Any:
        found = super().split(cells)
        return found._replace(parts=np.zeros_like(found.parts))


class PicklesMaximumLikelihood(IndependentNormals):
    def __reduce__(self) -> Any:
        return type(self).fit, (self.groups, NormalSettings("mle"))


class NoParameters(IndependentNormals):
    @property
    def n_parameters(self) -> int:
        return 0


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (PlainScores, "leaving one out"),
        (NoEvidence, "one-step predictives"),
        (FillsMissing, "missing values"),
        (DrawsTheFirstClass, "sampling"),
        (DrawsTooFar, "sampling"),
        (ForgetsTheOrigin, "batches"),
        (SplitsNothing, "splitting"),
        (PicklesMaximumLikelihood, "pickling"),
        (NoParameters, "parameters"),
    ],
)
def test_broken_distributions_are_caught_by_name(kind: type[IndependentNormals], law: str) -> None:
    with broken(law):
        check_normals(kind)


def test_counting_without_weights_is_caught() -> None:
    with broken("weights"):
        check_normals(
            IndependentNormals, lambda rows: count_moments(replace(rows, weights=np.empty(0)))
        )


def test_rows_without_a_way_to_count_them_are_refused() -> None:
    with pytest.raises(TypeError, match="without count"):
        check_family(partial(IndependentNormals.fit, settings=PREDICTIVE), X, OWN)


# ---- families of columns

# The classes of a normal column and of its posterior, to be broken.
NORMAL = family_of("normal", ("x",))
TWO_CLASSES = Moments([[2.0], [2.0]], [[0.0], [0.0]], [[1.0], [3.0]], [[1.0], [5.0]])
Normal, NormalPosterior = type(NORMAL), type(NORMAL.posterior(TWO_CLASSES))


class BrokenPosterior(NormalPosterior):
    """A posterior of a column, to be broken in one way each."""


@dataclass(frozen=True, eq=False)
class BrokenNormal(Normal):
    """A normal column whose posterior is another."""

    kind: type[NormalPosterior] = BrokenPosterior

    def posterior(self, tally: Any) -> Any:
        found = super().posterior(tally)
        return self.kind(self, found.tally, found.prior)


class ColumnPlainScores(BrokenPosterior):
    def leave_one_out(self, table: Any, codes: Any, weights: Any) -> Any:
        return self.scores(table)


class ColumnEvidence(BrokenPosterior):
    @property
    def log_evidence(self) -> float:
        return float(self.tally.weight.sum())


class ColumnFillsMissing(BrokenPosterior):
    def scores(self, table: Any) -> Any:
        column = table[self.family.column]
        return super().scores(
            table.with_columns(replace(column, values=np.nan_to_num(column.values)))
        )


class ColumnDraws(BrokenPosterior):
    def sample(self, codes: Any, rng: Any) -> Any:
        return {name: cells**3 for name, cells in super().sample(codes, rng).items()}


class ColumnNoisyDraws(BrokenPosterior):
    def sample(self, codes: Any, rng: Any) -> Any:
        found = super().sample(codes, rng)
        return {name: cells + 1.5 * rng.normal(size=len(cells)) for name, cells in found.items()}


class ColumnSplit(BrokenPosterior):
    def split(self, table: Any) -> Any:
        return np.zeros_like(super().split(table))


class ColumnParameters(BrokenPosterior):
    @property
    def n_parameters(self) -> int:
        return 0


class ColumnPickle(BrokenPosterior):
    def __reduce__(self) -> Any:
        return type(self), (self.family, self.tally.scale(2.0), self.prior)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (ColumnPlainScores, "leaving one out"),
        (ColumnEvidence, "one-step predictives"),
        (ColumnFillsMissing, "missing values"),
        (ColumnDraws, "sampling"),
        (ColumnNoisyDraws, "sampling"),
        (ColumnSplit, "splitting"),
        (ColumnParameters, "parameters"),
        (ColumnPickle, "pickling"),
    ],
)
def test_a_broken_family_is_caught_by_name(kind: type[NormalPosterior], law: str) -> None:
    columns = {"x": X[:, 0]}
    check_family(BrokenNormal(("x",)), columns, OWN, seed=3)
    with broken(law):
        check_family(BrokenNormal(("x",), kind=kind), columns, OWN, seed=3)


class CountsRowsOnce(Normal):
    def count(self, table: Any, codes: Any, classes: int, weights: Any) -> Any:
        return super().count(table, codes, classes, np.empty(0))


class CentresEachBatch(Normal):
    def count(self, table: Any, codes: Any, classes: int, weights: Any) -> Any:
        found = super().count(table, codes, classes, weights)
        return Moments(found.weight, found.origin, 0 * found.sum_x, found.sum_xx)


@pytest.mark.parametrize(
    ("kind", "law"), [(CountsRowsOnce, "weights"), (CentresEachBatch, "batches")]
)
def test_a_family_that_counts_in_its_own_way_is_caught(kind: type[Normal], law: str) -> None:
    with broken(law):
        check_family(kind(("x",)), {"x": X[:, 0]}, OWN, seed=3)


def test_what_cannot_be_pickled_is_caught() -> None:
    class Local(Normal):
        pass

    with broken("pickling"):
        check_family(Local(("x",)), {"x": X[:, 0]}, OWN, seed=3)
