"""Learning a table: blocks of columns, and one tally a block."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.data.schema import Schema
from suffice.data.table import Table
from suffice.errors import MergeError, ShapeError
from suffice.estimators.cross_validates import scored
from suffice.estimators.folds import Experiment
from suffice.estimators.intake import labelled_rows
from suffice.estimators.keeps_rows import KeepsRows
from suffice.estimators.learner import named_alike
from suffice.estimators.undo import all_or_nothing
from suffice.families import Family, Posterior
from suffice.families.family import Mask
from suffice.persist.refusal import refuse
from suffice.table.choices import Choices
from suffice.table.class_prior import class_log_prior
from suffice.table.held_out import HeldOut, cell_hashes
from suffice.table.saved_columns import column_from, plain_column
from suffice.table.sheet import GAP_OF, Sheet, first_sheet, later_sheet, warn_unreadable
from suffice.table.structure.arranging import IGNORE, arranged
from suffice.table.sum_names import sum_name
from suffice.tally import Blocks, Groups
from suffice.tally.tally import Floats, Index
from suffice.validation.row_sample import RowSample


class AtHand(NamedTuple):
    """Rows that were counted, and those of them that blocks were chosen on, if all of them."""

    rows: Rows
    held_out: HeldOut | None


class TableLearner(KeepsRows):
    """A classifier that learns blocks of a table's columns.

    Families and their settings are chosen from the rows of the first fit and held; the tally is
    one of `Blocks`; what is read off it are `readings_`.
    """

    _takes_sparse = False
    _tally_settings: ClassVar[tuple[str, ...]] = ("missing",)
    # The blocks that were chosen are compared, not how they were.
    _free_settings: ClassVar[tuple[str, ...]] = ("families", "budget")

    families: Any
    missing: str
    budget: int
    combine: str
    estimate: str
    schema_: Schema
    blocks_: tuple[Family[Any], ...]
    choices_: Choices
    # The rows that were counted last; only while they are learned.
    _at_hand: AtHand

    # Taking in

    def _take_features(self, X: Any, *, reset: bool) -> Sheet:
        return self._sheet(X, reset=reset, grow=False)

    def _take_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        # Rows with labels may bring new levels; whoever calls puts back what then goes wrong.
        return labelled_rows(self, self._sheet(X, reset=reset, grow=True), y, sample_weight)

    def _sheet(self, X: Any, *, reset: bool, grow: bool, warn: bool = True) -> Sheet:
        if reset:
            self.__dict__.pop("blocks_", None)
            self.schema_, sheet = first_sheet(self, X)
            warn_unreadable(sheet.table)
            self.gaps_ = self._columns_with_gaps(sheet)
            return sheet.with_gaps(self.gaps_)
        # Columns that are left out have no levels that could be forgotten again.
        learned = set(self._columns())
        # A column may be looked at for its gaps or for its weekday alone.
        bases = learned | {name.rpartition(":")[0] for name in learned}
        unused = {field.name for field in self.schema_.fields} - bases
        grown = learned if grow else ()
        self.schema_, sheet = later_sheet(self, X, self.schema_, grow=grown, unused=unused)
        if warn:
            warn_unreadable(sheet.table)
        sheet = sheet.with_gaps(self.gaps_)
        if grow:
            self.blocks_ = tuple(family.with_levels_of(sheet.table) for family in self.blocks_)
        return sheet

    def _columns_with_gaps(self, sheet: Sheet) -> tuple[str, ...]:
        """Return the columns whose gaps may be columns of their own."""
        if self.missing == "ignore":
            return ()
        asked = () if isinstance(self.families, str) else self.families
        names = {f"{key[0] if isinstance(key, tuple) else key}" for key in asked}
        given = set(self.schema_.given)
        return tuple(
            c.name
            for c in sheet.table
            if c.name in given and (c.any_missing or c.name + GAP_OF in names)
        )

    def _learned_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        known = self.schema_, self.blocks_
        with all_or_nothing(self):
            rows = super()._learned_rows(X, y, sample_weight)
        # Rows of weight 0 may have levels that nobody has learned.
        self.schema_, self.blocks_ = known
        self.__dict__.pop("_at_hand", None)
        return rows

    # Keeping a sample

    def _columns(self) -> tuple[str, ...]:
        """Return the names of the blocks' columns."""
        return tuple(name for family in self.blocks_ for name in family.columns)

    def _row_hashes(self, rows: Rows) -> Hashes:
        return cell_hashes(rows.X.table, self._columns())

    def _rows_to_keep(self, rows: Rows) -> Rows:
        names = tuple(dict.fromkeys(self._columns()))
        return replace(rows, X=Sheet(rows.X.table.select(names)))

    def _kept_rows(self, sample: RowSample) -> Rows:
        rows = super()._kept_rows(sample)
        return replace(rows, X=Sheet(self.schema_.recode(rows.X.table)))

    def _plain_cells(self, X: Any) -> Any:
        return [plain_column(column) for column in self.schema_.recode(X.table)]

    def _cells_from(self, saved: Any, size: int) -> Any:
        names = tuple(dict.fromkeys(self._columns()))
        if type(saved) is not list or len(saved) != len(names):
            refuse(f"Its kept rows are not of {len(names)} columns.")
        fields = {field.name: field for field in self.schema_.fields}
        columns = (
            column_from(one, name, fields.get(name), size)
            for one, name in zip(saved, names, strict=True)
        )
        return Sheet(Table(tuple(columns), size, self.schema_.by_place)).own()

    def _keeps_sample(self) -> bool:
        return False  # not yet: `_changed` makes it of the first rows, with what else they are for

    # Unlearning levels

    def _keep_learned(self, groups: Groups[Any], *, first: bool = False) -> Groups[Any]:
        used = self._levels_in_use(groups.parts)
        schema = self.schema_.keep_levels(used)
        found = [
            family.keep_levels(part, used)
            for family, part in zip(self.blocks_, groups.parts.parts, strict=True)
        ]
        places = [index for _, index in found]
        self.schema_ = schema
        if all(index is None for index in places):
            return groups
        self.blocks_ = tuple(family for family, _ in found)
        if hasattr(self, "_gross"):
            self._gross = _levels_at(self._gross, places)
        if hasattr(self, "_at_hand"):
            self._at_hand = AtHand(self._by_schema(self._at_hand.rows), None)
        if not first:
            self._forget_levels(used)
        return _levels_at(groups, places)

    def _levels_in_use(self, tally: Blocks[Any]) -> dict[str, Mask]:
        """Say, for each column of levels or terms, which of them the tally has rows of.

        Truth values, weekdays and months have their levels whether there are rows of them or not.
        A category that is left out has none.
        """
        fields = {field.name: field for field in self.schema_.fields}
        found = {
            name: np.zeros(len(field.levels), np.bool_)
            for name, field in fields.items()
            if field.kind == "category"
        }
        for family, part in zip(self.blocks_, tally.parts, strict=True):
            for name, used in family.levels_in_use(part).items():
                levels = found.get(name, used)
                found[name] = np.pad(used, (0, len(levels) - len(used)))
        given = {name for name in self.schema_.given if fields[name].kind != "boolean"}
        return {name: used | (name not in given) for name, used in found.items()}

    def _by_schema(self, rows: Rows) -> Rows:
        """Return rows that were taken in before, with levels by the codes that they have now."""
        sheet = Sheet(self.schema_.take(rows.X.table)).with_gaps(self.gaps_)
        return replace(rows, X=sheet)

    def _forget_levels(self, used: Mapping[str, Mask]) -> None:
        """Do what else is due when levels are unlearned, given those that stay."""

    # Counting and reading

    def _count(self, rows: Rows) -> tuple[Floats, Blocks[Any]]:
        held_out = None if hasattr(self, "blocks_") else self._arrange(rows)
        # Kept until `_changed`, which then need not read the rows a second time.
        self._at_hand = AtHand(rows, held_out)
        weights = rows.weights
        total = np.bincount(
            rows.codes, weights if weights.size else None, minlength=rows.classes
        ).astype(np.float64)
        given = rows.X.table, rows.codes, rows.classes, weights
        return total, Blocks(tuple(family.count(*given) for family in self.blocks_))

    def _arrange(self, rows: Rows) -> HeldOut | None:
        """Choose the families of all columns, and which columns form blocks.

        Returned are the held-out rows that they were chosen on, if those are of all rows.
        """
        given = self.families, self.budget, rows, self.combine
        self.blocks_, choices, held_out = arranged(*given)
        choices = choices.with_notes({c.name: c.note for c in rows.X.table if c.note})
        weights = rows.weights
        size = int(np.count_nonzero(weights)) if weights.size else rows.shape[0]
        self.choices_ = replace(choices, rows=size)
        return held_out

    def _read(self, groups: Groups[Any]) -> None:
        pairs = zip(self.blocks_, groups.parts.parts, strict=True)
        found = (family.posterior(t) for family, t in pairs)
        plug = self.estimate == "mean"
        self.readings_: tuple[Posterior[Any], ...] = tuple(
            reading.as_plug_in() if plug else reading for reading in found
        )

    def _name_of_sum(self, path: tuple[int, ...], at: tuple[int, ...]) -> str:
        part = path[1] if len(path) > 1 else None
        return sum_name(self.blocks_[path[0]], self.schema_, part, at)

    def _class_prior_is_given(self) -> bool:
        return False

    def _log_prior(self) -> Floats:
        return class_log_prior(self.tally_.weights)

    @property
    def families_(self) -> dict[Any, Any]:
        """What to give as `families` to a model that is to count exactly what this one counts."""
        check_is_fitted(self, "tally_")
        found: dict[Any, Any] = {
            family.columns: {"family": family.name, **family.settings} for family in self.blocks_
        }
        left_out = (c.column for c in self.choices_.columns if c.family == IGNORE)
        return found | {(column,): IGNORE for column in left_out}

    # Merging

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        Both must have counted the same blocks: `GenerativeClassifier(families=first.families_)`
        takes over what the first has chosen. The other model is left as it was.
        """
        check_is_fitted(self, "tally_")
        self._check_mergeable(other)
        with all_or_nothing(self):
            self._merge(other)
            self._changed()
        return self

    def _merge(self, other: Self) -> None:
        try:
            schema = self.schema_.merge(other.schema_)
            places = other.schema_.translations(schema)
            pairs = list(zip(self.blocks_, other.blocks_, strict=True))
            both = []
            for tally in (other.tally_, other._scale_with()):
                blocks = zip(pairs, tally.parts.parts, strict=True)
                found = [mine.merge(theirs, part, places) for (mine, theirs), part in blocks]
                parts = Blocks(tuple(part for _, part in found))
                both.append(Groups(tally.classes, tally.weights, parts))
        except ShapeError as error:
            raise MergeError(f"Cannot merge: {error}") from error
        self.schema_, self.blocks_ = schema, tuple(family for family, _ in found)
        theirs, scale = (named_alike(tally, self.classes_) for tally in both)
        groups = self._merge_tally(other, theirs, scale)
        self.classes_closed_ = self.classes_closed_ and other.classes_closed_
        self.new_classes_ = np.setdiff1d(groups.classes, self.classes_)
        self._merge_rows(other)
        self._settle(self._keep_learned(groups))

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        mine, theirs = (
            [f"{family.name} of {', '.join(family.columns)}" for family in model.blocks_]
            for model in (self, other)
        )
        if mine != theirs:
            odd = next(iter([block for block in mine if block not in theirs] or theirs))
            raise MergeError(
                f"Cannot merge: only one of the models has a block {odd}. Learn the second with "
                "families=first.families_."
            )

    # Validating

    def _taken_in(self) -> dict[str, Any]:
        kept = ("schema_", "gaps_")
        return super()._taken_in() | {name: vars(self)[name] for name in kept}

    def _scores(self, models: list[Any], experiment: Experiment) -> tuple[Floats, Floats, Floats]:
        scores = np.empty((3, len(models), experiment.folds))
        for fold in range(experiment.folds):
            classes = experiment.learned_classes(fold)
            learn, ask = experiment.others(fold, classes), experiment.fold(fold)
            counted: dict[Any, tuple[Any, ...]] = {}
            for at, model in enumerate(models):
                one = copy(model)
                one.gaps_ = one._columns_with_gaps(one._as_given(learn).X)
                # Settings that count the same share what was chosen and counted.
                key = one._counted_by()
                if key not in counted:
                    one._arrange(one._with_gaps(learn))
                    counted[key] = one.blocks_, one.choices_, one._count(one._with_gaps(learn))
                one.blocks_, one.choices_, tally = counted[key]
                one._settle(Groups(classes, *tally))
                one._finish(one._with_gaps(learn))
                scores[:, at, fold] = scored(one, experiment.classes, one._with_gaps(ask))
        return scores[0], scores[1], scores[2]

    def _as_given(self, rows: Rows) -> Rows:
        """Return rows without columns of gaps."""
        names = {field.name for field in self.schema_.fields}
        table = rows.X.table
        columns = tuple(column for column in table.columns if column.name in names)
        return replace(rows, X=Sheet(replace(table, columns=columns)))

    def _with_gaps(self, rows: Rows) -> Rows:
        """Return rows with the columns of gaps that this model looks at, and no others."""
        plain = self._as_given(rows)
        return replace(plain, X=plain.X.with_gaps(self.gaps_))

    def _counted_by(self) -> Any:
        return pickle.dumps((self.families, self.budget, self.missing))


def _levels_at(groups: Groups[Any], places: list[Index | None]) -> Groups[Any]:
    """Return a tally with the levels at these places of each block alone; None is all."""
    parts = tuple(
        part if index is None else part.levels_at(index)
        for part, index in zip(groups.parts.parts, places, strict=True)
    )
    return Groups(groups.classes, groups.weights, Blocks(parts))
