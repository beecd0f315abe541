"""suffice inspect, diff, report."""

import json

import pytest

import suffice


def test_a_model_is_shown_with_its_provenance(run, shop):
    done = run("inspect", "model.suffice")
    assert (done.code, done.err) == (0, "")
    for part in ("GenerativeClassifier", "shop.csv", "column of the target   stays", "months"):
        assert part in done.out
    found = json.loads(run("inspect", "model.suffice", "--json").out)
    assert found["rows"] == 200
    assert found["columns_by_role"] == {"target": "stays"}
    assert found["version"] == suffice.__version__
    families = {one["column"]: one["family"] for one in found["columns"]}
    choices = suffice.load("model.suffice").choices_
    assert families == {name: choices[name].family for name in choices}
    assert found["held_out"]["rows"] > 150


def test_a_text_model_is_shown_with_its_words(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mails = ["cheap pills", "lunch at noon"] * 10
    suffice.TextClassifier().fit(mails, ["spam", "ham"] * 10).save("text.suffice", rows=True)
    found = json.loads(run("inspect", "text.suffice", "--json").out)
    assert set(found["top_words"]["spam"][:2]) == {"cheap", "pills"}
    assert found["raw_rows_in_file"]
    assert "5 words." in run("inspect", "text.suffice").out


def test_any_model_of_the_library_is_shown(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suffice.LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 4.5]).save("line.suffice")
    suffice.GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save("nb.suffice")
    assert "LinearRegression" in run("inspect", "line.suffice").out
    assert "GaussianNB" in run("inspect", "nb.suffice").out


def test_control_characters_of_data_do_not_reach_the_terminal(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suffice.GaussianNB().fit([[1.0], [2.0]], ["a\x1b[31m", "b"]).save("nb.suffice")
    done = run("inspect", "nb.suffice")
    assert "\x1b" not in done.out
    assert "a\\x1b[31m" in done.out


def test_differences_are_those_of_the_rows(run, shop):
    assert run("update", "model.suffice", "more.csv").code == 0
    found = json.loads(run("diff", "model.suffice.previous", "model.suffice", "--json").out)
    assert found["rows"] == [200, 260]
    assert found["settings"] == {}
    assert set(found["columns"]) == {"plan", "months", "visits", "note"}
    assert 0 < found["answers"]["mean_change"] < 0.2
    done = run("diff", "model.suffice.previous", "model.suffice")
    assert "+60" in done.out
    assert "get another label" in done.out
    same = json.loads(run("diff", "model.suffice", "model.suffice", "--json").out)
    assert same["answers"]["largest_change"] == 0


def test_words_that_changed_are_listed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mails, labels = ["cheap pills", "lunch at noon"] * 10, ["spam", "ham"] * 10
    suffice.TextClassifier().fit(mails, labels).save("one.suffice")
    more = [*mails, "cheap lunch", "new words"]
    suffice.TextClassifier(ngrams=1, alpha=1.0).fit(more, [*labels, "ham", "ham"]).save(
        "two.suffice"
    )
    found = json.loads(run("diff", "one.suffice", "two.suffice", "--json").out)
    assert found["words"]["only_second"] == 2
    assert "cheap" in found["words"]["changed"]
    assert "alpha" in found["settings"]
    done = run("diff", "one.suffice", "two.suffice")
    assert "Settings that differ" in done.out
    assert "only in two.suffice: 2" in done.out


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("inspect", "shop.csv"), "Cannot load 'shop.csv'"),
        (("inspect", "."), "'.'"),
        (("diff", "model.suffice", "nb.suffice"), "Give two models of one kind."),
        (("diff", "line.suffice", "line.suffice"), "has no classes to compare"),
        (("diff", "model.suffice", "none.suffice"), "There is no file or folder 'none.suffice'"),
        (("report", "none.suffice"), "There is no file or folder 'none.suffice'"),
        (("report", "model.suffice", "-o", "model.suffice"), "--force"),
    ],
)
def test_wrong_input_says_what_to_do(args, text, run, shop):
    suffice.GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save("nb.suffice")
    suffice.LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 4.5]).save("line.suffice")
    done = run(*args)
    assert (done.code, done.out) == (1, "")
    assert text in done.err


def test_a_report_is_one_page(run, shop):
    assert run("report", "model.suffice", "more.csv", "-o", "report.html").code == 0
    assert (shop / "report.html").read_text(encoding="utf-8").lstrip().startswith("<!")
