"""The decision regions of a classifier in two of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.frames import is_frame
from suffice.display.plots import panels
from suffice.display.regions import LEGEND, Ellipses, draw_regions
from suffice.errors import InputError
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread

# Room around the rows, as a share of their range.
MARGIN = 0.08
# Panels of slices, at most.
MAX_SLICES = 8


@one_blas_thread
def plot_regions(
    model: Any,
    X: Any,
    y: Any,
    columns: Sequence[Any] | None = None,
    *,
    at: Mapping[Any, Any] | None = None,
    slices: Mapping[Any, Sequence[Any]] | None = None,
    ellipses: bool | str = True,
    points: int = 200,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw where a classifier predicts which class, in two columns; return the axes.

    Regions are darker where the class is more certain; the line is p = .5 (with more classes, two
    equally probable ones). Rows on the wrong side have a ring. Ellipses at 1 and 2 standard
    deviations are those of the model's own Gaussian classes, if it has some, else of the rows.

    Parameters
    ----------
    model : fitted classifier with `predict_proba`
    X : array, data frame or mapping of columns
    y : (n_samples,)
    columns : two columns of numbers, by name or number, optional
        The first two if not given.
    at : values of other columns, optional
        By default the median of numbers, and the most frequent level of others.
    slices : one other column and its values, optional
        A panel for each value, `{"month": [1, 6]}`; the figure is returned. Rows are drawn in the
        panel whose value is nearest (or equal, for levels).
    ellipses : bool, "model" or "rows"
    points : int
        Of the grid, along each column.
    title : str, optional
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_regions(GaussianNB().fit(X, y), X, y, ["petal length (cm)", "petal width (cm)"])
    >>> ax.get_xlabel()
    'petal length (cm)'
    """
    table = _Cells.of(X)
    labels = np.asarray(y)
    if len(labels) != table.rows:
        raise InputError(f"{table.rows} rows of X, but {len(labels)} of y. Give one label a row.")
    if len(table.names) < 2:
        raise InputError("X has one column. Regions are drawn in two.")
    pair = table.pair(columns)
    base = {name: table.typical(name) for name in table.names}
    for name, value in (at or {}).items():
        base[table.name(name)] = value
    if slices is None:
        return _panel(model, table, labels, pair, base, ellipses, points, title=title, ax=ax)
    if len(slices) != 1:
        raise InputError(f"slices of {len(slices)} columns. Give one column and its values.")
    ((sliced, values),) = slices.items()
    name = table.name(sliced)
    if name in pair or not 1 <= len(values) <= MAX_SLICES:
        raise InputError(
            f"slices of column {name!r} at {len(values)} values. Give 1 to {MAX_SLICES} values of "
            "a column that is not drawn."
        )
    figure, axes = panels(len(values))
    nearest = _nearest(table.cells[name], list(values))
    for number, (value, panel) in enumerate(zip(values, axes, strict=True)):
        shown = {**base, name: value}
        what = f"{name} = {value:g}" if isinstance(value, (int, float)) else f"{name} = {value}"
        options = {"mine": nearest == number, "title": what, "ax": panel, "legend": False}
        _panel(model, table, labels, pair, shown, ellipses, points, **options)
    figure.suptitle(title or f"{_name(model)}: regions at values of {name}", fontsize="medium")
    every: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            every.setdefault(label, handle)
    figure.legend(list(every.values()), list(every), **LEGEND)
    figure.set_figheight(figure.get_figheight() + 0.8)
    return figure


class _Cells:
    """The columns of X by name, and how to make rows like them."""

    def __init__(self, names: list[Any], cells: dict[Any, NDArray[Any]], like: Any) -> None:
        self.names, self.cells, self.like = names, cells, like
        self.rows = len(next(iter(cells.values()))) if cells else 0

    @classmethod
    def of(cls, X: Any) -> _Cells:
        if isinstance(X, Mapping):
            return cls(list(X), {name: np.asarray(column) for name, column in X.items()}, X)
        if is_frame(X):
            names = list(X.column_names if hasattr(X, "column_names") else X.columns)
            return cls(names, {name: np.asarray(X[name]) for name in names}, X)
        array = np.asarray(X)
        if array.ndim != 2:
            raise InputError(f"X has {array.ndim} dimensions. Give rows and columns.")
        names = list(range(array.shape[1]))
        return cls(names, {name: array[:, name] for name in names}, array)

    def name(self, given: Any) -> Any:
        if given in self.cells:
            return given
        if isinstance(given, (int, np.integer)) and 0 <= given < len(self.names):
            return self.names[given]
        raise InputError(f"X has no column {given!r}. Its columns are {self.names[:10]}.")

    def pair(self, columns: Sequence[Any] | None) -> tuple[Any, Any]:
        given = self.names[:2] if columns is None else list(columns)
        if len(given) != 2 or self.name(given[0]) == self.name(given[1]):
            raise InputError(f"columns={given}. Give two columns.")
        for one in given:
            if self.cells[self.name(one)].dtype.kind not in "iuf":
                raise InputError(f"Column {one!r} holds no numbers. Regions need two that do.")
        return self.name(given[0]), self.name(given[1])

    def typical(self, name: Any) -> Any:
        cells = self.cells[name]
        if cells.dtype.kind in "iuf":
            seen = cells[np.isfinite(cells)]
            middle = float(np.median(seen)) if seen.size else np.nan
            return round(middle) if cells.dtype.kind in "iu" else middle
        levels, counts = np.unique(
            np.array([cell for cell in cells.tolist() if cell is not None]), return_counts=True
        )
        return levels[counts.argmax()]

    def rows_of(self, columns: dict[Any, Any], size: int) -> Any:
        """Return rows like X with these cells; one cell stands for a whole column."""
        whole = {name: _column(columns[name], size, self.cells[name]) for name in self.names}
        if isinstance(self.like, np.ndarray):
            return np.column_stack([whole[name] for name in self.names])
        if isinstance(self.like, Mapping):
            return whole
        if hasattr(self.like, "column_names"):
            return type(self.like).from_pydict(whole)
        return type(self.like)(whole)


