"""Writing that fails: one sentence, the old file whole, and no temporary file left behind."""

import errno
import os
import pickle
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import suffice
from interruptions import interrupt_at
from suffice import BernoulliNB, ModelFileError, SaveError, SufficeError
from suffice.persist import file_format

SAVED = Path(suffice.__file__).parent / "persist"
WRITING = {str(SAVED / name) for name in ("file_format.py", "saving.py")}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def small(width=1):
    return BernoulliNB().fit(np.eye(2 * width), ["a", "b"] * width)


# A process of its own, which no limit that it sets itself outlives. It saves a model of 2,000
# columns where one of 2 is, and tells what became of it.
SAVER = """
import os, resource, sys
import numpy as np
from suffice import BernoulliNB
limited, *forbidden = sys.argv[1:]
large = BernoulliNB().fit(np.zeros((4, 2000)), ["a", "b"] * 2)

def attempt(path):
    try:
        large.save(path)
    except Exception as error:
        print(type(error).__name__, isinstance(error, OSError), error.errno)
        print(error)

most, hardest = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hardest))
attempt(limited)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, hardest))
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
for path in forbidden:
    attempt(path)
"""


@pytest.fixture
def read_only(tmp_path):
    """Return a folder with a model in it that others may read, and nobody but root may write to."""
    folder = tmp_path / "read only"
    folder.mkdir()
    small().save(folder / "model")
    folder.chmod(0o555)
    # The folders above are the tests' own, and closed to others.
    above = [one for one in folder.parents if one.stat().st_uid == os.getuid()]
    closed = [(one, one.stat().st_mode) for one in above if not one.stat().st_mode & stat.S_IXOTH]
    for one, mode in closed:
        one.chmod(mode | 0o055)
    yield folder
    folder.chmod(0o755)
    for one, mode in closed:
        one.chmod(mode)


@pytest.mark.slow
def test_a_limit_of_size_and_a_folder_that_may_not_be_written_to_are_told_and_old_files_stay(
    path, read_only
):
    small().save(path)
    before, kept = path.read_bytes(), (read_only / "model").read_bytes()
    paths = [path, read_only / "model", read_only / "new"]
    command = [sys.executable, "-c", SAVER, *paths]
    # Nobody may enter this folder but its owner; what is imported here is imported there.
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", env=places)
    lines = iter(done.stdout.splitlines())
    facts = [
        (
            errno.EFBIG,
            "File too large; raise the limit on the size of files (ulimit -f) or save it elsewhere",
        ),
        *[(errno.EACCES, "Permission denied; save it to a folder that you may write to")] * 2,
    ]
    for where, (number, fact) in zip(paths, facts, strict=True):
        assert next(lines) == f"SaveError True {number}"
        assert next(lines) == (
            f"Cannot save this BernoulliNB to {str(where)!r}: {fact} (what was there before is as "
            "it was)."
        )
    assert path.read_bytes() == before
    assert (read_only / "model").read_bytes() == kept
    assert sorted(os.listdir(path.parent)) == sorted([path.name, read_only.name])
    assert os.listdir(read_only) == ["model"]


@pytest.fixture
def full_disk(monkeypatch):
    """Have what is written to temporary files go to a device that is always full."""

    def full(name, mode):
        file = open(name, mode)  # noqa: SIM115
        device = os.open("/dev/full", os.O_RDWR)
        os.dup2(device, file.fileno())
        os.close(device)
        return file

    monkeypatch.setattr(file_format, "open", full, raising=False)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_is_told_and_the_old_file_stays(path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.delattr(file_format, "open")
        small().save(path)
    before = path.read_bytes()
    with pytest.raises(
        SaveError, match=r"model.safetensors': No space left on device; make room there or save"
    ) as caught:
        small(2).save(path)
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value, SufficeError)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_the_error_can_be_sent_to_another_process():
    error = SaveError(errno.ENOSPC, "Cannot save it.", "model")
    other = pickle.loads(pickle.dumps(error))
    assert (str(other), other.errno, other.filename) == ("Cannot save it.", errno.ENOSPC, "model")


def test_a_model_takes_the_place_of_no_folder_and_no_device(path):
    path.mkdir()
    with pytest.raises(SaveError, match="Is a directory; save it elsewhere"):
        small().save(path)
    pipe = path.with_name("pipe")
    os.mkfifo(pipe)
    with pytest.raises(SaveError, match="It is there, and no regular file; save it elsewhere"):
        small().save(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(path.parent)) == sorted([path.name, pipe.name])


# Interrupted at any line.


@pytest.mark.slow
@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), OSError(errno.EIO, "Input/output error")],
    ids=lambda error: type(error).__name__,
)
def test_whatever_is_raised_at_any_line_leaves_the_old_file_or_the_new_one_and_nothing_else(
    error, path
):
    old, new = small(), small(2)
    moment = {"when": datetime(2024, 1, 1, tzinfo=UTC)}
    new.save(path, **moment)
    after = path.read_bytes()
    old.save(path, **moment)
    before = path.read_bytes()
    at, found = 1, []
    while interrupt_at(lambda: new.save(path, **moment), WRITING, error, at):
        found.append(path.read_bytes())
        assert os.listdir(path.parent) == [path.name], at
        if found[-1] != before:
            old.save(path, **moment)
        at += 1
    assert set(found) == {before, after}
    # The new file has its name once there is nothing left to do but to have the name on the disk.
    assert found.index(after) == found.count(before) > 100
    assert found.count(after) < 10


def test_a_folder_that_is_not_there_is_pythons_own_error_and_names_the_path_that_was_given(path):
    missing = path.parent / "nowhere" / "model"
    with pytest.raises(FileNotFoundError, match="No such file or directory") as caught:
        small().save(missing)
    assert caught.value.filename == str(missing)


def test_what_no_file_can_hold_is_still_a_model_file_error(path):
    model = small()
    model.class_prior = "\0" * (9 << 20)
    with pytest.raises(ModelFileError, match="Its document has"):
        model.save(path)
    assert not os.listdir(path.parent)
