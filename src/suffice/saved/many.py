"""Many tallies of one kind in few tensors: a column a field, not a tensor an array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.saved.arrays import Node, Take, Tensors
from suffice.saved.header import MOST_AXES
from suffice.saved.kinds import KINDS, kind_of, made
from suffice.saved.refusal import entries, refuse

# Columns of levels, or patterns of gaps. A part takes some 600 bytes of Python beside its numbers.
MOST_PARTS = 100_000


def many_node(parts: Sequence[Any], path: str, tensors: Tensors) -> Node | None:
    """Put tallies of one kind among the tensors; None if they differ or do not lie in C order.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> tensors = {}
    >>> node = many_node([Counts([1, 2]), Counts([3, 4, 5])], "parts", tensors)
    >>> tensors["parts.counts"], tensors["parts.counts.shapes"].tolist()
    (array([1., 2., 3., 4., 5.]), [[2], [3]])
    >>> [part.counts.tolist() for part in many_of(node, tensors.pop)]
    [[1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    name = kind_of(parts[0]) if parts else None
    if name is None or not all(kind_of(part) == name for part in parts):
        return None
    columns = {field: [getattr(part, field) for part in parts] for field in KINDS[name].fields}
    arrays = [array for column in columns.values() for array in column]
    if not all(isinstance(a, np.ndarray) and a.flags.c_contiguous for a in arrays):
        return None
    if any(len({(a.ndim, a.dtype) for a in column}) > 1 for column in columns.values()):
        return None
    for field, column in columns.items():
        tensors[f"{path}.{field}"] = np.concatenate([array.reshape(-1) for array in column])
        shapes = np.array([array.shape for array in column], dtype=np.int64)
        tensors[f"{path}.{field}.shapes"] = shapes.reshape(len(column), column[0].ndim)
    return {"is": "many", "of": name, "at": path}


def many_of(node: Any, take: Take) -> list[Any]:
    """Return the tallies that a node tells of."""
    _, name, path = entries(node, "is", "of", "at", what="A list of tallies")
    if type(name) is not str or name not in KINDS or type(path) is not str:
        refuse(f"A list is of {name!r:.80}, which is no kind of tally.")
    fields = KINDS[name].fields
    columns = [_column(take(f"{path}.{f}"), take(f"{path}.{f}.shapes")) for f in fields]
    if len({len(column) for column in columns}) > 1:
        refuse(f"A list of {name} has fields of different lengths.")
    return [
        made(name, dict(zip(fields, parts, strict=True))) for parts in zip(*columns, strict=True)
    ]


def _column(flat: NDArray[Any], shapes: NDArray[Any]) -> list[NDArray[Any]]:
    if flat.ndim != 1 or shapes.ndim != 2 or shapes.dtype != np.int64 or np.any(shapes < 0):
        refuse("A list of tallies has numbers or shapes of another type.")
    if shapes.shape[1] > MOST_AXES:
        refuse(f"A list of tallies of {shapes.shape[1]} axes, where {MOST_AXES} are the most.")
    if len(shapes) > MOST_PARTS:
        refuse(f"A list of {len(shapes)} tallies, where {MOST_PARTS} are the most.")
    flat.flags.writeable = False
    rows = shapes.tolist()
    ends = [0]
    for row in rows:
        ends.append(ends[-1] + math.prod(row))
    if ends[-1] != len(flat):
        refuse(f"A list of tallies has {len(flat)} numbers, where {ends[-1]} are due.")
    return [flat[a:b].reshape(row) for (a, b), row in zip(pairwise(ends), rows, strict=True)]
