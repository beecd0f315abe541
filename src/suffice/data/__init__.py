"""Where rows come from: numbers out of arrays, sparse matrices and data frames."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.data.columns import Column
    from suffice.data.documents import Documents
    from suffice.data.hashes import array_hashes, table_hashes
    from suffice.data.rows import Rows
    from suffice.data.schema import Schema
    from suffice.data.table import Table

__all__ = ["Column", "Documents", "Rows", "Schema", "Table", "array_hashes", "table_hashes"]

# Loaded when first used: Gaussian algebra takes data frames, and loads no compiled loops for it.
_HOME = {
    "Column": "suffice.data.columns",
    "Documents": "suffice.data.documents",
    "Rows": "suffice.data.rows",
    "Schema": "suffice.data.schema",
    "Table": "suffice.data.table",
    "array_hashes": "suffice.data.hashes",
    "table_hashes": "suffice.data.hashes",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'suffice.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
