"""Rows of a stream that are learned, and will be counted together when the model is next read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.generative.fitted import Fitted
from suffice.threads import one_blas_thread

# How many cells wait at most: counting so many costs each of them next to nothing.
MAX_WAITING = 100_000
# How many rows are added to a tally one by one: more of them are counted sooner together.
FEW = 4
# What a label may be held as, by the type of the classes.
LABEL_TYPES: dict[str, tuple[type, ...]] = {
    "int64": (int, np.int64),
    "bool": (bool, np.bool_),
    "float64": (float, np.float64),
    "object": (str, np.str_),
}

# Cells of a row in which nothing is wrong, or None.
RowReader = Callable[[Any], Any]
# Cells and code of a row that waits.
Waiting = tuple[Any, int]
Codes = NDArray[np.int32]


class Counted(NamedTuple):
    """What was learned of the first rows that waited."""

    rows: int
    fitted: Fitted


class RowBuffer:
    """What was learned, and further rows that wait to be counted.

    It takes the place of the fitted value. The thread that learns appends rows. Whoever reads
    counts those that it finds and keeps the result beside them, as one pair. No row is taken out:
    so none is lost or counted twice if counting is interrupted, or if a row arrives meanwhile.

    Whoever only asks for probabilities is given another pair: rows that arrived since the last
    question are added to its tally one by one, and those that a model keeps are not brought up to
    date. The next reader of everything counts all rows together that no such reader has counted.

    Parameters
    ----------
    fitted : what was learned
    read : RowReader
    room : int
        How many rows may wait.
    """

    __slots__ = ("_asked", "_codes", "_counted", "_label_types", "_read", "_room", "_rows")

    def __init__(self, fitted: Fitted, read: RowReader, room: int) -> None:
        classes = fitted.classes
        kind = "object" if classes.dtype.kind == "U" else classes.dtype.name
        self._label_types = LABEL_TYPES.get(kind, ())
        self._codes = {label: code for code, label in enumerate(classes.tolist())}
        self._read, self._room = read, room
        self._rows: list[Waiting] = []
        self._counted = self._asked = Counted(0, fitted)

    def add(self, x: Any, y: Any) -> bool:
        """Let a row wait, if there is room, its class is known and nothing is wrong with it."""
        if type(y) not in self._label_types or len(self._rows) >= self._room:
            return False
        code = self._codes.get(y)
        cells = None if code is None else self._read(x)
        if code is None or cells is None:
            return False
        self._rows.append((cells, code))  # the last act: an interruption comes before or after
        return True

    @property
    def is_behind(self) -> bool:
        """Whether rows wait that no reader has counted."""
        return len(self._rows) > max(self._counted.rows, self._asked.rows)

    def count(self, learn: Callable[[Fitted, list[Any], Codes], Fitted]) -> Fitted:
        """Return what was learned of all rows so far.

        Parameters
        ----------
        learn : from what was learned, cells and codes of further rows, what is learned then
        """
        counted, rows = self._counted, len(self._rows)
        if rows == counted.rows:
            return counted.fitted
        waiting = self._rows[counted.rows : rows]
        cells, codes = (
            [row for row, _ in waiting],
            np.array([code for _, code in waiting], np.int32),
        )
        with one_blas_thread:
            fitted = learn(counted.fitted, cells, codes)
        self._counted = Counted(rows, fitted)
        return fitted

    def count_to_answer(
        self,
        learn: Callable[[Fitted, list[Any], Codes], Fitted],
        add: Callable[[Fitted, list[Waiting]], Fitted | None],
    ) -> Fitted:
        """Return what was learned of all rows so far, but for the rows that a model keeps.

        Parameters
        ----------
        learn : as in `count`
        add : from what was learned and further rows, what is learned then; None if they have to be
            counted together
        """
        known, asked, rows = self._counted, self._asked, len(self._rows)
        if asked.rows > known.rows:
            known = asked
        if known.rows == rows:
            return known.fitted
        # The first rows are counted with all that follows: a warning, names that are left out.
        if not 0 < rows - known.rows <= FEW or not self._counted.rows:
            return self.count(learn)
        with one_blas_thread:
            fitted = add(known.fitted, self._rows[known.rows : rows])
        if fitted is None:
            return self.count(learn)
        self._asked = Counted(rows, fitted)
        return fitted
