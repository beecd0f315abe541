"""A grid of two or three dimensions, and which of its cells the columns of the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.frames import frame_to_array, is_frame
from suffice.errors import InputError, ShapeError
from suffice.tally.tally import Floats, as_readonly


@dataclass(frozen=True, eq=False)
class Grid:
    """Where each voxel (a cell of the mask, in row-major order) lies.

    Parameters
    ----------
    mask : (a, b) or (a, b, c) of bool

    Examples
    --------
    >>> grid = Grid.of((2, 3), [[True, False, True], [False, False, True]])
    >>> grid.map(np.array([1.0, 2.0, 3.0]))
    array([[ 1., nan,  2.],
           [nan, nan,  3.]])
    >>> grid.position(2)
    (1, 2)
    """

    mask: NDArray[np.bool_]

    def __post_init__(self) -> None:
        self.mask.flags.writeable = False

    @classmethod
    def of(cls, shape: Sequence[int], mask: Any = None) -> Self:
        """Return the grid of this shape, all of it or what `mask` marks."""
        sides = tuple(int(side) for side in shape)
        if len(sides) not in (2, 3) or min(sides) < 1:
            raise ShapeError(
                f"A grid of shape {sides}. Give two or three sides of 1 or more: (rows, columns) "
                "or (slices, rows, columns)."
            )
        if mask is None:
            return cls(np.ones(sides, np.bool_))
        marked = np.array(mask)
        if marked.shape != sides or marked.dtype != np.bool_:
            raise ShapeError(
                f"A mask of shape {marked.shape} and type {marked.dtype} for a grid of shape "
                f"{sides}. Give True or False for each of its cells."
            )
        if not marked.any():
            raise InputError("The mask marks no cell. Mark those that the columns of X are.")
        return cls(marked)

    @property
    def voxels(self) -> int:
        """How many cells are marked."""
        return int(self.mask.sum())

    def position(self, voxel: int) -> tuple[int, ...]:
        """Return where a voxel lies."""
        return tuple(int(axis[voxel]) for axis in np.nonzero(self.mask))

    def map(self, values: Floats) -> Floats:
        """Return values (..., V) of the voxels on the grid, (..., *shape), NaN outside the mask."""
        out = np.full((*values.shape[:-1], *self.mask.shape), np.nan)
        out[..., self.mask] = values
        return as_readonly(out)

    def columns(self, X: Any) -> NDArray[Any]:
        """Return rows (n, V) of the voxels, from such rows or from images."""
        array = frame_to_array(X) if is_frame(X) else np.asarray(X)
        if array.dtype.kind not in "buif":
            raise InputError(f"X holds {array.dtype}. Give an array of numbers.")
        if array.shape[1:] == self.mask.shape:
            return array[:, self.mask]
        if array.ndim != 2 or array.shape[1] != self.voxels:
            raise ShapeError(
                f"X of shape {array.shape} for {self.voxels} voxels of a grid of shape "
                f"{self.mask.shape}. Give a column a voxel (marked cells in row-major order), or "
                "rows that are images of the grid's shape."
            )
        return array

    def crop(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the flat place of each voxel in the least box that holds all, and its 3 sides."""
        places = np.stack(np.nonzero(self.mask))
        places = places - places.min(axis=1, keepdims=True)
        sides = tuple(int(side) for side in places.max(axis=1) + 1)
        flat = np.ravel_multi_index(tuple(places), sides)
        return flat.astype(np.int64), np.array([1] * (3 - len(sides)) + [*sides], np.int64)
