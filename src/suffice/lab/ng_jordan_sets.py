"""The data sets of Ng and Jordan's experiment, and stand-ins that ship with scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from suffice.errors import InputError

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


def read(source: Source, folder: Path) -> DataSet:
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


def read_all(folder: Path) -> Iterator[DataSet]:
    """Read the data sets of the experiment that the folder holds."""
    there = [source for source in SOURCES if (folder / source.file).is_file()]
    if not there:
        raise InputError(
            f"The folder {str(folder)!r} holds none of the data sets ({SOURCES[0].file}, ...). "
            f"Name another with --data or {VARIABLE}, or none, for what ships with scikit-learn."
        )
    for source in there:
        yield read(source, folder)


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
