"""The header of a safetensors file: which tensor lies where, checked before any is read."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from suffice.saved.refusal import entries, refuse
from suffice.saved.strict_json import MOST_BYTES, strict_json

DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MOST_TENSORS = 10_000
# As many as numpy has had at any time; the product of more lengths takes more than linear time.
MOST_AXES = 32
# Eight bytes that say how long the header is.
PREAMBLE = 8
METADATA = "__metadata__"
FORMAT = "suffice"


@dataclass(frozen=True)
class Slot:
    """Where a tensor lies, in bytes from the start of the file, and what it is."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """The document of a model, and the places of its tensors."""

    document: str
    slots: dict[str, Slot]

    @classmethod
    def read(cls, file: BinaryIO) -> Header:
        """Read the header of an open file, and check that its tensors are all of the rest."""
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(PREAMBLE), "little")
        if size < PREAMBLE or not 2 <= length <= size - PREAMBLE:
            refuse(f"It is cut off, or no safetensors file: {size} bytes, a header of {length}.")
        if length > MOST_BYTES:
            refuse(f"Its header has {length} bytes, where {MOST_BYTES} are the most.")
        table = strict_json(file.read(length), "Its header")
        if type(table) is not dict or type(table.get(METADATA)) is not dict:
            refuse("It has no metadata, so it is no model of suffice.")
        metadata = table.pop(METADATA)
        if metadata.keys() != {FORMAT} or type(metadata[FORMAT]) is not str:
            refuse(f"Its metadata are those of something else: {sorted(metadata)[:8]}.")
        if len(table) > MOST_TENSORS:
            refuse(f"It has {len(table)} tensors, where {MOST_TENSORS} are the most.")
        first = PREAMBLE + length
        slots = {name: _slot(name, entry, first) for name, entry in table.items()}
        _check_places(slots, first, size)
        return cls(metadata[FORMAT], slots)


def _slot(name: str, entry: Any, first: int) -> Slot:
    what = f"Tensor {name[:80]!r}"
    dtype, shape, offsets = entries(entry, "dtype", "shape", "data_offsets", what=what)
    if type(dtype) is not str or dtype not in DTYPES:
        refuse(f"{what} has the type {dtype!r:.80}, which is none of {', '.join(DTYPES)}.")
    for numbers in (shape, offsets):
        if not is_shape(numbers):
            refuse(f"{what} has a shape or place that is no list of whole numbers.")
    if len(offsets) != 2 or offsets[1] - offsets[0] != math.prod(shape) * DTYPES[dtype].itemsize:
        refuse(f"{what} of shape {shape!r:.80} and type {dtype} does not fill {offsets!r:.80}.")
    return Slot(dtype, tuple(shape), first + offsets[0], first + offsets[1])


def is_shape(lengths: Any) -> bool:
    """Say whether a value of JSON is a list of lengths, such as an array can have.

    Examples
    --------
    >>> is_shape([2, 3]), is_shape([2, -3]), is_shape([1] * 100)
    (True, False, False)
    """
    if type(lengths) is not list or len(lengths) > MOST_AXES:
        return False
    return all(type(length) is int and 0 <= length < 1 << 63 for length in lengths)


def _check_places(slots: dict[str, Slot], first: int, size: int) -> None:
    """Refuse tensors that overlap, leave holes, or end before or after the file does."""
    at = first
    for name, slot in sorted(slots.items(), key=lambda item: (item[1].begin, item[1].end)):
        if slot.begin != at:
            refuse(f"Tensor {name[:80]!r} begins at byte {slot.begin}, where {at} is due.")
        at = slot.end
    if at != size:
        refuse(f"It has {size} bytes, where its tensors end at byte {at}.")
