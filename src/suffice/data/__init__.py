"""Where rows come from: numbers out of arrays, sparse matrices and data frames."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.data.columns import Column
    from suffice.data.documents import Documents
    from suffice.data.hashes import array_hashes, table_hashes
    from suffice.data.rows import Rows
    from suffice.data.schema import Schema
    from suffice.data.table import Table

__all__ = ["Column", "Documents", "Rows", "Schema", "Table", "array_hashes", "table_hashes"]

# Gaussian algebra takes data frames, and loads no compiled core for it.
_HOME = {
    "Column": "columns",
    "Documents": "documents",
    "Rows": "rows",
    "Schema": "schema",
    "Table": "table",
    "array_hashes": "hashes",
    "table_hashes": "hashes",
}
__getattr__ = load_at_first_use(__name__, _HOME)
