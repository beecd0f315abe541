"""A file of tensors and one document: written whole or not at all, read with its checksum."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from suffice.saved.atomic import replace_file
from suffice.saved.header import DTYPES, FORMAT, NAMES, Header, Slot
from suffice.saved.refusal import refuse
from suffice.saved.strict_json import strict_json

Array = NDArray[Any]
Path = str | os.PathLike[str]

# The tensor that holds the checksum of everything else.
CHECKSUM = "sha256"


def write(path: Path, document: str, tensors: Mapping[str, Array]) -> None:
    """Write a document (ASCII) and its tensors (in C order) to a safetensors file."""
    from safetensors.numpy import save

    strict_json(document.encode(), "Its document")  # which refuses what would not be loaded
    digest = _begun(document)
    for name in sorted(tensors):
        array = tensors[name]
        _add(digest, name, NAMES[array.dtype], array)
    checksum = np.frombuffer(digest.digest(), np.uint8)
    # Bytes, and no file of theirs: they would write another temporary file, and tell of what the
    # system refuses in a text.
    raw = save({**tensors, CHECKSUM: checksum}, {FORMAT: document})

    def fill(file: BinaryIO) -> None:
        file.write(raw)
        file.seek(0)
        Header.read(file)  # and so does this

    replace_file(path, fill)


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, Header]]:
    """Open a file and check its header."""
    # A pipe would have us wait for a writer.
    if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
        refuse("It is no regular file.")
    with open(path, "rb") as file:
        yield file, Header.read(file)


def tensors_of(file: BinaryIO, header: Header) -> Iterator[tuple[str, Array]]:
    """Yield the tensors in the order of their names; an error at the end if any byte is wrong.

    No array is larger than its bytes in the file.
    """
    slots = dict(header.slots)
    kept = slots.pop(CHECKSUM, None)
    if kept is None:
        refuse("It has no checksum.")
    digest = _begun(header.document)
    for name in sorted(slots):
        array = _tensor(file, slots[name])
        _add(digest, name, slots[name].dtype, array)
        yield name, array
    if _tensor(file, kept).tobytes() != digest.digest():
        refuse("Its checksum is not that of what it holds: bytes have changed since it was saved.")


def _tensor(file: BinaryIO, slot: Slot) -> Array:
    array = np.empty(slot.shape, DTYPES[slot.dtype])
    file.seek(slot.begin)
    # Bytes other than 0 and 1 are no booleans, whatever the type says.
    cells = array.reshape(-1).view(np.uint8)
    if file.readinto(cells) != cells.nbytes:  # type: ignore[attr-defined]
        refuse("It was cut off while it was read.")
    if slot.dtype == "BOOL" and cells.max(initial=0) > 1:
        refuse("It has a truth value that is neither 0 nor 1.")
    return array


def _begun(document: str) -> Any:
    raw = document.encode("utf-8")
    return hashlib.sha256(f"{len(raw)}\n".encode() + raw)


def _add(digest: Any, name: str, dtype: str, array: Array) -> None:
    shape = "x".join(str(length) for length in array.shape)
    raw = name.encode("utf-8", "surrogatepass")
    digest.update(f"{len(raw)} {dtype} {shape}\n".encode() + raw)
    digest.update(array.reshape(-1).view(np.uint8))
