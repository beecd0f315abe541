"""Gaussian naive Bayes on Spark: `fit_from` beside Spark ML's own, on rows in Parquet files.

`python -m benchmarks.spark` starts a session of two threads, writes 5,000,000 rows of 20 columns to
a temporary folder, and lets both learn them in turn. Then both learn numbers about 1e6, and their
variances are shown beside the right ones.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from typing import Any

import numpy as np

from benchmarks.measure import seconds

ROWS, COLUMNS, FILES = 5_000_000, 20, 4


def main() -> None:
    """Print seconds, rows a second and variances."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        write_rows(f"{folder}/rows", given.rows, centre=0.0)
        frame = spark.read.parquet(f"{folder}/rows")
        ours = [seconds(lambda: fit_ours(frame)) for _ in range(1)]
        theirs = [seconds(lambda: fit_theirs(frame)) for _ in range(1)]
        print(f"first round: suffice {ours[0]:.1f} s, Spark ML {theirs[0]:.1f} s")
        ours, theirs = [], []
        for _ in range(given.rounds):
            theirs.append(seconds(lambda: fit_theirs(frame)))
            ours.append(seconds(lambda: fit_ours(frame)))
        for name, times in (("suffice", ours), ("Spark ML", theirs)):
            rate = given.rows / min(times)
            print(f"{name}: {' '.join(f'{one:.1f}' for one in times)} s, {rate:,.0f} rows/s")
        ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
        print(f"ratio of the best: {min(theirs) / min(ours):.2f}")
        print(f"ratio of each round: {' '.join(f'{one:.2f}' for one in ratios)}")
        show_variances(spark, folder)
        spark.stop()


def session(folder: str) -> Any:
    """Return a Spark of two threads."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    settings |= {"spark.local.dir": folder, "spark.log.level": "OFF"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write_rows(folder: str, rows: int, centre: float) -> None:
    """Write random numbers of two classes, with standard deviation 1 about a centre."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    os.makedirs(folder)
    rng = np.random.default_rng(0)
    for at in range(FILES):
        n = rows // FILES
        own = rng.integers(0, 2, n)
        cells = {f"x{k}": centre + rng.normal(size=n) + 0.1 * own for k in range(COLUMNS)}
        pq.write_table(pa.table({**cells, "label": own.astype(float)}), f"{folder}/{at}.parquet")


def fit_ours(frame: Any) -> Any:
    """Return our model of a frame."""
    from suffice import GaussianNB

    return GaussianNB().fit_from(frame, target="label")


def fit_theirs(frame: Any) -> Any:
    """Return Spark ML's model of a frame."""
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    names = [name for name in frame.columns if name != "label"]
    vectors = VectorAssembler(inputCols=names, outputCol="features").transform(frame)
    return NaiveBayes(modelType="gaussian").fit(vectors)


def show_variances(spark: Any, folder: str) -> None:
    """Print the variances of the first column that both find about 1e6 and 1e8."""
    for centre in (1e6, 1e8):
        write_rows(f"{folder}/{centre:g}", 200_000, centre)
        frame = spark.read.parquet(f"{folder}/{centre:g}")
        table = frame.select("x0", "label").toArrow()
        x, y = table["x0"].to_numpy(), table["label"].to_numpy()
        right = [x[y == c].var() for c in (0, 1)]
        ours = fit_ours(frame).var_[:, 0]
        try:
            found = fit_theirs(frame).sigma.toArray()[:, 0].tolist()
        except Exception as error:
            found = f"{type(error).__name__}: {str(error).splitlines()[0]:.80}"
        print(f"variances about {centre:g}: {right}, suffice {ours.tolist()}, Spark ML {found}")


if __name__ == "__main__":
    main()
