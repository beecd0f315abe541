"""The examples of the page on Spark run."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
BLOCKS = re.findall(r"^```py *(\w*)\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_the_examples_of_spark_run(spark, tmp_path, capsys):
    names = {"spark": spark, "folder": str(tmp_path)}
    for kind, block in BLOCKS:
        if not kind:
            exec(block, names)
    assert names["model"].tally_.weights.tolist() == [50, 100]
    assert names["again"].stages[0].model.classes_.tolist() == ["leaves", "stays"]
    assert "|prediction|" in capsys.readouterr().out


# Dask's workers import the main module again, so that the recipe is a function there.
SCRIPT = """
import sys

def run(folder):
{begin}
{recipe}
    print(model.class_count_.tolist(), model.theta_.tolist())

if __name__ == "__main__":
    run(sys.argv[1])
"""
# A cluster of this process alone, which ends with it; whoever has one leaves this out.
BEGIN = {
    "dask": "",
    "ray": "import ray; ray.init(num_cpus=2, include_dashboard=False, object_store_memory=10**8)",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_recipe_counts_what_is_in_all_files(kind, tmp_path):
    pytest.importorskip(kind)
    (recipe,) = [block for name, block in BLOCKS if name == kind]
    assert len(recipe.splitlines()) < 30
    rng = np.random.default_rng(0)
    cells, labels = rng.normal(size=(500, 2)), rng.integers(0, 2, 500)
    for at in range(20):
        some = slice(25 * at, 25 * at + 25)
        table = pa.table({"a": cells[some, 0], "b": cells[some, 1], "label": labels[some]})
        pq.write_table(table, tmp_path / f"{at:02}.parquet")
    script = tmp_path / "recipe.py"
    begin, recipe = (textwrap.indent(text, "    ") for text in (BEGIN[kind], recipe))
    script.write_text(SCRIPT.format(begin=begin, recipe=recipe), encoding="utf-8")
    command = [sys.executable, str(script), str(tmp_path)]
    # Ray would otherwise report how it is used.
    env = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "SUFFICE_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    means = [cells[labels == c].mean(axis=0).tolist() for c in (0, 1)]
    counts = np.bincount(labels).astype(float).tolist()
    lines = done.stdout.strip().splitlines() or [done.stderr[-3000:]]
    found = re.findall(r"-?\d+\.\d+(?:e-?\d+)?", lines[-1])
    assert np.allclose([float(one) for one in found], [*counts, *np.ravel(means)]), lines[-1]
