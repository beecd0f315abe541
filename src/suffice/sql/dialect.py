"""How each database writes names, values and the few functions that SQL does not share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.errors import InputError

# Below this the exponential is less than any normal double; PostgreSQL raises an error there.
MIN_EXPONENT = -700.0
DAY_MICROSECONDS = 86_400_000_000


@dataclass(frozen=True)
class Dialect:
    """The SQL of one database.

    Templates stand for expressions: `{0}` is the argument.

    Parameters
    ----------
    name : str
    quotes : two str
        What stands before and after an identifier; the second is doubled inside.
    escapes : bool
        Whether a backslash in a string begins an escape.
    literal : str
        Around a float's digits, so that it is a double and no decimal number.
    double, text, integer : str
        Types: of floats of eight bytes, of strings, of integers of eight bytes.
    boolean : str
        A truth value, or an integer, as a double.
    is_nan : str or None
        Says of a double whether it is NaN; None where there are no NaNs.
    days : str
        Days since 1970, a double, of a date or a timestamp: on the clock of the place.
    time_of_day : str
        The part of the day that has gone, a double, of a time.
    span : str
        Days, a double, of an interval.
    number_text : str
        Whether a string is a plain number: digits, sign, point, exponent.
    values : str
        Rows of a parameter table: `{columns}` its names, `{rows}` the rows, `{first}` the first
        of them with names.
    row : str
        One row of it.
    greatest : str
        The greatest of several arguments, none of which is NULL.
    digit : str
        Whether a string holds a digit.
    month : str
        The month, 1 to 12, of a date or a timestamp: on the clock of the place.
    level : str
        A cell as a string of which no other is the equal.
    column_list : bool
        Whether a common table expression takes a list of column names.
    lateral : str
        A join with the one row of expressions `{0}` of the tables before it, called `{1}`.
    whole_row : str or None
        A row of the table `{0}` as one value; None where there is none.
    expanded_row : str
        The columns of such a value.
    materialized : str
        Says that a common table expression is computed once.
    array : str or None
        An array of doubles, given their digits with commas between them; None where there is none.
    item : str
        The entry of an array `{0}` at `{1}`, from 0 on, or at `{2}`, from 1 on.
    part : str
        So many, `{2}`, entries of an array `{0}` after the first `{1}`; empty where there is none.
    folds_case : bool
        Whether two names of columns that differ in their case alone are one.
    longest_name : int or None
        How many bytes a name has at most.
    max_joins : int or None
        How many parameter tables one SELECT may join, or joins well.
    grouping_sets : bool
        Whether rows can be grouped in several ways at once.
    sum : str
        The sum of doubles, by Kahan's method where there is such a function.
    fence : str
        What a subquery ends with so that it is not merged into the query around it, which would
        compute its expressions wherever they are named.
    first_rows : str
        Some first rows, `{2}` of them, of columns `{0}` of what stands after FROM, `{1}`.
    raises_underflow : bool
        Whether a product that is too small for a double is an error, and not 0.
    """

    name: str
    quotes: tuple[str, str] = ('"', '"')
    escapes: bool = False
    literal: str = "{0}"
    double: str = "DOUBLE PRECISION"
    text: str = "VARCHAR"
    integer: str = "BIGINT"
    boolean: str = "CAST({0} AS DOUBLE PRECISION)"
    is_nan: str | None = None
    days: str = ""
    time_of_day: str = ""
    span: str = ""
    number_text: str = ""
    digit: str = ""
    month: str = "EXTRACT(MONTH FROM CAST({0} AS TIMESTAMP))"
    level: str = "CAST({0} AS VARCHAR)"
    grouping_sets: bool = True
    sum: str = "SUM({0})"
    fence: str = ""
    first_rows: str = "SELECT {0} FROM {1} LIMIT {2}"
    raises_underflow: bool = False
    ln: str = "LN({0})"
    greatest: str = "GREATEST({0})"
    floor: str = "FLOOR({0})"
    values: str = "(VALUES {rows})"
    row: str = "({0})"
    column_list: bool = True
    lateral: str = "CROSS JOIN LATERAL (SELECT {0}) AS {1}"
    whole_row: str | None = None
    expanded_row: str = ""
    materialized: str = ""
    array: str | None = None
    item: str = ""
    part: str = ""
    folds_case: bool = True
    longest_name: int | None = None
    max_joins: int | None = None

    # Names and values.

    def identifier(self, name: str) -> str:
        """Return a quoted name, whatever signs it has.

        >>> dialect_of("duckdb").identifier('a "name"; --')
        '"a ""name""; --"'
        >>> dialect_of("sqlserver").identifier("a]b"), dialect_of("spark").identifier("a`b")
        ('[a]]b]', '`a``b`')
        """
        if not name or "\0" in name:
            raise InputError(
                f"No database has a column or table called {name!r}. Give it another name."
            )
        if self.longest_name is not None and len(name.encode()) > self.longest_name:
            raise InputError(
                f"The name {name!r} has {len(name.encode())} bytes, and {self.name} has names of "
                f"{self.longest_name} at most. Give it another name."
            )
        if self.name == "bigquery":
            return f"`{_escape(name, quote='`')}`"
        start, end = self.quotes
        return f"{start}{name.replace(end, end + end)}{end}"

    def table(self, table: str | Sequence[str]) -> str:
        """Return a quoted table: one name, or a tuple of database, schema and table.

        >>> dialect_of("postgresql").table(("sales", "orders.2024"))
        '"sales"."orders.2024"'
        """
        parts = (table,) if isinstance(table, str) else tuple(table)
        if not parts or not all(isinstance(part, str) for part in parts):
            raise InputError(
                f"{table!r} is no table. Give its name, or a tuple of names: (schema, table)."
            )
        return ".".join(self.identifier(part) for part in parts)

    def string(self, value: str) -> str:
        r"""Return a string as a literal.

        >>> dialect_of("duckdb").string("it's"), dialect_of("spark").string("it's")
        ("'it''s'", "'it\\'s'")
        """
        if "\0" in value:
            raise InputError(
                f"The string {value!r} holds a character of code 0, which SQL has no literal for. "
                "Take it out of the column before learning."
            )
        if self.name in ("spark", "bigquery"):
            # A dollar sign would begin a variable of Spark's.
            escaped = _escape(value, quote="'")
            return f"'{escaped}'".replace("$", "\\u0024" if self.name == "spark" else "$")
        doubled = value.replace("'", "''")
        if self.name == "postgresql" and "\\" in value:
            # Whatever the setting standard_conforming_strings is.
            return f"E'{doubled}'".replace("\\", "\\\\")
        if self.name == "sqlserver":
            # A backslash before the end of a line would join the two lines.
            return f"N'{doubled}'".replace("\\\n", "\\' + N'\n").replace("\\\r", "\\' + N'\r")
        return f"'{doubled}'".replace("\\", "\\\\") if self.escapes else f"'{doubled}'"

    def number(self, value: float) -> str:
        """Return a finite float as a literal of a double with all of its digits.

        >>> dialect_of("duckdb").number(0.1), dialect_of("postgresql").number(-2)
        ('0.1e0', "'-2.0'::float8")
        """
        value = float(value)
        if not math.isfinite(value):
            raise InputError(f"The model holds {value}, which SQL has no literal for.")
        digits = repr(value)
        if self.literal == "{0}e0":
            digits = digits if "e" in digits else digits + "e0"
            return f"({digits})" if value < 0 else digits
        found = self.literal.format(digits)
        return f"({found})" if value < 0 and not found.startswith("'") else found

    def value(self, value: Any) -> str:
        """Return None, a truth value, an integer, a float or a string as a literal."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            if self.name == "sqlserver":
                return f"CAST({int(value)} AS BIT)"
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, int):
            return str(int(value))
        return self.number(value)

    # Conversions.

    def as_double(self, sql: str) -> str:
        """Return an expression as a double."""
        return f"CAST({sql} AS {self.double})"

    def as_text(self, sql: str) -> str:
        """Return an expression as a string."""
        return f"CAST({sql} AS {self.text})"

    def is_missing(self, sql: str, *, number: bool) -> str:
        """Return whether a cell is missing: NULL, or NaN if it is a number."""
        if number and self.is_nan is not None:
            return f"({sql} IS NULL OR {self.is_nan.format(sql)})"
        return f"({sql} IS NULL)"

    def numbers(self, values: Iterable[float]) -> list[str]:
        """Return the cells of floats in a parameter table: one array, or one of each."""
        values = list(values)
        if self.array is None:
            return [self.number(value) for value in values]
        for value in values:
            self.number(value)
        return [self.array.format(", ".join(repr(float(value)) for value in values))]

    def number_columns(self, count: int) -> list[str]:
        """Return the names of the columns of so many `numbers`."""
        return [f"s{at}" for at in range(count)] if self.array is None else ["s"]

    def number_at(self, alias: str, at: int) -> str:
        """Return one of the `numbers` of a parameter table."""
        if self.array is None:
            return f"{alias}.{self.identifier(f's{at}')}"
        return self.item.format(f"{alias}.{self.identifier('s')}", at, at + 1)

    # Functions.

    def maximum(self, several: Sequence[str]) -> str:
        """Return the greatest of expressions, few at a time: functions take so many arguments."""
        found = list(several)
        while len(found) > 1:
            parts = [found[at : at + 50] for at in range(0, len(found), 50)]
            separator = "), (" if self.name == "sqlserver" else ", "
            found = [
                self.greatest.format(separator.join(part)) if len(part) > 1 else part[0]
                for part in parts
            ]
        return found[0]

    def exp(self, sql: str) -> str:
        """Return the exponential, 0 where it is too small for some database."""
        least = self.number(MIN_EXPONENT)
        return f"CASE WHEN {sql} < {least} THEN {self.number(0.0)} ELSE EXP({sql}) END"

    def log(self, sql: str) -> str:
        """Return the natural logarithm of a positive number."""
        return self.ln.format(sql)

    # Parameter tables.

    def with_values(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        r"""Return a common table expression of rows, whose cells are SQL already.

        >>> dialect_of("duckdb").with_values("p", ["a", "b"], [["1", "'x'"], ["2", "'y'"]])
        '"p"("a", "b") AS (VALUES (1, \'x\'), (2, \'y\'))'
        """
        quoted = [self.identifier(column) for column in columns]
        listed = [list(row) for row in rows]
        first = ", ".join(
            f"{cell} AS {column}" for cell, column in zip(listed[0], quoted, strict=True)
        )
        sql = self.values.format(
            columns=", ".join(quoted),
            rows=", ".join(self.row.format(", ".join(row)) for row in listed),
            first=self.row.format(first),
            others="".join(f", {self.row.format(', '.join(row))}" for row in listed[1:]),
            numbered=", ".join(f"column{at + 1} AS {column}" for at, column in enumerate(quoted)),
        )
        names = f"({', '.join(quoted)})" if self.column_list else ""
        return f"{self.identifier(name)}{names} AS {sql}"


def _escape(text: str, quote: str) -> str:
    for sign, written in (("\\", "\\\\"), (quote, "\\" + quote), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(sign, written)
    return text


_NUMBER = r"^\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*$"
_DIGIT = "[0-9]"
# SQLite has no regular expressions: only signs of numbers, one point, one exponent, and signs
# only at the beginning and after the exponent.
_TRIMMED = "TRIM({0}, ' ' || CHAR(9, 10, 11, 12, 13))"
_SQLITE_NUMBER = (
    f"({_TRIMMED} GLOB '*[0-9]*' AND {_TRIMMED} NOT GLOB '*[^0-9.eE+-]*'"
    f" AND {_TRIMMED} NOT GLOB '*.*.*' AND {_TRIMMED} NOT GLOB '*[eE]*[eE.]*'"
    f" AND {_TRIMMED} NOT GLOB '*[^eE][+-]*' AND {_TRIMMED} NOT GLOB '*[+-]'"
    f" AND {_TRIMMED} NOT GLOB '[eE]*' AND {_TRIMMED} NOT GLOB '*[eE]'"
    f" AND {_TRIMMED} NOT GLOB '[+-][eE]*' AND {_TRIMMED} NOT GLOB '.[eE]*'"
    f" AND {_TRIMMED} NOT GLOB '[+-].[eE]*')"
)
# Seconds by the calendar, and what the text has after the 19th sign: SQLite itself has but
# milliseconds.
_SQLITE_DAYS = (
    "((CAST(STRFTIME('%s', SUBSTR({0}, 1, 19)) AS REAL)"
    " + CAST('0' || SUBSTR({0}, 20) AS REAL)) / 86400.0)"
)
_SQLITE_TIME = (
    "((CAST(STRFTIME('%s', '1970-01-01 ' || SUBSTR({0}, 1, 8)) AS REAL)"
    " + CAST('0' || SUBSTR({0}, 9) AS REAL)) / 86400.0)"
)

DUCKDB = Dialect(
    "duckdb",
    literal="{0}e0",
    sum="FSUM({0})",
    double="DOUBLE",
    whole_row="{0}",
    expanded_row="UNNEST({0})",
    max_joins=16,
    array="CAST('[{0}]' AS DOUBLE[])",
    item="{0}[{2}]",
    part="{0}[{1} + 1 : {1} + {2}]",
    boolean="CAST({0} AS DOUBLE)",
    is_nan="ISNAN({0})",
    days="(CAST(EPOCH_US(CAST({0} AS TIMESTAMP)) AS DOUBLE) / 86400000000e0)",
    time_of_day="(CAST(EPOCH_US(CAST({0} AS TIME)) AS DOUBLE) / 86400000000e0)",
    span="(CAST(EPOCH_US(CAST({0} AS INTERVAL)) AS DOUBLE) / 86400000000e0)",
    number_text=f"REGEXP_MATCHES({{0}}, '{_NUMBER}')",
    digit=f"REGEXP_MATCHES({{0}}, '{_DIGIT}')",
)
SQLITE = Dialect(
    "sqlite",
    double="REAL",
    text="TEXT",
    integer="INTEGER",
    materialized="MATERIALIZED ",
    max_joins=60,
    boolean="CAST({0} AS REAL)",
    days=_SQLITE_DAYS,
    time_of_day=_SQLITE_TIME,
    span="CAST({0} AS REAL)",
    number_text=_SQLITE_NUMBER,
    digit="({0} GLOB '*[0-9]*')",
    month="CAST(STRFTIME('%m', SUBSTR({0}, 1, 19)) AS INTEGER)",
    level="(CAST({0} AS TEXT) COLLATE BINARY)",
    fence=" LIMIT -1",
    grouping_sets=False,
    greatest="MAX({0})",
)
POSTGRESQL = Dialect(
    "postgresql",
    literal="'{0}'::float8",
    whole_row="{0}",
    expanded_row="({0}).*",
    materialized="MATERIALIZED ",
    array="'{{{0}}}'::float8[]",
    item="{0}[{2}]",
    part="({0})[{1} + 1 : {1} + {2}]",
    folds_case=False,
    longest_name=63,
    boolean="CAST(CAST({0} AS INTEGER) AS DOUBLE PRECISION)",
    is_nan="{0} = 'NaN'::float8",
    days="(CAST(EXTRACT(EPOCH FROM CAST({0} AS TIMESTAMP)) AS DOUBLE PRECISION) / '86400'::float8)",
    time_of_day="(CAST(EXTRACT(EPOCH FROM CAST({0} AS TIME)) AS DOUBLE PRECISION)"
    " / '86400'::float8)",
    span="(CAST(EXTRACT(EPOCH FROM CAST({0} AS INTERVAL)) AS DOUBLE PRECISION) / '86400'::float8)",
    number_text=f"{{0}} ~ '{_NUMBER}'",
    digit=f"{{0}} ~ '{_DIGIT}'",
    fence=" OFFSET 0",
    raises_underflow=True,
)
_SPARK_CLOCK = (
    "(CAST(TIMESTAMPDIFF(MICROSECOND, TIMESTAMP_NTZ'1970-01-01 00:00:00',"
    " CAST({0} AS TIMESTAMP_NTZ)) AS DOUBLE) / 86400000000D)"
)
SPARK = Dialect(
    "spark",
    quotes=("`", "`"),
    escapes=True,
    literal="{0}D",
    double="DOUBLE",
    text="STRING",
    whole_row="STRUCT({0}.*)",
    expanded_row="{0}.*",
    array="CAST(SPLIT('{0}', ', ') AS ARRAY<DOUBLE>)",
    item="{0}[{1}]",
    part="SLICE({0}, {1} + 1, {2})",
    boolean="CAST({0} AS DOUBLE)",
    is_nan="ISNAN({0})",
    days=_SPARK_CLOCK,
    # Spark has times of day only of late: they are strings.
    time_of_day=_SPARK_CLOCK.replace("{0}", "CONCAT('1970-01-01 ', CAST({0} AS STRING))"),
    span="(CAST(UNIX_MICROS(TIMESTAMP_SECONDS(0) + {0}) AS DOUBLE) / 86400000000D)",
    number_text="{0} RLIKE '" + _NUMBER.replace("\\", "\\\\") + "'",
    digit=f"{{0}} RLIKE '{_DIGIT}'",
    month="MONTH(CAST({0} AS TIMESTAMP_NTZ))",
    level="CAST({0} AS STRING)",
)
MYSQL = Dialect(
    "mysql",
    quotes=("`", "`"),
    escapes=True,
    literal="{0}e0",
    double="DOUBLE",
    text="CHAR",
    integer="SIGNED",
    longest_name=64,
    max_joins=55,
    boolean="CAST({0} AS DOUBLE)",
    days="(CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {0}) AS DOUBLE) / 86400000000e0)",
    time_of_day="((CAST(TIME_TO_SEC({0}) AS DOUBLE)"
    " + CAST(MICROSECOND({0}) AS DOUBLE) / 1000000e0) / 86400e0)",
    span="((CAST(TIME_TO_SEC({0}) AS DOUBLE)"
    " + CAST(MICROSECOND({0}) AS DOUBLE) / 1000000e0) / 86400e0)",
    number_text="{0} REGEXP '" + _NUMBER.replace("\\", "\\\\") + "'",
    digit=f"{{0}} REGEXP '{_DIGIT}'",
    month="MONTH({0})",
    level="(CONVERT({0} USING utf8mb4) COLLATE utf8mb4_0900_bin)",
    grouping_sets=False,
    row="ROW({0})",
)
BIGQUERY = Dialect(
    "bigquery",
    quotes=("`", "`"),
    escapes=True,
    double="FLOAT64",
    text="STRING",
    integer="INT64",
    whole_row="{0}",
    expanded_row="{0}.*",
    array="[{0}]",
    item="{0}[OFFSET({1})]",
    boolean="CAST(CAST({0} AS INT64) AS FLOAT64)",
    is_nan="IS_NAN({0})",
    days="(CAST(DATETIME_DIFF(CAST({0} AS DATETIME), DATETIME '1970-01-01', MICROSECOND)"
    " AS FLOAT64) / 86400000000.0)",
    time_of_day="(CAST(TIME_DIFF(CAST({0} AS TIME), TIME '00:00:00', MICROSECOND) AS FLOAT64)"
    " / 86400000000.0)",
    span="(CAST(DATETIME_DIFF(DATETIME '1970-01-01' + {0}, DATETIME '1970-01-01', MICROSECOND)"
    " AS FLOAT64) / 86400000000.0)",
    number_text="REGEXP_CONTAINS({0}, '" + _NUMBER.replace("\\", "\\\\") + "')",
    digit=f"REGEXP_CONTAINS({{0}}, '{_DIGIT}')",
    month="EXTRACT(MONTH FROM CAST({0} AS DATETIME))",
    level="CAST({0} AS STRING)",
    values="(SELECT * FROM UNNEST([{first}{others}]))",
    row="STRUCT({0})",
    column_list=False,
)
SNOWFLAKE = Dialect(
    "snowflake",
    escapes=True,
    folds_case=False,
    longest_name=255,
    literal="'{0}'::FLOAT",
    double="FLOAT",
    boolean="CAST(CAST({0} AS INTEGER) AS FLOAT)",
    is_nan="{0} = 'NaN'::FLOAT",
    days="(CAST(DATEDIFF(MICROSECOND, '1970-01-01'::TIMESTAMP_NTZ, CAST({0} AS TIMESTAMP_NTZ))"
    " AS FLOAT) / 86400000000::FLOAT)",
    time_of_day="(CAST(DATEDIFF(MICROSECOND, '00:00:00'::TIME, CAST({0} AS TIME)) AS FLOAT)"
    " / 86400000000::FLOAT)",
    # There are no columns of intervals: a span is a number of days.
    span="CAST({0} AS FLOAT)",
    number_text="REGEXP_LIKE({0}, '" + _NUMBER.replace("\\", "\\\\") + "')",
    digit="REGEXP_LIKE({0}, '.*[0-9].*', 's')",
    month="EXTRACT(MONTH FROM CAST({0} AS TIMESTAMP_NTZ))",
    values="(SELECT {numbered} FROM VALUES {rows})",
    column_list=False,
)
SQLSERVER = Dialect(
    "sqlserver",
    quotes=("[", "]"),
    literal="{0}e0",
    double="FLOAT",
    text="NVARCHAR(4000)",
    lateral="CROSS APPLY (SELECT {0}) AS {1}",
    greatest="(SELECT MAX(v) FROM (VALUES ({0})) AS g(v))",
    longest_name=128,
    max_joins=200,
    boolean="CAST({0} AS FLOAT)",
    days="(CAST(DATEDIFF_BIG(MICROSECOND, '19700101', {0}) AS FLOAT) / 86400000000e0)",
    time_of_day="(CAST(DATEDIFF_BIG(MICROSECOND, CAST('00:00:00' AS TIME), {0}) AS FLOAT)"
    " / 86400000000e0)",
    # There are no intervals: a span is a number of days.
    span="CAST({0} AS FLOAT)",
    number_text="(TRY_CAST({0} AS FLOAT) IS NOT NULL AND {0} LIKE '%[0-9]%')",
    digit="({0} LIKE '%[0-9]%')",
    month="MONTH({0})",
    level="(CAST({0} AS NVARCHAR(4000)) COLLATE Latin1_General_100_BIN2)",
    ln="LOG({0})",
    first_rows="SELECT TOP ({2}) {0} FROM {1}",
    values="(SELECT * FROM (VALUES {rows}) AS v({columns}))",
)

DIALECTS = {
    one.name: one
    for one in (DUCKDB, SQLITE, POSTGRESQL, SPARK, MYSQL, BIGQUERY, SNOWFLAKE, SQLSERVER)
}


def dialect_of(name: str) -> Dialect:
    """Return the dialect of a database by its name.

    >>> dialect_of("sqlite").double
    'REAL'
    """
    if name not in DIALECTS:
        known = ", ".join(map(repr, DIALECTS))
        raise InputError(f"There is no dialect {name!r}. Use one of {known}.")
    return DIALECTS[name]
