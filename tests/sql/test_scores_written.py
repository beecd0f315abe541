"""What is written: names, quotes, limits, errors, and SQL that is parsed but not run."""

import math

import numpy as np
import pytest
import sqlglot
from scipy.special import gammaln

from scoring_cases import (
    Database,
    compare,
    fitted,
    given,
    rows_of,
    wide_model,
    wide_rows,
)
from suffice import GenerativeClassifier
from suffice.errors import InputError
from suffice.sql import DIALECTS, dialect_of
from suffice.sql.log_gamma import log_gamma_step
from suffice.sql.terms import missing_patterns

PARSED = {"sqlserver": "tsql", "postgresql": "postgres"}
ODD_NAMES = ['"; DROP TABLE rows; --', "a'b", "back`tick", "per%cent {0}", "T", "r", "x0", "日本"]


def odd_model(names=tuple(ODD_NAMES), labels=("yes", "no")):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    cells = [(rng.normal(size=60) + y).tolist() for _ in names]
    table = {name: ("number", own) for name, own in zip(names, cells, strict=True)}
    table["id"] = ("integer", list(range(60)))
    families = dict.fromkeys(names, "normal")
    model = GenerativeClassifier(families, combine="naive")
    return model.fit(given(table), np.array(labels)[y]), table


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_writes_one_select(dialect):
    model = fitted("everything", "auto", missing="informative")
    sql = model.to_sql(("shop", "rows"), dialect, reasons=True)
    found = sqlglot.parse(sql, read=PARSED.get(dialect, dialect))
    assert len(found) == 1
    assert isinstance(found[0], sqlglot.exp.Select)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_odd_names_are_only_names(request, engine):
    database = Database(engine, request.getfixturevalue(f"{engine}_connection"))
    model, table = odd_model()
    found = compare(database, model, table, name='suffice_s1 "; DROP TABLE rows; --')
    assert set(found["reason_1"]) <= set(ODD_NAMES)


def test_odd_names_are_only_names_in_postgresql(postgresql_connection):
    model, table = odd_model([name for name in ODD_NAMES if "%" not in name])
    compare(Database("postgresql", postgresql_connection), model, table, name="suffice_p1")


@pytest.mark.parametrize("labels", [(False, True), (1, 2), (-1.0, 2.0)])
def test_labels_keep_their_type(duckdb_connection, labels):
    model, table = odd_model(["x"], labels)
    compare(Database("duckdb", duckdb_connection), model, table)


def test_a_row_of_another_kind_has_no_answer(sqlite_connection, duckdb_connection):
    model, table = odd_model(["x"])
    table = {name: (kind, list(cells)) for name, (kind, cells) in table.items()}
    table["x"][1][3] = math.inf
    for name, connection in (("sqlite", sqlite_connection), ("duckdb", duckdb_connection)):
        database = Database(name, connection)
        database.load("rows", table)
        found = database.answer(model.to_sql("rows", name, reasons=True))
        assert (found["p_yes"][3], found["label"][3], found["reason_1"][3]) == (None, None, None)
        assert found["p_yes"][4] is not None
    table["x"][1][3] = "a word"
    database = Database("sqlite", sqlite_connection)
    database.load("rows", table)
    assert database.answer(model.to_sql("rows", "sqlite"))["p_yes"][3] is None


def test_nan_is_missing(duckdb_connection):
    model, table = odd_model(["x"])
    table["x"][1][3] = math.nan
    compare(Database("duckdb", duckdb_connection), model, table)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_strings_that_only_python_reads_have_no_answer(request, engine):
    database = Database(engine, request.getfixturevalue(f"{engine}_connection"))
    table = rows_of({"written": "normal"})
    table = {name: (kind, list(cells)) for name, (kind, cells) in table.items()}
    table["written"][1][:3] = ["1,250", "12 apples", "none"]
    database.load("rows", table)
    found = database.answer(fitted("strings").to_sql("rows", engine))
    assert [value is None for value in found["p_a"][:3]] == [True, True, False]


def test_patterns_that_are_not_written_out_have_no_answer(duckdb_connection):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    names = [f"m{at}" for at in range(9)]
    table = {name: ("number", (rng.normal(size=200) + y).tolist()) for name in names}
    table["id"] = ("integer", list(range(200)))
    model = GenerativeClassifier({tuple(names): "mvn"}, combine="naive").fit(given(table), y)
    for at in range(3):
        table[f"m{at}"][1][at : at + 3] = [None, None, None]
    database = Database("duckdb", duckdb_connection)
    database.load("rows", table)
    found = database.answer(model.to_sql("rows"))
    lacking = np.array([[cell is None for cell in table[name][1]] for name in names]).sum(axis=0)
    assert [value is None for value in found["p_0"]] == (lacking > 2).tolist()
    assert [value is None for value in found["label"]] == (lacking > 2).tolist()
    known = np.flatnonzero(lacking <= 2)
    expected = model.predict_proba(given(table))[known, 0]
    np.testing.assert_allclose(np.array(found["p_0"], float)[known], expected, atol=1e-9)


