"""suffice fit: every kind of rows, what is chosen, and what is refused."""

import json
import re
import sqlite3

import duckdb
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import suffice

FIT = ("--target", "stays", "-o", "new.suffice", "--no-compare")


def learned(run, data, *options, stdin=b""):
    """Return the result of fit, and the model."""
    done = run("fit", data, *FIT, "--json", *options, stdin=stdin)
    assert done.code == 0, done.err
    return json.loads(done.out), suffice.load("new.suffice")


def write_mail(folder):
    for label, word in (("spam", "cheap pills"), ("ham", "lunch tomorrow")):
        (folder / label).mkdir(parents=True)
        for number in range(6):
            text = f"Subject: {word} {number}\n\nHello, {word} for you {number * 7}"
            (folder / label / f"{number}.eml").write_text(text)


@pytest.fixture
def sources(shop):
    """Return the rows of the shop in every form."""
    table = pyarrow.csv.read_csv("shop.csv")
    pq.write_table(table, "shop.parquet")
    (shop / "parts").mkdir()
    pq.write_table(table.slice(0, 90), "parts/one.parquet")
    pq.write_table(table.slice(90), "parts/two.parquet")
    rows = table.to_pylist()
    (shop / "shop.jsonl").write_text("\n".join(map(json.dumps, rows)))
    columns = "plan TEXT, months REAL, visits INTEGER, note TEXT, stays TEXT"
    with sqlite3.connect("shop.sqlite") as connection:
        connection.execute(f"CREATE TABLE shop ({columns})")
        marks = "(:plan, :months, :visits, :note, :stays)"
        connection.executemany(f"INSERT INTO shop VALUES {marks}", rows)
    connection.close()
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("CREATE TABLE shop AS SELECT * FROM 'shop.parquet'")


@pytest.mark.parametrize(
    "data",
    [
        "shop.csv",
        "shop.parquet",
        "parts/*.parquet",
        "parts",
        "shop.jsonl",
        "sqlite:shop.sqlite?table=shop",
        "sqlite:///shop.sqlite?query=SELECT+*+FROM+shop",
        "duckdb:shop.duckdb?table=shop",
        "duckdb:shop.duckdb?schema=main&table=shop",
    ],
)
def test_rows_are_learned_wherever_they_are(data, run, sources):
    result, model = learned(run, data)
    assert result["rows"] == model.tally_.weights.sum() == 200
    assert list(result["classes"]) == model.classes_.tolist() == ["no", "yes"]
    assert result["source"] == data


@pytest.mark.parametrize("name", ["shop.csv", "shop.parquet", "shop.jsonl"])
def test_rows_of_stdin_are_those_of_the_file(name, run, sources, shop):
    result, model = learned(run, "-", stdin=(shop / name).read_bytes())
    assert result["source"] == "stdin"
    again = learned(run, name, "--force")[1]
    assert (model.predict_proba(pyarrow.csv.read_csv("more.csv"))).tolist() == (
        again.predict_proba(pyarrow.csv.read_csv("more.csv")).tolist()
    )


def test_what_was_chosen_for_each_column_is_printed_with_the_quality(run, shop):
    done = run("fit", "shop.csv", "--target", "stays", "-o", "new.suffice")
    assert (done.code, done.err) == (0, "")
    model = suffice.load("new.suffice")
    for name in model.choices_:
        family = model.choices_[name].family
        assert re.search(rf"^ {name} +{family} ", done.out, re.MULTILINE)
    for part in ("this model", "class shares", "logistic regression", "±"):
        assert part in done.out
    said = " ".join(done.out.split())  # however wide the lines are
    assert "chosen with all of these rows. 'suffice cv' chooses them again" in said
    assert "suffice predict new.suffice" in done.out


def test_families_texts_and_columns_are_as_asked(run, shop):
    options = ("--family", "months=student", "--text", "note", "--ignore", "plan")
    result, model = learned(run, "shop.csv", *options, "--weight", "visits")
    families = {one["column"]: one["family"] for one in result["columns"]}
    assert families == {"months": "student", "note": "text"}
    visits = pyarrow.csv.read_csv("shop.csv")["visits"].to_numpy().sum()
    assert model.tally_.weights.sum() == visits == result["rows"]
    columns = suffice.persist.describe("new.suffice").columns
    assert columns == {"target": "stays", "weight": "visits"}


def test_one_column_of_texts_gets_a_text_model(run, shop):
    options = ("--text", "note", "--ignore", "plan", "--ignore", "months", "--ignore", "visits")
    result, model = learned(run, "shop.csv", *options)
    assert result["model"] == type(model).__name__ == "TextClassifier"
    assert result["words"] == 3
    assert suffice.persist.describe("new.suffice").columns["text"] == "note"


