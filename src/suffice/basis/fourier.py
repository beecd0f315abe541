"""Waves: sines and cosines of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import Interval, StrOptions
from suffice.basis.expansion import (
    Expansion,
    check_ascending,
    check_positive,
    format_numbers,
    observed_cells,
    read_ascending,
    read_positive,
)
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.persist.checks import refuse
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Waves:
    """sin and cos of 2π f x / period, for frequencies f (k,) and the period of each column (d,)."""

    frequencies: Floats
    period: Floats

    def expand(self, cells: Floats) -> Floats:
        """Return the waves of rows: (n, d) to (n, 2 d k)."""
        rows, columns = cells.shape
        # Whole periods are taken off before multiplying by 2π, and exactly: a column at 1e8 would
        # lose eight digits in the product.
        rest = np.fmod(cells, self.period)
        whole = np.rint((cells - rest) / self.period)
        part = rest / self.period
        waves = np.empty((rows, columns, len(self.frequencies), 2))
        for at, frequency in enumerate(self.frequencies):
            angle = 2 * np.pi * (np.fmod(frequency * whole, 1.0) + frequency * part)
            np.sin(angle, out=waves[:, :, at, 0])
            np.cos(angle, out=waves[:, :, at, 1])
        return waves.reshape(rows, prod(waves.shape[1:]))

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the waves."""
        times = ["" if text == "1" else f"{text} " for text in format_numbers(self.frequencies)]
        return [f"{wave}({f}{name})" for name in columns for f in times for wave in ("sin", "cos")]


class Fourier(Expansion):
    """sin(2π f x / period) and cos(2π f x / period) of each column (docs: mathematics, section 7).

    Parameters
    ----------
    frequencies : int or array-like, default=3
        k stands for 1, 2, ..., k. Frequencies count waves in a period and need not be whole.
    period : "range", float, or array-like of shape (n_features,), default="range"
        "range" is the range of the column's training rows, so that whole frequencies give both
        its ends the same value. A column that does not vary has an infinite period: flat waves.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies,)
    period_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> clock = Fourier(frequencies=1, period=24).fit([[0.0]])
    >>> clock.transform([[6.0], [30.0]]).round(12) + 0.0  # the same hour on two days
    array([[1., 0.],
           [1., 0.]])
    >>> Fourier(frequencies=[1, 2.5]).fit([[0.0], [10.0]]).get_feature_names_out().tolist()
    ['sin(x0)', 'cos(x0)', 'sin(2.5 x0)', 'cos(2.5 x0)']
    """

    _saved = (*Expansion._saved, "frequencies_", "period_")
    _functions = Waves
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "frequencies": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "period": [
            StrOptions({"range"}),
            Interval(Real, 0, None, closed="neither"),
            "array-like",
        ],
    }

    def __init__(self, frequencies: Any = 3, *, period: Any = "range") -> None:
        self.frequencies = frequencies
        self.period = period

    def _learn(self, cells: Floats, columns: Columns) -> Waves:
        if isinstance(self.frequencies, Integral):
            frequencies = np.arange(1.0, int(self.frequencies) + 1)
        else:
            frequencies = read_ascending("frequencies", self.frequencies)
            if not frequencies.size or frequencies[0] <= 0:
                raise InputError(
                    f"frequencies is {self.frequencies!r}. Give one or more numbers above 0."
                )
        if isinstance(self.period, str) and self.period == "range":
            observed = observed_cells(cells, columns, type(self).__name__)
            ranges = np.array([np.ptp(column) for column in observed])
            return Waves(frequencies, np.where(ranges > 0, ranges, np.inf))
        return Waves(frequencies, read_positive("period", self.period, columns.count))

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        check_ascending("frequencies_", state["frequencies_"])
        if not state["frequencies_"].size or state["frequencies_"][0] <= 0:
            refuse("Its 'frequencies_' are not one or more numbers above 0.")
        check_positive("period_", state["period_"], columns)

    @property
    def frequencies_(self) -> Floats:
        """Waves in a period, (n_frequencies,)."""
        return np.asarray(self._learned("frequencies_"))

    @property
    def period_(self) -> Floats:
        """The period of each column, (n_features,)."""
        return np.asarray(self._learned("period_"))
