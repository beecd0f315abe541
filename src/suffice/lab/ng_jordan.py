"""Ng and Jordan's experiment (2002) in one command: `python -m suffice.lab.ng_jordan --help`."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from suffice.display.plots import IN_A_ROW, panels, share_legend
from suffice.errors import InputError, SufficeError
from suffice.lab.compare import SCORES, Comparison, Crossing, compare
from suffice.lab.learning_curves import GENERATIVE_NAMES, default_sizes, rows_to_test

# Where the folder of data sets is named, and where it is looked for otherwise.
VARIABLE = "SUFFICE_DATA"
NEARBY = Path("..", "shared", "data")
# A pixel of more than half the ink is inked.
INKED = 7


class DataSet(NamedTuple):
    """A labelled table of one kind of columns."""

    name: str
    kind: str
    """"continuous" or "discrete"."""
    X: NDArray[Any]
    y: NDArray[Any]
    n_skipped: int = 0
    """Incomplete rows, which are not in X."""


class Source(NamedTuple):
    """Where a data set is, and what of it is used."""

    name: str
    file: str
    label: str
    kind: str
    only: str = "all"
    """Columns that are used: "numbers", "words" or "all"."""
    never: tuple[str, ...] = ()
    classes: tuple[Any, ...] = ()


SOURCES = (
    Source("pima", "pima/pima.csv", "diabetes", "continuous"),
    Source("adult", "adult/adult.csv.gz", "income", "continuous", "numbers", ("split",)),
    Source(
        "boston, above the median",
        "boston_housing/boston_housing.csv",
        "above_median",
        "continuous",
        never=("medv",),
    ),
    Source(
        "optdigits, 0 and 1",
        "optdigits/optdigits.csv.gz",
        "digit",
        "continuous",
        never=("split",),
        classes=(0, 1),
    ),
    Source(
        "optdigits, 2 and 3",
        "optdigits/optdigits.csv.gz",
        "digit",
        "continuous",
        never=("split",),
        classes=(2, 3),
    ),
    Source("ionosphere", "ionosphere/ionosphere.csv", "class", "continuous"),
    Source("liver disorders", "liver_bupa/liver_bupa.csv", "selector", "continuous"),
    Source("sonar", "sonar/sonar.csv", "class", "continuous"),
    Source("adult", "adult/adult.csv.gz", "income", "discrete", "words", ("split",)),
    Source("promoters", "promoters/promoters.csv", "Class", "discrete"),
    Source("lymphography", "lymphography/lymphography.csv", "class", "discrete"),
    Source(
        "breast cancer",
        "breast_cancer_ljubljana/breast_cancer_ljubljana.csv",
        "Class",
        "discrete",
    ),
    Source("lenses", "lenses/lenses.csv", "class", "discrete"),
    Source("sick", "sick_thyroid/sick_thyroid.csv", "Class", "discrete", "words"),
    Source("voting records", "house_votes_84/house_votes_84.csv", "Class", "discrete"),
)


def default_folder() -> Path | None:
    """Return the folder that the environment names, or the one nearby, or None."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    return NEARBY if NEARBY.is_dir() else None


def read_data_set(source: Source, folder: Path) -> DataSet:
    """Read a data set: complete rows only, because logistic regression takes no missing values."""
    import pyarrow as pa
    from pyarrow import csv

    empty = csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    table = csv.read_csv(folder / source.file, convert_options=empty)
    used = [name for name in table.column_names if name not in (source.label, *source.never)]
    if source.only != "all":
        words = {"numbers": False, "words": True}[source.only]
        types = {name: table.schema.field(name).type for name in used}
        used = [
            name
            for name in used
            if not pa.types.is_null(types[name]) and pa.types.is_string(types[name]) == words
        ]
    kept = table.select([*used, source.label])
    whole = kept.drop_null()
    y = np.asarray(whole[source.label])
    columns = [np.asarray(whole[name]) for name in used]
    if source.kind == "continuous":
        X = np.column_stack(columns).astype(np.float64)
    else:
        X = np.column_stack([column.astype(str) for column in columns])
    mine = np.isin(y, source.classes) if source.classes else np.ones(len(y), np.bool_)
    left_out = kept.num_rows - whole.num_rows
    return DataSet(source.name, source.kind, X[mine], y[mine].astype(str), left_out)


def read_data_sets(folder: Path) -> Iterator[DataSet]:
    """Read the data sets of the experiment that the folder holds."""
    there = [source for source in SOURCES if (folder / source.file).is_file()]
    if not there:
        raise InputError(
            f"The folder {str(folder)!r} holds none of the data sets ({SOURCES[0].file}, ...). "
            f"Name another with --data or {VARIABLE}, or none, for what ships with scikit-learn."
        )
    for source in there:
        yield read_data_set(source, folder)


