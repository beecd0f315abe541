"""Names of columns, as one run of bytes: a vocabulary that costs little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.text.term_names import gather_names


@dataclass(frozen=True)
class Names:
    """Names, one after the other, in UTF-8.

    Parameters
    ----------
    letters : (bytes,) uint8
    begins : (names + 1,)
        Where each name begins in `letters`.

    Examples
    --------
    >>> names = Names.of(["to be", "or"])
    >>> names[1], len(names), list(names)
    ('or', 2, ['to be', 'or'])
    """

    letters: NDArray[np.uint8]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Take strings."""
        return cls.of_bytes([name.encode("utf-8", "surrogatepass") for name in names])

    @classmethod
    def of_bytes(cls, encoded: list[bytes]) -> Self:
        """Take names that are UTF-8 already."""
        begins = np.concatenate([[0], np.cumsum([len(name) for name in encoded])])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), begins.astype(np.int64))

    def __len__(self) -> int:
        return len(self.begins) - 1

    def __getitem__(self, at: int) -> str:
        name: bytes = self.letters[self.begins[at] : self.begins[at + 1]].tobytes()
        return name.decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings())

    def strings(self) -> list[str]:
        """Return all names as Python's strings."""
        whole, begins = self.letters.tobytes(), self.begins.tolist()
        if whole.isascii():
            text = whole.decode("ascii")
            return [text[b:e] for b, e in pairwise(begins)]
        return [whole[b:e].decode("utf-8", "surrogatepass") for b, e in pairwise(begins)]

    def array(self) -> NDArray[Any]:
        """Return all names as an array of objects, (names,)."""
        out = np.empty(len(self), object)
        out[:] = self.strings()
        return out

    def take(self, numbers: Any) -> Self:
        """Return the names of these numbers, in their order."""
        numbers = np.asarray(numbers)
        numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers.astype(np.intp)
        lengths = np.diff(self.begins)[numbers]
        begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        letters = np.empty(begins[-1], np.uint8)
        gather_names(self.letters, self.begins, numbers, begins, letters)
        return type(self)(letters, begins)

    def order(self) -> NDArray[np.intp]:
        """Return the names' numbers in the order of the names, (names,)."""
        import pyarrow as pa
        from pyarrow import compute

        buffers = [
            None,
            pa.py_buffer(self.begins),
            pa.py_buffer(np.ascontiguousarray(self.letters)),
        ]
        held = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), buffers)
        # The order of UTF-8 bytes is that of code points, and so of Python's strings.
        return np.asarray(compute.array_sort_indices(held).to_numpy().astype(np.intp))


# Terms by column: names, or a list if an analyzer gives terms that are not strings.
Terms = Names | list[Any]
