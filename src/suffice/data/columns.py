"""One column of a table: numbers, or codes of levels, or texts, with its missing values marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.frames import int128_as_float, library_of
from suffice.data.labels import EncodedLevels, encode_levels
from suffice.data.objects import DAY, ArrowCells, Kind, cells_of_objects
from suffice.data.string_format import Decision, StringFormat, Strings, decide_format
from suffice.errors import InputError

# How the strings of a column are to be read, if that is not to be decided by them.
ReadAs = Literal["text", "category", "number"] | StringFormat
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]

# Kinds whose values are floats, so that one may be given where another was learned.
NUMERIC: tuple[Kind, ...] = ("number", "integer", "boolean", "date", "time", "span")
# The code of a cell without a level.
MISSING_CODE = -1
# A column of strings is text, not names of levels, if more than this part of its cells are
# different and they hold this many words each, on average over so many of them.
MIN_DISTINCT_SHARE = 0.5
MIN_WORDS_OF_TEXT = 4.0
MAX_SAMPLED_CELLS = 1000
# Strings of which more than this part are different are read cell by cell.
MAX_DICTIONARY_SHARE = 0.99
# Types of pandas whose values are known by what they print as.
PRINTED_TYPES = ("IntervalDtype", "PeriodDtype")
# Strings that do not read which are named.
MAX_EXAMPLES = 5
# Arrow's ticks in a second, and the bits of its shorter times.
TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
INT32 = 32


class Unreadable(NamedTuple):
    """Strings that do not read as the others of their column, and so are missing values.

    examples : some of them, each with its first row
    cells : how many cells there are of them all
    """

    examples: tuple[tuple[str, int], ...]
    cells: int


@dataclass(frozen=True, eq=False)
class Column:
    """A named column of n cells.

    Parameters
    ----------
    name : str
    kind : str
        "number", "integer", "boolean", "date" (days since 1970), "time" (of day, in days) or
        "span" (in days), all float64 with NaN if missing;
        "category", int32 codes of levels, -1 if missing and len(levels) for a level not among them;
        "text", an Arrow array of strings.
    values : (n,)
    levels : the levels of a category, in the order of their codes
    strings : StringFormat, optional
        How strings were read to become these values.
    note : what is to be said of how the column was read
    unreadable : Unreadable, optional
        Strings that became missing values when these rows were read.

    Examples
    --------
    >>> colour = Column("colour", "category", np.array([0, -1, 1], np.int32), ("red", "blue"))
    >>> colour.missing, colour.shown([1, 2])
    (array([False,  True, False]), ['blue', None])
    """

    name: str
    kind: Kind
    values: Any
    levels: tuple[Any, ...] = ()
    strings: StringFormat | None = None
    note: str = ""
    unreadable: Unreadable | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def numeric(self) -> bool:
        """Whether the values are floats."""
        return self.kind in NUMERIC

    @cached_property
    def missing(self) -> Bools:
        """Which cells are missing, (n,)."""
        if self.numeric:
            return np.asarray(np.isnan(self.values))
        if self.kind == "category":
            return np.asarray(self.values == MISSING_CODE)
        return np.asarray(self.values.is_null())

    @cached_property
    def any_missing(self) -> bool:
        """Whether any cell is missing."""
        if self.numeric:
            # Quicker than to look at each, unless sums are beyond all floats.
            with np.errstate(over="ignore", invalid="ignore"):
                if not np.isnan(self.values.sum()):
                    return False
        return bool(self.missing.any())

    @cached_property
    def seen(self) -> Any:
        """The values that are not missing."""
        return self.values[~self.missing] if self.any_missing else self.values

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
        return replace(self, values=self.values[index], unreadable=None)

    def as_missing(self, rows: int | None = None) -> Self:
        """Return a column of this kind with all of its cells, or so many, missing."""
        size = len(self) if rows is None else rows
        if self.kind == "text":
            import pyarrow as pa

            return replace(self, values=pa.nulls(size, pa.large_string()), unreadable=None)
        if self.kind == "category":
            return replace(self, values=np.full(size, MISSING_CODE, np.int32), unreadable=None)
        return replace(self, values=np.full(size, np.nan), unreadable=None)

    def recode(self, levels: tuple[Any, ...]) -> Column:
        """Return a category with the codes of other levels, len(levels) for those not among them.

        >>> city = Column("city", "category", np.array([0, 1, -1], np.int32), ("Rome", "Oslo"))
        >>> city.recode(("Oslo",)).values
        array([ 1,  0, -1], dtype=int32)
        """
        # The last place is that of missing values, whose code is -1. To wrap around takes less time
        # than to look for codes beyond the end, of which there are none.
        codes = [*level_codes(self.levels, levels), len(levels), MISSING_CODE]
        values = np.array(codes, np.int32).take(self.values, mode="wrap")
        return Column(self.name, "category", values, levels)

    def shown(self, codes: Sequence[int] | NDArray[Any]) -> list[Any]:
        """Return the levels of some codes; None if missing and for levels not among ours."""
        known = (*self.levels, None, None)
        return [known[min(code, len(self.levels))] for code in codes]

    def as_text(self) -> Column:
        """Return a category of strings as the texts that it was made from."""
        import pyarrow as pa

        codes = pa.array(self.values, mask=self.missing)
        return Column(self.name, "text", self._named_levels().take(codes))

    def read_as(self, format: StringFormat) -> Column:
        """Return a category or text as the numbers or dates that its strings are."""
        if self.kind == "text":
            return _read(self.name, Strings(self.values), format)
        return _read(self.name, Strings(self._named_levels(), self.values), format)

    def _named_levels(self) -> Any:
        import pyarrow as pa

        return pa.array([str(level) for level in self.levels], pa.large_string())


def level_codes(levels: Sequence[Any], known: Sequence[Any]) -> NDArray[np.intp]:
    """Return the code of each level among the known ones, len(known) for those not among them."""
    code_of = {level: code for code, level in enumerate(known)}
    return np.array([code_of.get(level, len(known)) for level in levels], np.intp)


def column_of(name: str, cells: Any, read_as: ReadAs | None = None) -> Column:
    """Return the column of cells of numpy, pandas, polars or Arrow, of the kind it looks like.

    Parameters
    ----------
    name : str
    cells : (n,)
    read_as : how strings are read
        "text" and "category" keep them; "number" reads integers too that look like codes; None
        decides by the strings. Categories of pandas and polars are kept if it is None.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = column_of("size", pa.array(["big", None, "small", "big"]))
    >>> column.kind, column.values, column.levels
    ('category', array([ 0, -1,  1,  0], dtype=int32), ('big', 'small'))
    >>> column_of("price", pa.array(["$5.00", None, "$1,250.00"])).values
    array([   5.,   nan, 1250.])
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iufb":
        return numbers_of(name, cells)
    named = read_as is None and library_of(cells) != "pyarrow"
    found = cells_of(name, cells)
    if found.kind is not None:
        return Column(name, found.kind, np.asarray(found.cells.to_numpy(zero_copy_only=False)))
    return _of_arrow(name, found.cells, read_as, keeps_categories=named)


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


