"""What a file holds of a classifier of tables, and how it is restored.

The tally is saved as it is; beside it stand plain forms of all that it is read by. Of a window
the size is saved, the rows are not. The names are those of format 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.data.table import Table
from suffice.errors import SufficeWarning, warn_caller
from suffice.estimators.features import Columns
from suffice.estimators.importance import increase_of, increase_saved
from suffice.estimators.saved_rows import answers_of, check_saved_rows, sample_of, saved_rows
from suffice.generative import persistence
from suffice.persist.checks import (
    check_columns,
    check_gross_scale,
    check_groups,
    check_kinds,
    refuse,
)
from suffice.table.counter import TableCounter
from suffice.table.fitted import TableFitted, Window
from suffice.table.held_out import cell_hashes
from suffice.table.residual_features import ResidualFeature, ResidualFeatures
from suffice.table.rows import TableRows
from suffice.table.saving.checks import (
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
from suffice.table.saving.columns import column_from, plain_column
from suffice.table.streams.early import hold_choices
from suffice.validation.row_sample import RowSample

FRAMES = ("numpy", "pandas", "polars", "pyarrow", "rows", "columns", "structured")
# The names that a file has for what was learned, the one that no fitted model lacks first.
FIELDS = (
    *(name for name in persistence.FIELDS if not name.startswith("calibration")),
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


def state_of(fitted: TableFitted) -> dict[str, Any]:
    """Return what is saved, by the names of `FIELDS`; the model is made of the tally again."""
    schema, choices = fitted.counter.schema, fitted.choices
    state = persistence.state_of(fitted)
    state |= {
        "weights_stale_": fitted.weights_stale,
        "frame_kind_": fitted.frame_kind,
        "gaps_": fitted.counter.missing_columns,
    }
    if fitted.window is not None:
        state["_window"] = fitted.window.size
        warn_caller(
            f"The rows in the window of {fitted.window.size} are not saved. Keep them: a loaded "
            "model has to be fitted to them again before it learns further rows, or it goes "
            "on without a window (window(None)).",
            SufficeWarning,
        )
    if fitted.loss_increase is not None:
        state["loss_increase"] = increase_saved(fitted.loss_increase)
    fields = [
        [f.name, f.kind, levels_saved(f.levels), format_saved(f.strings)] for f in schema.fields
    ]
    return state | {
        "schema": [schema.by_place, fields],
        "blocks": [[b.name, b.columns, b.settings] for b in fitted.counter.blocks],
        "choices": [
            [c.column, c.family, c.block, dict(c.evidence), c.why] for c in choices.columns
        ],
        "trials": [[t.what, t.before, t.after, t.taken] for t in choices.trials],
        "decided_rows": choices.rows,
        "combination": dict(vars(fitted.combination)),
        "features": [list(feature) for feature in fitted.features.columns],
    }


def rows_to_save(fitted: TableFitted, estimator_name: str) -> dict[str, Any]:
    """Return the kept rows as they are saved, the blocks' columns alone."""
    held = fitted if fitted.stream is None else hold_choices(fitted)
    sample = persistence.check_sample(held, estimator_name)
    table = held.counter.schema.recode(sample.rows.X.table)
    return saved_rows(sample, [plain_column(column) for column in table])


def check_state(state: dict[str, Any], families: Any) -> None:
    """Refuse what does not go together, before it is used: a file may say anything."""
    check_columns(state)
    check_kinds(state, _not_yet=str)
    if "_gross" in state:
        check_gross_scale(state["_gross"], state["tally_"])
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
    check_given(families)


def fitted_of(state: dict[str, Any]) -> tuple[TableFitted, Any]:
    """Return what was learned, without a model yet, and the saved rows if there are any."""
    tally, held_out = state["tally_"], state.get("held_out")
    schema = schema_of(state["schema"])
    counter = TableCounter(schema, state["gaps_"], blocks_of(state["blocks"]))
    chosen = state["choices"], state["trials"], state.get("decided_rows", 0)
    increase = state.get("loss_increase")
    size = state.get("_window")
    fitted = TableFitted(
        Columns.restore(state),
        counter,
        tally,
        closed=state["classes_closed_"],
        new_classes=state["new_classes_"],
        gross=state.get("_gross"),
        held_out=None if held_out is None else answers_of(held_out, tally.classes),
        choices=choices_of(*chosen, schema.names),
        frame_kind=state["frame_kind_"],
        combination=combination_of(state["combination"]),
        combined_classes=tally.classes,
        features=ResidualFeatures(tuple(ResidualFeature(*one) for one in state["features"])),
        weights_stale=state["weights_stale_"],
        loss_increase=None if increase is None else increase_of(increase, len(counter.columns)),
        window=None if size is None else Window(size, None),
    )
    return fitted, state.get("rows")


def sample_of_file(saved: Any, fitted: TableFitted) -> RowSample:
    """Return the kept rows of a file."""
    size = check_saved_rows(saved, fitted.classes)
    columns, schema = fitted.counter.columns, fitted.counter.schema
    names = tuple(dict.fromkeys(columns))
    cells = saved["cells"]
    if type(cells) is not list or len(cells) != len(names):
        refuse(f"Its kept rows are not of {len(names)} columns.")
    fields = {field.name: field for field in schema.fields}
    found = (
        column_from(one, name, fields.get(name), size)
        for one, name in zip(cells, names, strict=True)
    )
    rows = TableRows(Table(tuple(found), size, schema.by_place)).own()
    return sample_of(saved, rows, lambda rows: cell_hashes(rows.X.table, columns))
