"""What a classifier of tables has learned: p(x | class) of its blocks, and one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from suffice import _core
from suffice.combine.combination import Combination
from suffice.data.rows import Rows
from suffice.data.schema import OTHER
from suffice.errors import InputError
from suffice.families import Posterior
from suffice.families.class_conditional import ClassConditional, ColumnScores, LearnedRows, LeftOut
from suffice.families.columns.family import AddScores, Cells
from suffice.generative.fitted import Batch, Fitted, Generative, Labels
from suffice.scoring.scorer import Answer, Answers
from suffice.table.choices import Choices
from suffice.table.counter import TableCounter
from suffice.table.one_row import RowScorer
from suffice.table.residual_features import ResidualFeature, ResidualFeatures
from suffice.table.rows import TableRows
from suffice.table.structure.search import Structure
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.tally import Groups
from suffice.tally.tally import Floats, Index
from suffice.validation.importance import LossIncrease

NO_FEATURES = ResidualFeatures()
# What adds the scores of a column's cells, with its name.
ScorersByColumn = list[tuple[str, AddScores]]
# What these scores are computed from.
RESIDUAL_FIELDS = {"counter", "features", "combination"}
# Rows as they were given, batch by batch, and the classes that they are coded by.
GivenRows = tuple[tuple[Rows, Labels], ...]


@dataclass(frozen=True, eq=False)
class BlockScorer:
    """Answers rows of a table by the log p(x | class) of all blocks.

    Parameters
    ----------
    posteriors : of the blocks
    relative : bool
        Whether a term that all classes of a row share may be left out.
    """

    posteriors: tuple[Posterior[Any], ...]
    relative: bool = False
    reads_sparse: ClassVar[bool] = False

    def answer(self, X: TableRows, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows; none is refused."""
        joint = np.tile(log_prior, (len(X), 1))
        for one in self.posteriors:
            joint += one.relative_scores(X.table) if self.relative else one.scores(X.table)
        return _core.answer_scores(joint, log_prior, answer)


