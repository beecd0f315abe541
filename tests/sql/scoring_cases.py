"""Tables and models that are scored in Python and in databases, and the databases themselves."""

import datetime as dt
from functools import cache

import numpy as np

from suffice import GenerativeClassifier
from suffice.sql import dialect_of

# Types of columns by what a cell is.
TYPES = {
    "duckdb": {
        "number": "DOUBLE",
        "integer": "BIGINT",
        "text": "VARCHAR",
        "boolean": "BOOLEAN",
        "date": "DATE",
        "moment": "TIMESTAMP",
        "time": "TIME",
        "span": "INTERVAL",
    },
    "sqlite": {
        "number": "REAL",
        "integer": "INTEGER",
        "text": "TEXT",
        "boolean": "INTEGER",
        "date": "TEXT",
        "moment": "TEXT",
        "time": "TEXT",
        "span": "REAL",
    },
}
TYPES["postgresql"] = TYPES["duckdb"] | {"number": "DOUBLE PRECISION"}


class Database:
    """One of the databases of a test: loads a table, and answers a query."""

    def __init__(self, dialect, connection):
        self.dialect, self.connection = dialect, connection

    def load(self, name, table):
        """Make a table: columns by name, each its kind and its cells."""
        written = dialect_of(self.dialect)
        if self.dialect == "spark":
            load_into_spark(self.connection, name, table)
            return
        types = TYPES[self.dialect]
        columns = ", ".join(f"{written.identifier(n)} {types[k]}" for n, (k, _) in table.items())
        self.connection.execute(f"DROP TABLE IF EXISTS {written.table(name)}")
        self.connection.execute(f"CREATE TABLE {written.table(name)} ({columns})")
        mark = "%s" if self.dialect == "postgresql" else "?"
        insert = f"INSERT INTO {written.table(name)} VALUES ({', '.join([mark] * len(table))})"
        rows = zip(*(values for _, values in table.values()), strict=True)
        if self.dialect == "sqlite":
            rows = [tuple(map(as_sqlite, row)) for row in rows]
        if self.dialect == "duckdb":
            import pandas

            frame = pandas.DataFrame({n: np.array(v, object) for n, (_, v) in table.items()})
            self.connection.register("given", frame)
            casts = ", ".join(
                f"CAST({written.identifier(n)} AS {types[k]})" for n, (k, _) in table.items()
            )
            self.connection.execute(f"INSERT INTO {written.table(name)} SELECT {casts} FROM given")
            self.connection.unregister("given")
        else:
            self.connection.cursor().executemany(insert, list(rows))

    def answer(self, sql):
        """Return the columns of a result by name, sorted by the column id."""
        if self.dialect == "spark":
            found = self.connection.sql(sql)
            names, rows = found.columns, [tuple(row) for row in found.collect()]
        else:
            found = self.connection.execute(sql)
            names, rows = [one[0] for one in found.description], found.fetchall()
        rows = sorted(rows, key=lambda row: row[names.index("id")])
        columns = list(zip(*rows, strict=True))
        assert len(set(names)) == len(names)
        return dict(zip(names, columns, strict=True))


def as_sqlite(cell):
    """Return a cell as SQLite keeps it."""
    if isinstance(cell, dt.timedelta):
        return cell / dt.timedelta(days=1)
    if isinstance(cell, dt.date | dt.time):
        return str(cell)
    return cell


def load_into_spark(spark, name, table):
    from pyspark.sql import types

    kinds = {
        "number": types.DoubleType(),
        "integer": types.LongType(),
        "text": types.StringType(),
        "boolean": types.BooleanType(),
        "date": types.DateType(),
        "moment": types.TimestampNTZType(),
        "time": types.StringType(),
        "span": types.DayTimeIntervalType(),
    }
    schema = types.StructType([types.StructField(n, kinds[k]) for n, (k, _) in table.items()])
    rows = zip(*(values for _, values in table.values()), strict=True)
    cells = [tuple(str(c) if isinstance(c, dt.time) else c for c in row) for row in rows]
    spark.createDataFrame(cells, schema).createOrReplaceTempView(name)


def given(table):
    """Return what Python learns of a table."""
    return {name: list(values) for name, (_, values) in table.items() if name != "id"}


def compare(database, model, table, *, reasons=True, name="rows"):
    """Assert that a database answers as Python does; return its answer."""
    database.load(name, table)
    sql = model.to_sql(name, database.dialect, reasons=reasons)
    found = database.answer(sql)
    expected = model.predict_proba(given(table))
    names = [f"p_{one}" for one in model.classes_]
    probabilities = np.array([found[one] for one in names], float).T
    np.testing.assert_allclose(probabilities, expected, atol=1e-9, rtol=1e-9)
    assert list(found["label"]) == model.predict(given(table)).tolist()
    assert list(found)[: len(table)] == list(table)
    return found