def _column(cells: Any, size: int, like: NDArray[Any]) -> NDArray[Any]:
    if np.ndim(cells):
        return np.asarray(cells)
    return np.full(size, cells, dtype=object if like.dtype.kind == "O" else None)


def _panel(
    model: Any,
    table: _Cells,
    labels: NDArray[Any],
    pair: tuple[Any, Any],
    base: dict[Any, Any],
    ellipses: bool | str,
    points: int,
    *,
    mine: NDArray[np.bool_] | None = None,
    title: str | None = None,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw one panel: the regions of two columns, the others as in `base`."""
    rows = np.column_stack([np.asarray(table.cells[name], np.float64) for name in pair])
    seen = np.isfinite(rows).all(axis=1)
    low, high = rows[seen].min(axis=0), rows[seen].max(axis=0)
    room = MARGIN * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(low[k] - room[k], high[k] + room[k], points) for k in (0, 1)]
    first, second = np.meshgrid(*axes)
    grid = {**base, pair[0]: first.ravel(), pair[1]: second.ravel()}
    proba = np.asarray(model.predict_proba(table.rows_of(grid, points * points)))
    classes = np.asarray(model.classes_)
    kept = seen if mine is None else seen & mine
    wrong = np.asarray(model.predict(table.like)) != labels
    codes = np.searchsorted(classes, labels)
    names = [str(one) for one in classes.tolist()]
    if title is None:
        share = f"{wrong.mean():.1%} of {len(labels):,} rows on the wrong side"
        title = f"{_name(model)}: {share}"
    return draw_regions(
        (axes[0], axes[1]),
        proba.reshape(points, points, -1),
        names,
        rows=rows[kept],
        codes=codes[kept],
        wrong=wrong[kept],
        ellipses=_ellipses(model, table, pair, rows[kept], codes[kept], ellipses),
        labels=_axis_names(pair),
        title=title,
        legend=legend,
        ax=ax,
    )


def _axis_names(pair: tuple[Any, Any]) -> tuple[str, str]:
    first, second = (f"column {one}" if isinstance(one, int) else str(one) for one in pair)
    return first, second


def _name(model: Any) -> str:
    last = model[-1] if hasattr(model, "named_steps") else model
    return type(last).__name__


def _nearest(cells: NDArray[Any], values: list[Any]) -> NDArray[np.intp]:
    """Return which of the values each cell is nearest to; -1 for a level that is none of them."""
    if cells.dtype.kind in "iuf":
        apart = np.abs(cells[:, None] - np.asarray(values, np.float64))
        return np.asarray(np.argmin(apart, axis=1))
    place = {value: number for number, value in enumerate(values)}
    return np.array([place.get(cell, -1) for cell in cells.tolist()])


def _ellipses(
    model: Any,
    table: _Cells,
    pair: tuple[Any, Any],
    rows: Floats,
    codes: NDArray[Any],
    wanted: bool | str,
) -> Ellipses | None:
    """Return the class ellipses of the model, or of the rows, or None."""
    if wanted is False:
        return None
    if wanted in (True, "model"):
        which = [table.names.index(name) for name in pair]
        found = _model_ellipses(model, which, len(table.names))
        if found is not None:
            return found
        if wanted == "model":
            raise InputError(
                f"{_name(model)} has no Gaussian classes. Use ellipses='rows', or False."
            )
    classes = len(model.classes_)
    parts = [rows[codes == c] for c in range(classes)]
    if any(len(part) < 3 for part in parts):
        return None
    means = np.array([part.mean(axis=0) for part in parts])
    return Ellipses(means, np.array([np.cov(part.T) for part in parts]), "rows")


def _model_ellipses(model: Any, which: list[int], columns: int) -> Ellipses | None:
    """Return the marginals of two columns of a model's Gaussian classes, if it has some.

    By the names that scikit-learn has: `theta_` and `var_`, or `means_` and `covariance_`.
    """
    inner = model[-1] if hasattr(model, "named_steps") else model
    if hasattr(model, "named_steps") and len(model) > 1:
        return None  # its columns are others
    if hasattr(inner, "theta_") and hasattr(inner, "var_"):
        means = np.asarray(inner.theta_)
        shared = np.broadcast_to(np.asarray(inner.var_), means.shape)
        covariances = np.array([np.diag(one) for one in shared])
    elif hasattr(inner, "means_") and hasattr(inner, "covariance_"):
        means, covariances = np.asarray(inner.means_), np.asarray(inner.covariance_)
        if covariances.shape == (columns, columns):
            covariances = np.broadcast_to(covariances, (len(means), columns, columns))
    else:
        return None
    if means.shape[1:] != (columns,) or covariances.shape[1:] != (columns, columns):
        return None
    both = covariances[:, which][:, :, which]
    return Ellipses(means[:, which], both, "model")