@dataclass(frozen=True, eq=False)
class IndependentBlocks(ClassConditional):
    """The product of the distributions of blocks: p(x | class) = prod_b p(x_b | class).

    Parameters
    ----------
    posteriors : what the tally says of each block (C classes)
    """

    posteriors: tuple[Posterior[Any], ...]

    def scorer(self) -> BlockScorer:
        """Return what adds log p(x | class), up to a term that all classes share."""
        return BlockScorer(self.posteriors, relative=True)

    def density(self) -> BlockScorer:
        """Return what adds log p(x | class)."""
        return BlockScorer(self.posteriors)

    def split(self, cells: Any) -> ColumnScores:
        """Return what the columns of one row (`TableRows`) add to log p(x | class), by block."""
        parts = [one.split(cells.table)[0].T for one in self.posteriors]
        found = np.concatenate(parts) if parts else np.empty((0, 0))
        return ColumnScores(np.arange(len(found)), found)

    def linear_form(self) -> NoReturn:
        """Say why there is no logistic regression of the same probabilities."""
        raise InputError(
            "A table of mixed columns is linear in no statistics of the columns alone. Use a naive "
            "Bayes classifier of one kind of column for the bridge."
        )

    def sample(self, codes: Index, rng: np.random.Generator) -> Cells:
        """Draw a row of each of these classes: the cells of each column by name, (n,)."""
        cells: Cells = {}
        for one in self.posteriors:
            cells |= one.sample(codes.astype(np.int32), rng)
        return cells

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        return float(sum(one.log_evidence for one in self.posteriors))

    @property
    def n_parameters(self) -> int:
        """How many free parameters all classes have."""
        return int(sum(one.n_parameters for one in self.posteriors))

    def with_tally(self, groups: Groups[Any], kept: Index) -> Self:
        """Return the distributions of another tally, of classes `kept`, under the same priors."""
        pairs = zip(self.posteriors, groups.parts.parts, strict=True)
        return type(self)(tuple(one.with_tally(part) for one, part in pairs))

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row, (n, C), without the row; the priors are held."""
        rows = learned.rows
        scores = np.zeros((rows.shape[0], len(learned.tally.classes)))
        for one in self.posteriors:
            scores += one.leave_one_out(rows.X.table, rows.codes, rows.weights)
        return LeftOut(scores, np.zeros(rows.shape[0], np.bool_))


@dataclass(frozen=True, eq=False)
class TableBatch(Batch):
    """Labelled rows of a table, and which columns form blocks if that was chosen by them.

    Parameters
    ----------
    frame_kind : what kind of table was given (`frame_kind`)
    structure : Structure, or None of rows that nothing is chosen by
    """

    counter: TableCounter
    frame_kind: str = "numpy"
    structure: Structure | None = None


class StreamState(NamedTuple):
    """How far a stream has come whose families will be decided again (`streams`)."""

    seen: int
    """Rows that were learned, those that are forgotten by now among them."""
    decided: int
    """How many they were when families were decided last."""
    declared: frozenset[str]
    """Columns that were given as categories, whatever their strings look like."""


class Window(NamedTuple):
    """The last rows, which alone count (`streams`)."""

    size: int
    """How many rows it holds at most, whatever their weights."""
    rows: GivenRows | None
    """The rows, oldest first; None after loading, since no file has them."""


@dataclass(frozen=True, eq=False)
class TableFitted(Fitted):
    """All that a classifier of tables has learned.

    Parameters
    ----------
    counter : TableCounter
        Columns, levels and blocks.
    choices : what was chosen for each column, what else was tried, and why
    frame_kind : what kind of table was given first
    combination : how the blocks' log-likelihoods are put together
    combined_classes : (C,)
        The classes that the combination was fitted to.
    features : what residual coefficients of the combination are of
    weights_stale : bool
        Whether rows were learned or forgotten since the combination was fitted.
    loss_increase : what held-out rows lost without each column, measured with the combination
    stream : StreamState, if families will be decided again
        The `sample` then has all rows that were learned and not forgotten, with all columns and
        with strings as they were given; otherwise the blocks' columns alone.
    window : Window, if old rows are forgotten
    """

    counter: TableCounter
    choices: Choices = field(default_factory=lambda: Choices(()))
    frame_kind: str = "numpy"
    combination: Combination = field(default_factory=lambda: Combination.naive(0, 0))
    combined_classes: Labels = field(default_factory=lambda: np.empty(0))
    features: ResidualFeatures = NO_FEATURES
    weights_stale: bool = False
    loss_increase: LossIncrease | None = None
    stream: StreamState | None = None
    window: Window | None = None
    search: SearchSettings = DEFAULT_SEARCH

    @classmethod
    def start(cls, fitted: Fitted, batch: TableBatch) -> TableFitted:
        """Return what was learned of the first rows, nothing combined yet."""
        assert batch.structure is not None
        assert isinstance(fitted.counter, TableCounter)
        return cls(
            fitted.columns,
            fitted.counter,
            fitted.tally,
            closed=fitted.closed,
            new_classes=fitted.new_classes,
            choices=batch.structure.choices,
            search=batch.structure.settings,
            frame_kind=batch.frame_kind,
        )

    @property
    def is_calibrated(self) -> bool:
        """Whether probabilities are adjusted: they are those of the combination."""
        return True

    @property
    def generative(self) -> Generative:
        """p(class) and p(x | class)."""
        assert self.model is not None
        return self.model

    @property
    def posteriors(self) -> tuple[Posterior[Any], ...]:
        """The posterior predictive distribution of each block."""
        blocks = self.generative.features
        assert isinstance(blocks, IndependentBlocks)
        return blocks.posteriors

    @property
    def log_prior(self) -> Floats:
        """Log p(class), (C,)."""
        return self.generative.log_prior

    @cached_property
    def residuals(self) -> list[tuple[ResidualFeature, Floats]]:
        """The features that have coefficients, each with its own, (width, C)."""
        found = self.features.by_column(self.combination.residual_coefficients)
        return [(one, found[one.column]) for one in self.features.columns if found]

    @cached_property
    def residual_scorers(self) -> tuple[ScorersByColumn, ScorersByColumn]:
        """What adds the residual scores of cells, by column: of numbers, and of levels."""
        numbers: ScorersByColumn = []
        levels: ScorersByColumn = []
        for one, coefficients in self.residuals:
            kept = self.counter.schema[one.column]
            default = None if kept.kept is None else OTHER
            add = one.cell_scorer(coefficients, kept.levels, default)
            (levels if kept.kind == "category" else numbers).append((one.column, add))
        return numbers, levels

    def replace(self, **changes: Any) -> Self:
        """Return the same with some fields changed; itself if none is."""
        found = super().replace(**changes)
        if RESIDUAL_FIELDS.isdisjoint(changes) and "residual_scorers" in vars(self):
            vars(found)["residual_scorers"] = self.residual_scorers
        return found

    @cached_property
    def row_scorer(self) -> RowScorer | None:
        """What scores one row of plain cells, where that is quicker."""
        return RowScorer.of(self)

    def keep_used(self, tally: Groups[Any]) -> Self:
        """Return the value without what it knows of levels that no row of a tally has."""
        counter = self.counter.shrink(tally)
        if counter.blocks is self.counter.blocks:
            return self.replace(counter=counter)
        used = self.counter.levels_in_use(tally.parts)
        kept = self.combination.residual_coefficients
        found, kept = self.features.keep_levels(used, kept)
        combination = replace(self.combination, residual_coefficients=kept)
        return self.replace(counter=counter, features=found, combination=combination)


def as_table_fitted(fitted: Fitted) -> TableFitted:
    """Return what a classifier of tables has learned, known to be so."""
    assert isinstance(fitted, TableFitted)
    return fitted
