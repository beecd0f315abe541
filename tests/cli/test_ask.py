"""suffice predict, explain, sql."""

import csv
import io
import json

import duckdb
import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import suffice


@pytest.fixture
def expected(shop):
    """Return the probabilities that the library gives for the rows to predict."""
    return suffice.load("model.suffice").predict_proba(pyarrow.csv.read_csv("more.csv"))


def test_predictions_stand_beside_the_input_as_csv(run, shop, expected):
    done = run("predict", "model.suffice", "more.csv")
    assert (done.code, done.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    names = ["plan", "months", "visits", "note", "stays", "label", "p_no", "p_yes"]
    assert list(rows[0]) == names
    np.testing.assert_allclose([float(row["p_yes"]) for row in rows], expected[:, 1], rtol=1e-12)
    labels = np.array(["no", "yes"])[expected.argmax(axis=1)]
    assert [row["label"] for row in rows] == labels.tolist()


def test_predictions_are_written_as_json_lines(run, shop, expected):
    done = run("predict", "model.suffice", "-", "--json", stdin=(shop / "more.csv").read_bytes())
    rows = [json.loads(line) for line in done.out.splitlines()]
    np.testing.assert_allclose([row["p_no"] for row in rows], expected[:, 0], rtol=1e-12)


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.jsonl"])
def test_predictions_are_written_to_a_file_once(name, run, shop, expected):
    done = run("predict", "model.suffice", "more.csv", "-o", name)
    assert (done.code, done.out, done.err) == (0, "", f"Wrote 60 rows to {name}.\n")
    found = duckdb.sql(f"SELECT p_yes FROM '{name}'").fetchall()
    np.testing.assert_allclose(np.ravel(found), expected[:, 1], rtol=1e-12)
    done = run("predict", "model.suffice", "more.csv", "-o", name)
    assert done.code == 1
    assert "--force" in done.err
    assert run("predict", "model.suffice", "more.csv", "-o", name, "--force").code == 0


def test_the_strongest_reasons_are_columns(run, shop):
    options = ("--explain", "2", "--columns", "plan", "--prefix", "my_", "-o", "out.parquet")
    assert run("predict", "model.suffice", "more.csv", *options).code == 0
    table = pq.read_table("out.parquet")
    answers = ["my_label", "my_p_no", "my_p_yes", "my_reason_1", "my_reason_2"]
    assert table.column_names == ["plan", *answers]
    row = pyarrow.csv.read_csv("more.csv").slice(0, 1)
    why = suffice.load("model.suffice").explain(row)
    first = why.order[0]
    shown = f"{why.values[first]} ({why.contributions[first]:+.2f})"
    assert table["my_reason_1"][0].as_py() == shown


def test_reasons_of_a_text_model_are_words(run, shop):
    options = ("--text", "note", "--ignore", "plan", "--ignore", "months", "--ignore", "visits")
    fit = ("--target", "stays", "-o", "text.suffice", "--no-compare", *options)
    assert run("fit", "shop.csv", *fit).code == 0
    done = run("predict", "text.suffice", "more.csv", "--explain", "5", "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    full, empty = rows[0], next(row for row in rows if not row["note"])
    assert any("paid x1" in (full[f"reason_{at}"] or "") for at in range(1, 6))
    assert empty["reason_1"] is None


def test_messages_are_predicted_without_their_texts(run, tmp_path, monkeypatch):
    from test_learn import write_mail

    monkeypatch.chdir(tmp_path)
    write_mail(tmp_path / "mail")
    assert run("fit", "mail", "-o", "m.suffice", "--no-compare").code == 0
    rows = list(csv.DictReader(io.StringIO(run("predict", "m.suffice", "mail").out)))
    assert list(rows[0]) == ["folder", "source", "label", "p_ham", "p_spam"]
    assert all(row["folder"] == row["label"] for row in rows)
    done = run("update", "m.suffice", "mail/spam")
    assert "Learned 6 rows of mail/spam: m.suffice has 18 now." in done.out


def test_the_reasons_of_a_row_add_up(run, shop):
    found = json.loads(run("explain", "model.suffice", "more.csv", "--row", 17, "--json").out)
    row = pyarrow.csv.read_csv("more.csv").slice(16, 1)
    proba = suffice.load("model.suffice").predict_proba(row)[0]
    assert found["row"] == 17
    assert found["probability"] == pytest.approx(proba.max(), rel=1e-12)
    total = found["base"] + sum(one["contribution"] for one in found["pieces"])
    assert total == pytest.approx(found["log_odds"], rel=1e-12)


def test_a_class_may_be_named_to_be_explained(run, shop):
    done = run("explain", "model.suffice", "more.csv", "--class", "no", "--against", "yes")
    assert done.out.startswith("no against yes: log-odds ")
    assert "months = " in done.out
    assert "++" in done.out or "--" in done.out


def test_classes_that_are_numbers_are_named_as_they_are_written(run, shop):
    fit = ("--target", "visits", "-o", "numbers.suffice", "--no-compare")
    assert run("fit", "shop.csv", *fit).code == 0
    done = run("explain", "numbers.suffice", "shop.csv", "--class", "3", "--json")
    assert json.loads(done.out)["target"] == 3


def test_the_select_gives_the_same_probabilities(run, shop, expected):
    query = run("sql", "model.suffice", "--table", "shop").out
    pq.write_table(pyarrow.csv.read_csv("more.csv"), "more.parquet")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE shop AS SELECT * FROM 'more.parquet'")
        found = connection.sql(f"SELECT p_yes FROM ({query.rstrip().rstrip(';')})").fetchall()
    np.testing.assert_allclose(np.ravel(found), expected[:, 1], rtol=1e-9)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("predict", "none.suffice", "more.csv"), "There is no file or folder 'none.suffice'."),
        (("predict", "shop.csv", "more.csv"), "Cannot load 'shop.csv'"),
        (("predict", "model.suffice", "odd.csv"), "give rows with the same columns"),
        (("predict", "model.suffice", "label.csv"), "Give their names a prefix"),
        (("predict", "model.suffice", "more.csv", "--columns", "x"), "has no column 'x'"),
        (("predict", "model.suffice", "more.csv", "-o", "x.xlsx"), "Use .parquet"),
        (("predict", "model.suffice", "more.csv", "-o", "no/x.csv"), "There is no folder 'no'."),
        (("explain", "model.suffice", "more.csv", "--row", "0"), "The first row has the number 1"),
        (("explain", "model.suffice", "more.csv", "--row", "61"), "has 60 rows"),
        (("explain", "model.suffice", "odd.csv"), "give rows with the same columns"),
        (("explain", "model.suffice", "more.csv", "--class", "x"), "There is no class 'x'"),
        (("explain", "line.suffice", "more.csv"), "gives no reasons"),
        (("predict", "line.suffice", "more.csv", "--explain", "1"), "gives no reasons"),
        (("sql", "model.suffice", "--table", "t", "--dialect", "x"), "There is no dialect 'x'"),
        (("sql", "line.suffice", "--table", "t"), "cannot be written in SQL"),
    ],
)
def test_wrong_input_says_what_to_do(args, text, run, shop):
    (shop / "odd.csv").write_text("a,b\n1,2\n")
    (shop / "label.csv").write_text((shop / "more.csv").read_text().replace("stays", "label", 1))
    line = suffice.LinearRegression().fit_from(
        pyarrow.csv.read_csv("more.csv").select(["months", "visits"]), target="visits"
    )
    line.save("line.suffice")
    done = run(*args)
    assert (done.code, done.out) == (1, "")
    assert text in done.err


