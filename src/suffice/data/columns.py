"""One column of a table: numbers, or codes of levels, or texts, with its gaps marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.objects import DAY, arrow_of_objects
from suffice.data.strings import encoded
from suffice.errors import InputError

Kind = Literal["number", "integer", "boolean", "date", "category", "text"]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]

# Kinds whose values are floats, so that one may be given where another was learned.
NUMERIC: tuple[Kind, ...] = ("number", "integer", "boolean", "date")
# The code of a cell without a level.
GAP = -1
# A column of strings is text, not names of levels, if more than this part of its cells are
# different and they hold this many words each, on average over so many of them.
MOSTLY_DIFFERENT = 0.5
WORDS_OF_A_TEXT = 4.0
LOOKED_AT = 1000
# Arrow's ticks in a second, and the bits of its shorter times.
TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
INT32 = 32


@dataclass(frozen=True, eq=False)
class Column:
    """A named column of n cells.

    Parameters
    ----------
    name : str
    kind : str
        "number", "integer", "boolean" or "date" (days since 1970), all float64 with NaN for gaps;
        "category", int32 codes of levels, -1 for gaps and len(levels) for a level not among them;
        "text", an Arrow array of strings.
    values : (n,)
    levels : the levels of a category, in the order of their codes

    Examples
    --------
    >>> colour = Column("colour", "category", np.array([0, -1, 1], np.int32), ("red", "blue"))
    >>> colour.gaps, colour.shown([1, 2])
    (array([False,  True, False]), ['blue', None])
    """

    name: str
    kind: Kind
    values: Any
    levels: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def numeric(self) -> bool:
        """Whether the values are floats."""
        return self.kind in NUMERIC

    @cached_property
    def gaps(self) -> Bools:
        """Which cells are missing, (n,)."""
        if self.numeric:
            return np.asarray(np.isnan(self.values))
        if self.kind == "category":
            return np.asarray(self.values == GAP)
        return np.asarray(self.values.is_null())

    @cached_property
    def any_gap(self) -> bool:
        """Whether any cell is missing."""
        if self.numeric:
            # Quicker than to look at each, unless sums are beyond all floats.
            with np.errstate(over="ignore", invalid="ignore"):
                if not np.isnan(self.values.sum()):
                    return False
        return bool(self.gaps.any())

    @cached_property
    def seen(self) -> Any:
        """The values that are not missing."""
        return self.values[~self.gaps] if self.any_gap else self.values

    @cached_property
    def ordered(self) -> Any:
        """The values that are not missing, the lowest first."""
        return np.sort(self.seen)

    @cached_property
    def distinct(self) -> Any:
        """The different values that are not missing, the lowest first."""
        return np.unique(self.seen)

    @cached_property
    def whole(self) -> bool:
        """Whether the values are numbers without fractions."""
        return self.numeric and bool(np.all(self.seen == np.floor(self.seen)))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest number, (inf, -inf) if there is none."""
        seen = self.seen
        return float(seen.min(initial=np.inf)), float(seen.max(initial=-np.inf))

    def take(self, index: Any) -> Self:
        """Return the cells at `index` (numbers or a mask of rows)."""
        if self.kind == "text":
            import pyarrow as pa

            rows = np.arange(len(self))[index]
            return replace(self, values=self.values.take(pa.array(rows)))
        return replace(self, values=self.values[index])

    def shown(self, codes: Sequence[int] | NDArray[Any]) -> list[Any]:
        """Return the levels of some codes; None for gaps and for levels not among ours."""
        known = (*self.levels, None, None)
        return [known[min(code, len(self.levels))] for code in codes]

    def as_text(self) -> Column:
        """Return a category of strings as the texts that it was made from."""
        import pyarrow as pa

        codes = pa.array(self.values, mask=self.gaps)
        levels = pa.array([str(level) for level in self.levels], pa.large_string())
        return Column(self.name, "text", levels.take(codes))


