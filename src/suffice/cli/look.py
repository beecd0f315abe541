"""Commands that show models: inspect, diff, report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

import suffice
from suffice.cli.learn import quality_table
from suffice.cli.options import (
    Force,
    KnownTarget,
    Model,
    need_target,
    read_rows,
    refuse_overwriting,
)
from suffice.cli.output import AsJson, busy, show, table, text

# Columns, classes and words that are shown.
SHOWN = 20
WORDS = 8
# Rows of DATA that a report reads: histograms and learning curves need no more.
REPORT_ROWS = 20_000


def inspect(model: Model, as_json: AsJson = False) -> None:
    """Show what a model has learned, and its provenance.

    \b
    suffice inspect model.suffice
    """
    record, loaded = suffice.persist.describe(model), suffice.load(model)
    result: dict[str, Any] = {
        "file": model,
        "model": record.model,
        "version": record.version,
        "saved": record.when.isoformat(),
        "source": record.source,
        "columns_by_role": dict(record.columns),
        "rows": record.rows,
        "raw_rows_in_file": record.keeps_rows,
        "settings": {
            name: repr(value) for name, value in sorted(loaded.get_params(deep=False).items())
        },
    }
    if hasattr(loaded, "tally_") and hasattr(loaded, "classes_"):
        weights = loaded.tally_.weights.tolist()
        result["classes"] = dict(zip(loaded.classes_.tolist(), weights, strict=True))
        held_out = loaded.held_out_
        result["held_out"] = None if held_out is None else held_out.to_dict()
    if hasattr(loaded, "choices_"):
        result["columns"] = _columns(loaded)
        result["combination"] = loaded.combination_.method
        result["stale"] = bool(loaded.weights_stale_)
    if hasattr(loaded, "top_words"):
        result["words"] = len(loaded.terms_)
        result["top_words"] = {
            label: list(loaded.top_words(label, WORDS).words)
            for label in loaded.classes_.tolist()[:SHOWN]
            if len(loaded.classes_) > 1
        }
    show(result, as_json, _draw_model)


def _columns(model: Any) -> list[dict[str, Any]]:
    """Return what was chosen for each column, the most important first."""
    found, choices = model.importance(), model.choices_
    names = [found.names[at] for at in found.order.tolist()]
    listed = [{"column": name, "family": _family(choices, name), **found[name]} for name in names]
    left_out = [name for name in choices if name not in names]
    return listed + [{"column": name, "family": choices[name].family} for name in left_out]


def _family(choices: Any, name: str) -> str:
    """Return the family of a column; whether a cell is missing may be a column of its own."""
    return str(choices[name].family) if name in choices else ""


def _draw_model(result: dict[str, Any]) -> Iterator[Any]:
    rows = result["rows"]
    facts = [
        ("model", result["model"]),
        ("rows learned", "not known" if rows is None else f"{rows:,.10g}"),
        ("learned from", result["source"] or "not recorded"),
        *((f"column of the {role}", name) for role, name in result["columns_by_role"].items()),
        ("saved", f"{result['saved']} by suffice {result['version']}"),
        ("raw rows in the file", "yes" if result["raw_rows_in_file"] else "no"),
    ]
    if "combination" in result:
        facts.append(("columns combined by", result["combination"]))
    if result.get("stale"):
        facts.append(("weights", "older than the rows: fit again to refresh them"))
    yield table(text(result["file"]), ("", ""), facts, left=2)
    if "classes" in result:
        total = sum(result["classes"].values()) or 1.0
        cells = [
            (name, f"{n:,.10g}", f"{n / total:.1%}")
            for name, n in list(result["classes"].items())[:SHOWN]
        ]
        yield table("Classes", ("class", "rows", "share"), cells)
    if result.get("columns"):
        yield table(
            "Columns, by what the log-loss of held-out rows gains from each",
            ("column", "family", "log-loss without it", "information, nats"),
            [
                (
                    one["column"],
                    one["family"],
                    _signed(one.get("log_loss_increase")),
                    _signed(one.get("mutual_information")),
                )
                for one in result["columns"]
            ],
            left=2,
        )
    if "words" in result:
        yield f"{result['words']:,} words. Those that separate the classes most:"
        listed = [(name, ", ".join(words)) for name, words in result["top_words"].items()]
        yield table("", ("class", "words"), listed, left=2)
    held_out = result.get("held_out")
    if held_out:
        scores = {"this model": held_out, "class shares": held_out["class_shares"]}
        yield quality_table(scores, held_out["rows"])


def _signed(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:+.4f}"


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A model.")],
    second: Annotated[str, typer.Argument(metavar="B", help="A model of the same kind.")],
    as_json: AsJson = False,
) -> None:
    """Show what differs between two models.

    \b
    suffice diff model.suffice.previous model.suffice
    suffice diff january.suffice february.suffice
    """
    models = [suffice.load(path) for path in (first, second)]
    with busy("Comparing"):
        found = suffice.lab.difference(*models)
    show({"first": first, "second": second, **found}, as_json, _draw_difference)


def _draw_difference(result: dict[str, Any]) -> Iterator[Any]:
    names = text(result["first"]), text(result["second"])
    cells = [("all", *(f"{n:,.10g}" for n in result["rows"]), _change(*result["rows"]))]
    cells += [
        (name, *(f"{n:,.10g}" for n in pair), _change(*pair))
        for name, pair in list(result["classes"].items())[:SHOWN]
    ]
    yield table("Rows learned", ("class", *names, "change"), cells)
    if result["settings"]:
        cells = [(name, *map(repr, pair)) for name, pair in result["settings"].items()]
        yield table("Settings that differ", ("setting", *names), cells, left=3)
    if "columns" in result:
        cells = [
            (
                name,
                " -> ".join(dict.fromkeys(str(one) for one in pair["family"])),
                *(_signed(one) for one in pair["mutual_information"]),
            )
            for name, pair in list(result["columns"].items())[:SHOWN]
        ]
        headings = ("column", "family", *(f"information in {name}, nats" for name in names))
        yield table("Columns, the largest change first", headings, cells, left=2)
    if "words" in result:
        words = result["words"]
        only = words["only_first"], words["only_second"]
        yield f"Words only in {names[0]}: {only[0]:,}; only in {names[1]}: {only[1]:,}."
        if words["changed"]:
            cells = [(word, *map(_signed, pair)) for word, pair in words["changed"].items()]
            headings = ("word", *(f"log-ratio in {name}" for name in names))
            yield table("Words of both, the largest change first", headings, cells)
    if "answers" in result:
        answers = result["answers"]
        yield (
            f"Answers for {answers['rows']:,} rows drawn from both models: "
            f"{answers['other_labels']:.1%} get another label; probabilities change by "
            f"{answers['mean_change']:.4f} on average and {answers['largest_change']:.4f} at most."
        )


def _change(before: float, after: float) -> str:
    return f"{after - before:+,.10g}" if after != before else ""


def report(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="Rows with labels, for histograms and learning curves."
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the page is written.")
    ] = "report.html",
    target: KnownTarget = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="A second model, side by side.", show_default=False),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a report as one HTML file.

    \b
    suffice report model.suffice -o report.html
    suffice report model.suffice test.csv -o report.html

    The page needs no network. It is made from what the model has learned, so its size does not
    grow with the rows; no row is in it. Of DATA a sample of up to 20,000 rows is read.
    """
    refuse_overwriting(output, force)
    known = suffice.persist.describe(model).columns
    loaded = suffice.load(model)
    other = None if against is None else suffice.load(against)
    X = y = None
    with busy("Writing the report"):
        if data is not None:
            rows = read_rows(data)
            label = need_target(target, rows, known)
            X, y, _ = suffice.engines.sample_of(loaded, rows.source, label, REPORT_ROWS)
        suffice.report.write_report(loaded, output, data=X, target=y, against=other)
    show({"file": output}, as_json, lambda _: [f"Wrote {text(output)}. Open it in a browser."])
