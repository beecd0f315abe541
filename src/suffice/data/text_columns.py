"""Columns of text: those that are Arrow's, as arrays without a copy, and all others as lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError


def as_arrow(source: Any) -> Any:
    """Return a column of Arrow's, polars' or pandas-with-Arrow's as one Arrow array, else None.

    The array is one of strings or bytes with offsets; views and dictionaries are written out.
    """
    pieces = arrow_pieces(source)
    if pieces is None:
        return None
    if len(pieces) == 1:
        return pieces[0]
    import pyarrow as pa

    # Offsets of 32 bits may not reach to the end of all pieces together.
    wider = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    return pa.concat_arrays([piece.cast(wider.get(piece.type, piece.type)) for piece in pieces])


def arrow_pieces(source: Any) -> list[Any] | None:
    """Return the arrays that a column of Arrow's, polars' or pandas-with-Arrow's consists of.

    >>> import pyarrow
    >>> len(arrow_pieces(pyarrow.chunked_array([["a fox"], ["a dog"]])))
    2
    """
    library = type(source).__module__.split(".")[0]
    if library == "pandas":
        kind = getattr(source, "dtype", None)
        # Objects say how they are stored in `storage`, Arrow's own types by their name.
        if getattr(kind, "storage", "") != "pyarrow" and type(kind).__name__ != "ArrowDtype":
            return None
        source, library = source.array.__arrow_array__(), "pyarrow"
    if library == "polars" and hasattr(source, "to_arrow"):
        source, library = source.to_arrow(), "pyarrow"
    if library != "pyarrow" or not hasattr(source, "type"):
        return None
    chunks = source.chunks if hasattr(source, "chunks") else [source]
    return [_written_out(chunk) for chunk in chunks] or [_written_out(source.combine_chunks())]


def _written_out(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    plain = {
        pa.string_view(): pa.large_string(),
        pa.binary_view(): pa.large_binary(),
        pa.null(): pa.string(),
    }
    column = column.cast(plain.get(column.type, column.type))
    kind = column.type
    if not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        raise InputError(
            f"A column of type {kind} holds no documents. Give one of strings or bytes."
        )
    return column


def has_bytes_under_nulls(column: Any) -> bool:
    """Say whether bytes stand in an array of strings where it says that there is nothing."""
    import pyarrow as pa
    from pyarrow import compute

    kind = pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary()
    _, where, letters = column.buffers()
    seen = pa.Array.from_buffers(kind, len(column), [None, where, letters], 0, column.offset)
    lengths = compute.binary_length(seen).to_numpy(zero_copy_only=False)
    return bool(lengths[column.is_null().to_numpy(zero_copy_only=False)].any())


def listed(source: Any) -> Any:
    """Return the documents of a column that is not Arrow's one by one."""
    shape = getattr(source, "shape", (0,))
    if len(shape) != 1:
        raise InputError(
            f"Documents come in one dimension, but these have shape {shape}. Give one column."
        )
    if isinstance(source, np.ndarray):
        return source.tolist()
    if hasattr(source, "to_numpy"):  # pandas' own columns
        return source.to_numpy(dtype=object).tolist()
    return source
