"""Rows for tests of counting in SQL: in a database, and counted by the families themselves."""

import datetime as dt
import math
from dataclasses import dataclass, field
from decimal import Decimal
from typing import ClassVar

import numpy as np
import pyarrow as pa

from suffice.data import Column, Schema, Table
from suffice.families import family_of
from suffice.sql.counts import count_in_sql
from suffice.sql.dialect import dialect_of
from suffice.tally import Blocks, Counts, Events, Moments

MISSING = ":missing"
ODD = 'x"; DROP TABLE t; --'
# Types of columns by engine; those of SQLite are what a date or a truth value is kept as.
TYPES = {
    "duckdb": {},
    "sqlite": {
        "BOOLEAN": "INTEGER",
        "DATE": "TEXT",
        "TIMESTAMP": "TEXT",
        "TIME": "TEXT",
        "INTERVAL": "REAL",
    },
    "postgresql": {"DOUBLE": "DOUBLE PRECISION"},
    "spark": {
        "VARCHAR": "STRING",
        "TIMESTAMP": "TIMESTAMP_NTZ",
        "TIME": "STRING",
        "INTERVAL": "INTERVAL DAY TO SECOND",
    },
}
ARROW = {
    "DOUBLE": pa.float64(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIME": pa.time64("us"),
    "INTERVAL": pa.duration("us"),
    "DECIMAL(20, 4)": pa.decimal128(20, 4),
}
# What is given to SQLite in the place of cells of types that it lacks.
KEPT_BY_SQLITE = {
    "DATE": str,
    "TIMESTAMP": str,
    "TIME": str,
    "INTERVAL": lambda span: span / dt.timedelta(days=1),
    "DECIMAL(20, 4)": float,
}


@dataclass
class Engine:
    """A database: how a query is run, and how a table is filled; its queries are kept."""

    name: str
    connection: object
    queries: list = field(default_factory=list)
    tables: ClassVar[int] = 0

    @property
    def dialect(self):
        return dialect_of(self.name)

    @property
    def table(self):
        """The name of the table that was filled last."""
        return f't "{Engine.tables}"; --'

    def run(self, sql):
        self.queries.append(sql)
        if self.name == "duckdb":
            return self.connection.sql(sql).fetchall()
        if self.name == "spark":
            return self.connection.sql(sql).collect()
        return self.connection.execute(sql).fetchall()

    def fill(self, columns):
        """Make a table of columns, name to (type, cells), and return its name, quoted."""
        types = {name: TYPES[self.name].get(kind, kind) for name, (kind, _) in columns.items()}
        rows = list(zip(*(cells for _, cells in columns.values()), strict=True))
        if self.name == "spark":
            return self._fill_spark(columns, types, rows)
        # A new name for every table: connections keep plans of queries.
        self.connection.execute(f"DROP TABLE IF EXISTS {self.dialect.table(self.table)}")
        Engine.tables += 1
        table = self.dialect.table(self.table)
        listed = ", ".join(f"{self.dialect.identifier(name)} {types[name]}" for name in types)
        self.connection.execute(f"CREATE TABLE {table} ({listed})")
        if self.name == "duckdb":
            given = pa.table({name: pa.array(c, ARROW[k]) for name, (k, c) in columns.items()})
            self.connection.register("given", given)
            self.connection.execute(f"INSERT INTO {table} SELECT * FROM given")
            self.connection.unregister("given")
            return table
        sign = "?" if self.name == "sqlite" else "%s"
        marks = ", ".join([sign] * len(types))
        if self.name == "sqlite":
            kept = [KEPT_BY_SQLITE.get(kind, lambda cell: cell) for kind, _ in columns.values()]
            rows = [
                [cell if cell is None else keep(cell) for cell, keep in zip(row, kept, strict=True)]
                for row in rows
            ]
        with self.connection if self.name == "sqlite" else self.connection.transaction():
            cursor = self.connection.cursor()
            cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        return table

    def _fill_spark(self, columns, types, rows):
        listed = ", ".join(f"{self.dialect.identifier(name)} {types[name]}" for name in types)
        texts = [kind == "TIME" for kind, _ in columns.values()]
        rows = [
            tuple(str(c) if t and c is not None else c for c, t in zip(row, texts, strict=True))
            for row in rows
        ]
        self.connection.createDataFrame(rows, listed).createOrReplaceTempView("rows_to_count")
        return self.dialect.table("rows_to_count")


def arrow_table(columns, without=()):
    """Return the columns that are learned from, as Arrow has them."""
    return pa.table(
        {
            name: pa.array(c, ARROW[kind])
            for name, (kind, c) in columns.items()
            if name not in without
        }
    )


@dataclass
class Case:
    """Columns, the blocks that they are learned by, and what is known before of both."""

    columns: dict
    families: list
    target: str = "kind"
    weight: str | None = None
    strings: dict = field(default_factory=dict)

    def __post_init__(self):
        labels = self.columns[self.target][1]
        kept = [at for at, label in enumerate(labels) if label is not None and label == label]
        self.unlabelled = len(labels) - len(kept)
        self.labels = [labels[at] for at in kept]
        own = {
            name: (kind, [cells[at] for at in kept]) for name, (kind, cells) in self.columns.items()
        }
        aside = {self.target, *([self.weight] if self.weight else [])}
        self.given = arrow_table(own, aside)
        self.weights = np.array(own[self.weight][1], float) if self.weight else np.empty(0)
        self.classes = sorted(set(self.labels))
        places = {label: at for at, label in enumerate(self.classes)}
        self.codes = np.array([places[label] for label in self.labels], np.int32)
        table = Table.of(self.given, self.strings)
        self.schema = Schema.of(table)
        self.known = Schema(
            tuple(f if ":" in f.name else type(f)(f.name, f.kind) for f in self.schema.fields)
        )

    def table(self, schema):
        table = schema.take(self.given)
        asked = {name for _, columns, _ in self.families for name in columns}
        found = [
            Column(name, "boolean", table[name.removesuffix(MISSING)].missing.astype(float))
            for name in asked
            if name.endswith(MISSING)
        ]
        return Table((*table.columns, *found), len(table))

    def blocks(self):
        """Return the families with edges, but without levels."""
        table, rows = self.table(self.schema), (self.codes, len(self.classes), self.weights)
        found = []
        for name, columns, settings in self.families:
            block = family_of(name, columns, **settings)
            if name in ("binned", "student") and not settings:
                block = block.fit_settings(table, *rows)
            found.append(block)
        return found

    def origins(self):
        table = self.table(self.schema)
        names = [c.name for c in table.columns if c.numeric and c.seen.size]
        return {name: float(np.median(table[name].seen)) for name in names}

    def count(self, engine, **changed):
        """Count in a database."""
        engine.queries.clear()
        given = {
            "schema": self.known,
            "blocks": self.blocks(),
            "target": self.target,
            "weight": self.weight,
            "origins": self.origins(),
        }
        return count_in_sql(
            engine.run, engine.fill(self.columns), engine.dialect, **{**given, **changed}
        )

    def check(self, counts):
        """Compare what a database has counted with what the families count of the rows."""
        groups = counts.groups
        assert counts.unlabelled == self.unlabelled
        assert groups.classes.tolist() == self.classes
        weights = np.bincount(self.codes, self.weights if self.weights.size else None)
        np.testing.assert_allclose(groups.weights, weights, rtol=1e-14)
        schema, _ = self.known.with_levels_of(self.given)
        table = self.table(schema)
        places = schema.translations(counts.schema)
        rows = self.codes, len(self.classes), self.weights
        pairs = zip(self.blocks(), counts.blocks, groups.parts.parts, strict=True)
        for block, found, tally in pairs:
            unfitted = block.name == "joint" and not block.sizes
            grown = block.fit_settings(table, *rows) if unfitted else block.with_levels_of(table)
            merged, expected = found.merge(grown, grown.count(table, *rows), places)
            for name, value in merged.settings.items():
                if isinstance(value, tuple):
                    assert value == found.settings[name], block.name
                else:
                    np.testing.assert_array_equal(value, found.settings[name], err_msg=block.name)
            check_tally(tally, expected, block)


def check_tally(found, expected, block):
    assert type(found) is type(expected)
    if isinstance(expected, Blocks):
        for one, other in zip(found.parts, expected.parts, strict=True):
            check_tally(one, other, block)
    elif isinstance(expected, Counts):
        wide = expected.with_levels(found.counts.shape[1])
        np.testing.assert_allclose(found.counts, wide.counts, rtol=1e-12, err_msg=block.name)
    elif isinstance(expected, Events):
        for name in ("weight", "sum_x", "sum_log_factorial"):
            one, other = getattr(found, name), getattr(expected, name)
            np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=f"{block.name} {name}")
    else:
        assert isinstance(expected, Moments)
        same = expected.rebase(found.origin)
        np.testing.assert_allclose(found.weight, same.weight, rtol=1e-14, err_msg=block.name)
        # No sum of absolute distances is larger than this.
        most = np.sqrt(np.maximum(same.weights * same.squares, 0.0))
        assert (np.abs(found.sum_x - same.sum_x) <= 1e-12 * most).all(), block.name
        root = np.sqrt(same.squares)
        squares = root[..., :, None] * root[..., None, :] if same.full else same.squares
        assert (np.abs(found.sum_xx - same.sum_xx) <= 1e-12 * squares).all(), block.name
        assert math.isfinite(found.sum_xx.sum())


