"""Commands that measure: evaluate, cv, compare."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Annotated, Any

import typer

import suffice
from suffice.cli.options import (
    Data,
    Force,
    Ignore,
    KnownTarget,
    Model,
    Target,
    Text,
    Weight,
    choose_column,
    need_target,
    read_rows,
    refuse_overwriting,
)
from suffice.cli.output import AsJson, busy, plus_minus, show, table, text
from suffice.errors import SufficeWarning

Loss = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="What actions cost, by class: CSV with a line an action and a column a class, or "
        'JSON {"action": {"class": cost}}. Adds decisions of least expected cost.',
        show_default=False,
    ),
]
# Classes up to which the confusion table is printed.
MAX_CLASSES = 12


def evaluate(
    model: Model,
    data: Data,
    target: KnownTarget = None,
    text_column: Text = None,
    weight: Weight = None,
    loss: Loss = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on rows with known labels.

    \b
    suffice evaluate model.suffice test.csv
    suffice evaluate model.suffice test.csv --loss costs.csv

    Give rows that the model has not learned: of its own rows it knows too much.
    """
    loaded, known = suffice.load(model), suffice.persist.describe(model).columns
    rows = read_rows(data)
    label = need_target(target, rows, known)
    with busy(f"Evaluating {rows.name}") as note:
        found = suffice.engines.evaluate_from(
            loaded,
            rows.source,
            label,
            features=choose_column("text", text_column, rows, known),
            weight=choose_column("weight", weight, rows, known),
            progress=note,
        )
    show(_with_costs({"source": rows.name, **found.to_dict()}, found, loss), as_json, draw_scores)


def _with_costs(result: dict[str, Any], found: Any, loss: str | None) -> dict[str, Any]:
    if loss is None:
        return result
    costs = suffice.scoring.read_loss(loss, found.classes)
    return {**result, "costs": found.costs(costs)}


def draw_scores(result: dict[str, Any]) -> Iterator[Any]:
    """Draw an evaluation: summary, classes, confusion table, calibration, costs."""
    yield f"{result['rows']:,} rows of {text(result['source'])}"
    shares = result["class_shares"]
    cells: list[tuple[str, ...]] = [
        ("log-loss", plus_minus(result, "log_loss"), f"{shares['log_loss']:.4f}"),
        ("accuracy", plus_minus(result, "accuracy"), f"{shares['accuracy']:.4f}"),
        ("calibration error", f"{result['calibration_error']:.4f}", ""),
    ]
    yield table("", ("", "this model", "class shares alone"), cells)
    if result["unknown_labels"]:
        yield (
            f"{result['unknown_labels']:,} rows have labels that were never learned: they count as "
            "wrong, and are in nothing but the accuracy."
        )
    classes = result["classes"]
    cells = [
        (name, f"{one['rows']:,.10g}", f"{one['precision']:.3f}", f"{one['recall']:.3f}")
        for name, one in classes.items()
    ]
    yield table("Classes", ("class", "rows", "precision", "recall"), cells)
    if len(classes) <= MAX_CLASSES:
        cells = [
            (name, *(f"{n:,.10g}" for n in row.values()))
            for name, row in result["confusion"].items()
        ]
        headings = ("is", *(f"taken for {name}" for name in classes))
        yield table("Confusion", headings, cells)
    cells = [
        (
            f"{one['from']:.0%} to {one['to']:.0%}",
            f"{one['rows']:,.10g}",
            f"{one['probability']:.3f}",
            f"{one['right']:.3f}",
        )
        for one in result["calibration"]
    ]
    yield table("Calibration", ("probability of the label", "rows", "mean", "were right"), cells)
    if "costs" in result:
        yield from _draw_costs(result["costs"])


def _draw_costs(costs: dict[str, Any]) -> Iterator[Any]:
    best = costs["best_single_action"]
    cells = [("least expected cost", plus_minus(costs, "mean_cost"))]
    if "most_probable_class" in costs:
        cells.append(
            ("the most probable class", f"{costs['most_probable_class']['mean_cost']:.4f}")
        )
    cells.append((f"always {text(best['action'])}", f"{best['mean_cost']:.4f}"))
    yield table("Cost of a row, by how actions are chosen", ("", "mean cost"), cells)
    chosen = ", ".join(f"{text(name)} {n:,.10g}" for name, n in costs["decisions"].items())
    yield f"Rows by action: {chosen}"