def column_of(name: str, cells: Any, *, text: bool | None = None) -> Column:
    """Return the column of cells of numpy, pandas, polars or Arrow, of the kind it looks like.

    Strings are texts if `text`, names of levels if it is False, and by their looks if it is None.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = column_of("size", pa.array(["big", None, "small", "big"]))
    >>> column.kind, column.values, column.levels
    ('category', array([ 0, -1,  1,  0], dtype=int32), ('big', 'small'))
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iufb":
        return numbers_of(name, cells)
    return _of_arrow(name, arrow_of(name, cells), text)


def numbers_of(name: str, cells: NDArray[Any]) -> Column:
    """Return the column of a numpy array of numbers."""
    values = np.ascontiguousarray(cells, dtype=np.float64)
    if cells.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            endless = not np.isfinite(values.sum()) and np.isinf(values)
        if np.any(endless):
            row = int(np.argmax(endless))
            raise InputError(
                f"Column {name!r} holds {values[row]:g} in row {row}. Replace it, or make it NaN "
                "to have it left out."
            )
    kinds: dict[str, Kind] = {"f": "number", "b": "boolean"}
    return Column(name, kinds.get(cells.dtype.kind, "integer"), values)


def arrow_of(name: str, cells: Any) -> Any:
    """Return cells of pandas, polars, numpy or Arrow as one Arrow array."""
    import pyarrow as pa

    if hasattr(cells, "to_arrow"):
        cells = cells.to_arrow()
    if not isinstance(cells, pa.Array | pa.ChunkedArray):
        cells = _of_library(name, cells)
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    # Older and newer Arrows combine no chunks, or several dictionaries, into chunks.
    return pa.concat_arrays(cells.chunks) if isinstance(cells, pa.ChunkedArray) else cells


def _of_library(name: str, cells: Any) -> Any:
    """Return cells of pandas, numpy or a list as an Arrow array, or one in chunks."""
    import pyarrow as pa

    if str(getattr(cells, "dtype", "object")) != "object":
        try:
            return pa.array(cells, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            pass  # Arrow lacks some of numpy's types of times
    return arrow_of_objects(name, list(cells))


def _of_arrow(name: str, cells: Any, text: bool | None) -> Column:
    import pyarrow as pa

    kind, types = cells.type, pa.types
    if types.is_dictionary(kind):
        return _of_dictionary(name, cells, text)
    if types.is_boolean(kind):
        values = cells.cast(pa.uint8()).cast(pa.float64()).to_numpy(zero_copy_only=False)
        return Column(name, "boolean", np.asarray(values))
    if types.is_integer(kind):
        values = cells.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return Column(name, "integer", np.asarray(values))
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        values = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return numbers_of(name, np.asarray(values))
    if types.is_timestamp(kind) or types.is_date(kind):
        return Column(name, "date", _days(cells))
    if types.is_duration(kind) or types.is_time(kind):
        return numbers_of(name, _ticks(cells) / (DAY * TICKS[kind.unit]))
    texts = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    cells = cells.cast(texts.get(kind, kind))
    if types.is_binary(cells.type) or types.is_large_binary(cells.type):
        cells = _decoded(name, cells)
    if not (types.is_string(cells.type) or types.is_large_string(cells.type)):
        raise InputError(
            f"Column {name!r} is of Arrow's type {kind}. Make numbers, dates or strings of it, or "
            "leave it out."
        )
    return Column(name, "text", cells) if text else _of_strings(name, cells, text is None)


def _of_strings(name: str, cells: Any, doubtful: bool) -> Column:
    few = encoded(cells)
    most = MOSTLY_DIFFERENT * (len(cells) - cells.null_count)
    if few is not None and not (doubtful and len(few.levels) > most):
        return Column(name, "category", *few)
    dictionary = cells.dictionary_encode()
    if doubtful and len(dictionary.dictionary) > most:
        import pyarrow.compute as pc

        some = dictionary.dictionary.slice(0, LOOKED_AT)
        words = pc.mean(pc.count_substring_regex(some, r"\S+")).as_py() or 0.0
        if words >= WORDS_OF_A_TEXT:
            return Column(name, "text", cells)
    return _of_dictionary(name, dictionary, text=False)


def _of_dictionary(name: str, cells: Any, text: bool | None) -> Column:
    import pyarrow as pa

    codes = cells.indices.cast(pa.int32())
    codes = np.asarray(codes.fill_null(GAP) if codes.null_count else codes)
    column = Column(name, "category", codes, tuple(cells.dictionary.to_pylist()))
    if None in column.levels:  # Arrow may keep a gap as a level
        column = _without_level(column, column.levels.index(None))
    return column.as_text() if text else column


def _without_level(column: Column, gap: int) -> Column:
    codes = np.where(column.values == gap, GAP, column.values - (column.values > gap))
    levels = column.levels[:gap] + column.levels[gap + 1 :]
    return Column(column.name, "category", codes.astype(np.int32), levels)


def _decoded(name: str, cells: Any) -> Any:
    """Return bytes as the texts that they are in UTF-8."""
    import pyarrow as pa

    try:
        return cells.cast(pa.large_string())
    except pa.ArrowInvalid:
        for row, cell in enumerate(cells.to_pylist()):
            try:
                (cell or b"").decode()
            except UnicodeDecodeError:
                raise InputError(
                    f"Column {name!r} holds {cell!r} in row {row}, which is no text in UTF-8. "
                    "Decode the column, or leave it out."
                ) from None
        raise


def _days(cells: Any) -> Floats:
    """Return days since 1970 on the clock of the place, (n,)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date32(cells.type):
        return _ticks(cells)
    if pa.types.is_date64(cells.type):
        return _ticks(cells) / (DAY * TICKS["ms"])
    if cells.type.tz is not None:
        cells = pc.local_timestamp(cells)
    return _ticks(cells) / (DAY * TICKS[cells.type.unit])


def _ticks(cells: Any) -> Floats:
    """Return times in their own units, NaN for gaps, (n,)."""
    import pyarrow as pa

    whole = cells.cast(pa.int32() if cells.type.bit_width == INT32 else pa.int64())
    # Beyond 2^53 nanoseconds floats round, by less than a millionth of a second.
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
