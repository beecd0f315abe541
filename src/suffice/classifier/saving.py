"""What a classifier of tables saves: its tally, and plain forms of all that stands beside it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from suffice.blocks import Family
from suffice.classifier.choices import Choice, Choices, Trial
from suffice.classifier.families import family_of
from suffice.classifier.sheet import Sheet
from suffice.classifier.streams import Streams
from suffice.data.columns import GAP, Column
from suffice.data.schema import Field, Schema
from suffice.data.table import Table
from suffice.model.combination import Combination
from suffice.model.combination_choice import HOW
from suffice.saved.agreement import check_alike, check_groups, check_kinds, check_shapes
from suffice.saved.refusal import refuse
from suffice.skin.keeper import TallyKeeper
from suffice.skin.learner import TallyLearner
from suffice.tally import Blocks

KINDS = ("number", "integer", "boolean", "date", "category", "text")
FRAMES = ("numpy", "pandas", "polars", "pyarrow", "rows")
# A level is one of these.
LEVELS = (str, bool, int, float)


class SavesTables(Streams):
    """A classifier of tables that can be saved. Rows in a window are not."""

    _saved: ClassVar[tuple[str, ...]] = (
        *TallyLearner._saved,
        "weights_stale_",
        "frame_kind_",
        "gaps_",
        "schema",
        "blocks",
        "choices",
        "trials",
        "combination",
    )

    def _saved_state(self) -> dict[str, Any]:
        state = super()._saved_state()
        if not state:
            return state
        fields = [[f.name, f.kind, _levels(f.levels)] for f in self.schema_.fields]
        blocks = [[b.name, b.columns, b.settings] for b in self.blocks_]
        choices = [
            [c.column, c.family, c.block, dict(c.evidence), c.why] for c in self.choices_.columns
        ]
        trials = [[t.what, t.before, t.after, t.taken] for t in self.choices_.trials]
        return state | {
            "schema": [self.schema_.by_place, fields],
            "blocks": blocks,
            "choices": choices,
            "trials": trials,
            "combination": dict(vars(self.combination_)),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        state = dict(state)
        self.schema_ = _schema(state.pop("schema"))
        self.blocks_ = _blocks(state.pop("blocks"))
        choices, trials = state.pop("choices"), state.pop("trials")
        self.choices_ = Choices(
            tuple(Choice(*one) for one in choices), tuple(Trial(*one) for one in trials)
        )
        self.combination_ = Combination(**state.pop("combination"))
        self._combined = state["tally_"].classes
        super()._restore(state)

    def _check_saved(self, state: dict[str, Any]) -> None:
        TallyKeeper._check_saved(self, state)
        check_kinds(
            state,
            classes_closed_=bool,
            new_classes_=np.ndarray,
            weights_stale_=bool,
            gaps_=tuple,
            frame_kind_=str,
            schema=list,
            blocks=list,
            choices=list,
            trials=list,
            combination=dict,
        )
        groups = state["tally_"]
        check_groups(groups, 1)
        schema, blocks = _schema(state["schema"]), _blocks(state["blocks"])
        if state["frame_kind_"] not in FRAMES or not set(state["gaps_"]) <= set(schema.given):
            refuse("It has columns of gaps, or a kind of table, that there are none of.")
        if len(schema.given) != state["n_features_in_"]:
            refuse(f"It has {len(schema.given)} columns, where {state['n_features_in_']} are due.")
        self._check_tally(groups, schema, blocks, state["gaps_"])
        _check_combination(state["combination"], len(blocks), len(groups.classes))
        for one in state["choices"]:
            Choice(*one)
        for one in state["trials"]:
            Trial(*one)

    def _check_tally(
        self, groups: Any, schema: Schema, blocks: tuple[Family[Any], ...], gaps: tuple[str, ...]
    ) -> None:
        """Refuse a tally that is not what the blocks count."""
        if type(groups.parts) is not Blocks or len(groups.parts.parts) != len(blocks):
            refuse(f"Its tally is not one of {len(blocks)} blocks.")
        # What the blocks count of one row of gaps says what their tallies must look like.
        empty = Sheet(Table(tuple(_empty(field) for field in schema.fields), 1)).with_gaps(gaps)
        row = empty.table, np.zeros(1, np.int32), 1, np.empty(0)
        for family, part in zip(blocks, groups.parts.parts, strict=True):
            family.check(empty.table)
            check_alike(part, family.count(*row), len(groups.classes))


def _levels(levels: tuple[Any, ...]) -> Any:
    """Return levels as they are saved: many names as one array."""
    if levels and all(type(level) is str for level in levels):
        return np.array(levels, dtype=object)
    return levels


def _schema(saved: Any) -> Schema:
    by_place, fields = saved
    found = tuple(Field(name, kind, tuple(levels)) for name, kind, levels in fields)
    names = [field.name for field in found]
    for field in found:
        if type(field.name) is not str or field.kind not in KINDS or names.count(field.name) > 1:
            refuse(f"It has a column {field.name!r:.80} of kind {field.kind!r:.80}.")
        if len(set(field.levels)) < len(field.levels) or not all(
            isinstance(level, LEVELS) for level in field.levels
        ):
            refuse(f"Its column {field.name!r:.80} has levels twice, or of other types.")
    return Schema(found, bool(by_place))


def _blocks(saved: Any) -> tuple[Family[Any], ...]:
    found = tuple(family_of(name, columns, **settings) for name, columns, settings in saved)
    columns = [column for family in found for column in family.columns]
    if len(set(columns)) < len(columns):
        refuse("It has a column in two blocks.")
    return found


def _empty(field: Field) -> Column:
    if field.kind == "category":
        return Column(field.name, field.kind, np.full(1, GAP, np.int32), field.levels)
    if field.kind == "text":
        import pyarrow

        return Column(field.name, field.kind, pyarrow.nulls(1, pyarrow.large_string()))
    return Column(field.name, field.kind, np.full(1, np.nan))


def _check_combination(saved: dict[str, Any], blocks: int, classes: int) -> None:
    check_shapes(saved, weights=(blocks,), offsets=(classes,))
    found = Combination(**saved)
    if found.how not in HOW or not 0 <= found.lapse < 1:
        refuse(f"It combines by {found.how!r:.80}, with a lapse of {found.lapse!r:.80}.")