def test_a_logistic_regression_is_asked_as_other_models_are(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{at % 7},{at % 5 / 2},{'yes' if at % 7 + at % 3 > 4 else 'no'}" for at in range(90)]
    (tmp_path / "rows.csv").write_text("\n".join(["size,price,sold", *lines]))
    model = suffice.linear_model.LogisticRegression().fit_from("rows.csv", "sold")
    model.save("logistic.suffice")
    answers = list(csv.DictReader(io.StringIO(run("predict", "logistic.suffice", "rows.csv").out)))
    cells = [[at % 7, at % 5 / 2] for at in range(90)]
    table = {"size": [row[0] for row in cells], "price": [row[1] for row in cells]}
    assert [row["label"] for row in answers] == model.predict(table).tolist()
    done = run("evaluate", "logistic.suffice", "rows.csv", "--target", "sold", "--json")
    right = np.mean([row["label"] == row["sold"] for row in answers])
    assert json.loads(done.out)["accuracy"] == pytest.approx(right)
    assert "log-odds" in run("explain", "logistic.suffice", "rows.csv", "--row", "3").out
    for command in ("update", "forget"):
        done = run(command, "logistic.suffice", "rows.csv", "--target", "sold")
        assert done.code == 1
        assert "A LogisticRegression keeps no tally" in done.err
