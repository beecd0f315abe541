"""What a file says of columns and blocks: checked before a classifier is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any, get_args

import numpy as np

from suffice.combine.combination import Combination
from suffice.combine.select import COMBINE_METHODS, UNFITTED
from suffice.data.columns import MISSING_CODE, NUMERIC, Column
from suffice.data.objects import Kind
from suffice.data.schema import Field, Schema
from suffice.data.string_format import StringFormat
from suffice.data.table import Table
from suffice.errors import InputError, ShapeError
from suffice.families import Family
from suffice.families.columns.settings import check_settings
from suffice.persist.checks import MAX_WEIGHT, check_alike, check_shapes, check_sizes, refuse
from suffice.table.choices import Choice, Choices, Trial
from suffice.table.families import TEXTS, family_of
from suffice.table.residual_features import ResidualFeature, ResidualFeatures
from suffice.table.rows import MISSING_SUFFIX, TableRows
from suffice.tally import Blocks

KINDS = get_args(Kind)
# What is fitted to scores of rows.
FITTED = ("weights", "offsets", "residual_coefficients")
# What fields of a combination were named in older files.
OLD_NAMES = {
    "how": "method",
    "lapse": "noise_rate",
    "spread": "weight_scale",
    "corrections": "residual_coefficients",
    "correction_spread": "residual_scale",
}
# A level is one of these.
LEVELS = (str, bool, int, float)


def levels_saved(levels: tuple[Any, ...]) -> Any:
    """Return levels as they are saved: many names as one array."""
    if levels and all(type(level) is str for level in levels):
        return np.array(levels, dtype=object)
    return levels


def format_saved(strings: StringFormat | None) -> Any:
    """Return the format of strings as it is saved."""
    return None if strings is None else list(astuple(strings))


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


def _field(name: Any, kind: Any, levels: Any, strings: Any = None) -> Field:
    if type(name) is not str or kind not in KINDS:
        refuse(f"It has a column {name!r:.80} of kind {kind!r:.80}.")
    if not isinstance(levels, tuple | np.ndarray):
        refuse(f"Its column {name!r:.80} has levels of type {type(levels).__name__}.")
    known = tuple(levels)
    # A NaN is unequal to itself, and no level that could be found again.
    if not all(isinstance(level, LEVELS) and level == level for level in known):
        refuse(f"Its column {name!r:.80} has levels twice, or of other types.")
    if len(set(known)) < len(known) or (known and kind != "category"):
        refuse(f"Its column {name!r:.80} has levels twice, or of other types.")
    return Field(name, kind, known, _format(name, kind, strings))


def _format(name: str, kind: str, saved: Any) -> StringFormat | None:
    if saved is None:
        return None
    try:
        found = StringFormat(*saved)
    except (TypeError, ShapeError) as error:
        refuse(f"Its column {name!r:.80} is of strings that are read as {saved!r:.80}: {error}")
    if kind not in NUMERIC:
        refuse(f"Its column {name!r:.80} of kind {kind!r} is of strings read as {found.kind!r}.")
    return found


def blocks_of(saved: Any) -> tuple[Family[Any], ...]:
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
    from suffice.text.saved_terms import check_terms

    terms, fading = settings.get("terms", ()), settings.get("fading", 0.0)
    check_terms(np.array(terms, dtype=object) if isinstance(terms, list | tuple) else terms)
    if type(fading) not in (int, float) or not 0 <= fading <= 1:
        refuse(f"Its words fade by {fading!r:.80}.")


def check_given(families: Any) -> None:
    """Refuse settings in the parameter `families`, from which a model would be fitted anew."""
    for key, given in families.items() if isinstance(families, Mapping) else ():
        settings = dict(given) if isinstance(given, Mapping) else {}
        name = settings.pop("family", None)
        if settings:
            columns = key if isinstance(key, tuple) else (key,)
            _check(_family(name, tuple(map(str, columns)), settings), None)


def _check(family: Family[Any], table: Table | None) -> None:
    """Refuse settings that the family cannot have taken from rows of this table."""
    try:
        if family.name not in TEXTS:
            check_settings(family, table)
        if table is not None:
            family.check(table)
    except InputError as error:
        refuse(str(error))


def check_tally(
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
        _check(family, empty.table)
        like = family.count(*row)
        check_alike(part, like, len(groups.classes))
        if family.name in TEXTS:
            _check_documents(part)
        if isinstance(like, Blocks):
            # Parts of parts have as many levels as they are counted with, too.
            for inner, same in zip(part.parts, like.parts, strict=True):
                check_alike(inner, same, len(groups.classes))


def _check_documents(counts: Any) -> None:
    from suffice.text.term_tally import check_lengths

    check_lengths(counts.counts[:, 1:], counts.counts[:, 0])


def _empty(field: Field) -> Column:
    if field.kind == "category":
        return Column(field.name, field.kind, np.full(1, MISSING_CODE, np.int32), field.levels)
    if field.kind == "text":
        import pyarrow

        return Column(field.name, field.kind, pyarrow.nulls(1, pyarrow.large_string()))
    return Column(field.name, field.kind, np.full(1, np.nan))


def choices_of(saved: Any, trials: Any, rows: Any, known: Iterable[str]) -> Choices:
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


def features_of(saved: Any, schema: Schema, blocks: Iterable[Family[Any]]) -> ResidualFeatures:
    """Return the features that were saved, of columns that the blocks have."""
    fields = {field.name: field for field in schema.fields}
    known = {name for family in blocks for name in family.columns}
    found = ResidualFeatures(tuple(ResidualFeature(*one) for one in saved))
    for one in found.columns:
        if type(one.column) is not str or one.column not in known:
            refuse(f"It corrects {one.column!r:.80}, which is no column of a block.")
        field = fields.get(one.column)  # columns of missing values have none
        category = field is not None and field.kind == "category"
        most = len(field.levels) if field is not None and category else 0
        if type(one.levels) is not int or not category <= one.levels <= most:
            refuse(f"It corrects {one.levels!r:.80} levels of {one.column!r:.80}.")
        numbers = isinstance(one.centre, float) and isinstance(one.scale, float)
        if not numbers or not abs(one.centre) < np.inf or not 0 < one.scale < np.inf:
            refuse(f"It measures {one.column!r:.80} from {one.centre!r:.80}.")
        if type(one.logarithm) is not bool:
            refuse(f"It takes logarithms of {one.column!r:.80}: {one.logarithm!r:.80}.")
    if len({one.column for one in found.columns}) < len(found.columns):
        refuse("It corrects a column twice.")
    return found


def combination_of(saved: dict[str, Any]) -> Combination:
    """Return the combination that was saved, under names of today or of older files."""
    return Combination(**_today(saved))


def _today(saved: dict[str, Any]) -> dict[str, Any]:
    return {OLD_NAMES.get(name, name): value for name, value in saved.items()}


def check_combination(saved: dict[str, Any], blocks: int, classes: int, features: int) -> None:
    """Refuse weights and offsets that are not one finite number for each block and class.

    Residual coefficients are for each feature and class, or there are none.
    """
    saved = _today(saved)
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
