"""Where on a grid the classes can be separated: a classifier around every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from suffice import _core
from suffice.count import count_moments
from suffice.data.frames import frame_to_array, is_frame
from suffice.data.rows import Rows, row_major
from suffice.display.maps import draw_map, draw_maps
from suffice.empirical_bayes.normal import CONSTANT_COLUMN_SCALE
from suffice.errors import InputError, ShapeError, SufficeWarning, warn_caller
from suffice.estimators.labels import take_labels
from suffice.families.gaussians import diagonal_prior
from suffice.prior import NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats, as_readonly
from suffice.threads import one_blas_thread


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


Folds = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

# Whether the classes share the variance of a voxel.
TIED = {"diagonal": False, "tied_diagonal": True}
ESTIMATES = ("mle", "predictive")


@dataclass(frozen=True, eq=False)
class Searchlight:
    """How well the cube about each position of a grid classifies rows it has not seen.

    Parameters
    ----------
    accuracy : (a, b) or (a, b, c)
        Share of the rows that were classified correctly; NaN outside the mask.
    chance : float
        Share of the most frequent class.
    classes : (C,)
    class_means : (C, a, b) or (C, a, b, c)
    cube : int
        The side of the cubes.
    """

    accuracy: Floats
    chance: float
    classes: NDArray[Any]
    class_means: Floats
    cube: int

    @property
    def best(self) -> tuple[int, ...]:
        """The position of highest accuracy, the first of equals."""
        at = np.unravel_index(np.nanargmax(self.accuracy), self.accuracy.shape)
        return tuple(int(i) for i in at)

    def __str__(self) -> str:
        positions = int(np.isfinite(self.accuracy).sum())
        return (
            f"Searchlight of cubes of side {self.cube} about {positions} positions: best accuracy "
            f"{self.accuracy[self.best]:.3f} at {self.best}, chance {self.chance:.3f}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the accuracies, slices of a volume side by side; return the axes.

        The palest colour is chance, or worse; the best position is circled.
        """
        sides = " by ".join([str(self.cube)] * self.accuracy.ndim)
        label = f"left-out accuracy, {sides} around"
        return draw_map(self.accuracy, label, lowest=self.chance, marked=self.best, ax=ax)

    def plot_means(self) -> Any:
        """Draw the mean of each class in axes of its own, all on one scale; return the axes."""
        return draw_maps(self.class_means, [str(name) for name in self.classes.tolist()], "mean")


@one_blas_thread
def searchlight(
    X: Any,
    y: Any,
    shape: Sequence[int],
    cube: int = 3,
    *,
    mask: Any = None,
    runs: Any = None,
    covariance: str = "diagonal",
    estimate: str = "mle",
    prior: str | NormalInverseGamma = "evidence",
) -> Searchlight:
    """Return how well Gaussian naive Bayes does in the cube about each position of a grid.

    Rows are left out exactly, one at a time or a run at a time, without refits: with independent
    features the log-likelihood of a cube is a sum over its voxels, so each voxel is left out once
    and cubes are added up (docs: mathematics, section 3). The cost does not depend on their size.

    Parameters
    ----------
    X : (n, V), or images (n, *shape)
        A column a voxel: the cells of the grid, or of the mask, in row-major order.
    y : (n,)
    shape : two or three sides of the grid
    cube : odd int, default=3
        The side of the cubes (squares in two dimensions). They are clipped at the border of the
        grid, and to the mask.
    mask : bool array of the grid's shape, optional
    runs : (n,), optional
        Rows of one run are left out together; without it every row is a run.
    covariance : {"diagonal", "tied_diagonal"}, default="diagonal"
        A variance for each class and voxel, or for each voxel.
    estimate : {"mle", "predictive"}, default="mle"
        Plug in means and variances, as `GaussianNB(var_smoothing=0)` does, or integrate them out.
    prior : "evidence" or NormalInverseGamma, default="evidence"
        Prior of means and variances if "predictive"; its sample size is chosen once, for all
        voxels.

    Returns
    -------
    Searchlight

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["face", "house"], 40)
    >>> images = rng.normal(size=(80, 6, 8))
    >>> images[y == "face", 3, 5] += 4
    >>> light = searchlight(images, y, shape=(6, 8), cube=1)
    >>> light.best, light.accuracy.shape
    ((3, 5), (6, 8))
    """
    _check_settings(cube, covariance, estimate)
    if y is None:
        raise InputError("y is None. A searchlight needs the class of each row.")
    grid = Grid.of(shape, mask)
    columns = _as_floats(grid.columns(X))
    classes, codes = take_labels(columns, y, "Searchlight")
    if len(classes) < 2:
        raise InputError(f"All rows are of class {classes.tolist()[0]!r}. Give rows of another.")
    counts, moments = count_moments(
        Rows(columns, codes, len(classes), estimator_name="searchlight")
    )
    _check_complete(columns, moments, counts, grid)
    right, flat = _core.searchlight(
        columns,
        codes,
        *_folds(runs, len(codes)),
        counts,
        moments.mean(),
        moments.scatter(),
        _prior(moments, prior, TIED[covariance]) if estimate == "predictive" else _NO_PRIOR,
        TIED[covariance],
        CONSTANT_COLUMN_SCALE,
        *grid.crop(),
        int(cube),
    )
    if flat.any():
        _warn_flat(flat, classes, grid)
    accuracy, chance = grid.map(right / len(codes)), float(counts.max() / len(codes))
    return Searchlight(accuracy, chance, classes, grid.map(moments.mean()), int(cube))


