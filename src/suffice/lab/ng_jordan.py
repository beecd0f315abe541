"""Ng and Jordan's experiment (2002) in one command: `python -m suffice.lab.ng_jordan --help`."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from suffice.display.plots import IN_A_ROW, panels, share_legend
from suffice.errors import InputError, SufficeError
from suffice.lab.compare import SCORES, Comparison, compare
from suffice.lab.crossing import Crossing
from suffice.lab.learning_curves import default_sizes, rows_to_test
from suffice.lab.ng_jordan_sets import (
    NEARBY,
    VARIABLE,
    DataSet,
    default_folder,
    load_bundled,
    read_all,
)
from suffice.lab.sides import NAMED

TEST_SHARE = 0.3
# Of large sets no more rows than these are tested on and learned: the curves are flat by then.
MAX_TESTED = 1000
MAX_LEARNED = 5120
# Sizes that the table shows: 10, 20, 40, ...
FIRST_SHOWN = 10
CERTAIN = 0.95
OUT = Path("pictures", "ng_jordan")


class Result(NamedTuple):
    """What came of a data set."""

    data: DataSet
    comparison: Comparison
    crossing: Crossing


def run(
    sets: Iterable[DataSet],
    repeats: int = 100,
    generative: str = "naive_bayes",
    random_state: int = 0,
    progress: bool = True,
) -> list[Result]:
    """Compare naive Bayes (or Gaussian discriminants) and logistic regression on every set."""
    results = []
    for data in sets:
        if generative == "discriminant" and data.kind == "discrete":
            continue
        tested = min(TEST_SHARE, MAX_TESTED / len(data.y))
        counts = np.unique(data.y, return_counts=True)[1]
        learned = len(data.y) - int(rows_to_test(counts, tested).sum())
        comparison = compare(
            generative,
            X=data.X,
            y=data.y,
            sizes=default_sizes(len(counts), min(MAX_LEARNED, learned)),
            repeats=repeats,
            test_size=tested,
            random_state=random_state,
            progress=f"{data.name} ({data.kind})" if progress else False,
        )
        results.append(Result(data, comparison, comparison.crossing()))
    return results


def table(results: Sequence[Result]) -> str:
    """Return the errors of both models by size, and the crossings, in Markdown."""
    most = max(int(result.comparison.sizes[-1]) for result in results)
    shown = [FIRST_SHOWN]
    while 2 * shown[-1] < most:
        shown.append(2 * shown[-1])
    heads = ["data", "rows", "left out", "columns", "classes", *(f"m = {size}" for size in shown)]
    heads += ["end", "curves cross", "certainty"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for data, comparison, crossing in results:
        sizes, means = comparison.sizes.tolist(), comparison.mean()

        def cell(size: int, sizes: Any = sizes, means: Any = means) -> str:
            at = sizes.index(size) if size in sizes else None
            return "" if at is None else f"{means[0, at]:.3f} / {means[1, at]:.3f}"

        facts = (len(data.y), data.n_skipped, data.X.shape[1], len(set(data.y.tolist())))
        where = f"at m = {crossing.size:.0f}" if crossing.crosses else "no"
        cells = [f"{data.name} ({data.kind})", *(f"{fact:,}" for fact in facts)]
        cells += [cell(size) if size < sizes[-1] else "" for size in shown]
        cells += [f"{cell(sizes[-1])} (m = {sizes[-1]})", where, f"{crossing.certainty:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", _account(results)])


def _account(results: Sequence[Result]) -> str:
    first, second = _names(results)
    sure = sum(result.crossing.certainty >= CERTAIN for result in results)
    ahead = sum(result.crossing.discriminative_last >= CERTAIN for result in results)
    behind = sum(result.crossing.discriminative_last <= 1 - CERTAIN for result in results)
    early = sum(result.crossing.generative_first >= CERTAIN for result in results)
    return (
        f"Errors are of {first} / {second}, means of {results[0].comparison.repeats} splits. Of "
        f"{len(results)} sets, with certainty {CERTAIN} or more: the curves cross on {sure}; the "
        f"generative model is ahead at first on {early}; at the end {second} is ahead on {ahead} "
        f"and behind on {behind}."
    )


def _names(results: Sequence[Result]) -> tuple[str, str]:
    """Return the names of both sides, whatever the kind of data."""
    sides = zip(*(result.comparison.names for result in results), strict=True)
    first, second = (" or ".join(dict.fromkeys(side)) for side in sides)
    return first, second


def write_numbers(results: Sequence[Result], path: Path) -> None:
    """Write a line for each set and size: means, standard errors, and the set's crossing."""
    measures = [
        f"{side}_{score}{what}"
        for score in SCORES
        for side in ("generative", "discriminative")
        for what in ("", "_standard_error")
    ]
    facts = ["data", "kind", "rows", "left_out", "generative", "discriminative"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*facts, "m", *measures, "crosses", "crossing_size", "certainty"])
        for data, comparison, crossing in results:
            shown = [data.name, data.kind, len(data.y), data.n_skipped, *comparison.names]
            found = [crossing.crosses, f"{crossing.size:.6g}", crossing.certainty]
            for at, size in enumerate(comparison.sizes.tolist()):
                numbers = [
                    f"{of(score)[side, at]:.6g}"
                    for score in SCORES
                    for side in (0, 1)
                    for of in (comparison.mean, comparison.standard_error)
                ]
                writer.writerow([*shown, size, *numbers, *found])


