"""The command fit: rows in, a model file out, and what was chosen."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

import typer

import suffice
from suffice.cli.options import (
    Data,
    Force,
    Ignore,
    Rows,
    Target,
    UsageError,
    Weight,
    need_target,
    read_rows,
    refuse_overwriting,
)
from suffice.cli.output import AsJson, busy, plus_minus, show, table, text
from suffice.errors import InputError

# Rows that logistic regression is compared on.
BASELINE_ROWS = 5_000
# Different numbers beyond which a target looks like a quantity, and not like classes.
MAX_NUMBERS = 20


def fit(
    data: Data,
    target: Target = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the model is written.")
    ] = "model.suffice",
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=FAMILY",
            help="The family of a column: normal, lognormal, student, binned, poisson, bernoulli, "
            "categorical, text, ... May be repeated.",
        ),
    ] = None,
    texts: Annotated[
        list[str] | None,
        typer.Option("--text", metavar="COLUMN", help="A column of texts. May be repeated."),
    ] = None,
    ignore: Ignore = None,
    weight: Weight = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Count what this model counts, so that the two can be merged.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    compare: Annotated[
        bool,
        typer.Option("--compare/--no-compare", help="Fit logistic regression beside, to compare."),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Learn a model from rows with a target.

    \b
    suffice fit customers.csv --target stays -o model.suffice
    suffice fit 'sqlite:shop.db?table=orders' --target returned --family items=poisson
    suffice fit mail/ -o spam.suffice          (mail/spam/..., mail/ham/...)

    Distributions are chosen for each column by marginal likelihood, and probabilities are
    calibrated on held-out rows. A table with one column of texts gets a text model.
    """
    refuse_overwriting(output, force)
    families: dict[Any, Any] = dict(_split_family(one) for one in family or [])
    if like is not None:
        families |= getattr(suffice.load(like), "families_", {})
    rows = read_rows(data)
    target = need_target(target, rows)
    named: dict[str, Any] = {"ignore": tuple(ignore or ()), "weight": weight}
    text_columns = texts or []
    if rows.columns:
        text_columns, named["ignore"] = ["text"], ("source", *(ignore or ()))
    with busy(f"Learning {rows.name}") as note:
        warnings.filterwarnings("ignore", "Left out: ")  # what is printed says so of each column
        model = suffice.table.classifier_for(
            rows.source, target, families=families, text=text_columns, **named
        )
        model.fit_from(rows.source, target, progress=note, **named)
        columns = _columns_of(model, rows, target, weight, named["ignore"])
        suffice.persist.save_model(model, output, source=rows.name, columns=columns)
    _warn_of_numbers(model, target)
    baseline = None
    if compare and len(model.classes_) > 1:
        with busy("Fitting logistic regression to compare"):
            sample = suffice.engines.sample_of(model, rows.source, target, BASELINE_ROWS, **named)
            with suppress(InputError):  # too few rows of every class, or no column that varies
                baseline = suffice.lab.evaluate_logistic(*sample)
    show(_result(model, rows.name, target, output, baseline), as_json, _draw)


def _warn_of_numbers(model: Any, target: str) -> None:
    """Warn of a target that is a quantity."""
    if model.classes_.dtype.kind in "iuf" and len(model.classes_) > MAX_NUMBERS:
        typer.echo(
            f"Warning: Column {text(target)!r} has {len(model.classes_)} different numbers, and "
            "each was learned as a class. If it is a quantity, put it into ranges, or fit a "
            "BayesianLinearRegression in Python.",
            err=True,
        )


def _split_family(given: str) -> tuple[str, str]:
    column, equals, family = given.rpartition("=")
    if not equals or not column or not family:
        raise UsageError(f"--family {given!r} is not COLUMN=FAMILY, such as visits=poisson.")
    return column, family


def _columns_of(
    model: Any, rows: Rows, target: str, weight: str | None, ignore: Any
) -> dict[str, str]:
    """Return the columns that later commands need to know."""
    found = {"target": target} | ({} if weight is None else {"weight": weight})
    if hasattr(model, "terms_"):
        with suffice.sources.open_source(rows.source) as source:
            aside = {target, weight, *ignore}
            (found["text"],) = (name for name in source.column_names if name not in aside)
    return found


def _result(model: Any, source: str, target: str, output: str, baseline: Any) -> dict[str, Any]:
    weights = model.tally_.weights
    held_out = model.held_out_
    quality = {}
    if held_out is not None:
        shares = {"accuracy": held_out.shares_accuracy, "log_loss": held_out.shares_log_loss}
        quality = {"this model": _scores(held_out), "class shares": shares}
    if quality and baseline is not None:
        quality["logistic regression"] = _scores(baseline)
    choices = getattr(model, "choices_", {})
    return {
        "model": type(model).__name__,
        "file": output,
        "bytes": os.path.getsize(output),
        "source": source,
        "target": target,
        "rows": float(weights.sum()),
        "classes": dict(zip(model.classes_.tolist(), weights.tolist(), strict=True)),
        "columns": [
            {"column": one.column, "family": one.family, "with": one.others, "why": one.why}
            for one in (choices[name] for name in choices)
        ],
        "words": len(model.terms_) if hasattr(model, "terms_") else None,
        "held_out": quality,
        "held_out_rows": 0 if held_out is None else held_out.rows,
    }


def _scores(found: Any) -> dict[str, float]:
    names = "accuracy", "accuracy_error", "log_loss", "log_loss_error"
    return {name: getattr(found, name) for name in names}


def _draw(result: dict[str, Any]) -> Iterator[Any]:
    rows = result["rows"]
    source, target = text(result["source"]), text(result["target"])
    yield f"Learned {rows:,.10g} rows of {source}. Target: {target}."
    yield table(
        "",
        ("class", "rows", "share"),
        [
            (name, f"{n:,.10g}", f"{n / rows:.1%}")
            for name, n in list(result["classes"].items())[:20]
        ],
    )
    if result["columns"]:
        cells = [(one["column"], one["family"], _why(one)) for one in result["columns"]]
        yield table("What was chosen for each column", ("column", "family", "why"), cells, left=3)
    if result["words"]:
        yield f"A text model of {result['words']:,} words."
    if result["held_out"]:
        yield quality_table(result["held_out"], result["held_out_rows"])
        yield (
            "Families and weights of this model were chosen with all of these rows. 'suffice cv' "
            "chooses them again without each fold."
        )
    else:
        yield "Too few rows to hold some out: how good the model is was not measured."
    size = result["bytes"] / 1000
    yield f"Saved to {text(result['file'])} ({size:,.0f} kB)."
    yield f"Next: suffice predict {text(result['file'])} NEW_ROWS"


def _why(one: dict[str, str]) -> str:
    return f"{one['why']}; with {one['with']}" if one["with"] else one["why"]


def quality_table(quality: dict[str, dict[str, float]], rows: int) -> Any:
    """Return held-out scores of several models, with standard errors, as a table."""
    cells = [
        (name, plus_minus(one, "log_loss"), plus_minus(one, "accuracy"))
        for name, one in quality.items()
    ]
    title = f"Held-out rows ({rows:,} for this model); ± one standard error"
    return table(title, ("", "log-loss", "accuracy"), cells)
