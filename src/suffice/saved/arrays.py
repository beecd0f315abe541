"""Arrays as tensors: numbers, truth values and times, in the order they lie in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.saved.header import NAMES
from suffice.saved.refusal import entries, refuse
from suffice.saved.texts import text_node, text_of, wide_text_of

Array = NDArray[Any]
Node = dict[str, Any]
Tensors = dict[str, Array]
Take = Callable[[Any], Array]

_TIME = re.compile(r"(datetime64|timedelta64)(\[(\d{1,4})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")


def array_node(array: Array, path: str, tensors: Tensors) -> Node | None:
    """Put an array among the tensors and return what tells it; None for what is no such array.

    Examples
    --------
    >>> tensors = {}
    >>> array_node(np.array([[1.0, 2.0]]), "coef_", tensors)
    {'is': 'array', 'tensor': 'coef_', 'axes': [0, 1]}
    >>> array_of({"is": "array", "tensor": "coef_", "axes": [0, 1]}, tensors.pop)
    array([[1., 2.]])
    """
    kind = array.dtype.kind
    if kind in "OU":
        return text_node(array, path, tensors)
    if kind in "mM":
        name = array.dtype.newbyteorder("=").name
        numbers = array.astype(array.dtype.newbyteorder("="), copy=False).view(np.int64)
        return {"is": "times", "dtype": name, "numbers": array_node(numbers, path, tensors)}
    little = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
    if little not in NAMES:
        return None
    axes = axes_of(array)
    tensors[path] = np.ascontiguousarray(array.transpose(axes), dtype=little).reshape(
        [array.shape[axis] for axis in axes]
    )
    return {"is": "array", "tensor": path, "axes": axes}


def axes_of(array: Array) -> list[int]:
    """Return the axes as they lie in memory, the slowest first.

    A sum over an array depends, in its last digits, on the order in which it lies: what was saved
    must lie as it lay, or it would not be read to the last bit.

    Examples
    --------
    >>> axes_of(np.zeros((2, 3))), axes_of(np.zeros((2, 3)).T)
    ([0, 1], [1, 0])
    """
    if array.flags.c_contiguous:
        return list(range(array.ndim))
    return sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis))


def array_of(node: Node, take: Take) -> Array:
    """Return the array that a node tells of; `take` gives each tensor once."""
    if node["is"] in OTHERS:
        return OTHERS[node["is"]](node, take)
    _, tensor, axes = entries(node, "is", "tensor", "axes", what="An array")
    array = take(tensor)
    known = type(axes) is list and all(type(axis) is int for axis in axes)
    if not known or sorted(axes) != list(range(array.ndim)):
        refuse(f"An array of {array.ndim} axes lies in the order {axes!r:.80}.")
    return array.transpose(np.argsort(axes)) if axes != sorted(axes) else array


def _times_of(node: Node, take: Take) -> Array:
    _, name, inner = entries(node, "is", "dtype", "numbers", what="An array of times")
    if type(name) is not str or not _TIME.fullmatch(name):
        refuse(f"An array has the type {name!r:.80}, which is no type of times.")
    if type(inner) is not dict or inner.get("is") != "array":
        refuse("An array of times has no numbers.")
    numbers = array_of(inner, take)
    if numbers.dtype != np.int64:
        refuse(f"An array of times has numbers of type {numbers.dtype}, not int64.")
    return numbers.view(np.dtype(name))


# What is no array of plain numbers, by its name in the document.
OTHERS: dict[str, Callable[[Node, Take], Array]] = {
    "text": text_of,
    "wide text": wide_text_of,
    "times": _times_of,
}