def cv(
    data: Data,
    target: Target = None,
    folds: Annotated[int, typer.Option(metavar="N", min=2, help="How many folds.")] = 5,
    ignore: Ignore = None,
    weight: Weight = None,
    rows: Annotated[
        int, typer.Option(metavar="N", min=10, help="Of more rows, so many are drawn at random.")
    ] = 20_000,
    loss: Loss = None,
    as_json: AsJson = False,
) -> None:
    """Cross-validate in closed form, without refits.

    \b
    suffice cv customers.csv --target stays --folds 10

    Rows are counted once. The model of all folds but one is the total less a part; families and
    weights are chosen again for each fold, so that a fold does not help to predict itself.
    """
    given = read_rows(data)
    label = need_target(target, given)
    named: dict[str, Any] = {"ignore": tuple(ignore or ()), "weight": weight}
    texts = ["text"] if given.columns else []
    if given.columns:
        named["ignore"] = ("source", *named["ignore"])
    with busy(f"Cross-validating {given.name}"):
        model = suffice.table.classifier_for(given.source, label, text=texts, **named)
        X, y, weights = suffice.engines.sample_of(model, given.source, label, rows, **named)
        with warnings.catch_warnings():
            # Columns that a fold leaves out are no news in each of them; 'suffice fit' lists them.
            warnings.simplefilter("ignore", SufficeWarning)
            found = model.cross_validate(X, y, folds, sample_weight=weights).held_out
    result = {"source": given.name, "folds": folds, **found.to_dict()}
    show(_with_costs(result, found, loss), as_json, draw_scores)


def compare(
    data: Data,
    target: Target = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where the picture is written."),
    ] = "learning_curves.png",
    ignore: Ignore = None,
    rows: Annotated[
        int, typer.Option(metavar="N", min=10, help="Of more rows, so many are drawn at random.")
    ] = 4_000,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=2, help="How many random splits the means are of.")
    ] = 10,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare learning curves on your data.

    \b
    suffice compare customers.csv --target stays

    A generative classifier (this library's) and a discriminative one (logistic regression, columns
    encoded) learn more and more rows, and are tested on rows that neither has seen. The picture is
    drawn in the terminal, and as a PNG file if matplotlib is installed.
    """
    refuse_overwriting(output, force)
    given = read_rows(data)
    label = need_target(target, given)
    named: dict[str, Any] = {"ignore": tuple(ignore or ())}
    texts = ["text"] if given.columns else []
    if given.columns:
        named["ignore"] = ("source", *named["ignore"])
    with busy(f"Comparing learning curves on {given.name}"):
        model = suffice.table.classifier_for(given.source, label, text=texts, **named)
        X, y, _ = suffice.engines.sample_of(model, given.source, label, rows, **named)
        # Small samples lack values of many columns, which is no news in each of them.
        warnings.simplefilter("ignore", SufficeWarning)
        found = suffice.lab.compare(
            model, "encoded", X, y, repeats=repeats, random_state=0, progress=False
        )
        picture = found.save_picture(output, given.name)
    result = {
        "source": given.name,
        "generative": found.names[0],
        "discriminative": found.names[1],
        **found.to_dict(),
        "crossing": str(found.crossing("log_loss")),
        "picture": output if picture else None,
    }
    show(result, as_json, lambda result: _draw_curves(result, found))


def _draw_curves(result: dict[str, Any], found: Any) -> Iterator[Any]:
    from rich.text import Text

    yield Text(found.draw_text("log_loss"))
    names = found.names
    cells = [
        (f"{size:,}", *_at(result, names, at, "log_loss"), *_at(result, names, at, "error"))
        for at, size in enumerate(result["sizes"])
    ]
    headings = ("rows learned", *(f"{name}: log-loss" for name in names), *("error",) * 2)
    yield table("", headings, cells)
    yield f"Log-loss: {result['crossing']}"
    if result["picture"]:
        yield f"Picture: {text(result['picture'])}"
    else:
        yield "No PNG was written: matplotlib is not installed. Run: pip install matplotlib"


def _at(result: dict[str, Any], names: Any, at: int, score: str) -> tuple[str, ...]:
    return tuple(f"{result[name][score][at]:.4f}" for name in names)
