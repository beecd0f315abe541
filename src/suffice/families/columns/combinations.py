"""Combinations of levels, each with a number: what a joint table has in place of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.columns import MISSING_CODE
from suffice.errors import InputError
from suffice.tally.tally import Floats, Index

Numbers = NDArray[Any]

# Keys of combinations must fit an int64.
MAX_KEYS = 2**62
# So many keys have their combination in a table; more are searched for.
IN_A_TABLE = 1 << 18


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combinations that were seen, in the order in which they were met.

    Parameters
    ----------
    cells : (M, d)
        Codes of levels.
    sizes : (d,)
        How many levels each column has; codes from there on are any other.

    Examples
    --------
    >>> seen = Combinations(np.array([[0, 1], [1, 0]]), (2, 2))
    >>> seen.places(np.array([[1, 0], [0, 0], [-1, 0]], np.int32))
    array([ 1, -1, -1], dtype=int32)
    """

    cells: Numbers
    sizes: tuple[int, ...]

    @cached_property
    def _steps(self) -> list[int]:
        """What each column's code is multiplied by in a key, and the number of keys."""
        steps = [1]
        for size in self.sizes:
            steps.append(steps[-1] * (size + 1))
        if steps[-1] >= MAX_KEYS:
            raise InputError(
                f"A joint table of {' x '.join(map(str, self.sizes))} levels has more "
                "combinations than can be numbered. Join fewer columns."
            )
        return steps

    def keys(self, codes: Numbers) -> NDArray[np.int64]:
        """Return one number for each row of codes (n, d), -1 for an incomplete row."""
        sizes, steps = (np.array(part, np.int64) for part in (self.sizes, self._steps[:-1]))
        return _core.combination_keys(codes, sizes, steps)

    def of_keys(self, keys: NDArray[np.int64]) -> Numbers:
        """Return the codes (n, d) that have these keys; no missing value is among them."""
        steps = zip(self._steps[:-1], self.sizes, strict=True)
        columns = [keys // step % (size + 1) for step, size in steps]
        return np.stack(columns, axis=1).astype(np.int32)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], Index]:
        keys = self.keys(self.cells)
        order = np.argsort(keys)
        return keys[order], order

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        table = np.full(self._steps[-1] + 1, MISSING_CODE, np.int32)
        table[self.keys(self.cells)] = np.arange(len(self.cells))
        return table

    def places(self, codes: Numbers) -> NDArray[np.int32]:
        """Return the number of each row's combination, -1 if it is new or has a missing value."""
        wanted = self.keys(codes)
        if self._steps[-1] <= IN_A_TABLE:
            # An incomplete row has the key -1, and the last place is kept for it.
            return self._table[wanted]
        keys, order = self._sorted
        if not len(keys):
            return np.full(len(wanted), MISSING_CODE, np.int32)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, order[at], MISSING_CODE).astype(np.int32)

    def with_levels_of(self, codes: Numbers, sizes: tuple[int, ...]) -> Combinations:
        """Return the combinations with the new ones among these rows added last.

        Incomplete rows, and rows with levels beyond the sizes, are none.
        """
        wider = Combinations(self.cells, sizes)
        known = np.ones(len(codes), np.bool_)
        for at, size in enumerate(sizes):
            known &= (codes[:, at] >= 0) & (codes[:, at] < size)
        if len(self.cells):
            known &= wider.places(codes) < 0
        new = wider.keys(codes[known])
        return Combinations(np.concatenate([self.cells, wider.of_keys(np.unique(new))]), sizes)

    def part(self, columns: Index) -> tuple[Combinations, Index]:
        """Return the combinations of some columns, and the number of each of ours in them."""
        key = tuple(columns.tolist())
        if key not in self._parts:
            sizes = tuple(self.sizes[at] for at in columns)
            narrow = Combinations(self.cells[:, columns], sizes)
            keys = narrow.keys(narrow.cells)
            _, first, which = np.unique(keys, return_index=True, return_inverse=True)
            self._parts[key] = Combinations(narrow.cells[first], sizes), which
        return self._parts[key]

    @cached_property
    def _parts(self) -> dict[tuple[int, ...], tuple[Combinations, Index]]:
        """The parts that were asked for: every fold asks for the same."""
        return {}


def shares_product(shares: Sequence[Floats], codes: Numbers) -> Floats:
    """Return the product of the shares of each row's levels, (n,).

    Examples
    --------
    >>> shares_product([np.array([0.5, 0.5]), np.array([0.75, 0.25])], np.array([[0, 1], [1, 7]]))
    array([0.125, 0.125])
    """
    out = np.ones(len(codes))
    for at, share in enumerate(shares):
        out *= share[np.minimum(codes[:, at], len(share) - 1)]
    return out
