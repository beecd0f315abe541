"""What a file holds of a classifier of tables: saved, checked, and restored.

The tally is saved with plain forms of all that is needed to make a model of it. Of a window the
size is saved, the rows are not. Names are those of format 1. A file may hold anything, so all of it
is checked before a classifier is made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any, get_args

import numpy as np

from suffice.combine.combination import Combination
from suffice.combine.select import COMBINE_METHODS, UNFITTED
from suffice.data.columns import MISSING_CODE, NUMERIC, Column
from suffice.data.objects import Kind
from suffice.data.schema import OTHER, Field, Schema
from suffice.data.string_format import StringFormat
from suffice.data.table import Table
from suffice.errors import InputError, ShapeError, SufficeWarning, warn_caller
from suffice.estimators.features import Columns
from suffice.families import Family
from suffice.families.columns.by_name import check_settings
from suffice.generative import persistence
from suffice.generative.importance import increase_of, increase_saved
from suffice.generative.persistence import answers_of, check_saved_rows, sample_of, saved_rows
from suffice.persist.checks import (
    MAX_CELL,
    MAX_WEIGHT,
    check_alike,
    check_columns,
    check_gross_scale,
    check_groups,
    check_kinds,
    check_shapes,
    check_sizes,
    refuse,
)
from suffice.table.choices import Choice, Choices, Trial
from suffice.table.counter import TableCounter
from suffice.table.fitted import TableFitted, Window
from suffice.table.held_out import cell_hashes
from suffice.table.residual_features import ResidualFeature, ResidualFeatures
from suffice.table.rows import MISSING_SUFFIX, TableRows
from suffice.table.streams import hold_choices
from suffice.table.structure.families import TEXTS, family_of, given_families
from suffice.tally import Blocks
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
KINDS = get_args(Kind)
# What is fitted to scores of rows.
FITTED = ("weights", "offsets", "residual_coefficients")
# What fields of a combination, and its methods, were named in older files.
OLD_NAMES = {
    "how": "method",
    "lapse": "noise_rate",
    "spread": "weight_scale",
    "corrections": "residual_coefficients",
    "correction_spread": "residual_scale",
}
OLD_METHODS = {"corrected": "residual"}
# A level is one of these.
LEVELS = (str, bool, int, float)


# Saving.


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
    formats = [None if f.strings is None else list(astuple(f.strings)) for f in schema.fields]
    fields = [
        [
            f.name,
            f.kind,
            _saved_levels(f.levels),
            strings,
            *(() if f.kept is None else (list(f.kept),)),
        ]
        for f, strings in zip(schema.fields, formats, strict=True)
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
    return saved_rows(sample, [_saved_column(column) for column in table])


def _saved_levels(levels: tuple[Any, ...]) -> Any:
    """Return levels as they are saved: many names as one array."""
    if levels and all(type(level) is str for level in levels):
        return np.array(levels, dtype=object)
    return levels


def _saved_column(column: Column) -> Any:
    """Return the cells of a column, levels by their codes, as they are saved."""
    if column.kind != "text":
        return column.values
    texts = np.array([text or "" for text in column.values.to_pylist()], dtype=object)
    return [texts, column.missing]


# Loading.


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
    schema, blocks = schema_of(state["schema"]), _blocks_of(state["blocks"])
    if state["frame_kind_"] not in FRAMES or not set(state["gaps_"]) <= set(schema.given):
        refuse("It has columns of missing values, or a kind of table, that there are none of.")
    if len(schema.given) != state["n_features_in_"]:
        refuse(f"It has {len(schema.given)} columns, where {state['n_features_in_']} are due.")
    _check_tally(groups, schema, blocks, state["gaps_"])
    features = _features_of(state["features"], schema, blocks)
    _check_combination(state["combination"], len(blocks), len(groups.classes), features.width)
    _choices_of(state["choices"], state["trials"], state.get("decided_rows", 0), schema.names)
    if "loss_increase" in state:
        increase_of(state["loss_increase"], sum(len(block.columns) for block in blocks))
    _check_given(families)


def fitted_of(state: dict[str, Any]) -> tuple[TableFitted, Any]:
    """Return what was learned, without a model yet, and the saved rows if there are any."""
    tally, held_out = state["tally_"], state.get("held_out")
    schema = schema_of(state["schema"])
    counter = TableCounter(schema, state["gaps_"], _blocks_of(state["blocks"]))
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
        choices=_choices_of(*chosen, schema.names),
        frame_kind=state["frame_kind_"],
        combination=Combination(**_current_names(state["combination"])),
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
        _column_of(one, name, fields.get(name), size)
        for one, name in zip(cells, names, strict=True)
    )
    rows = TableRows(Table(tuple(found), size, schema.by_place)).own()
    return sample_of(saved, rows, lambda rows: cell_hashes(rows.X.table, columns))


def _column_of(saved: Any, name: str, field: Field | None, size: int) -> Column:
    """Return a column of so many cells that were saved, or refuse it; NAME:missing has no field."""
    kind = "boolean" if field is None else field.kind
    if field is not None and kind == "text":
        if type(saved) is not list or len(saved) != 2:
            refuse(f"Its kept rows have no cells in {name!r:.80}.")
        texts, missing = saved
        _check_cells(texts, "O", size, name)
        _check_cells(missing, "b", size, name)
        if not all(type(text) is str for text in texts):
            refuse(f"Its kept rows have cells in {name!r:.80} that are no texts.")
        import pyarrow as pa

        return Column(name, "text", pa.array(texts, pa.large_string(), mask=missing))
    if field is not None and kind == "category":
        _check_cells(saved, "i", size, name)
        if np.any((saved < MISSING_CODE) | (saved >= len(field.levels))):
            refuse(f"Its kept rows have levels of {name!r:.80} that there are none of.")
        return Column(name, "category", saved.astype(np.int32), field.levels)
    _check_cells(saved, "f", size, name)
    check_sizes({f"cells of {name!r:.80}": saved[~np.isnan(saved)]}, MAX_CELL)
    return Column(name, kind, saved.astype(np.float64))


def _check_cells(array: Any, kinds: str, size: int, name: str) -> None:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        refuse(f"Its kept rows have no cells in {name!r:.80}.")
    if array.shape != (size,):
        refuse(f"Its kept rows have {array.shape} cells in {name!r:.80}, where {size} are due.")


# Columns and blocks that a file names.


def schema_of(saved: Any) -> Schema:
    """Return the schema that was saved, if there can be such a one."""
    by_place, fields = saved
    if type(by_place) is not bool or type(fields) is not list or not fields:
        refuse("Its columns are no list of fields.")
    found = tuple(_field(*one) for one in fields)
    names: set[str] = set()
    for field in found:
        if field.name in names:
            refuse(f"It has two columns named {field.name!r:.80}.")
        names.add(field.name)
    return Schema(found, by_place)


def _field(name: Any, kind: Any, levels: Any, strings: Any = None, kept: Any = None) -> Field:
    """Return a field of the schema that was saved, or refuse it."""
    if type(name) is not str or kind not in KINDS:
        refuse(f"It has a column {name!r:.80} of kind {kind!r:.80}.")
    if not isinstance(levels, tuple | np.ndarray):
        refuse(f"Its column {name!r:.80} has levels of type {type(levels).__name__}.")
    known = tuple(levels)
    # A NaN is unequal to itself, and no level that could be found again.
    plain = all(isinstance(level, LEVELS) and level == level for level in known)
    if not plain or len(set(known)) < len(known) or (known and kind != "category"):
        refuse(f"Its column {name!r:.80} has levels twice, or of other types.")
    if kept is not None:
        words = type(kept) is list and all(type(level) is str for level in kept)
        if not words or kind != "category" or not {*known} <= {*kept, OTHER}:
            refuse(f"Its column {name!r:.80} keeps levels that it cannot keep.")
        kept = tuple(kept)
    return Field(name, kind, known, _format(name, kind, strings), kept)


def _format(name: str, kind: str, saved: Any) -> StringFormat | None:
    """Return how strings of a column are read, as it was saved, or refuse it."""
    if saved is None:
        return None
    try:
        found = StringFormat(*saved)
    except (TypeError, ShapeError) as error:
        refuse(f"Its column {name!r:.80} is of strings that are read as {saved!r:.80}: {error}")
    if kind not in NUMERIC:
        refuse(f"Its column {name!r:.80} of kind {kind!r} is of strings read as {found.kind!r}.")
    return found


def _blocks_of(saved: Any) -> tuple[Family[Any], ...]:
    """Return the blocks that were saved, with settings that only make sense by themselves."""
    found = tuple(_family(*one) for one in saved)
    for family, (_, _, settings) in zip(found, saved, strict=True):
        if family.settings.keys() != settings.keys():
            refuse(f"Its block {family.name!r} has the settings {sorted(settings)!r:.80}.")
    columns = [column for family in found for column in family.columns]
    if len(set(columns)) < len(columns):
        refuse("It has a column in two blocks.")
    return found


def _family(name: Any, columns: Any, settings: Any) -> Family[Any]:
    """Return the family of a block that was saved, or refuse it."""
    if type(columns) is not tuple or not all(type(column) is str for column in columns):
        refuse(f"It has a block of the columns {columns!r:.80}.")
    if type(name) is not str or type(settings) is not dict:
        refuse(f"It has a block of the family {name!r:.80}, or settings without names.")
    if name in TEXTS:
        _check_text(settings)
    family = family_of(name, columns, **settings)
    if family.name != name or not settings.keys() <= family.settings.keys():
        refuse(f"It has a block {name!r} with the settings {sorted(settings)!r:.80}.")
    return family


def _check_text(settings: Mapping[str, Any]) -> None:
    from suffice.text.vectorize.vocabulary import check_terms

    terms, fading = settings.get("terms", ()), settings.get("fading", 0.0)
    check_terms(np.array(terms, dtype=object) if isinstance(terms, list | tuple) else terms)
    if type(fading) not in (int, float) or not 0 <= fading <= 1:
        refuse(f"Its texts have a length discount of {fading!r:.80}.")


def _check_given(families: Any) -> None:
    """Refuse settings in the parameter `families` that a later fit could not use."""
    for columns, name, settings in given_families(families):
        if settings:
            _check_family(_family(name, columns, settings), None)


def _check_family(family: Family[Any], table: Table | None) -> None:
    """Refuse settings that the family cannot have taken from rows of this table."""
    try:
        if family.name not in TEXTS:
            check_settings(family, table)
        if table is not None:
            family.check(table)
    except InputError as error:
        refuse(str(error))


def _check_tally(
    groups: Any, schema: Schema, blocks: tuple[Family[Any], ...], missing_columns: tuple[str, ...]
) -> None:
    """Refuse a tally that is not what the blocks count, and blocks that are not of the columns."""
    if type(groups.parts) is not Blocks or len(groups.parts.parts) != len(blocks):
        refuse(f"Its tally is not one of {len(blocks)} blocks.")
    # What the blocks count of one row of missing values says what their tallies must look like.
    empty = TableRows(Table(tuple(_empty(field) for field in schema.fields), 1))
    empty = empty.with_missing_columns(missing_columns)
    row = empty.table, np.zeros(1, np.int32), 1, np.empty(0)
    for family, part in zip(blocks, groups.parts.parts, strict=True):
        _check_family(family, empty.table)
        like = family.count(*row)
        check_alike(part, like, len(groups.classes))
        if family.name in TEXTS:
            from suffice.text.classify.saved_state import check_lengths

            check_lengths(part.counts[:, 1:], part.counts[:, 0])
        if isinstance(like, Blocks):
            # Parts of parts have as many levels as they are counted with, too.
            for inner, same in zip(part.parts, like.parts, strict=True):
                check_alike(inner, same, len(groups.classes))


def _empty(field: Field) -> Column:
    """Return a column of one missing value."""
    if field.kind == "category":
        return Column(field.name, field.kind, np.full(1, MISSING_CODE, np.int32), field.levels)
    if field.kind == "text":
        import pyarrow

        return Column(field.name, field.kind, pyarrow.nulls(1, pyarrow.large_string()))
    return Column(field.name, field.kind, np.full(1, np.nan))


def _choices_of(saved: Any, trials: Any, rows: Any, known: Iterable[str]) -> Choices:
    """Return the choices that were saved, of columns that are known, and the trials."""
    columns = tuple(Choice(*one) for one in saved)
    there = {name + end for name in known for end in ("", MISSING_SUFFIX)}
    for one in columns:
        texts = (one.column, one.family, one.why, *one.block, *one.evidence)
        if type(one.block) is not tuple or not all(type(text) is str for text in texts):
            refuse(f"It chose {one.family!r:.80} for the column {one.column!r:.80}.")
        if not all(isinstance(nats, float) for nats in one.evidence.values()):
            refuse(f"Its evidence for the column {one.column!r:.80} is no number.")
        if not {one.column, *one.block} <= there:
            refuse(f"It chose a family for {one.column!r:.80}, which is no column.")
    tried = tuple(Trial(*one) for one in trials)
    for trial in tried:
        losses = isinstance(trial.before, float) and isinstance(trial.after, float)
        if type(trial.what) is not str or type(trial.taken) is not bool or not losses:
            refuse(f"It tried {trial.what!r:.80}, with losses that are no numbers.")
    if type(rows) is not int or rows < 0:
        refuse(f"It chose families from {rows!r:.80} rows.")
    return Choices(columns, tried, rows)


def _features_of(saved: Any, schema: Schema, blocks: Iterable[Family[Any]]) -> ResidualFeatures:
    """Return the features that were saved, of columns that the blocks have."""
    fields = {field.name: field for field in schema.fields}
    known = {name for family in blocks for name in family.columns}
    found = ResidualFeatures(tuple(ResidualFeature(*one) for one in saved))
    for one in found.columns:
        if type(one.column) is not str or one.column not in known:
            refuse(f"Its residuals are of {one.column!r:.80}, which is no column of a block.")
        field = fields.get(one.column)  # columns of missing values have none
        category = field is not None and field.kind == "category"
        most = len(field.levels) if field is not None and category else 0
        if type(one.levels) is not int or not category <= one.levels <= most:
            refuse(f"Its residuals are of {one.levels!r:.80} levels of {one.column!r:.80}.")
        numbers = isinstance(one.centre, float) and isinstance(one.scale, float)
        if not numbers or not abs(one.centre) < np.inf or not 0 < one.scale < np.inf:
            refuse(f"It measures {one.column!r:.80} from {one.centre!r:.80}.")
        if type(one.logarithm) is not bool:
            refuse(f"It takes logarithms of {one.column!r:.80}: {one.logarithm!r:.80}.")
    if len({one.column for one in found.columns}) < len(found.columns):
        refuse("It has residuals of a column twice.")
    return found


def _current_names(saved: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a combination, of this or of an older file, by their names now."""
    found = {OLD_NAMES.get(name, name): value for name, value in saved.items()}
    method = found.get("method")
    return found | {"method": OLD_METHODS.get(method, method)} if type(method) is str else found


def _check_combination(saved: dict[str, Any], blocks: int, classes: int, features: int) -> None:
    """Refuse weights and offsets that are not one finite number for each block and class.

    Residual coefficients are for each feature and class, or there are none.
    """
    saved = _current_names(saved)
    none = np.size(saved.get("residual_coefficients", ())) == 0
    residual = (0, classes) if none else (features, classes)
    check_shapes(saved, weights=(blocks,), offsets=(classes,), residual_coefficients=residual)
    found = Combination(**saved)
    known = found.method in (*COMBINE_METHODS, *UNFITTED)
    if not known or not 0 <= found.noise_rate < 1:
        refuse(
            f"It combines by {found.method!r:.80}, with a noise rate of {found.noise_rate!r:.80}."
        )
    # They are of the size of 1; products of such large ones would be beyond all floats.
    check_sizes({name: getattr(found, name) for name in FITTED}, MAX_WEIGHT)
    if not min(found.weight_scale, found.residual_scale) >= 0:
        refuse("It combines with a prior scale that is out of range.")
    if not isinstance(found.held_out_log_loss, float):
        refuse(f"Its held-out log-loss is {found.held_out_log_loss!r:.80}.")
