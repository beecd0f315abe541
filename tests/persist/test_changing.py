"""A model file changes all at once, by one writer at a time, and back once."""

import errno
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import suffice
from suffice import GaussianNB, GenerativeClassifier, InputError, SaveError
from suffice.persist import change_model, changing, describe, previous_path, save_model, undo

ROWS, LABELS = [[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"]


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "model.suffice")
    columns = {"target": "kind", "weight": "n"}
    save_model(GaussianNB().fit(ROWS, LABELS), path, source="first.csv", columns=columns)
    return path


def learn(model):
    model.partial_fit([[7.0]], ["b"])


def content(path):
    with open(path, "rb") as file:
        return file.read()


def test_a_change_is_saved_and_the_record_goes_on(path):
    model = change_model(path, learn, source="second.csv")
    assert model.class_count_.tolist() == [2, 3]
    assert suffice.load(path).class_count_.tolist() == [2, 3]
    record = describe(path)
    assert (record.rows, record.source) == (5, "first.csv; last from second.csv")
    assert record.columns == {"target": "kind", "weight": "n"}
    change_model(path, learn, source="third.csv")
    assert describe(path).source == "first.csv; last from third.csv"


def test_a_change_without_a_source_keeps_the_first(path):
    change_model(path, learn)
    assert describe(path).source == "first.csv"


def test_the_first_source_of_a_file_without_one_is_that_of_the_change(tmp_path):
    path = tmp_path / "model.suffice"
    GaussianNB().fit(ROWS, LABELS).save(path)
    change_model(path, learn, source="second.csv")
    assert describe(path).source == "second.csv"


def test_what_a_change_returns_is_saved(path):
    change_model(path, lambda model: model + model)
    assert suffice.load(path).class_count_.tolist() == [4, 4]


def test_undo_restores_the_file_byte_for_byte_and_once(path):
    before = content(path)
    change_model(path, learn)
    assert content(path) != before
    assert content(previous_path(path)) == before
    undo(path)
    assert content(path) == before
    assert os.listdir(os.path.dirname(path)) == ["model.suffice"]
    with pytest.raises(InputError, match="nothing to undo"):
        undo(path)


def test_a_final_change_deletes_what_was_kept_and_cannot_be_undone(path):
    change_model(path, learn)
    change_model(path, lambda model: model.forget([[7.0]], ["b"]), final=True)
    assert os.listdir(os.path.dirname(path)) == ["model.suffice"]
    with pytest.raises(InputError, match="'forget' is final"):
        undo(path)


def test_after_a_final_change_no_file_has_what_was_forgotten(tmp_path):
    path = tmp_path / "model.suffice"
    rows = [{"name": name, "size": size} for name, size in [("Ann", 1.0), ("Bob", 2.0)] * 4]
    extra = [{"name": "Quirin", "size": 9.0}]
    model = GenerativeClassifier({"name": "categorical"}).fit(rows, ["a", "b"] * 4)
    model.save(path, rows=True)
    with pytest.warns(suffice.errors.StaleCalibrationWarning):
        change_model(path, lambda model: model.partial_fit(extra, ["a"]))
    assert b"Quirin" in content(path)
    with pytest.warns(suffice.errors.StaleCalibrationWarning):
        change_model(path, lambda model: model.forget(extra, ["a"]), final=True)
    files = [tmp_path / name for name in os.listdir(tmp_path)]
    assert files == [path]
    assert b"Quirin" not in content(path)
    assert describe(path).keeps_rows


@pytest.mark.parametrize("final", [False, True])
def test_a_change_that_fails_changes_nothing(path, final):
    change_model(path, learn)
    before, kept = content(path), content(previous_path(path))

    def fail(model):
        model.partial_fit([[8.0]], ["c"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change_model(path, fail, final=final)
    assert content(path) == before
    assert content(previous_path(path)) == kept
    assert len(os.listdir(os.path.dirname(path))) == 2


def test_no_copy_can_be_kept_on_a_full_disk(path, monkeypatch):
    before = content(path)

    def full(path, write):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(changing, "replace_file", full)
    with pytest.raises(SaveError, match="No space left on device; nothing was changed"):
        change_model(path, learn)
    assert content(path) == before


def test_a_missing_model_is_reported_by_the_name_that_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for act in (undo, lambda path: change_model(path, learn)):
        with pytest.raises(FileNotFoundError) as caught:
            act("none.suffice")
        assert os.path.basename(caught.value.filename) == "none.suffice"


def test_writers_of_several_threads_lose_no_row(path):
    threads = [threading.Thread(target=change_model, args=(path, learn)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert suffice.load(path).class_count_.tolist() == [2, 10]


def test_a_second_process_waits_and_then_gives_up(path):
    code = "import sys; from suffice.persist import undo; undo(sys.argv[1], wait=0.05)"
    with changing.locked(path):
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "Another process is changing" in done.stderr
    assert "run this again" in done.stderr


def test_a_link_stays_a_link(path, tmp_path):
    link = tmp_path / "link.suffice"
    link.symlink_to(path)
    change_model(link, learn)
    assert link.is_symlink()
    assert suffice.load(path).class_count_.tolist() == [2, 3]
    undo(link)
    assert suffice.load(path).class_count_.tolist() == [2, 2]


def test_a_lock_that_the_system_refuses_is_an_error(path, monkeypatch):
    import fcntl

    def refuse(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="No locks available"):
        change_model(path, learn)


def test_a_file_that_vanishes_while_it_is_locked_is_asked_for_again(path, monkeypatch):
    asked = []

    def still(path, file):
        asked.append(path)
        return len(asked) > 1

    monkeypatch.setattr(changing, "_is_still", still)
    change_model(path, learn)
    assert len(asked) == 2
    assert suffice.load(path).class_count_.tolist() == [2, 3]


def test_a_file_of_another_name_is_not_still_there(path):
    with open(path, "rb") as file:
        os.unlink(path)
        assert not changing._is_still(path, file)


def test_rows_in_a_file_stay_in_it(tmp_path):
    path = tmp_path / "model.suffice"
    rng = np.random.default_rng(0)
    model = GaussianNB(calibrate="folds").fit(rng.normal(size=(40, 2)), np.arange(40) % 2)
    model.save(path, rows=True)
    assert describe(path).keeps_rows
    with pytest.warns(suffice.errors.StaleCalibrationWarning):
        change_model(path, lambda model: model.partial_fit([[0.0, 0.0]], [1]))
    assert describe(path).keeps_rows
    suffice.load(path).refresh_calibration()