def cells_of(name: str, cells: Any) -> ArrowCells:
    """Return cells of pandas, polars, numpy or Arrow as one Arrow array."""
    import pyarrow as pa

    kind: Kind | None = None
    if hasattr(cells, "to_arrow"):
        cells = _of_polars(cells)
    if not isinstance(cells, pa.Array | pa.ChunkedArray):
        cells, kind = _of_library(name, cells)
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    # Older and newer Arrows combine no chunks, or several dictionaries, into chunks.
    whole = pa.concat_arrays(cells.chunks) if isinstance(cells, pa.ChunkedArray) else cells
    return ArrowCells(whole, kind)


def _of_polars(cells: Any) -> Any:
    """Return a column of polars as an Arrow array, or as a list where Arrow lacks the type."""
    if str(cells.dtype) == "Object":  # Arrow would be given addresses
        return cells.to_list()
    return int128_as_float(cells).to_arrow()


def _of_library(name: str, cells: Any) -> ArrowCells:
    """Return cells of pandas, numpy or a list as an Arrow array, or one in chunks."""
    import pyarrow as pa

    kind = getattr(cells, "dtype", "object")
    names: Any = getattr(kind, "categories", ())
    if type(getattr(names, "dtype", None)).__name__ in PRINTED_TYPES:
        cells = getattr(cells, "cat", cells).rename_categories([str(name) for name in names])
    if str(kind) != "object" and type(kind).__name__ not in PRINTED_TYPES:
        try:
            return ArrowCells(pa.array(cells, from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            pass  # Arrow lacks some of numpy's types of times
    return cells_of_objects(name, list(cells))


def _of_arrow(name: str, cells: Any, read_as: ReadAs | None, *, keeps_categories: bool) -> Column:
    import pyarrow as pa

    kind, types = cells.type, pa.types
    if types.is_dictionary(kind):
        return _of_dictionary(name, cells, "category" if keeps_categories else read_as)
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
        passed = "span" if types.is_duration(kind) else "time"
        return Column(name, cast(Kind, passed), _ticks(cells) / (DAY * TICKS[kind.unit]))
    texts = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    cells = cells.cast(texts.get(kind, kind))
    if types.is_binary(cells.type) or types.is_large_binary(cells.type):
        cells = _decoded(name, cells)
    if not (types.is_string(cells.type) or types.is_large_string(cells.type)):
        raise InputError(
            f"Column {name!r} is of Arrow's type {kind}. Make numbers, dates or strings of it, or "
            "leave it out."
        )
    return _of_strings(name, cells, read_as)


def _of_strings(name: str, cells: Any, read_as: ReadAs | None) -> Column:
    if read_as == "text":
        return Column(name, "text", cells)
    few = encode_levels(cells)
    if read_as == "category" and few is not None:
        return Column(name, "category", *few)
    dictionary = None
    if few is None and (read_as == "category" or not _mostly_distinct(cells)):
        dictionary = cells.dictionary_encode()
    if isinstance(read_as, StringFormat):
        return _read(name, _strings(cells, few, dictionary), read_as)
    decision = Decision(None)
    if read_as != "category":
        strings = _strings(cells, few, dictionary)
        decision = decide_format(strings, codes_too=read_as == "number")
        if decision.format is not None:
            return _read(name, strings, decision.format, decision.values)
    most = MIN_DISTINCT_SHARE * (len(cells) - cells.null_count)
    may_be_text = read_as is None
    if few is not None and not (may_be_text and len(few.levels) > most):
        return Column(name, "category", *few, note=decision.note)
    if dictionary is None:
        dictionary = cells.dictionary_encode()
    if may_be_text and len(dictionary.dictionary) > most:
        import pyarrow.compute as pc

        some = dictionary.dictionary.slice(0, MAX_SAMPLED_CELLS)
        words = pc.mean(pc.count_substring_regex(some, r"\S+")).as_py() or 0.0
        if words >= MIN_WORDS_OF_TEXT:
            return Column(name, "text", cells)
    return replace(_of_dictionary(name, dictionary, "category"), note=decision.note)


def _mostly_distinct(cells: Any) -> bool:
    """Say whether, as far as some cells show, to read each string once would save nothing."""
    import pyarrow as pa

    some = cells.take(pa.array(np.linspace(0, len(cells) - 1, MAX_SAMPLED_CELLS).astype(np.int64)))
    return len(some.unique()) > MAX_DICTIONARY_SHARE * MAX_SAMPLED_CELLS


def _strings(cells: Any, few: EncodedLevels | None, dictionary: Any) -> Strings:
    """Return the strings of a column, each once if they were numbered."""
    import pyarrow as pa

    if few is not None:
        return Strings(pa.array(few.levels, pa.large_string()), few.codes)
    if dictionary is None:
        return Strings(cells)
    return Strings(dictionary.dictionary, _codes(dictionary))


def _read(
    name: str, strings: Strings, format: StringFormat, values: Floats | None = None
) -> Column:
    """Return the column that strings are under a format, which may have been read before."""
    if values is None:
        values = format.read(strings.values)
    cells = strings.cells(values)
    kind: Kind = format.kind
    if kind == "number":
        seen = values[~np.isnan(values)]
        kind = "integer" if np.all(seen == np.floor(seen)) else "number"
    unreadable = _unreadable(strings, format, values)
    return Column(name, kind, cells, strings=format, note=format.description, unreadable=unreadable)


def _unreadable(strings: Strings, format: StringFormat, values: Floats) -> Unreadable | None:
    import pyarrow as pa

    at = np.flatnonzero(format.unreadable(strings.values, values))
    at = at[strings.counts[at] > 0]
    if not at.size:
        return None
    found: dict[str, int] = {}
    for place, value in zip(
        at[:MAX_SAMPLED_CELLS], strings.values.take(pa.array(at[:MAX_SAMPLED_CELLS])), strict=True
    ):
        if len(found) == MAX_EXAMPLES:
            break
        found.setdefault(value.as_py(), strings.first_cell(int(place)))
    return Unreadable(tuple(found.items()), int(strings.counts[at].sum()))


def _of_dictionary(name: str, cells: Any, read_as: ReadAs | None) -> Column:
    column = Column(name, "category", _codes(cells), tuple(cells.dictionary.to_pylist()))
    if None in column.levels:  # Arrow may keep a missing value as a level
        column = _without_level(column, column.levels.index(None))
    if read_as == "text":
        return column.as_text()
    if isinstance(read_as, StringFormat):
        return column.read_as(read_as)
    if read_as == "category" or not all(isinstance(level, str) for level in column.levels):
        return column
    decision = decide_format(_used(column), codes_too=read_as == "number")
    if decision.format is not None:
        return column.read_as(decision.format)
    return replace(column, note=decision.note)


def _used(column: Column) -> Strings:
    """Return the strings of a category that cells have: others decide nothing."""
    import pyarrow as pa

    strings = Strings(column._named_levels(), column.values)
    used = strings.counts > 0
    if used.all():
        return strings
    places = np.append(np.where(used, np.cumsum(used) - 1, MISSING_CODE), MISSING_CODE)
    return Strings(strings.values.filter(pa.array(used)), places[column.values].astype(np.int32))


def _codes(cells: Any) -> Codes:
    import pyarrow as pa

    codes = cells.indices.cast(pa.int32())
    return np.asarray(codes.fill_null(MISSING_CODE) if codes.null_count else codes)


def _without_level(column: Column, missing: int) -> Column:
    codes = np.where(
        column.values == missing, MISSING_CODE, column.values - (column.values > missing)
    )
    levels = column.levels[:missing] + column.levels[missing + 1 :]
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
    """Return times in their own units, NaN if missing, (n,)."""
    import pyarrow as pa

    whole = cells.cast(pa.int32() if cells.type.bit_width == INT32 else pa.int64())
    # Beyond 2^53 nanoseconds floats round, by less than a millionth of a second.
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
