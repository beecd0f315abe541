"""What every family of columns can do: tally a block of a table, and give its posterior.

A block is a family and the columns it speaks of; blocks are independent given the class. The way
is `family.fit_settings(...)` once, then `tally = family.count(...)`, which adds and subtracts as
rows come and go, then `posterior = family.posterior(tally)`, which scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import Column
from suffice.data.hashes import Hashes
from suffice.data.labels import Codes
from suffice.data.plain_rows import PlainCells
from suffice.data.table import Table
from suffice.errors import InputError, MergeError
from suffice.tally import Events, Moments, Tally
from suffice.tally.held_out import training_tallies, with_weight_of
from suffice.tally.tally import Floats, Index
from suffice.validation.folds import Folds

T = TypeVar("T", bound=Tally)
# Values of columns by name: floats with NaN if missing, or int32 codes with -1, as in `Column`.
Cells = dict[str, NDArray[Any]]
# Rows up to which each fold reads the prior from its own training rows. A prior that has seen the
# held-out rows flatters a block by up to half a nat for all rows together: of 30 to 100 rows that
# is enough to fit noise, of many it is nothing, and refitting takes time.
MAX_ROWS_REFIT_PRIOR = 500
# Which of the levels or terms of a column.
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Family(ABC, Generic[T]):
    """A kind of distribution, and the columns that it is about.

    Further fields are settings that were taken from rows once, by `fit_settings`, and are held from
    then on: edges of bins, levels of numbers. `family_of(name, columns, **settings)` makes the
    same family again.
    """

    columns: tuple[str, ...]

    # How many columns a block of this family has: 1, or 2 for "two or more".
    width: ClassVar[int] = 1

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that a user gives: "normal", "normal:tied", "categorical"."""

    @property
    def settings(self) -> dict[str, Any]:
        """What `fit_settings` took from rows: plain values, tuples and arrays, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "columns"}

    @property
    def column(self) -> str:
        """The name of the block's first, or only, column."""
        return self.columns[0]

    @abstractmethod
    def objection(self, table: Table) -> str | None:
        """Say why this family cannot be of these columns (the fact, then the cure), or None."""

    def plain_cells(self, column: str) -> PlainCells:
        """Return numbers in a column of the block that can surely be learned."""
        return PlainCells()

    def check(self, table: Table) -> None:
        """Refuse columns that this family cannot be of."""
        reason = self.objection(table)
        if reason is not None:
            raise InputError(reason)

    def fit_settings(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with its settings taken from rows; done once, at the first fit."""
        return self

    def refine_settings(
        self, table: Table, codes: Codes, classes: int, weights: Floats, groups: Hashes
    ) -> Self:
        """Return the family with what suits held-out rows best; rows of a group share a fold."""
        return self

    def with_levels_of(self, table: Table) -> Self:
        """Return the family that knows the levels of these rows too; old codes stay."""
        return self

    def without_levels(self) -> Self:
        """Return the family with its settings, but without the levels or terms that it knows."""
        return self

    @abstractmethod
    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> T:
        """Return the tally of the rows, its first axis the classes; incomplete rows are left out.

        Parameters
        ----------
        table : n rows
        codes : (n,) numbers of classes
        classes : int
        weights : (n,), or empty if every row weighs 1
        """

    def add_row(self, tally: T, table: Table, code: int) -> T | None:
        """Return a tally with the one row of a table: what `count` and `+` make of it.

        None if the row has to be counted with levels or terms that may be new.

        Parameters
        ----------
        tally : its first axis the classes
        table : one row of cells that can surely be learned (`plain_cells`)
        code : number of the row's class
        """
        return None

    def merge(self, other: Self, tally: T, translations: Mapping[str, Index]) -> tuple[Self, T]:
        """Return the family that knows the levels of both, and the other's tally in its codes.

        `translations` says, for each category, our code of each of the other's (see
        `Schema.translations`). Our own tally stays as it is.
        """
        mine, theirs = self.settings, other.settings
        if self.name != other.name or not all(
            np.array_equal(mine[name], theirs[name]) for name in mine
        ):
            raise MergeError(
                f"The columns {', '.join(self.columns)} were tallied as {self.name!r} and as "
                f"{other.name!r}, or with other edges. Learn one model from the settings of the "
                "other."
            )
        return self, tally

    def with_weight_of(self, part: T, whole: T) -> T:
        """Return a tally as heavy as another, class by class."""
        return with_weight_of(part, whole)

    def levels_in_use(self, tally: T) -> dict[str, Mask]:
        """Say, for each column of levels or terms, which of them the rows of a tally have."""
        return {}

    def keep_levels(self, tally: T, used: Mapping[str, Mask]) -> tuple[Self, Index | None]:
        """Return the family with the levels or terms that are used alone, later ones moved up.

        Beside it, the places of what stays along the last axis of the tally; None if all stays.
        """
        return self, None

    @abstractmethod
    def posterior(self, tally: T) -> Posterior[T]:
        """Return what a tally says, under the prior that it has most evidence for."""

    @classmethod
    def posteriors(cls, families: Sequence[Self], tallies: Sequence[T]) -> list[Posterior[T]]:
        """Return the posteriors of several blocks of this kind, together where that is quicker."""
        return [one.posterior(tally) for one, tally in zip(families, tallies, strict=True)]


def posteriors_of(families: Sequence[Family[Any]], tallies: Sequence[Any]) -> tuple[Any, ...]:
    """Return the posterior of each block; those of one kind may be computed together."""
    found: list[Any] = [None] * len(families)
    kinds: dict[type[Family[Any]], None] = dict.fromkeys(type(one) for one in families)
    for kind in kinds:
        places = [at for at, one in enumerate(families) if type(one) is kind]
        some = kind.posteriors([families[at] for at in places], [tallies[at] for at in places])
        for at, one in zip(places, some, strict=True):
            found[at] = one
    return tuple(found)


# From a cell, and scores of the classes so far, scores with those of the cell; None if the cell has
# to be read as a table.
AddScores = Callable[[Any, Any], Sequence[float] | None]


class Posterior(ABC, Generic[T]):
    """A tally with its prior: the predictive distribution of the block in every class."""

    family: Any
    tally: T

    @property
    @abstractmethod
    def log_evidence(self) -> float:
        """Log density of the block's rows given their classes, parameters integrated out.

        The prior is held, so this is the product of one-step predictives. Densities of one column
        are of one measure, whatever the family: a probability of a whole number is a density a
        unit wide, and one of other levels of numbers a density as wide as the grid they lie on.
        """

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many free parameters all classes have."""

    @property
    @abstractmethod
    def n_settings(self) -> int:
        """How many numbers the prior's centre and the settings took from the pooled rows."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """The weight of the rows in the tally."""

    @cached_property
    def net_log_evidence(self) -> float:
        """The log evidence less half a log of the rows for each of `n_settings`.

        This compares families: bins laid where the rows are, and levels that have the shares they
        were seen with, would otherwise be had for nothing.
        """
        return self.log_evidence - self.n_settings / 2 * float(np.log(max(self.weight, 1.0)))

    @abstractmethod
    def with_tally(self, tally: T) -> Self:
        """Return another tally under the prior of this one."""

    def cell_scorer(
        self, weight: float, levels: Sequence[Any], default: Any = None
    ) -> AddScores | None:
        """Return what adds the weighted scores of one cell, up to a term that all classes share.

        None if the block has several columns, or takes more than a few operations a class.

        Parameters
        ----------
        weight : of the block
        levels : of its column, if that is a category
        default : the level that all others are, if the column has a cap
        """
        return None

    def as_plug_in(self) -> Self:
        """Return the posterior that scores by expected parameters (plug-in).

        Evidence is that of before. For shares of levels the two are the same.
        """
        return self

    @abstractmethod
    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 if missing, the marginal of what is seen otherwise."""

    @abstractmethod
    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the `scores` of rows, (n, C), had each not been learned; prior and settings held.

        The rows must be in the tally, with these weights (empty: 1 each).
        """

    def held_out(self, table: Table, folds: Folds) -> Floats:
        """Return the `scores` of rows, (n, C), by all rows but those of their fold.

        The rows of the folds must be in the tally; settings (bins, levels, transformations) are
        held. Every class has the weight that it has in the tally, so that no fold tells which
        classes it has taken rows from (docs: mathematics, section 10). A level that only the fold
        has is unknown. Of few rows, the prior is refitted to each fold's training rows.
        """
        many = len(table) > MAX_ROWS_REFIT_PRIOR
        return self.held_out_with(self.with_tally if many else self.refit_prior, table, folds)

    def held_out_with(
        self, posterior_of: Callable[[T], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the scores of held-out rows, (n, C), given how tallies of training rows are read.

        What all classes of a row have in common may be left out.
        """
        own = table.select(self.family.columns)
        out = np.empty((len(table), folds.rows.classes))
        parts = self.training_tallies(table, folds)
        for members, part in zip(folds.members, parts, strict=True):
            if members.size:
                out[members] = posterior_of(part).scores(own.take(members))
        return out

    def held_out_without(
        self, table: Table, folds: Folds, needed: Index
    ) -> Iterator[tuple[Index, Floats]]:
        """Yield the rows of each of some folds, (m,), and their scores by other folds, (m, C, d).

        Scores are those `without_columns`; all else is as in `held_out`.
        """
        posterior_of = self.with_tally if len(table) > MAX_ROWS_REFIT_PRIOR else self.refit_prior
        own, asked = table.select(self.family.columns), set(needed.tolist())
        for number, part in enumerate(self.training_tallies(table, folds)):
            if number in asked:
                members = folds.members[number]
                yield members, posterior_of(part).without_columns(own.take(members))

    def refit_prior(self, tally: T) -> Self:
        """Return another tally under the prior that it has most evidence for itself."""
        found: Self = self.family.posterior(tally)
        return found

    def training_tallies(self, table: Table, folds: Folds) -> Iterable[T]:
        """Return the tally of all rows but those of each fold, one for each."""
        return split_by_fold(self.training_tally(table, folds), folds)

    def training_tally(self, table: Table, folds: Folds) -> T:
        """Return the tally of all rows but those of each fold, its first axis (folds * C)."""
        classes, size = folds.rows.classes, folds.size
        parts = self.family.count(table, folds.codes, size * classes, folds.rows.weights)
        training = training_tallies(parts, self.tally, size, complete=folds.complete)
        whole = self.tally.take(np.tile(np.arange(classes), size))
        found: T = self.family.with_weight_of(training, whole)
        return found

    @abstractmethod
    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw the block's columns for rows of these classes (n,)."""

    @abstractmethod
    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the block's columns with missing values imputed, given log p(class | row), (n, C).

        Numbers are filled with their expectation, levels with the most probable one; with `rng`,
        both with a draw.
        """

    def relative_scores(self, table: Table) -> Floats:
        """Return the scores, (n, C), less what all classes of a row have in common, where known.

        A common part that is large would take the digits of what separates the classes.
        """
        return self.scores(table)

    def without_columns(self, table: Table) -> Floats:
        """Return the odds of rows had each of the columns been missing, (n, C, d)."""
        columns = self.family.columns
        found = [
            self.relative_scores(table.with_columns(table[name].as_missing())) for name in columns
        ]
        return np.stack(found, axis=2)

    def split(self, table: Table) -> Floats:
        """Return what each column adds to the odds, (n, C, d): log p(x1), log p(x2 | x1), ..."""
        return self.relative_scores(table)[:, :, None]


def split_by_fold(training: T, folds: Folds) -> list[T]:
    """Return the tally of each fold, given that of all, its first axis (folds * C)."""
    classes = np.arange(folds.rows.classes)
    return [training.take(classes + f * len(classes)) for f in range(folds.size)]


W = TypeVar("W", Moments, Events)


@dataclass(frozen=True, eq=False)
class ParametricPosterior(Posterior[W]):
    """A tally of moments or events with its prior.

    Parameters
    ----------
    family : the family that made it
    tally : Moments or Events
    plugged : bool
        Whether the expectations of the parameters stand for them.
    """

    family: Any
    tally: W
    plug_in: bool = field(default=False, kw_only=True)

    @property
    def weight(self) -> float:
        """The weight of the rows in the tally."""
        return float(self.tally.weight.sum())

    def with_tally(self, tally: W) -> Self:
        """Return another tally under the prior of this one."""
        return replace(self, tally=tally)

    def refit_prior(self, tally: W) -> Self:
        """Return another tally under the prior that it has most evidence for itself."""
        found: Self = self.family.posterior(tally)
        return replace(found, plug_in=self.plug_in)

    def as_plug_in(self) -> Self:
        """Return the posterior by the expectations of the parameters."""
        return replace(self, plug_in=True)


def sample_levels(shares: Floats, codes: Codes, rng: np.random.Generator) -> Codes:
    """Draw a level for each of these classes (n,), from shares (C, K).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sample_levels(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0, 1]), rng)
    array([1, 0, 1], dtype=int32)
    """
    edges = np.cumsum(shares, axis=1)
    draws = rng.random(len(codes)) * edges[codes, -1]
    out = np.empty(len(codes), np.int32)
    for c in np.unique(codes):
        mine = codes == c
        # Not even a draw of exactly 0 falls into a level of no width.
        out[mine] = np.searchsorted(edges[c], draws[mine], side="right")
    return np.asarray(np.minimum(out, shares.shape[1] - 1))


def sample_classes(log_proba: Floats, rng: np.random.Generator) -> Codes:
    """Draw a class for each row of log p(class | row), (n, C)."""
    edges = np.cumsum(np.exp(log_proba), axis=1)
    draws = rng.random(len(edges)) * edges[:, -1]
    return np.asarray((edges[:, :-1] <= draws[:, None]).sum(axis=1), np.int32)


def impute_levels(shares: Floats, log_proba: Floats, rng: np.random.Generator | None) -> Codes:
    """Return a level for each row of log p(class | row): the most probable one, or a draw."""
    if rng is not None:
        return sample_levels(shares, sample_classes(log_proba, rng), rng)
    return np.asarray(np.argmax(np.exp(log_proba) @ shares, axis=1), np.int32)


def impute_numbers(
    column: Column,
    log_proba: Floats,
    expected: Floats,
    sample: Callable[[Codes, np.random.Generator], Mapping[str, NDArray[Any]]],
    rng: np.random.Generator | None,
) -> dict[str, NDArray[Any]]:
    """Return a column, missing values imputed by expectations (C,) or by draws."""
    values, missing = column.values.copy(), column.missing
    if rng is None:
        values[missing] = np.exp(log_proba[missing]) @ expected
    else:
        values[missing] = sample(sample_classes(log_proba[missing], rng), rng)[column.name]
    return {column.name: values}
