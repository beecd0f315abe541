"""suffice update, forget, merge, undo."""

import json

import pytest

import suffice
from shop_rows import write_rows


def rows(path="model.suffice"):
    return float(suffice.load(path).tally_.weights.sum())


def test_update_learns_rows_and_undo_takes_them_back_once(run, shop):
    before = (shop / "model.suffice").read_bytes()
    done = run("update", "model.suffice", "more.csv", "--json")
    assert json.loads(done.out)["rows"] == rows() == 260
    assert (shop / "model.suffice.previous").read_bytes() == before
    done = run("undo", "model.suffice")
    assert (done.code, "200 rows" in done.out) == (0, True)
    assert (shop / "model.suffice").read_bytes() == before
    done = run("undo", "model.suffice")
    assert done.code == 1
    assert "nothing to undo" in done.err


def test_update_reads_stdin(run, shop):
    done = run("update", "model.suffice", "-", stdin=(shop / "more.csv").read_bytes())
    assert "Learned 60 rows of stdin: model.suffice has 260 now." in done.out
    assert "suffice undo model.suffice" in done.out
    assert "refresh_weights" not in done.err  # the words of the library are not those of commands


def test_a_new_class_is_named(run, shop):
    write_rows("new.csv", [("yearly", 3.5, 2, "", "maybe")])
    assert "New classes: maybe." in run("update", "model.suffice", "new.csv").out


def test_after_forget_no_file_has_the_name_and_undo_refuses(run, shop):
    write_rows("quirin.csv", [("Quirin", 3.5, 2, "Quirin pays", "no")])
    assert run("update", "model.suffice", "quirin.csv").code == 0
    assert b"Quirin" in (shop / "model.suffice").read_bytes()
    assert run("update", "model.suffice", "more.csv").code == 0
    assert b"Quirin" in (shop / "model.suffice.previous").read_bytes()
    done = run("forget", "model.suffice", "quirin.csv")
    assert (done.code, "This is final" in done.out) == (0, True)
    assert rows() == 260
    (shop / "quirin.csv").unlink()
    assert not [path.name for path in shop.iterdir() if b"Quirin" in path.read_bytes()]
    done = run("undo", "model.suffice")
    assert done.code == 1
    assert "'forget' is final" in done.err


def test_forget_takes_rows_out(run, shop):
    done = run("forget", "model.suffice", "two.csv", "--json")
    assert json.loads(done.out)["rows"] == rows() == 198


def test_merge_pools_models_into_a_new_file(run, shop):
    options = ("--target", "stays", "--like", "model.suffice", "--no-compare")
    assert run("fit", "more.csv", *options, "-o", "other.suffice").code == 0
    before = (shop / "model.suffice").read_bytes()
    done = run("merge", "model.suffice", "other.suffice", "-o", "both.suffice", "--json")
    assert json.loads(done.out)["rows"] == rows("both.suffice") == 260
    assert (shop / "model.suffice").read_bytes() == before
    assert not (shop / "model.suffice.previous").exists()
    done = run("merge", "model.suffice", "other.suffice")
    assert "Merged 2 models: model.suffice has 260 rows and 2 classes." in done.out
    assert run("undo", "model.suffice").code == 0
    assert (shop / "model.suffice").read_bytes() == before


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("update", "none.suffice", "more.csv"), "There is no file or folder 'none.suffice'."),
        (("update", "model.suffice", "none.csv"), "There is no file 'none.csv'."),
        (("update", "model.suffice", "more.csv", "--target", "x"), "has no column 'x'"),
        (("update", "shop.csv", "more.csv"), "Cannot load 'shop.csv'"),
        (("forget", "model.suffice", "odd.csv"), "Cannot forget rows of class 'never'"),
        (("merge", "model.suffice", "model.suffice"), "would be merged with itself"),
        (("merge", "model.suffice", "none.suffice"), "There is no file or folder"),
        (("merge", "model.suffice", "x", "-o", "model.suffice"), "--force"),
        (("undo", "none.suffice"), "There is no file or folder 'none.suffice'."),
    ],
)
def test_wrong_input_says_what_to_do_and_changes_nothing(args, text, run, shop):
    write_rows("odd.csv", [("weekly", 1e9, 2, "", "never")])
    before = (shop / "model.suffice").read_bytes()
    done = run(*args)
    assert (done.code, done.out) == (1, "")
    assert text in done.err
    assert (shop / "model.suffice").read_bytes() == before
    assert not (shop / "model.suffice.previous").exists()
