"""Commands that change a model file: update, forget, merge, undo."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Annotated, Any

import typer

import suffice
from suffice.cli.options import (
    Data,
    Force,
    KnownTarget,
    Model,
    Text,
    Weight,
    choose_column,
    need_target,
    read_rows,
    refuse_overwriting,
)
from suffice.cli.output import AsJson, busy, show, text
from suffice.errors import InputError, StaleCalibrationWarning


def update(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    text_column: Text = None,
    weight: Weight = None,
    as_json: AsJson = False,
) -> None:
    """Learn further rows.

    \b
    suffice update model.suffice march.csv
    cat new.csv | suffice update model.suffice -

    The file is replaced all at once, and never by two processes at a time. The previous file is
    kept beside it (MODEL.previous) for one 'suffice undo'.
    """
    _learn(model, data, target, text_column, weight, as_json, forget=False)


def forget(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    text_column: Text = None,
    weight: Weight = None,
    as_json: AsJson = False,
) -> None:
    """Unlearn rows, for good.

    \b
    suffice forget model.suffice withdrawn.csv

    The model is then the one that never saw these rows. They must be rows that were learned, as
    they were learned. This is final: the previous file, which 'update' and 'merge' keep for
    'undo', is deleted too, and 'undo' refuses. Copies elsewhere are yours to delete.
    """
    _learn(model, data, target, text_column, weight, as_json, forget=True)


def _learn(
    path: str,
    data: str,
    target: str | None,
    text_column: str | None,
    weight: str | None,
    as_json: bool,
    *,
    forget: bool,
) -> None:
    known = suffice.persist.describe(path).columns
    rows = read_rows(data)
    label = need_target(target, rows, known)
    named = {
        "features": choose_column("text", text_column, rows, known),
        "weight": choose_column("weight", weight, rows, known),
    }
    counts: list[float] = []

    def change(model: Any) -> None:
        if not hasattr(model, "partial_fit_from"):
            raise InputError(
                f"A {type(model).__name__} keeps no tally, so it can learn no further rows and "
                "forget none. Fit it again, to all rows that it is to know."
            )
        counts.append(float(model.tally_.weights.sum()))
        learn = model.forget_from if forget else model.partial_fit_from
        learn(rows.source, label, progress=note, **named)

    with busy(f"{'Forgetting' if forget else 'Learning'} {rows.name}") as note:
        # What follows says so in the words of the command line.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        told = None if forget else rows.name
        model = suffice.persist.change_model(path, change, source=told, final=forget)
    counts.append(float(model.tally_.weights.sum()))
    result = {
        "file": path,
        "source": rows.name,
        "rows_before": counts[0],
        "rows": counts[1],
        "stale": _is_stale(model),
        "new_classes": [] if forget else model.new_classes_.tolist(),
        "previous": None if forget else suffice.persist.previous_path(path),
    }
    show(result, as_json, _draw_forgotten if forget else _draw_learned)


def _is_stale(model: Any) -> bool:
    """Say whether weights or calibration are those of other rows than were learned."""
    if hasattr(model, "weights_stale_"):
        return bool(model.weights_stale_)
    return bool(getattr(model, "calibration_stale_", False))


STALE = (
    "What was fitted to rows (weights, calibration) is as before; 'suffice fit' on all rows fits "
    "it again."
)


def _draw_learned(result: dict[str, Any]) -> Iterator[str]:
    gained = result["rows"] - result["rows_before"]
    yield (
        f"Learned {gained:,.10g} rows of {text(result['source'])}: {text(result['file'])} has "
        f"{result['rows']:,.10g} now."
    )
    if result["new_classes"]:
        yield f"New classes: {', '.join(map(text, result['new_classes']))}."
    if result["stale"]:
        yield STALE
    yield f"To take it back: suffice undo {text(result['file'])}"


def _draw_forgotten(result: dict[str, Any]) -> Iterator[str]:
    lost = result["rows_before"] - result["rows"]
    yield (
        f"Forgot {lost:,.10g} rows of {text(result['source'])}: {text(result['file'])} has "
        f"{result['rows']:,.10g} left."
    )
    if result["stale"]:
        yield STALE
    yield "This is final: no previous file is kept, and one that was there is deleted."


def merge(
    model: Model,
    others: Annotated[
        list[str], typer.Argument(metavar="OTHER...", help="Models of the same kind.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the merged model here, and leave MODEL as it is.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Pool what several models have learned.

    \b
    suffice merge berlin.suffice paris.suffice rome.suffice -o all.suffice

    The result is the model of all rows together. The models must count the same things: fit the
    first, and the others with 'suffice fit --like FIRST'. Without -o the first file is changed,
    and its previous version is kept for one 'suffice undo'.
    """
    if any(os.path.realpath(one) == os.path.realpath(model) for one in others):
        raise InputError(f"{model!r} would be merged with itself. Name other models.")

    def change(first: Any) -> Any:
        for other in others:
            first.merge(suffice.load(other))
        return first

    told = ", ".join(map(os.path.basename, others))
    warnings.simplefilter("ignore", StaleCalibrationWarning)
    with busy("Merging"):
        if output is None:
            merged = suffice.persist.change_model(model, change, source=told)
        else:
            refuse_overwriting(output, force)
            record = suffice.persist.describe(model)
            merged = change(suffice.load(model))
            source = ", ".join([os.path.basename(model), told])
            suffice.persist.save_model(merged, output, source=source, columns=record.columns)
    result = {
        "file": output or model,
        "merged": [model, *others],
        "rows": float(merged.tally_.weights.sum()),
        "classes": merged.classes_.tolist(),
        "previous": None if output else suffice.persist.previous_path(model),
    }
    show(result, as_json, _draw_merged)


def _draw_merged(result: dict[str, Any]) -> Iterator[str]:
    yield (
        f"Merged {len(result['merged'])} models: {text(result['file'])} has "
        f"{result['rows']:,.10g} rows and {len(result['classes'])} classes."
    )
    if result["previous"]:
        yield f"To take it back: suffice undo {text(result['file'])}"


def undo(model: Model, as_json: AsJson = False) -> None:
    """Take back the last update or merge.

    \b
    suffice undo model.suffice

    The previous file is put back byte for byte. This can be done once; after 'forget' it cannot
    be done at all.
    """
    suffice.persist.undo(model)
    rows = suffice.persist.describe(model).rows
    show({"file": model, "rows": rows}, as_json, _draw_undone)


def _draw_undone(result: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{text(result['file'])} is the file from before the last change again, with "
        f"{result['rows']:,.10g} rows."
    )