def shop(rows=300, seed=0):
    """Return columns of every kind, with missing values, in three classes."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 3, rows)

    def holes(values):
        """Put NULL, and NaN where there are floats, in the place of a tenth of the cells."""
        nothing = [None, float("nan")] if isinstance(values[0], float) else [None]
        return [
            nothing[at % len(nothing)] if rng.random() < 0.1 else value
            for at, value in enumerate(values)
        ]

    def floats(values):
        return [float(value) for value in values]

    day, moment = dt.date(1969, 11, 3), dt.datetime(1998, 1, 1, 5)
    when = [day + dt.timedelta(int(days)) for days in rng.integers(0, 900, rows)]
    at = [moment + dt.timedelta(seconds=int(s)) for s in rng.integers(0, 10**9, rows)]
    times = [dt.time(int(h), 30, 15) for h in rng.integers(0, 24, rows)]
    return {
        "kind": ("VARCHAR", [None if i % 29 == 28 else "cab"[c] for i, c in enumerate(own)]),
        "w": ("DOUBLE", floats(np.round(rng.random(rows) * (rng.random(rows) > 0.2), 3))),
        "x": ("DOUBLE", holes(floats(rng.normal(own, 1.0)))),
        "far": ("DOUBLE", holes(floats(1e8 + rng.normal(size=rows)))),
        "tiny": ("DOUBLE", floats(rng.normal(size=rows) * 1e-170)),
        "whole": ("BIGINT", holes((rng.integers(-5, 5, rows) + 2**60).tolist())),
        "price": ("DOUBLE", holes(floats(np.exp(rng.normal(own, 2.0))))),
        "wild": ("DOUBLE", holes(floats(rng.standard_t(1, rows)))),
        "length": ("DOUBLE", holes(floats(rng.gamma(2.0, own + 1.0)))),
        "events": ("BIGINT", holes((rng.poisson(3.0, rows) * 7 ** (own * 3)).tolist())),
        "paid": ("BOOLEAN", holes([bool(one) for one in rng.random(rows) < 0.3])),
        "coin": ("VARCHAR", holes([("heads", "tails")[one] for one in rng.integers(0, 2, rows)])),
        "city": (
            "VARCHAR",
            holes(
                [("Rome", "rome", "Łódź", "", "it's ", "it's")[c] for c in rng.integers(0, 6, rows)]
            ),
        ),
        "rooms": ("BIGINT", holes(rng.integers(1, 6, rows).tolist())),
        "grade": ("DOUBLE", holes(floats(rng.integers(1, 8, rows) / 2))),
        "colour": ("VARCHAR", holes([("red", "green", "blue")[c] for c in rng.permuted(own)])),
        "left": ("DOUBLE", holes(floats(rng.normal(5.0, 1.0, rows)))),
        "right": ("DOUBLE", holes(floats(rng.normal(own, 1.0)))),
        "third": ("DOUBLE", floats(rng.normal(-1e6, 1.0, rows))),
        "when": ("DATE", holes(when)),
        "at": ("TIMESTAMP", holes(at)),
        "clock": ("TIME", holes(times)),
        "stay": (
            "INTERVAL",
            holes([dt.timedelta(seconds=int(s)) for s in rng.integers(0, 10**6, rows)]),
        ),
        "cost": (
            "DECIMAL(20, 4)",
            holes([Decimal(int(c)) / 10000 for c in rng.integers(-(10**14), 10**14, rows)]),
        ),
        "nothing": ("DOUBLE", [None] * rows),
        ODD: ("DOUBLE", holes(floats(rng.normal(size=rows)))),
    }


FAMILIES = [
    ("normal", ("x",), {}),
    ("normal:tied", ("far",), {}),
    ("normal", ("whole",), {}),
    ("normal", ("nothing",), {}),
    ("normal", (ODD,), {}),
    ("normal", ("when",), {}),
    ("normal", ("at",), {}),
    ("normal", ("clock",), {}),
    ("normal", ("stay",), {}),
    ("normal", ("cost",), {}),
    ("lognormal", ("price",), {}),
    ("lognormal:tied", ("length",), {}),
    ("student", ("wild",), {}),
    ("student", ("far",), {}),
    ("binned", ("length",), {}),
    ("binned", ("wild",), {"edges": np.array([0.25]), "tails": np.array([1.0, 3.0])}),
    ("poisson", ("events",), {}),
    ("bernoulli", ("paid",), {}),
    ("bernoulli", ("coin",), {}),
    ("bernoulli", ("x:missing",), {}),
    ("categorical", ("city",), {}),
    ("categorical", ("city:missing",), {}),
    ("categorical", ("rooms",), {}),
    ("categorical", ("grade",), {}),
    ("categorical", ("when:weekday",), {}),
    ("categorical", ("when:month",), {}),
    ("categorical", ("at:month",), {}),
    ("categorical", ("nothing",), {}),
    ("joint", ("colour", "rooms", "when:weekday"), {}),
    ("mvn", ("left", "right", "third"), {}),
    ("mvn:tied", ("far", "left"), {}),
]


def count_rows(engine, columns, families, sample, **settings):
    """Count columns whose schema is that of other cells, name to list; no families are fitted."""
    schema = Schema.of(Table.of(pa.table(sample)))
    given = {"target": "kind", "origins": {}, **settings}
    blocks = [family_of(name, own, **more) for name, own, more in families]
    table = engine.fill(columns)
    engine.queries.clear()
    return count_in_sql(engine.run, table, engine.dialect, schema=schema, blocks=blocks, **given)