def compare_reasons(model, table, found, rows):
    """Assert that the reasons of some rows are those of explain."""
    cells = given(table)
    proba = model.predict_proba(cells)
    for row in rows:
        label, other = model.classes_[np.argsort(-proba[row], kind="stable")[:2]]
        one = {name: values[row] for name, values in cells.items()}
        why = model.explain(one, label, against=other)
        parts = dict(zip(why.names, why.contributions, strict=True))
        blocks = {
            ", ".join(block.columns): sum(parts[column] for column in block.columns)
            for block in model.blocks_
        }
        strongest = sorted(map(abs, blocks.values()), reverse=True)[:3]
        for rank, size in enumerate(strongest, start=1):
            name, value = found[f"reason_{rank}"][row], found[f"reason_{rank}_value"][row]
            np.testing.assert_allclose(value, blocks[name], atol=1e-9, rtol=1e-9)
            np.testing.assert_allclose(abs(value), size, atol=1e-9, rtol=1e-9)


# Columns of every family.

ROWS = 240
LABELS = np.array(["a", "it's", "ü\\"], object)
MVN = ("m1", "m2", "m3")


@cache
def classes_of_rows():
    return np.random.default_rng(1).integers(0, 3, ROWS)


def missing_in(values, rng, share=0.12):
    return [
        None if lost else value
        for value, lost in zip(values, rng.random(len(values)) < share, strict=True)
    ]


@cache
def columns():
    """Return a column for every family: kind, and cells with missing values."""
    rng, k = np.random.default_rng(0), classes_of_rows()
    n = len(k)
    levels = np.array(
        ["x", "y'z", "back\\slash", "new\nline", 'quo"te', "ß日本", "$HOME ${x}"], object
    )
    start = dt.date(2024, 1, 1)
    found = {
        "normal": ("number", rng.normal(size=n) + k),
        "tied": ("number", 3 * rng.normal(size=n) - k),
        "log": ("number", np.exp(rng.normal(size=n) + k)),
        "log_tied": ("number", np.exp(2 * rng.normal(size=n) + k)),
        "student": ("number", rng.standard_t(2, size=n) + k),
        "binned": ("number", rng.gamma(2, size=n) * (1 + k)),
        "events": ("integer", rng.poisson(2 + 2 * k)),
        "truth": ("boolean", rng.random(n) < 0.2 + 0.3 * k),
        "words": ("text", levels[(rng.integers(0, 7, n) + k * (rng.random(n) < 0.5)) % 7]),
        "half": ("number", (rng.integers(0, 4, n) + k) / 2),
        "j1": ("text", np.array(["p", "q'"], object)[rng.integers(0, 2, n)]),
        "j2": (
            "text",
            np.array(["r", "s", "t"], object)[
                (rng.integers(0, 3, n) + k * rng.integers(0, 2, n)) % 3
            ],
        ),
        "j3": ("integer", rng.integers(0, 2, n) + (k == 2)),
        "m1": ("number", rng.normal(size=n) + k),
        "m2": ("number", rng.normal(size=n) * 100 + 1e4),
        "m3": ("number", rng.normal(size=n) - k),
        "day": (
            "date",
            [start + dt.timedelta(days=int(d)) for d in rng.integers(0, 500, n) + 100 * k],
        ),
        "moment": (
            "moment",
            [
                dt.datetime(2023, 1, 1) + dt.timedelta(seconds=float(s))
                for s in (rng.random(n) * 1e7 + 1e6 * k).round(6)
            ],
        ),
        "time": (
            "time",
            [
                dt.time(int(h), int(m), int(m), int(m) * 7919)
                for h, m in zip(
                    (rng.integers(0, 10, n) + 6 * k), rng.integers(0, 60, n), strict=True
                )
            ],
        ),
        "span": (
            "span",
            [dt.timedelta(hours=float(h)) for h in (rng.gamma(2, size=n) * (1 + k)).round(3)],
        ),
        "written": ("text", [f"{x:.3f}" for x in rng.normal(size=n) + k]),
    }
    cells = {}
    for name, (kind, values) in found.items():
        plain = values.tolist() if isinstance(values, np.ndarray) else values
        cells[name] = (kind, missing_in(plain, rng))
    return cells


