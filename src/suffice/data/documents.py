"""Columns of text: those that are Arrow's, as arrays without a copy, and all others as lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice._core import is_ascii, utf8_strings
from suffice.data.frames import library_of
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
    library = library_of(source)
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
    return [_decode_dictionary(chunk) for chunk in chunks] or [
        _decode_dictionary(source.combine_chunks())
    ]


def _decode_dictionary(column: Any) -> Any:
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


def as_list(source: Any) -> Any:
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


@dataclass(frozen=True)
class Documents:
    """Documents, one after the other, in UTF-8.

    A document that is missing (None, NaN, null) has no words, like an empty one.

    Parameters
    ----------
    text : (bytes,) uint8
    begins : (documents + 1,)
        Where each document begins in `text`.

    Examples
    --------
    >>> documents = Documents.of(["a fox", None, "é"])
    >>> documents.begins.tolist(), documents[2]
    ([0, 5, 5, 7], 'é')
    """

    text: NDArray[np.uint8]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, source: Any, encoding: str = "utf-8", decode_error: str = "strict") -> Self:
        """Take a list, or a column of numpy, pandas, polars or Arrow (without a copy if it can).

        Parameters
        ----------
        source : strings or bytes, one a document
        encoding, decode_error : how bytes are read, as `bytes.decode` has it
        """
        if isinstance(source, str | bytes):
            raise InputError(
                "Iterable over raw text documents expected, string object received. Put the "
                "document in a list."
            )
        column = as_arrow(source)
        if column is not None:
            return cls._of_arrow(column, encoding, decode_error)
        listed = enumerate(as_list(source))
        texts = [
            d if type(d) is str else _decoded(d, at, encoding, decode_error) for at, d in listed
        ]
        return cls(*utf8_strings(texts))

    @classmethod
    def _of_arrow(cls, column: Any, encoding: str, decode_error: str) -> Self:
        import pyarrow as pa

        kind = column.type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not is_text:
            return cls.of(column.to_pylist(), encoding, decode_error)
        if column.null_count and has_bytes_under_nulls(column):
            column = column.fill_null("")
        column.validate()
        _, where, letters = column.buffers()
        wide = np.int64 if pa.types.is_large_string(kind) else np.int32
        begins = np.frombuffer(where if where is not None else bytes(8), wide)
        begins = begins[column.offset : column.offset + len(column) + 1]
        text = np.frombuffer(letters if letters is not None else b"", np.uint8)
        found = cls(text, begins.astype(np.int64, copy=False))
        if found._is_whole and found.is_ascii:
            return found  # Arrow would look at each letter again, on one thread
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            # What says it is UTF-8 and is not is read as bytes are; broken offsets raise here.
            column.validate()
            narrow = pa.types.is_string(kind)
            return cls._of_arrow(
                column.view(pa.binary() if narrow else pa.large_binary()), encoding, decode_error
            )
        return found

    def __len__(self) -> int:
        return len(self.begins) - 1

    def __getitem__(self, at: int) -> str:
        # Halves of surrogate pairs are no valid UTF-8, but Python's strings may hold them.
        taken: bytes = self.text[self.begins[at] : self.begins[at + 1]].tobytes()
        return taken.decode("utf-8", "surrogatepass")

    @property
    def letters(self) -> NDArray[np.uint8]:
        """The bytes of these documents."""
        return self.text[self.begins[0] : self.begins[-1]]

    @cached_property
    def is_ascii(self) -> bool:
        """Whether all bytes of these documents are ASCII."""
        return is_ascii(self.letters)

    @property
    def _is_whole(self) -> bool:
        """Whether the documents follow each other within the text."""
        ends = self.begins[0] >= 0 and self.begins[-1] <= len(self.text)
        return bool(ends and (self.begins[1:] >= self.begins[:-1]).all())


def is_missing(document: Any) -> bool:
    """Say whether a document is None, NaN or pandas' NA."""
    if document is None or type(document).__name__ == "NAType":
        return True
    return isinstance(document, float) and document != document


def not_text_error(document: Any, at: int) -> InputError:
    """Return the error that something is no document."""
    kind = type(document).__name__
    cure = "Give strings or bytes."
    if isinstance(getattr(document, "text", None), str):
        cure = "Give its text: [message.text for message in read_mail(path)]."
    return InputError(f"Document {at} is {document!r:.80}, of type {kind}. {cure}")


def _decoded(document: Any, at: int, encoding: str, decode_error: str) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, bytes):
        return document.decode(encoding, decode_error)
    if is_missing(document):
        return ""
    raise not_text_error(document, at)