def load_bundled() -> Iterator[DataSet]:
    """Load stand-ins: two classes each of what ships with scikit-learn."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    yield DataSet("breast cancer Wisconsin", "continuous", X, y)
    X, y = datasets.load_wine(return_X_y=True)
    yield DataSet("wine, 0 and 1", "continuous", X[y < 2], y[y < 2])
    X, y = datasets.load_iris(return_X_y=True)
    yield DataSet("iris, 1 and 2", "continuous", X[y > 0], y[y > 0])
    X, y = datasets.load_digits(return_X_y=True)
    for first, second in ((0, 1), (2, 3), (8, 9)):
        mine = (y == first) | (y == second)
        yield DataSet(f"digits, {first} and {second}", "continuous", X[mine], y[mine])
    for first, second in ((2, 3), (8, 9)):
        mine = (y == first) | (y == second)
        inked = (X[mine] > INKED).astype(np.int64)
        yield DataSet(f"digits, {first} and {second}, inked", "discrete", inked, y[mine])


TEST_SHARE = 0.3
# Of large sets no more rows than these are tested on and learned: the curves are flat by then.
MAX_TESTED = 1000
MAX_LEARNED = 5120
# Sizes that the table shows: 10, 20, 40, ...
FIRST_SHOWN = 10
CERTAIN = 0.95
OUT = Path("pictures", "ng_jordan")


# The curves, in the order of a comparison.
SIDES = ("generative", "discriminative", "integrated")


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
            integrated=generative == GENERATIVE_NAMES[0],
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
            return "" if at is None else " / ".join(f"{mean:.3f}" for mean in means[:, at])

        facts = (len(data.y), data.n_skipped, data.X.shape[1], len(set(data.y.tolist())))
        where = f"at m = {crossing.size:.0f}" if crossing.crosses else "no"
        cells = [f"{data.name} ({data.kind})", *(f"{fact:,}" for fact in facts)]
        cells += [cell(size) if size < sizes[-1] else "" for size in shown]
        sure = "" if np.isnan(crossing.certainty) else f"{crossing.certainty:.2f}"
        cells += [f"{cell(sizes[-1])} (m = {sizes[-1]})", where, sure]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", _conclusion(results)])


def _conclusion(results: Sequence[Result]) -> str:
    names = _names(results)
    second = names[1]
    sure = sum(result.crossing.certainty >= CERTAIN for result in results)
    ahead = sum(result.crossing.discriminative_last >= CERTAIN for result in results)
    behind = sum(result.crossing.discriminative_last <= 1 - CERTAIN for result in results)
    early = sum(result.crossing.generative_first >= CERTAIN for result in results)
    return (
        f"Errors are of {' / '.join(names)}, means of {results[0].comparison.repeats} splits. Of "
        f"{len(results)} sets, with certainty {CERTAIN} or more: the curves cross on {sure}; the "
        f"generative model is ahead at first on {early}; at the end {second} is ahead on {ahead} "
        f"and behind on {behind}."
    )


def _names(results: Sequence[Result]) -> tuple[str, ...]:
    """Return the names of all curves, whatever the kind of data."""
    sides = zip(*(result.comparison.names for result in results), strict=True)
    return tuple(" or ".join(dict.fromkeys(side)) for side in sides)


def _short_names(results: Sequence[Result]) -> tuple[str, ...]:
    """Return names of the curves that fit into one line."""
    names = _names(results)
    if len(names) < len(SIDES):
        return names
    return "naive Bayes", names[1], "naive Bayes, parameters integrated out"


def write_numbers(results: Sequence[Result], path: Path) -> None:
    """Write a line for each set and size: means, standard errors, and the set's crossing."""
    sides = SIDES[: len(results[0].comparison.names)]
    measures = [
        f"{side}_{score}{what}"
        for score in SCORES
        for side in sides
        for what in ("", "_standard_error")
    ]
    facts = ["data", "kind", "rows", "left_out", *sides]
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
                    for side in range(len(sides))
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
        sure = "" if np.isnan(crossing.certainty) else f", P(cross) = {crossing.certainty:.2f}"
        ax.set_title(
            f"{data.name} ({data.kind})\n{where}{sure}",
            fontsize="small",
            loc="left",
        )
        ax.tick_params(labelsize="x-small")
        ax.set_xlabel("m" if at + IN_A_ROW >= len(axes) else "", fontsize="small")
        ax.set_ylabel(SCORES[score] if at % IN_A_ROW == 0 else "", fontsize="small")
    share_legend(figure, axes, _short_names(results))
    figure.suptitle(_title(results, score), fontsize="medium")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _title(results: Sequence[Result], score: str) -> str:
    """Say what a picture of all sets shows, and what its bars and triangles are."""
    found = [result.comparison.crossing(score) for result in results]
    sure = sum(one.certainty >= CERTAIN for one in found)
    last = sum(one.discriminative_last >= CERTAIN for one in found)
    note = "; triangles: above the scale" if score == "log_loss" else ""
    return (
        f"{SCORES[score].capitalize()}: on {sure} of {len(found)} sets the curves cross, on {last} "
        f"logistic regression is ahead at the end\n(both with probability {CERTAIN} or more; bars: "
        f"2 standard errors of splits{note})"
    )


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
    parser.add_argument("--generative", choices=GENERATIVE_NAMES, default=GENERATIVE_NAMES[0])
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    given = parser.parse_args(arguments)
    try:
        if given.data is not None and not given.data.is_dir():
            raise InputError(f"There is no folder {str(given.data)!r}. Name another with --data.")
        sets = load_bundled() if given.data is None else read_data_sets(given.data)
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
