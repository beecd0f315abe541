"""Learning from files: what is timed, against DuckDB's own aggregates and scikit-learn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import suffice
from benchmarks.measure import Result, line

ROWS = int(os.environ.get("SUFFICE_BENCH_ROWS", "10000000"))
TEXT_BYTES = int(os.environ.get("SUFFICE_BENCH_TEXT", str(1 << 30)))
STEP = 500_000
NUMBERS = [f"x{at}" for at in range(8)]
LEVELS = [f"c{at}" for at in range(12)]
FAMILIES = {**dict.fromkeys(NUMBERS, "normal"), **dict.fromkeys(LEVELS, "categorical")}
# What scikit-learn needs for the same table, run in a process of its own to see its memory.
PEER = """
import sys, pandas
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder
frame = pandas.read_parquet(sys.argv[1])
y = frame.pop("y")
numbers = [name for name in frame if name.startswith("x")]
levels = [name for name in frame if name.startswith("c")]
GaussianNB().fit(frame[numbers], y)
CategoricalNB().fit(OrdinalEncoder().fit_transform(frame[levels]), y)
"""
OURS = """
import sys
from suffice import GenerativeClassifier
families = {f"x{at}": "normal" for at in range(8)} | {f"c{at}": "categorical" for at in range(12)}
GenerativeClassifier(families, combine="naive").fit_from(sys.argv[1], target="y")
"""
IMPORTS = "import duckdb, pyarrow.dataset, pyarrow.parquet, suffice.table\n"
PEAK = """
status = open("/proc/self/status").read()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


def write_table(path: Path, rows: int, classes: int) -> None:
    """Write a table of 8 normal columns, 12 of 3 to 36 strings, and a label, to Parquet."""
    rng = np.random.default_rng(0)
    names = [[f"c{at}_level_{level}" for level in range(3 + 3 * at)] for at in range(12)]
    labels = pa.array(["stays", "leaves", "returns"][:classes])
    writer = None
    for _ in range(0, rows, STEP):
        y = rng.integers(0, classes, STEP)
        cells: dict[str, Any] = {
            name: rng.normal(0.3 * (at + 1) * y, 1 + 0.1 * at) for at, name in enumerate(NUMBERS)
        }
        for at, name in enumerate(LEVELS):
            size = len(names[at])
            codes = np.minimum((rng.random(STEP) ** (1 + 0.3 * y) * size), size - 1)
            cells[name] = pa.array(names[at]).take(pa.array(codes.astype(np.int32)))
        cells["y"] = labels.take(pa.array(y))
        table = pa.table(cells)
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=250_000)
    assert writer is not None
    writer.close()


def aggregates(path: Path) -> None:
    """Let DuckDB compute sums and squares by label, and counts by label and level."""
    sums = ", ".join(f"count({x}), sum({x}), sum({x} * {x})" for x in NUMBERS)
    groups = ", ".join(f"(y, {name})" for name in LEVELS)
    with duckdb.connect() as connection:
        connection.sql(f"SELECT y, count(*), {sums} FROM '{path}' GROUP BY y").fetchall()
        connection.sql(
            f"SELECT y, {', '.join(LEVELS)}, count(*) FROM '{path}' "
            f"GROUP BY GROUPING SETS ({groups})"
        ).fetchall()


def peak_megabytes(script: str, path: Path) -> float:
    """Run a script on a file, in a process of its own; return the peak of its memory, in MB."""
    command = [sys.executable, "-W", "ignore", "-c", script + PEAK, str(path)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(found.stdout.split()[-1]) * 1024 / 1e6


def tables() -> Iterator[Result]:
    """Time a Parquet file of 10,000,000 x 20."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_table(path, ROWS, 3)
        size = f"{ROWS:,} x 20 Parquet"

        def fixed() -> Any:
            model = suffice.GenerativeClassifier(FAMILIES, combine="naive")
            return model.fit_from(path, target="y")

        def chosen() -> Any:
            return suffice.GenerativeClassifier().fit_from(path, target="y")

        yield line(
            f"fit_from, {size}, against DuckDB's aggregates",
            fixed,
            lambda: aggregates(path),
            1 / 1.3,
            peer="DuckDB",
            rounds=3,
        )
        yield line(
            f"fit_from, {size}, families chosen, against families given",
            chosen,
            fixed,
            1 / 2,
            peer="families given",
            rounds=3,
        )
        peaks: list[float] = []
        yield line(
            f"fit_from, {size}, against pandas and scikit-learn, whole processes",
            lambda: peak_megabytes(OURS, path),
            lambda: peaks.append(peak_megabytes(PEER, path)),
            5,
            rounds=2,
            peer_rounds=1,
        )
        ours, theirs = peak_megabytes(IMPORTS + OURS, path), peaks[0]
        base = peak_megabytes(IMPORTS, path)
        yield Result(
            f"fit_from, {size}, memory of the process (MB for s), against pandas and scikit-learn",
            ours,
            theirs,
            "scikit-learn",
            theirs / ours,
            10,
            ours - base,
        )


def predictions() -> Iterator[Result]:
    """Time predictions for a Parquet file, against DuckDB copying it."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "rows.parquet", Path(folder) / "out.parquet"
        write_table(path, ROWS // 2, 2)
        model = suffice.GenerativeClassifier(FAMILIES).fit_from(path, target="y")
        copy = f"COPY (SELECT * FROM '{path}') TO '{out}' (FORMAT parquet)"
        yield line(
            f"predict_to, {ROWS // 2:,} x 20 Parquet, 2 classes, against DuckDB copying the file",
            lambda: model.predict_to(path, out),
            lambda: duckdb.connect().execute(copy),
            1 / 3,
            peer="DuckDB",
            rounds=2,
            peer_rounds=2,
        )


def texts() -> Iterator[Result]:
    """Time JSON Lines of texts, against reading the column alone."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{at}" for at in range(50_000)])
    chances = 1.0 / (1.0 + np.arange(50_000))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mails.jsonl"
        with open(path, "w") as file:
            while file.tell() < TEXT_BYTES:
                drawn = rng.choice(50_000, (2000, 120), p=chances / chances.sum())
                for at, row in enumerate(words[drawn]):
                    label = "spam" if at % 2 else "ham"
                    file.write(json.dumps({"label": label, "text": " ".join(row)}) + "\n")

        def column() -> None:
            with duckdb.connect() as connection:
                query = f"SELECT text FROM read_json('{path}', format = 'newline_delimited')"
                for _ in connection.sql(query).to_arrow_reader(100_000):
                    pass

        yield line(
            f"TextClassifier fit_from, {TEXT_BYTES >> 20} MB of JSON Lines, against its column",
            lambda: suffice.TextClassifier().fit_from(path, target="label", features="text"),
            column,
            1 / 2,
            peer="reading the column",
            rounds=2,
            peer_rounds=2,
        )


CASES = (tables, predictions, texts)
