"""Files of models: written whole or not at all, read anywhere, with a record of where from."""

import os
import random
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import suffice
from saved_cases import COUNTS, NAMES, NUMBERS, assert_same, put_together, taken_apart
from suffice import BernoulliNB, GaussianNB, InputError, LogisticRegression, ModelFileError, basis
from suffice.persist import Provenance, describe, file_format
from suffice.persist.file_format import MAX_ENTRIES


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def small(width=1):
    return BernoulliNB().fit(np.eye(2 * width), ["a", "b"] * width)


def run(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_a_fresh_process_loads_the_same_model_and_only_its_own_room(path):
    model = GaussianNB(calibrate="loo").fit(NUMBERS, NAMES)
    model.save(path)
    code = (
        "import sys, suffice\n"
        "model = suffice.load(sys.argv[1])\n"
        f"rows = {NUMBERS[:5].tolist()}\n"
        "print(model.predict_proba(rows).tobytes().hex())\n"
        "print(*sys.modules)"
    )
    answer, modules = run(code, path).split("\n", 1)
    assert answer == model.predict_proba(NUMBERS[:5]).tobytes().hex()
    loaded = set(modules.split())
    assert "suffice.naive_bayes" in loaded
    assert not loaded & {"suffice.discriminant_analysis", "suffice.lab", "suffice.linear_model"}


@pytest.mark.slow
def test_a_damaged_file_is_refused_before_any_model_is_imported(path):
    path.write_bytes(b"\xff" * 100)
    code = (
        "import sys, suffice\n"
        "try:\n    suffice.load(sys.argv[1])\n"
        "except suffice.ModelFileError:\n    print(*sys.modules)"
    )
    loaded = set(run(code, path).split())
    assert "suffice.persist" in loaded
    assert not loaded & {"sklearn", "suffice.naive_bayes"}


def test_safetensors_reads_the_file_too(path):
    model = small()
    model.save(path)
    tensors = load_file(path)
    assert tensors["tally_.parts.counts"].tolist() == model.tally_.parts.counts.tolist()


def test_a_file_made_by_hand_after_the_documentation_is_the_same_model(path, tmp_path):
    model = GaussianNB(calibrate="loo").fit(NUMBERS, NAMES)
    model.save(path)
    other = tmp_path / "by hand"
    other.write_bytes(put_together(*taken_apart(path.read_bytes())))
    # Kept rows are in no file that was not asked for them.
    assert_same(suffice.load(path), suffice.load(other))
    np.testing.assert_array_equal(
        suffice.load(other).predict_proba(NUMBERS), model.predict_proba(NUMBERS)
    )


def test_a_path_may_be_text_and_a_missing_file_is_pythons_own_error(path):
    small().save(str(path))
    assert_same(small(), suffice.load(str(path)))
    for act in (suffice.load, describe):
        with pytest.raises(FileNotFoundError):
            act(path.with_name("nothing"))
        with pytest.raises(IsADirectoryError):
            act(path.parent)
    with pytest.raises(FileNotFoundError):
        small().save(path.parent / "nowhere" / "model")


def test_a_pipe_is_refused_and_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(ModelFileError, match=r"Cannot load '.*': It is no regular file. Fetch"):
        suffice.load(path)


# The record.


def test_the_record_tells_class_version_time_rows_and_source(path):
    moment = datetime(2024, 2, 29, 12, 30, tzinfo=timezone(timedelta(hours=2)))
    weights = np.full(len(NUMBERS), 0.5)
    model = GaussianNB().fit(NUMBERS, NAMES, sample_weight=weights)
    model.save(path, source="breakfast.csv", when=moment)
    assert describe(path) == Provenance(
        "GaussianNB",
        suffice.__version__,
        datetime(2024, 2, 29, 10, 30, tzinfo=UTC),
        30.0,
        "breakfast.csv",
    )


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (LogisticRegression().fit(COUNTS, NAMES), float(len(COUNTS))),
        (LogisticRegression.from_weights([[1.0], [2.0]], [0.0, 0.0], [0, 1]), None),
        (suffice.LinearRegression().fit(NUMBERS, NUMBERS[:, 0]), float(len(NUMBERS))),
        (suffice.SelectFeatures().fit(NUMBERS, NAMES), float(len(NUMBERS))),
        (basis.Polynomial().fit(NUMBERS), None),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_the_record_knows_the_rows_where_the_model_does(model, rows, path):
    model.save(path)
    record = describe(path)
    assert record.rows == rows
    assert record.source is None
    assert abs(datetime.now(UTC) - record.when) < timedelta(hours=1)


def test_a_record_of_no_time_zone_or_an_odd_source_is_refused(path):
    with pytest.raises(InputError, match=r"when=.* has no time zone. Give one: "):
        small().save(path, when=datetime(2020, 1, 1))
    with pytest.raises(TypeError, match=r"source is a PosixPath. Name the source in a str"):
        small().save(path, source=Path("data.csv"))
    assert not path.exists()


@pytest.mark.slow
def test_the_bytes_depend_on_nothing_but_the_model_and_the_record(path):
    code = (
        "import sys\nfrom datetime import UTC, datetime\nfrom suffice import BernoulliNB\n"
        "import numpy as np\n"
        "model = BernoulliNB().fit(np.eye(2), ['a', 'b'])\n"
        "model.save(sys.argv[1], when=datetime(2020, 1, 1, tzinfo=UTC))"
    )
    run(code, path)
    first = path.read_bytes()
    small().save(path, when=datetime(2020, 1, 1, tzinfo=UTC))
    assert path.read_bytes() == first


# What is not saved.


def test_a_model_that_learned_nothing_is_not_saved(path):
    with pytest.raises(
        ModelFileError, match=r"this GaussianNB: it has learned nothing yet. Fit it"
    ):
        GaussianNB().save(path)


def test_a_class_of_somebody_elses_is_not_saved(path):
    class Mine(GaussianNB):
        pass

    with pytest.raises(ModelFileError, match="this Mine: it is no public class of suffice"):
        Mine().fit(NUMBERS, NAMES).save(path)


def test_settings_that_do_not_go_with_what_was_learned_are_told_before_writing(path):
    model = suffice.QuadraticDiscriminantAnalysis(solver="eigen", tol=0.0).fit(NUMBERS, NAMES)
    model.save(path)
    model.set_params(shrinkage="auto")
    with pytest.raises(
        ModelFileError,
        match=r"what it learned does not go with its settings .*Patterns, where Quartics are due",
    ):
        model.save(path)
    assert suffice.load(path).shrinkage is None


def test_a_model_too_large_for_a_header_is_not_saved(path):
    small().save(path)
    model = small()
    model.class_prior = [0.5] * MAX_ENTRIES
    with pytest.raises(ModelFileError, match=r"this BernoulliNB: Its document has .* the most"):
        model.save(path)
    assert_same(small(), suffice.load(path))
    for much in (
        "\0" * (9 << 20),
        ['"' * 1000] * 3000,
    ):  # the second only as it stands in the header
        model.class_prior = much
        with pytest.raises(ModelFileError, match=r"this BernoulliNB: Its .* the most. Give arrays"):
            model.save(path)
    assert os.listdir(path.parent) == [path.name]


# Writing.


@pytest.mark.parametrize("step", ["save", "fsync", "replace", "chmod"])
def test_what_goes_wrong_while_writing_leaves_the_old_file_and_nothing_else(
    step, path, monkeypatch
):
    small().save(path)
    before = path.read_bytes()

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        owner = "safetensors.numpy" if step == "save" else "os"
        patched.setattr(f"{owner}.{step}", fail)
        with pytest.raises(KeyboardInterrupt):
            small(2).save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_new_file_has_the_permissions_of_any_new_file_and_an_old_one_keeps_its_own(path):
    path.with_name("any").touch()
    small().save(path)
    assert path.stat().st_mode == path.with_name("any").stat().st_mode
    path.chmod(0o640)
    small().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link_to_the_new_file(path):
    target = path.with_name("target")
    small().save(target)
    path.symlink_to(target)
    small(2).save(path)
    assert path.is_symlink()
    assert_same(small(2), suffice.load(target))


def test_a_system_that_opens_no_folders_still_saves(path, monkeypatch):
    kept = os.open

    def without_folders(name, flags, *rest):
        if os.path.isdir(name):
            raise PermissionError
        return kept(name, flags, *rest)

    monkeypatch.setattr(file_format.os, "open", without_folders)
    small().save(path)
    assert_same(small(), suffice.load(path))


# Starts a writer for every line it reads, a process of its own, and tells how each of them ended.
WRITERS = """
import os, sys
import numpy as np
from suffice import Quadratic
models = [Quadratic().fit(np.zeros((1, columns))) for columns in (700, 800)]
models[0].save(sys.argv[1])
for _ in sys.stdin:
    if not (writer := os.fork()):
        print(os.getpid(), flush=True)
        while True:
            for model in models:
                print("saving", flush=True)
                model.save(sys.argv[1])
    print("ended", os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]), flush=True)
"""


@pytest.mark.slow
def test_a_killed_writer_leaves_one_model_or_the_other(path):
    dice = random.Random(7)
    command = [sys.executable, "-c", WRITERS, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) as writers:
        for _ in range(5):
            writers.stdin.write("start\n")
            writer = int(writers.stdout.readline())
            for _ in range(dice.randint(1, 6)):
                assert writers.stdout.readline() == "saving\n"
            # Somewhere within the writing, or after it.
            for _ in range(dice.randint(0, 200_000)):
                pass
            os.kill(writer, signal.SIGKILL)
            assert next(line for line in writers.stdout if line != "saving\n") == "ended -9\n"
            assert suffice.load(path).n_features_in_ in (700, 800)
    assert writers.returncode == 0


def test_a_file_that_shrinks_while_it_is_read_is_refused(path, monkeypatch):
    small().save(path)
    checked = file_format.Header.read

    def then_cut(file):
        header = checked(file)
        os.truncate(path, 700)
        return header

    monkeypatch.setattr(file_format.Header, "read", then_cut)
    with pytest.raises(ModelFileError, match="cut off while it was read"):
        suffice.load(path)
