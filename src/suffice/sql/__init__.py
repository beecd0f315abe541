"""Counting and scoring written as SQL, for the databases that hold the rows."""

from suffice.sql.dialect import DIALECTS, Dialect, dialect_of

__all__ = ["DIALECTS", "Dialect", "dialect_of"]
