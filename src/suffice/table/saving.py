"""What a classifier of tables saves: its tally, and plain forms of all that stands beside it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from suffice.errors import SufficeWarning, warn_caller
from suffice.estimators.importance import increase_of, increase_saved
from suffice.estimators.keeper import TallyKeeper
from suffice.estimators.keeps_rows import KeepsRows
from suffice.persist.agreement import check_groups, check_kinds
from suffice.persist.refusal import refuse
from suffice.table.features import Feature, Features
from suffice.table.saved_blocks import (
    blocks_of,
    check_combination,
    check_given,
    check_tally,
    choices_of,
    combination_of,
    features_of,
    format_saved,
    levels_saved,
    schema_of,
)
from suffice.table.streams import Streams

FRAMES = ("numpy", "pandas", "polars", "pyarrow", "rows", "columns", "structured")


class SavesTables(Streams):
    """A classifier of tables that can be saved. Of a window the size is, the rows are not."""

    _saved: ClassVar[tuple[str, ...]] = (
        *KeepsRows._saved,
        "weights_stale_",
        "frame_kind_",
        "gaps_",
        "schema",
        "blocks",
        "choices",
        "trials",
        "decided_rows",
        "combination",
        "features",
        "loss_increase",
        "_window",
    )

    def _saved_state(self) -> dict[str, Any]:
        state = super()._saved_state()
        if not state:
            return state
        if "_window" in state:
            warn_caller(
                f"The rows in the window of {self._window} are not saved. Keep them: a loaded "
                "model has to be fitted to them again before it learns further rows, or it goes "
                "on without a window (window(None)).",
                SufficeWarning,
            )
        fields = [
            [f.name, f.kind, levels_saved(f.levels), format_saved(f.strings)]
            for f in self.schema_.fields
        ]
        blocks = [[b.name, b.columns, b.settings] for b in self.blocks_]
        choices = [
            [c.column, c.family, c.block, dict(c.evidence), c.why] for c in self.choices_.columns
        ]
        if hasattr(self, "_loss_increase"):
            state["loss_increase"] = increase_saved(self._loss_increase)
        trials = [[t.what, t.before, t.after, t.taken] for t in self.choices_.trials]
        return state | {
            "schema": [self.schema_.by_place, fields],
            "blocks": blocks,
            "choices": choices,
            "trials": trials,
            "decided_rows": self.choices_.rows,
            "combination": dict(vars(self.combination_)),
            "features": [list(feature) for feature in self.features_.columns],
        }

    def _restore(self, state: dict[str, Any]) -> None:
        state = dict(state)
        self.schema_ = schema_of(state.pop("schema"))
        self.blocks_ = blocks_of(state.pop("blocks"))
        told = state.pop("choices"), state.pop("trials"), state.pop("decided_rows", 0)
        self.choices_ = choices_of(*told, self.schema_.names)
        self.combination_ = combination_of(state.pop("combination"))
        self.features_ = Features(tuple(Feature(*one) for one in state.pop("features")))
        self._combined = state["tally_"].classes
        if "loss_increase" in state:
            self._loss_increase = increase_of(state.pop("loss_increase"), len(self._columns()))
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
            decided_rows=int,
            combination=dict,
            features=list,
        )
        groups = state["tally_"]
        check_groups(groups, min(len(state["blocks"]), 1))  # every column may be left out
        if not (type(window := state.get("_window", 1)) is int and window > 0):
            refuse(f"It has a window of {window!r:.80} rows.")
        schema, blocks = schema_of(state["schema"]), blocks_of(state["blocks"])
        if state["frame_kind_"] not in FRAMES or not set(state["gaps_"]) <= set(schema.given):
            refuse("It has columns of gaps, or a kind of table, that there are none of.")
        if len(schema.given) != state["n_features_in_"]:
            refuse(f"It has {len(schema.given)} columns, where {state['n_features_in_']} are due.")
        check_tally(groups, schema, blocks, state["gaps_"])
        features = features_of(state["features"], schema, blocks)
        check_combination(state["combination"], len(blocks), len(groups.classes), features.width)
        choices_of(state["choices"], state["trials"], state.get("decided_rows", 0), schema.names)
        if "loss_increase" in state:
            increase_of(state["loss_increase"], sum(len(block.columns) for block in blocks))
        check_given(self.families)
