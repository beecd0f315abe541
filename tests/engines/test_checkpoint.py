"""A count of files goes on after a crash, to exactly the tally of one that was not interrupted."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import GaussianNB, GenerativeClassifier, InputError, ModelFileError, SourceError
from suffice.engines import from_source

FAMILIES = {"size": "normal", "city": "categorical", "note": "text", "n": "poisson"}
# Counts a file with a checkpoint after every unit, slowly, so that it can be killed anywhere.
SCRIPT = """
import sys, time
from suffice import GenerativeClassifier
from suffice.engines import from_source
count_unit = from_source.count_unit
def slowly(*args, **kwargs):
    print("unit", flush=True)
    time.sleep(0.01)
    return count_unit(*args, **kwargs)
from_source.count_unit = slowly
from suffice import CountingPlan
plan = CountingPlan.from_json(open(sys.argv[2]).read())
tally = GenerativeClassifier().count(sys.argv[1], plan, checkpoint=sys.argv[3], every=1)
tally.save(sys.argv[4])
print("done", flush=True)
"""


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 3, 6000)
    words = np.array(["kind", "rude", "late", "quick", "staff", "food"])
    return pa.table(
        {
            "size": rng.normal(size=6000) * 1e-3 + 1e6 + own,
            "city": np.array([f"city {at}" for at in range(40)])[rng.integers(0, 38, 6000) + own],
            "note": [" ".join(words[(rng.integers(0, 4, 4) + c) % 6]) for c in own],
            "n": rng.poisson(1 + own),
            "label": np.array(["a", "b", "c"])[own],
        }
    )


def write(rows, folder, kind):
    if kind == "parquet":
        pq.write_table(rows, folder / "rows.parquet", row_group_size=100)
        return folder / "rows.parquet"
    rows.to_pandas().to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


class CrashError(Exception):
    pass


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_count_goes_on_where_it_stopped(kind, rows, tmp_path, monkeypatch):
    path, kept = write(rows, tmp_path, kind), tmp_path / "kept"
    model = GenerativeClassifier(FAMILIES)
    plan = model.plan(path, target="label")
    whole = model.count(path, plan).to_bytes()
    original, counted = from_source.count_unit, []

    def crash(*args, **kwargs):
        counted.append(1)
        if len(counted) == 17:
            raise CrashError
        return original(*args, **kwargs)

    if kind == "parquet":
        monkeypatch.setattr(from_source, "count_unit", crash)
        with pytest.raises(CrashError):
            model.count(path, plan, checkpoint=kept, every=250)
        assert kept.exists()
    found = model.count(path, plan, checkpoint=kept, every=250)
    assert found.to_bytes() == whole
    assert not kept.exists()
    if kind == "parquet":
        # 16 units before, of which 15 were kept, and the rest of 60 after
        assert len(counted) == 17 + 60 - 15


def test_fit_from_takes_a_checkpoint(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(from_source, "SAMPLE_ROWS", 300)
    path = write(rows, tmp_path, "parquet")
    model = GenerativeClassifier(FAMILIES).fit_from(
        path, target="label", checkpoint=tmp_path / "kept", every=500
    )
    expected = GenerativeClassifier(FAMILIES).fit_from(path, target="label")
    given = rows.drop_columns(["label"])
    assert np.array_equal(model.predict_proba(given), expected.predict_proba(given))
    assert not (tmp_path / "kept").exists()


def kill_and_resume(rows, folder, kills, seed):
    rng = random.Random(seed)
    path, kept, out = write(rows, folder, "parquet"), folder / "kept", folder / "out"
    model = GenerativeClassifier(FAMILIES)
    plan = model.plan(path, target="label")
    (folder / "plan.json").write_text(plan.to_json())
    command = [sys.executable, "-c", SCRIPT, path, folder / "plan.json", kept, out]
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            # Wait until it counts, then kill it at any moment of the next units.
            first = process.stdout.readline()
            if first.strip() == "done":
                break
            deadline = time.monotonic() + rng.random() * 0.15
            while time.monotonic() < deadline:
                pass
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert not [one for one in folder.iterdir() if one.name == "out"] or kept.exists() is False
    if not out.exists():
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert out.read_bytes() == model.count(path, plan).to_bytes()


def test_a_count_that_is_killed_five_times_ends_with_the_same_tally(rows, tmp_path):
    kill_and_resume(rows, tmp_path, 5, seed=0)


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("SUFFICE_KILLS"), reason="SUFFICE_KILLS=50 asks for it")
def test_a_count_that_is_killed_many_times_ends_with_the_same_tally(rows, tmp_path):
    for seed in range(int(os.environ["SUFFICE_KILLS"]) // 5):
        folder = tmp_path / str(seed)
        folder.mkdir()
        kill_and_resume(rows, folder, 5, seed=seed)


def test_files_that_changed_meanwhile_are_refused(rows, tmp_path, monkeypatch):
    path, kept = write(rows, tmp_path, "parquet"), tmp_path / "kept"
    model = GaussianNB()
    plan = model.plan(path, target="label", features=["size"])
    original = from_source.count_unit

    def crash(learner, tally, unit, **options):
        if unit.first_row == 1000:
            raise CrashError
        return original(learner, tally, unit, **options)

    with monkeypatch.context() as patch:
        patch.setattr(from_source, "count_unit", crash)
        with pytest.raises(CrashError):
            model.count(path, plan, checkpoint=kept, every=100)
    other = model.plan(path, target="label", features=["size", "n"])
    with pytest.raises(ValueError, match="Cannot add tallies of two counting plans"):
        model.count(path, other, checkpoint=kept)
    os.utime(path, ns=(1, 1))
    with pytest.raises(SourceError, match="The files have changed since the checkpoint"):
        model.count(path, plan, checkpoint=kept)
    kept.write_bytes(b"damaged")
    with pytest.raises(ModelFileError):
        model.count(path, plan, checkpoint=kept)


def test_other_sources_refuse_a_checkpoint_with_the_reason(rows, tmp_path):
    model = GaussianNB()
    plan = model.plan(rows, target="label", features=["size"])
    with pytest.raises(InputError, match="whether its rows are the same later cannot be known"):
        model.count(rows, plan, checkpoint=tmp_path / "kept")
    with pytest.raises(InputError, match="Give checkpoint="):
        model.count(rows, plan, every=10)
    path = write(rows, tmp_path, "parquet")
    with pytest.raises(InputError, match="A checkpoint every 0 rows"):
        model.count(path, plan, checkpoint=tmp_path / "kept", every=0)
