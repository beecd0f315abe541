"""Columns of numbers are counted in DuckDB, SQLite and PostgreSQL as they are from rows."""

import numpy as np
import pytest

from sql_counting_cases import Engine
from suffice.count import (
    CountEvents,
    CountFourthMoments,
    CountLevels,
    CountMoments,
    CountOnes,
    CountRowMoments,
    CountWords,
)
from suffice.data import Rows
from suffice.errors import InputError, SufficeWarning
from suffice.sources import SqlTable
from suffice.sql.array_counts import count_array
from suffice.tally import Groups

ROWS = 400


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def engine(request):
    return Engine(request.param, request.getfixturevalue(f"{request.param}_connection"))


def numbers(rng, size, d):
    """Numbers at places from 0 to 1e8 with deviations of 1, some of them missing."""
    X = rng.normal(size=(size, d)) + np.array([0.0, 1e8, -3.0, 20.0])[np.arange(d) % 4]
    X[rng.random(size) < 0.2, 0] = np.nan
    X[rng.random(size) < 0.1, d - 1] = np.nan
    X[5] = np.nan
    return X


def counts(rng, size, d):
    X = rng.poisson(3.0, (size, d)).astype(float)
    X[:, 0] *= rng.integers(1, 4, size)
    X[rng.random((size, d)) < 0.05] = np.nan
    return X


def fractions(rng, size, d):
    X = counts(rng, size, d)
    X[rng.random(size) < 0.3, 1] += 0.5
    return X


def ones(rng, size, d):
    return np.where(np.isnan(X := counts(rng, size, d)), np.nan, X > 3)


CASES = {
    "moments": (CountMoments(), numbers),
    "row moments": (CountRowMoments(), numbers),
    "words": (CountWords(), counts),
    "words with fractions": (CountWords(), fractions),
    "ones": (CountOnes(), numbers),
    "ones above a threshold": (CountOnes(1.5), counts),
    "ones as they are": (CountOnes(None), ones),
    "events": (CountEvents(), counts),
    "levels": (CountLevels(), counts),
}


def fill(engine, X, y, weights=None):
    """Make a table of columns x0, x1, ..., kind and w."""
    cells = {
        f"x{at}": ("DOUBLE", [None if np.isnan(one) else float(one) for one in column])
        for at, column in enumerate(X.T)
    }
    columns = {**cells, "kind": ("VARCHAR", [None if one is None else str(one) for one in y])}
    if weights is not None:
        columns["w"] = ("DOUBLE", weights.tolist())
    return engine.fill(columns)


def in_database(engine, table, counter, d, weight=None):
    asked = SqlTable(engine.name, table, engine.run, local=False)
    return count_array(counter, asked, [f"x{at}" for at in range(d)], target="kind", weight=weight)


def of_rows(counter, X, y, weights=None):
    classes, codes = np.unique(y, return_inverse=True)
    given = np.empty(0) if weights is None else weights
    rows = Rows(X, codes.astype(np.int32), len(classes), given)
    return Groups(classes, *counter.count(rows))


def same(mine, theirs):
    assert mine.classes.tolist() == theirs.classes.tolist()
    assert np.allclose(mine.weights, theirs.weights, rtol=1e-13)
    assert mine.parts.allclose(theirs.parts, relative=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_tally_of_a_table_is_that_of_its_rows(engine, case, weighted):
    counter, draw = CASES[case]
    rng = np.random.default_rng(3)
    X, y = draw(rng, ROWS, 5), rng.choice(["a", "b", "it's"], ROWS).astype(object)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], ROWS) if weighted else None
    left_out = np.arange(ROWS) % 10 == 0
    y[left_out] = None
    table = fill(engine, X, y, weights)
    found = in_database(engine, table, counter, 5, "w" if weighted else None)
    kept = ~left_out
    expected = of_rows(
        counter, X[kept], y[kept].astype(str), None if weights is None else weights[kept]
    )
    same(found.groups, expected)
    assert (found.rows, found.unlabelled) == (kept.sum(), left_out.sum())
    # The first rows, the sums, the levels or patterns, and how many patterns there are.
    assert len(engine.queries) <= 4
    if case in ("moments", "events", "ones", "words"):
        assert len(engine.queries) == 2
    assert max(len(engine.run(query)) for query in [*engine.queries]) <= 300


@pytest.mark.parametrize("counter", [CountMoments(), CountRowMoments()])
def test_a_class_that_is_far_from_the_first_rows_keeps_its_digits(engine, counter):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 200)
    X = rng.normal(size=(600, 2))
    X[200:400] += 1e8
    X[400:, 0] = 0.1
    found = in_database(engine, fill(engine, X, y), counter, 2).groups
    same(found, of_rows(counter, X, y))
    parts = found.parts if isinstance(counter, CountMoments) else found.parts.whole().diagonal()
    expected = np.array([X[y == one].var(axis=0) for one in "abc"])
    assert np.allclose(parts.variance(), expected, rtol=1e-8, atol=1e-30)


