"""The databases that tests of SQL run on."""

from databases import (  # noqa: F401
    duckdb_connection,
    postgresql_connection,
    postgresql_port,
    sqlite_connection,
)
