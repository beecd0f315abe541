"""Arrays of text as tensors: all letters in a row, and where each text ends."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.saved.header import is_shape
from suffice.saved.refusal import entries, refuse

Array = NDArray[Any]
Node = dict[str, Any]
Take = Callable[[Any], Array]

# numpy makes every text as wide as the widest. So many times its own bytes an array may take;
# one that takes more is stored as wide as it is, so that no file asks for more than it brings.
MOST_PADDING = 64
LETTER = np.dtype("<u4")


def text_node(array: Array, path: str, tensors: dict[str, Array]) -> Node | None:
    """Put an array of str among the tensors; None where something in it is no str.

    Examples
    --------
    >>> tensors = {}
    >>> node = text_node(np.array(["ham", "spam"]), "classes", tensors)
    >>> tensors["classes.ends"], tensors["classes.letters"].tobytes()
    (array([3, 7]), b'hamspam')
    >>> text_of(node, tensors.pop)
    array(['ham', 'spam'], dtype='<U4')
    """
    texts = array.ravel().tolist()
    if not all(type(text) is str for text in texts):
        return None
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in raw], dtype=np.int64)
    letters = np.frombuffer(b"".join(raw), np.uint8)
    width = array.dtype.itemsize // LETTER.itemsize if array.dtype.kind == "U" else None
    if width is not None and _too_wide(width, ends, letters):
        flat = np.ascontiguousarray(array, dtype=f"<U{width}").reshape(-1).view(LETTER)
        tensors[path] = flat.reshape(*array.shape, width)
        return {"is": "wide text", "tensor": path}
    names = {"letters": f"{path}.letters", "ends": f"{path}.ends"}
    tensors[names["letters"]], tensors[names["ends"]] = letters, ends
    return {"is": "text", "shape": list(array.shape), "width": width, **names}


def _too_wide(width: int, ends: Array, letters: Array) -> bool:
    made = width * LETTER.itemsize * len(ends)
    return made > MOST_PADDING * (ends.nbytes + letters.nbytes)


def text_of(node: Node, take: Take) -> Array:
    """Return the texts that a node tells of: of fixed width, or (width None) as objects."""
    keys = ("is", "shape", "width", "letters", "ends")
    _, shape, width, *names = entries(node, *keys, what="An array of text")
    letters, ends = (take(name) for name in names)
    if letters.dtype != np.uint8 or ends.dtype != np.int64 or letters.ndim != 1 or ends.ndim != 1:
        refuse("An array of text has letters or ends of another type.")
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    if np.any(starts[1:] < starts[:-1]) or starts[-1] != len(letters):
        refuse("An array of text has texts that do not follow each other.")
    if not is_shape(shape) or math.prod(shape) != len(ends):
        refuse(f"An array of {len(ends)} texts has the shape {shape!r:.80}.")
    if width is not None and (
        type(width) is not int or width < 1 or _too_wide(width, ends, letters)
    ):
        refuse(f"An array of text is {width!r:.80} letters wide.")
    raw = letters.tobytes()
    places = starts.tolist()
    texts = [raw[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(places)]
    if width is not None and max(map(len, texts), default=0) > width:
        refuse(f"A text is wider than the {width} letters of its array.")
    return np.array(texts, dtype=object if width is None else f"U{width}").reshape(shape)


def wide_text_of(node: Node, take: Take) -> Array:
    """Return the texts that were stored as wide as they are."""
    _, tensor = entries(node, "is", "tensor", what="An array of wide text")
    letters = take(tensor)
    if letters.dtype != LETTER or letters.ndim < 1 or letters.shape[-1] < 1:
        refuse("An array of wide text has letters of another type.")
    if letters.max(initial=0) > sys.maxunicode:
        refuse(f"A text has the letter {letters.max()}, where {sys.maxunicode} is the last.")
    width = letters.shape[-1]
    return letters.reshape(-1).view(f"<U{width}").reshape(letters.shape[:-1])
