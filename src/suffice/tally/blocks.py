"""Several tallies side by side: one for each column or block of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from suffice.errors import ShapeError
from suffice.tally.tally import Floats, Index, Tally

T = TypeVar("T", bound=Tally)


@dataclass(frozen=True, eq=False)
class Blocks(Tally, Generic[T]):
    """Tallies of the same rows that each speak of other columns.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> size_and_colour = Blocks((Counts([1, 2]), Counts([0, 1, 2])))
    >>> (size_and_colour + size_and_colour).parts[1].counts
    array([0., 2., 4.])
    """

    parts: tuple[T, ...]

    def _pair(self, other: Self) -> list[tuple[T, T]]:
        self._same_kind(other)
        if len(self.parts) != len(other.parts):
            raise ShapeError(
                f"Cannot combine {len(self.parts)} blocks with {len(other.parts)}. Tally the "
                "same columns in both."
            )
        return list(zip(self.parts, other.parts, strict=True))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in self._pair(other)))

    def subtract(self, other: Self, gross: Any = None) -> Self:
        """Return the tally without the rows of another one, block by block."""
        pairs = self._pair(other)
        scales = (None,) * len(pairs) if gross is None else gross.parts
        return type(self)(
            tuple(a.subtract(b, scale) for (a, b), scale in zip(pairs, scales, strict=True))
        )

    def magnitude(self, least: Floats | float = 0.0, *, hidden: bool = False) -> Blocks[Tally]:
        """Return how large the sums of every block are."""
        return Blocks(tuple(part.magnitude(least, hidden=hidden) for part in self.parts))

    @property
    def may_be_hidden(self) -> bool:
        """Whether any block may be."""
        return any(part.may_be_hidden for part in self.parts)

    def is_hidden_by(self, total: Self) -> bool:
        """Say whether any block is."""
        return any(a.is_hidden_by(b) for a, b in self._pair(total))

    def maximum(self, other: Self) -> Self:
        """Return the larger of two magnitudes, block by block."""
        return type(self)(tuple(a.maximum(b) for a, b in self._pair(other)))

    def scale(self, factor: float) -> Self:
        """Return the tally of the same rows, each `factor` times as heavy."""
        return type(self)(tuple(part.scale(factor) for part in self.parts))

    def take(self, index: Any) -> Self:
        """Return the tally at `index` of the first axis of every block."""
        return type(self)(tuple(part.take(index) for part in self.parts))

    def expand(self, index: Index, size: int) -> Self:
        """Place our entries at `index` of a first axis of `size`, in every block."""
        return type(self)(tuple(part.expand(index, size) for part in self.parts))

    def pooled(self) -> Self:
        """Return the sum over the first axis of every block."""
        return type(self)(tuple(part.pooled() for part in self.parts))

    def allclose(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether two tallies are equal up to rounding."""
        return all(a.allclose(b, relative) for a, b in self._pair(other))