def test_patterns_are_all_up_to_eight_columns():
    assert len(set(missing_patterns(8))) == 256
    few = list(missing_patterns(9))
    assert len(few) == 1 + 9 + 36 + 1
    assert len(set(missing_patterns(40))) == 256


@pytest.mark.parametrize("a", [1e-3, 0.5, 7.25, 8.0, 343.5, 12345.6, 1e6, 1e9])
def test_steps_of_log_gamma_keep_their_digits(duckdb_connection, a):
    x = np.array([0, 1, 2, 3, 10, 100, 10**4, 10**6, 10**9, 10**12], float)
    step = log_gamma_step(a, "x", 0.0, dialect_of("duckdb"))
    values = ", ".join(f"({number!r}e0)" for number in x.tolist())
    rows = duckdb_connection.execute(f"SELECT x, {step} FROM (VALUES {values}) AS v(x)").fetchall()
    found = np.array([value for _, value in sorted(rows)])
    exact = gammaln(a + x) - gammaln(a)
    # Few factors are added up one by one: the difference of large logarithms has lost its digits.
    for at in range(5):
        exact[at] = math.fsum(math.log(a + i) for i in range(int(x[at])))
    tolerance = 1e-12 * np.maximum(1.0, np.abs(exact)) + 4e-16 * abs(gammaln(a))
    assert np.all(np.abs(found - exact) <= tolerance)


# Errors.


def test_a_text_cannot_be_written():
    rows = [{"mail": "cheap pills now now"}, {"mail": "see you at the meeting"}] * 4
    model = GenerativeClassifier({"mail": "text"}).fit(rows, [1, 0] * 4)
    with pytest.raises(InputError, match=r"Column 'mail' is a text.*families=\{'mail': 'ignore'\}"):
        model.to_sql("rows")


def test_money_cannot_be_written():
    rng = np.random.default_rng(0)
    prices = [f"${1000 + x:,.2f}" for x in rng.random(40) * 1000]
    model = GenerativeClassifier({"price": "normal"}).fit({"price": prices}, [0, 1] * 20)
    with pytest.raises(InputError, match=r"column 'price' were read as numbers in \$"):
        model.to_sql("rows")


def test_dates_in_the_order_of_a_country_cannot_be_written():
    days = [f"{1 + at % 28}.{1 + at % 12}.2020" for at in range(60)]
    model = GenerativeClassifier({"day": "normal"}).fit({"day": days}, [0, 1] * 30)
    with pytest.raises(InputError, match="column 'day' were read as dates, the day before"):
        model.to_sql("rows")


@pytest.mark.parametrize("name", ["p_yes", "label", "LABEL", "reason_1"])
def test_a_column_that_the_result_needs_is_refused(name):
    model, _ = odd_model([name])
    with pytest.raises(InputError, match=f"(?i)two columns.*{name}"):
        model.to_sql("rows", reasons=True)


def test_classes_that_differ_in_case_alone_are_refused():
    model, _ = odd_model(["x"], ("a", "A"))
    with pytest.raises(InputError, match="two columns 'p_"):
        model.to_sql("rows")
    assert '"p_A"' in model.to_sql("rows", "postgresql")


def test_wrong_arguments_are_named():
    model, _ = odd_model(["x"])
    with pytest.raises(InputError, match=r"no dialect 'oracle'\. Use one of 'duckdb'"):
        model.to_sql("rows", "oracle")
    with pytest.raises(InputError, match=r"\(3,\) is no table. Give its name"):
        model.to_sql((3,))
    with pytest.raises(InputError, match="column or table called ''"):
        model.to_sql("")
    with pytest.raises(InputError, match="names of 63 at most"):
        model.to_sql("x" * 64, "postgresql")
    with pytest.raises(InputError, match="rowid, _rowid_ and oid"):
        odd_model(["rowid", "oid", "_ROWID_"])[0].to_sql("rows", "sqlite")


def test_strings_with_a_null_character_are_refused():
    model = GenerativeClassifier({"x": "categorical"}).fit({"x": ["a\0", "b"] * 4}, [0, 1] * 4)
    with pytest.raises(InputError, match="character of code 0"):
        model.to_sql("rows")


# Limits.


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgresql"])
def test_wide_models_answer_as_in_python(request, engine):
    database = Database(engine, request.getfixturevalue(f"{engine}_connection"))
    compare(database, wide_model(), wide_rows(10), reasons=False)


@pytest.mark.slow
def test_databases_that_join_few_tables_say_so():
    with pytest.raises(InputError, match="parameter tables, and mysql joins 55 at most"):
        wide_model().to_sql("rows", "mysql")


def test_one_class_has_no_reasons(duckdb_connection):
    table = rows_of({"words": "categorical"})
    with pytest.warns(UserWarning, match="one class"):
        model = GenerativeClassifier({"words": "categorical"}).fit(given(table), ["only"] * 240)
    found = compare(Database("duckdb", duckdb_connection), model, table)
    assert set(found["reason_1"]) == {None}