def test_hundreds_of_columns_are_counted(engine):
    rng = np.random.default_rng(1)
    X, y = rng.poisson(2.0, (60, 300)).astype(float), np.repeat(["a", "b"], 30)
    X[0, :250] = np.nan
    table = fill(engine, X, y)
    counters = [CountMoments(), CountOnes()]
    if engine.name != "duckdb":  # which takes a minute to plan hundreds of logarithms
        counters += [CountWords(), CountEvents(), CountLevels()]
    for counter in counters:
        engine.queries.clear()
        same(in_database(engine, table, counter, 300).groups, of_rows(counter, X, y))
        assert len(engine.queries) <= (12 if isinstance(counter, CountLevels) else 2)


def test_products_of_many_columns_are_counted(engine):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 70)), np.repeat(["a", "b"], 20)
    X[3, 60] = np.nan
    table = fill(engine, X, y)
    same(in_database(engine, table, CountRowMoments(), 70).groups, of_rows(CountRowMoments(), X, y))


@pytest.mark.parametrize(
    ("counter", "cell", "said"),
    [
        (CountMoments(), np.inf, "Input X contains infinity: inf in column 1 .'x1'"),
        (CountMoments(), 1e200, "The squares of column 1 .'x1'. are too large"),
        (CountRowMoments(), -np.inf, "Input X contains infinity: -inf in column 1"),
        (CountOnes(), np.inf, "Input X contains infinity: inf in column 1"),
        (CountWords(), -2.0, "Negative values in data .*: -2 in column 1"),
        (CountWords(), np.inf, "Input X contains infinity: inf in column 1"),
        (CountEvents(), -0.5, "Negative values in data .*: -0.5 in column 1"),
        (CountLevels(), -1.0, "Negative values in data .*: -1 in column 1"),
        (CountLevels(), 2.0**60, "Level 1.15292e.18 in column 1 .* is too large a number"),
        (CountLevels(), 3e7, "Level 30000000 in column 1 .*: levels are numbered"),
        (CountOnes(None), 3.0, "With binarize=None cells must be 0 or 1"),
    ],
)
def test_a_number_that_cannot_be_learned_is_refused(engine, counter, cell, said):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, cell], [1.0, 1.0]])
    table = fill(engine, X, ["a", "b", "b", "a"])
    with pytest.raises(InputError, match=said):
        in_database(engine, table, counter, 2)
    with pytest.raises(InputError):
        of_rows(counter, X, ["a", "b", "b", "a"])


def test_fractions_of_levels_are_cut_off_with_a_warning(engine):
    X = np.array([[1.0, 0.0], [2.5, 1.0], [-0.5, 1.0], [0.25, np.nan]])
    y = ["a", "b", "b", "a"]
    table = fill(engine, X, y)
    with pytest.warns(SufficeWarning, match="cuts fractions off, as in column 0 .'x0'."):
        found = in_database(engine, table, CountLevels(), 2)
    with pytest.warns(SufficeWarning, match="cuts fractions off"):
        same(found.groups, of_rows(CountLevels(), X, y))


def test_what_sql_cannot_count_is_said_before(engine, monkeypatch):
    X, y = np.array([[1.0, 2.5], [2.0, np.nan], [np.nan, 1.0]]), ["a", "b", "a"]
    table = fill(engine, X, y)
    assert in_database(engine, table, CountFourthMoments(), 2) is None
    assert in_database(engine, table, CountEvents(), 2) is None
    monkeypatch.setattr("suffice.sql.array_counts.MAX_PATTERNS", 2)
    assert in_database(engine, table, CountRowMoments(), 2) is None
    words = {"x0": ("VARCHAR", ["1.5", "2"]), "kind": ("VARCHAR", ["a", "b"])}
    assert in_database(engine, engine.fill(words), CountMoments(), 1) is None


def test_cells_of_several_types(engine):
    table = engine.fill(
        {
            "x0": ("BIGINT", [3, None, 2**40, 5]),
            "x1": ("BOOLEAN", [True, False, None, True]),
            "x2": ("DOUBLE", [0.5, float("nan"), None, 1.0]),
            "kind": ("VARCHAR", ["a", "b", "a", "b"]),
        }
    )
    X = np.array([[3, 1, 0.5], [np.nan, 0, np.nan], [2**40, np.nan, np.nan], [5, 1, 1.0]])
    for counter in (CountMoments(), CountRowMoments(), CountOnes()):
        found = in_database(engine, table, counter, 3)
        same(found.groups, of_rows(counter, X, ["a", "b", "a", "b"]))


def test_a_string_among_numbers_of_sqlite_is_left_to_rows(sqlite_connection):
    engine = Engine("sqlite", sqlite_connection)
    X = np.arange(400.0).reshape(200, 2)
    table = fill(engine, X, ["a", "b"] * 100)
    engine.connection.execute(f"UPDATE {table} SET x1 = 'none' WHERE rowid = 150")
    assert in_database(engine, table, CountMoments(), 2) is None