def test_a_folder_of_messages_is_learned_by_sub_folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_mail(tmp_path / "mail")
    done = run("fit", "mail", "-o", "new.suffice", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["classes"] == {"ham": 6.0, "spam": 6.0}
    model = suffice.load("new.suffice")
    assert model.predict("cheap pills").tolist() == ["spam"]
    assert suffice.persist.describe("new.suffice").columns == {"target": "folder", "text": "text"}


def test_few_rows_are_learned_without_a_comparison(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text("a,y\nred,one\nblue,two\n")
    done = run("fit", "few.csv", "--target", "y", "-o", "new.suffice")
    assert done.code == 0
    assert "how good the model is was not measured" in done.out


def test_an_existing_file_is_overwritten_only_with_force(run, shop):
    before = (shop / "model.suffice").read_bytes()
    done = run("fit", "more.csv", "--target", "stays", "-o", "model.suffice", "--no-compare")
    assert done.code == 1
    assert "--force" in done.err
    assert (shop / "model.suffice").read_bytes() == before
    done = run("fit", "more.csv", "--target", "stays", "-o", "model.suffice", "--force")
    assert done.code == 0
    assert (shop / "model.suffice").read_bytes() != before


def test_a_model_that_counts_what_another_counts_can_be_merged(run, shop):
    learned(run, "more.csv", "--like", "model.suffice")
    assert run("merge", "model.suffice", "new.suffice").code == 0
    assert suffice.load("model.suffice").tally_.weights.sum() == 260


def test_a_quantity_as_target_gets_a_warning(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{size % 3},{size % 30}" for size in range(120)]
    (tmp_path / "numbers.csv").write_text("\n".join(["a,b", *lines]))
    done = run("fit", "numbers.csv", "--target", "b", "-o", "new.suffice", "--no-compare")
    assert done.code == 0
    assert "30 different numbers, and each was learned as a class" in done.err


def test_postgresql_is_learned_and_its_password_is_nowhere(
    run, shop, postgresql_connection, postgresql_port
):
    table = pyarrow.csv.read_csv("shop.csv")
    with postgresql_connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS shop_cli")
        columns = "plan TEXT, months FLOAT8, visits INT, note TEXT, stays TEXT"
        cursor.execute(f"CREATE TABLE shop_cli ({columns})")
        rows = [tuple(row.values()) for row in table.to_pylist()]
        cursor.executemany("INSERT INTO shop_cli VALUES (%s, %s, %s, %s, %s)", rows)
    host = f"127.0.0.1:{postgresql_port}/postgres"
    data = f"postgresql://tester:hunter2@{host}?table=shop_cli"
    result, model = learned(run, data)
    assert model.tally_.weights.sum() == 200
    assert result["source"] == f"postgresql://{host}?table=shop_cli"
    assert b"hunter2" not in (shop / "new.suffice").read_bytes()
    done = run("fit", data.replace("shop_cli", "none"), *FIT, "--force", "--debug")
    assert done.code == 1
    assert "hunter2" not in done.out + done.err.rpartition("Error:")[2]


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (("none.csv", "--target", "y"), 1, "There is no file 'none.csv'. Check the path."),
        (("shop.csv",), 2, "Name the column of the labels: --target COLUMN (there are: plan,"),
        (("shop.csv", "--target", "y"), 1, "'shop.csv' has no column 'y' (columns: 'plan'"),
        (("shop.csv", "--target", "stays", "--family", "plan"), 2, "is not COLUMN=FAMILY"),
        (("shop.csv", "--target", "stays", "--family", "x=normal"), 1, "has no column 'x'"),
        (("shop.csv", "--target", "stays", "--family", "plan=odd"), 1, "No family 'odd'. Use"),
        (("shop.csv", "--target", "stays", "--text", "stays"), 1, "is the target, the weight or"),
        (("shop.csv", "--target", "stays", "--weight", "plan"), 1, "plan"),
        (("model.suffice", "--target", "y"), 1, "no format that is read. Use .parquet"),
        (("-", "--target", "y"), 1, "Nothing came on stdin."),
        (("sqlite:none.db?table=t", "--target", "y"), 1, "There is no database file 'none.db'."),
        (("duckdb:shop.csv", "--target", "y"), 1, "names no table. Write it as duckdb:FILE"),
        (("duckdb:shop.csv?table=t", "--target", "y"), 1, "Give the file of a DuckDB database."),
        (("postgresql://a:b@c@h/d?table=t", "--target", "y"), 1, "Write '@' as %40"),
    ],
)
def test_wrong_input_says_what_to_do_and_writes_nothing(args, code, text, run, shop):
    done = run("fit", *args, "-o", "new.suffice")
    assert (done.code, done.out) == (code, "")
    assert text in done.err
    assert not (shop / "new.suffice").exists()
