"""Names as codes: the levels of a column, and the classes of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice._core import encode_integers, encode_strings
from suffice.errors import InputError

# Levels that are numbered by a table so small that it stays in the nearest cache: two to four
# times as quick as Arrow's.
MAX_DISTINCT = 1024
Codes = NDArray[np.int32]
Labels = NDArray[Any]
# Whole numbers within a span like this are looked up in a table instead of sorted.
TABLE_SPAN = 1 << 20
# Numbers from here on do not fit an int64.
BEYOND_INTEGERS = 2.0**63


def encode_labels(labels: Labels) -> tuple[Labels, Codes]:
    """Return the sorted classes and, for each row, the number of its class.

    Examples
    --------
    >>> encode_labels(np.array(["spam", "ham", "spam"]))
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1], dtype=int32))
    """
    if labels.dtype.kind in "iub" and (found := encode_integers(labels, TABLE_SPAN)) is not None:
        return found[0].astype(labels.dtype), found[1]
    if labels.dtype.kind == "f" and labels.size:
        _check_whole(labels)
        if np.abs(labels).max() >= BEYOND_INTEGERS:
            return _by_sorting(labels)
        classes, codes = encode_labels(labels.astype(np.int64))
        return classes.astype(labels.dtype), codes
    if labels.dtype.kind in "OU" and labels.size:
        return _by_dictionary(labels)
    return _by_sorting(labels)


def translate_codes(classes: Labels, known: Labels, codes: Codes) -> Codes:
    """Translate codes of `classes` into codes of `known`, a sorted superset of them."""
    if np.array_equal(classes, known):
        return codes
    return np.searchsorted(known, classes).astype(np.int32)[codes]


def _check_whole(labels: Labels) -> None:
    bad = np.flatnonzero(~np.isfinite(labels))
    if bad.size:
        raise InputError(
            f"Input y contains {'NaN' if np.isnan(labels[bad[0]]) else 'infinity'} (row "
            f"{bad[0]}). Leave the rows without a label out."
        )
    fractional = np.flatnonzero(labels != np.floor(labels))
    if fractional.size:
        raise InputError(
            f"Unknown label type: continuous. Label {labels[fractional[0]]:g} in row "
            f"{fractional[0]} is not a class: give whole numbers or names, or use a regression."
        )


def _by_dictionary(labels: Labels) -> tuple[Labels, Codes]:
    """Encode names by hashing them, which on a million rows is far quicker than sorting them."""
    import pyarrow as pa

    try:
        cells = pa.array(labels, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return _by_sorting(labels)
    if cells.null_count:
        raise _missing_label(cells)
    if not isinstance(cells, pa.Array) or not pa.types.is_string(cells.type):
        return _by_sorting(labels)
    return _by_name(cells, labels.dtype)


def encode_arrow_labels(cells: Any) -> tuple[Labels, Codes] | None:
    """Return classes and codes of an Arrow array of strings, or a dictionary of them, else None.

    Examples
    --------
    >>> import pyarrow as pa
    >>> encode_arrow_labels(pa.array(["spam", "ham", "spam"]).dictionary_encode())
    (array(['ham', 'spam'], dtype=object), array([1, 0, 1], dtype=int32))
    """
    import pyarrow as pa

    types = pa.types
    value_type = cells.type.value_type if types.is_dictionary(cells.type) else cells.type
    if not len(cells) or not (types.is_string(value_type) or types.is_large_string(value_type)):
        return None
    if cells.null_count:
        raise _missing_label(cells)
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if isinstance(whole, pa.ChunkedArray):  # several dictionaries, or more than fit 32 bits
        whole = whole.unify_dictionaries().combine_chunks()
    return None if isinstance(whole, pa.ChunkedArray) else _by_name(whole, np.dtype(object))


def _missing_label(cells: Any) -> InputError:
    row = int(np.flatnonzero(np.asarray(cells.is_null()))[0])
    return InputError(
        f"Input y contains NaN or None (row {row}). Leave the rows without a label out."
    )


def _by_name(cells: Any, dtype: np.dtype[Any]) -> tuple[Labels, Codes]:
    """Return the classes, sorted by name, and the codes of an Arrow array of names."""
    import pyarrow as pa

    found = None
    if not pa.types.is_dictionary(cells.type):
        found = encode_levels(cells)
        cells = cells if found is not None else cells.dictionary_encode()
    if found is None:
        codes = np.asarray(cells.indices.cast(pa.int32()))
        used = np.bincount(codes, minlength=len(cells.dictionary)) > 0
        found = EncodedLevels(codes, tuple(cells.dictionary.to_pylist()))
        if not used.all():  # names that no row has are no classes
            places = (np.cumsum(used) - 1).astype(np.int32)
            kept = tuple(name for name, one in zip(found.levels, used, strict=True) if one)
            found = EncodedLevels(places[codes], kept)
    names = np.array(found.levels, dtype=dtype)
    order = np.argsort(names)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return names[order], rank[found.codes]


def _by_sorting(labels: Labels) -> tuple[Labels, Codes]:
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise TypeError(
            f"Labels of different types: {', '.join(kinds)}. Encoders require their input "
            "argument must be uniformly strings or numbers; convert y to one type."
        ) from error
    return classes, codes.astype(np.int32)


class EncodedLevels(NamedTuple):
    """Codes (n,), -1 if missing, and the levels in the order of first sight."""

    codes: NDArray[np.int32]
    levels: tuple[str, ...]


def encode_levels(cells: Any) -> EncodedLevels | None:
    """Return an Arrow array of strings as codes of levels, or None if the levels are many.

    Examples
    --------
    >>> import pyarrow as pa
    >>> encode_levels(pa.array(["red", None, "blue", "red"]))
    EncodedLevels(codes=array([ 0, -1,  1,  0], dtype=int32), levels=('red', 'blue'))
    """
    import pyarrow as pa

    wide = pa.types.is_large_string(cells.type)
    _, offsets, text = cells.buffers()
    rows = len(cells)
    if offsets is None or rows == 0:
        return EncodedLevels(np.full(rows, -1, np.int32), ())
    begins = np.frombuffer(offsets, np.int64 if wide else np.int32)
    begins = begins[cells.offset : cells.offset + rows + 1]
    letters = np.empty(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    missing = (
        cells.is_null().to_numpy(zero_copy_only=False) if cells.null_count else np.empty(0, bool)
    )
    found = encode_strings(letters, begins, missing, MAX_DISTINCT)
    if found is None:
        return None
    codes, places = found
    names = (letters[at : at + size].tobytes().decode() for size, at in places.tolist())
    return EncodedLevels(codes, tuple(names))
