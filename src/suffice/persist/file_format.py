"""The file: a safetensors header with a JSON document, the tensors, and a checksum."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from suffice.persist.checks import entries, refuse

# A header of a model has a few hundred entries a tensor; these bounds keep what a hostile one
# makes Python build below some 50 MB.
MAX_BYTES = 8 << 20
MAX_ENTRIES = 200_000
DEEPEST = 64
# Digits of a whole number, so that it is a float, too.
MAX_DIGITS = 300
# Whole numbers of more than 64 bits (a seed may be one). Many may be made that have one hash, and a
# dict or set of such takes time that grows with the square of their number.
MAX_LONG = 100
_QUOTE = ord('"')
_STEPS = np.zeros(256, np.int32)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_ENTRY = np.zeros(256, np.bool_)
_ENTRY[list(b"[]{},")] = True
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
MAX_TENSORS = 10_000
# As many as numpy has had at any time; the product of more lengths takes more than linear time.
MAX_AXES = 32
# Eight bytes that say how long the header is.
PREAMBLE = 8
METADATA = "__metadata__"
FORMAT = "suffice"
Array = NDArray[Any]
Path = str | os.PathLike[str]
# The tensor that holds the checksum of everything else.
CHECKSUM = "sha256"


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
        if length > MAX_BYTES:
            refuse(f"Its header has {length} bytes, where {MAX_BYTES} are the most.")
        table = strict_json(file.read(length), "Its header")
        if type(table) is not dict or type(table.get(METADATA)) is not dict:
            refuse("It has no metadata, so it is no model of suffice.")
        metadata = table.pop(METADATA)
        if metadata.keys() != {FORMAT} or type(metadata[FORMAT]) is not str:
            refuse(f"Its metadata are those of something else: {sorted(metadata)[:8]}.")
        if len(table) > MAX_TENSORS:
            refuse(f"It has {len(table)} tensors, where {MAX_TENSORS} are the most.")
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
    if type(lengths) is not list or len(lengths) > MAX_AXES:
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


def write(path: Path, document: str, tensors: Mapping[str, Array]) -> None:
    """Write a document (ASCII) and its tensors (in C order) to a safetensors file."""
    from safetensors.numpy import save

    strict_json(document.encode(), "Its document")  # which refuses what would not be loaded
    digest = _start_digest(document)
    for name in sorted(tensors):
        array = tensors[name]
        _add(digest, name, NAMES[array.dtype], array)
    checksum = np.frombuffer(digest.digest(), np.uint8)
    # Bytes, and no file of theirs: they would write another temporary file, and report what the
    # system refuses in a text.
    raw = save({**tensors, CHECKSUM: checksum}, {FORMAT: document})

    def fill(file: BinaryIO) -> None:
        file.write(raw)
        file.seek(0)
        Header.read(file)  # and so does this

    replace_file(path, fill)


@contextmanager
def open_checked(path: Path) -> Iterator[tuple[BinaryIO, Header]]:
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
    digest = _start_digest(header.document)
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


def _start_digest(document: str) -> Any:
    raw = document.encode("utf-8")
    return hashlib.sha256(f"{len(raw)}\n".encode() + raw)


def _add(digest: Any, name: str, dtype: str, array: Array) -> None:
    shape = "x".join(str(length) for length in array.shape)
    raw = name.encode("utf-8", "surrogatepass")
    digest.update(f"{len(raw)} {dtype} {shape}\n".encode() + raw)
    digest.update(array.reshape(-1).view(np.uint8))


def strict_json(raw: bytes, what: str) -> Any:
    """Return what `raw` says, in which no object has a key twice and every number is finite.

    Whatever it says, the time is in proportion to its bytes.

    Examples
    --------
    >>> strict_json(b'{"a": [1, 2.5, null]}', "The header")
    {'a': [1, 2.5, None]}
    >>> strict_json(b'{"a": 1, "a": 2}', "The header")
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: The header has the key 'a' twice in one object.
    """
    if len(raw) > MAX_BYTES:
        refuse(f"{what} has {len(raw)} bytes, where {MAX_BYTES} are the most.")
    signs = _signs(raw)
    if len(signs) > MAX_ENTRIES:
        refuse(f"{what} has {len(signs)} entries, where {MAX_ENTRIES} are the most.")
    depth = int(np.cumsum(_STEPS[signs]).max(initial=0))
    if depth > DEEPEST:
        refuse(f"{what} is nested {depth} deep, where {DEEPEST} is the most.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    refuse(f"{what} has the key {name[:80]!r} twice in one object.")
                seen.add(name)
        return found

    long_numbers = 0

    def whole(text: str) -> int:
        nonlocal long_numbers
        if len(text) > MAX_DIGITS:
            refuse(f"{what} has a whole number of {len(text)} digits: {text[:80]}...")
        number = int(text)
        if number.bit_length() > 64:
            long_numbers += 1
            if long_numbers > MAX_LONG:
                refuse(f"{what} has more than {MAX_LONG} whole numbers of more than 64 bits.")
        return number

    def finite(text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            refuse(f"{what} has the number {text[:80]}, which is no finite one.")
        return number

    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=finite,
            parse_constant=finite,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        refuse(f"{what} is no JSON ({error}).")


def _signs(raw: bytes) -> NDArray[np.uint8]:
    r"""Return the brackets, braces and commas of JSON that stand in no text.

    Examples
    --------
    >>> _signs(rb'{"a,\"]": [1, "\\"]}').tobytes()
    b'{[,]}'
    """
    # What is left of texts has no quotes in it, so every second quote ends one.
    signs = np.frombuffer(raw.replace(rb"\\", b"").replace(rb"\"", b""), np.uint8)
    within = np.cumsum(signs == _QUOTE, dtype=np.uint8) % 2
    return np.asarray(signs[_ENTRY[signs] & (within == 0)])


def plain_json(value: Any) -> str:
    """Return JSON that depends on nothing but the value: compact, and ASCII throughout."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def replace_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Write a temporary file beside `path`, which takes its place if all goes well.

    What was written is on the disk before it gets its name. A new file has the permissions of
    any new file, one that replaces another those of the other. Where `path` is a symbolic link,
    what it leads to is replaced. Whatever is raised on the way, the temporary file is removed.

    Parameters
    ----------
    path : str or PathLike
    write : callable that is given the open file

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(f"{folder}/notes.txt", lambda file: print(file.write(b"all of it")))
    ...     os.listdir(folder)
    9
    ['notes.txt']
    """
    target = os.path.realpath(path)
    mode = _mode_of(target)
    folder = os.path.dirname(target)
    # Named before there is such a file, so that nothing can come between it and its removal. (A
    # context manager would leave it to the garbage collector if interrupted at the wrong moment.)
    temporary = os.path.join(folder, f".suffice-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb+") as file:
            write(file)
            file.flush()
            if mode is not None:
                os.chmod(temporary, mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):  # there is none yet, or it has its name already
            os.unlink(temporary)
        raise
    _keep_names(folder)


def _mode_of(target: str) -> int | None:
    """Return the permissions of the file that is to be replaced, or None if there is none."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):  # renaming a file to the name of a device would remove the device
        raise OSError(errno.EINVAL, "It is there, and no regular file")
    return stat.S_IMODE(mode)


def _keep_names(folder: str) -> None:
    """Have the folder's names on the disk too, on systems that can do so."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