FAMILIES = {
    "normal": {"normal": "normal"},
    "normal:tied": {"tied": "normal:tied"},
    "lognormal": {"log": "lognormal"},
    "lognormal:tied": {"log_tied": "lognormal:tied"},
    "student": {"student": "student"},
    "binned": {"binned": "binned"},
    "poisson": {"events": "poisson"},
    "bernoulli": {"truth": "bernoulli"},
    "categorical": {"words": "categorical"},
    "categorical numbers": {"half": "categorical"},
    "joint": {("j1", "j2", "j3"): "joint"},
    "mvn": {MVN: "mvn"},
    "mvn:tied": {MVN: "mvn:tied"},
    "dates": {
        "day": "normal",
        "day:weekday": "categorical",
        "day:month": "categorical",
        "moment": "student",
        "moment:weekday": "categorical",
        "moment:month": "categorical",
        "time": "normal",
        "span": "binned",
    },
    "strings": {"written": "normal"},
}
EVERYTHING = {key: family for case in FAMILIES.values() for key, family in case.items()}
EVERYTHING[MVN] = "mvn"


def columns_of(families):
    """Return the names of the columns that the table must have for these families."""
    known = columns()
    named = [c for key in families for c in (key if isinstance(key, tuple) else (key,))]
    return list(dict.fromkeys(c if c in known else c.rpartition(":")[0] for c in named))


def rows_of(families):
    """Return a table to learn from, with a number for each row that the model does not know."""
    picked = {name: columns()[name] for name in columns_of(families)}
    return {**picked, "id": ("integer", list(range(ROWS)))}


@cache
def fitted(case, combine="auto", estimate="predictive", missing="ignore"):
    """Return a model of one of the cases, or of all together."""
    families = EVERYTHING if case == "everything" else FAMILIES[case]
    model = GenerativeClassifier(families, combine=combine, estimate=estimate, missing=missing)
    return model.fit(given(rows_of(families)), LABELS[classes_of_rows()])


# Cells that no row that was learned has, by the column.
ODD = {
    "normal": [1e6, -1e6, 1e300, -1e300, 0.0],
    "tied": [1e300, 1e12],
    "log": [-1.0, 0.0, 1e300, 1e-300],
    "log_tied": [1e-300],
    "student": [1e300, -1e300, 1e7],
    "binned": [1e300, -1e300],
    "events": [10**9, 0, 1, 10**6, 10**15, -3],
    "words": ["unseen", "", "X", "x ", "'", "\\"],
    "half": [0.25, 1e300],
    "j1": ["unseen", ""],
    "j3": [7],
    "m1": [1e6, 1e200, -1e300],
    "m2": [1e12],
    "written": ["1e3", "-.5", " 7 ", "", "NA"],
}


def odd_rows(families):
    """Return the rows that were learned, with odd cells here and there."""
    table = {name: (kind, list(cells)) for name, (kind, cells) in rows_of(families).items()}
    for at, (name, cells) in enumerate(ODD.items()):
        if name in table:
            for number, cell in enumerate(cells):
                table[name][1][17 * at % ROWS + number] = cell
    for name in table:
        if name != "id":
            table[name][1][-1] = None
    return table


# A wide model.

CLASSES, LEVELS = 50, 10_000


@cache
def wide_table():
    """Return 300 columns: numbers, events, truth values, levels, one of them of 10,000."""
    rng = np.random.default_rng(3)
    k = rng.integers(0, CLASSES, LEVELS)
    n = len(k)
    table = {"id": ("integer", list(range(n)))}
    table["many"] = ("text", [f"level {i}" for i in rng.permutation(n)])
    for at in range(100):
        table[f"n{at}"] = ("number", (rng.normal(size=n) + 0.02 * k).tolist())
    for at in range(60):
        table[f"b{at}"] = ("number", (rng.gamma(2, size=n) * (1 + 0.01 * k)).tolist())
    for at in range(40):
        table[f"e{at}"] = ("integer", rng.poisson(1 + 0.05 * k).tolist())
    for at in range(29):
        table[f"t{at}"] = ("boolean", (rng.random(n) < 0.2 + 0.01 * k).tolist())
    for at in range(70):
        table[f"c{at}"] = ("text", [f"v{i}" for i in (rng.integers(0, 60, n) + k) % 60])
    return table, k


WIDE = {"n": "normal", "b": "binned", "e": "poisson", "t": "bernoulli", "c": "categorical"}


@cache
def wide_model():
    table, k = wide_table()
    families = {name: WIDE[name[0]] for name in table if name not in ("id", "many")}
    families["many"] = "categorical"
    model = GenerativeClassifier(families, combine="naive", budget=0)
    return model.fit(given(table), k)


def wide_rows(rows=40):
    """Return some rows of the wide table."""
    table, _ = wide_table()
    return {name: (kind, cells[:rows]) for name, (kind, cells) in table.items()}