def draw(results: Sequence[Result], path: Path, score: str = "error") -> None:
    """Write one picture with a panel for each set."""
    from matplotlib import pyplot

    figure, axes = panels(len(results))
    for at, (ax, (data, comparison, _)) in enumerate(zip(axes, results, strict=True)):
        comparison.plot(ax=ax, score=score)
        crossing = comparison.crossing(score)
        where = f"cross at m = {crossing.size:.0f}" if crossing.crosses else "no crossing"
        ax.set_title(
            f"{data.name} ({data.kind})\n{where}, certainty {crossing.certainty:.2f}",
            fontsize="small",
            loc="left",
        )
        ax.tick_params(labelsize="x-small")
        ax.set_xlabel("m" if at + IN_A_ROW >= len(axes) else "", fontsize="small")
        ax.set_ylabel(SCORES[score] if at % IN_A_ROW == 0 else "", fontsize="small")
    share_legend(figure, axes, _names(results))
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment; write the table, the numbers and two pictures."""
    parser = argparse.ArgumentParser(prog="python -m suffice.lab.ng_jordan", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=default_folder(),
        help=f"folder of the data sets; default: ${VARIABLE}, or {NEARBY} if it is there, or none: "
        "what ships with scikit-learn",
    )
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder to write to; default: {OUT}")
    parser.add_argument("--repeats", type=int, default=100, help="random splits of each set")
    parser.add_argument("--generative", choices=NAMED, default=NAMED[0])
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    given = parser.parse_args(arguments)
    try:
        if given.data is not None and not given.data.is_dir():
            raise InputError(f"There is no folder {str(given.data)!r}. Name another with --data.")
        sets = load_bundled() if given.data is None else read_all(given.data)
        options = (given.repeats, given.generative, given.random_state, not given.quiet)
        results = run(sets, *options)
    except SufficeError as error:
        parser.error(str(error))
    given.out.mkdir(parents=True, exist_ok=True)
    text = table(results)
    (given.out / "table.md").write_text(text + "\n", encoding="utf-8")
    write_numbers(results, given.out / "curves.csv")
    draw(results, given.out / "errors.png")
    draw(results, given.out / "log_losses.png", "log_loss")
    print(text)
    print(f"\nWritten to {given.out}: table.md, curves.csv, errors.png, log_losses.png")


if __name__ == "__main__":
    main()