_NO_PRIOR = np.empty((0, 0, 0))


def _as_floats(columns: NDArray[Any]) -> NDArray[Any]:
    """Return floats as they are and other numbers as float64, in C order."""
    if columns.dtype not in (np.float32, np.float64):
        columns = columns.astype(np.float64)
    return row_major(columns)


def _check_settings(cube: int, covariance: str, estimate: str) -> None:
    if int(cube) != cube or cube < 1 or cube % 2 == 0:
        raise InputError(f"cube={cube} has no cell in its middle. Use 1, 3, 5, ...")
    for name, value, choices in (
        ("covariance", covariance, tuple(TIED)),
        ("estimate", estimate, ESTIMATES),
    ):
        if value not in choices:
            raise InputError(f"{name}={value!r} is none of {', '.join(map(repr, choices))}.")


def _folds(runs: Any, size: int) -> Folds:
    """Return the fold of each row, the rows fold after fold, and where folds start."""
    if runs is None:
        rows = np.arange(size)
        return rows, rows, np.arange(size + 1)
    check_consistent_length(runs, np.empty(size))
    names, fold_of, sizes = np.unique(np.asarray(runs), return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise InputError(
            f"All rows are of run {names.tolist()[0]!r}, so nothing is left to learn from. Give "
            "two runs or more, or runs=None to leave out single rows."
        )
    order = np.argsort(fold_of, kind="stable")
    return fold_of.astype(np.int64), order, np.concatenate([[0], np.cumsum(sizes)])


def _prior(moments: Moments, prior: Any, tied: bool) -> Floats:
    """Return location, pseudo-rows, shape and scale, (4, C, V)."""
    given = prior if isinstance(prior, NormalInverseGamma) else None
    if given is None and prior != "evidence":
        raise InputError(f"prior={prior!r}. Give 'evidence' or a NormalInverseGamma.")
    chosen = diagonal_prior(given, moments, (0,) if tied else ())
    fields = chosen.location, chosen.pseudo_rows, chosen.shape, chosen.scale
    return np.array([np.broadcast_to(field, moments.weight.shape) for field in fields], order="C")


def _check_complete(columns: Any, moments: Moments, counts: Floats, grid: Grid) -> None:
    if np.all(moments.weight == counts[:, None]):
        return
    row, voxel = (int(i) for i in np.argwhere(np.isnan(columns))[0])
    raise InputError(
        f"X has a missing value (NaN) in row {row} at position {grid.position(voxel)}. Leave the "
        "row out, or the position by a mask."
    )


def _warn_flat(flat: NDArray[np.bool_], classes: NDArray[Any], grid: Grid) -> None:
    c, voxel = (int(i) for i in np.argwhere(flat)[0])
    warn_caller(
        f"Voxels of variance 0 within a class when rows are left out: "
        f"{int(flat.any(axis=0).sum())}, such as {grid.position(voxel)} in class "
        f"{classes.tolist()[c]!r}. Their likelihood has no maximum; a millionth of their size is "
        "taken as their standard deviation. Leave them out by a mask, or use "
        "estimate='predictive'.",
        SufficeWarning,
    )
