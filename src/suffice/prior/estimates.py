"""Three summaries of one posterior side by side: maximum likelihood, MAP and mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from suffice.errors import InputError, PriorError
from suffice.tally.tally import Floats


class Estimates(NamedTuple):
    """What three questions answer; one without an answer is None, and `missing` says why.

    Examples
    --------
    >>> from suffice.prior import Beta
    >>> print(Beta(2, 2).estimates([1, 1, 0, 1]))
    MLE   0.75
    MAP   0.6667
    mean  0.625
    >>> print(Beta(2, 2).estimates([]))
    MLE   none: Nothing was seen, so nothing is most likely. Give data, or use the prior alone.
    MAP   0.5
    mean  0.5
    """

    mle: Any
    map: Any
    mean: Any
    missing: Mapping[str, str]

    @classmethod
    def asked(
        cls, mle: Callable[[], Any], mode: Callable[[], Any], mean: Callable[[], Any]
    ) -> Self:
        """Ask for the three, and keep the reason of each refusal."""
        found, missing = {}, {}
        for name, ask in (("mle", mle), ("map", mode), ("mean", mean)):
            try:
                found[name] = ask()
            except (InputError, PriorError) as error:
                found[name], missing[name] = None, str(error)
        return cls(**found, missing=missing)

    def __str__(self) -> str:
        names = {"mle": "MLE", "map": "MAP", "mean": "mean"}
        return "\n".join(
            f"{shown:<5} none: {self.missing[name]}"
            if name in self.missing
            else f"{shown:<5} {_format_value(getattr(self, name))}"
            for name, shown in names.items()
        )


def _format_value(value: Any) -> str:
    """Write a parameter on one line, to four digits."""
    if isinstance(value, tuple):
        parts = zip(value._fields, value, strict=True)  # type: ignore[attr-defined]
        return ", ".join(f"{name} {_format_value(part)}" for name, part in parts)
    array = np.asarray(value)
    if array.size == 1:
        return f"{array.item():.4g}"
    text = np.array2string(array, formatter={"float_kind": lambda number: f"{number:.4g}"})
    return " ".join(text.split())


def check_seen(weight: Floats) -> None:
    """Refuse to say what is most likely where nothing was seen."""
    if not np.all(weight > 0):
        raise InputError(
            "Nothing was seen, so nothing is most likely. Give data, or use the prior alone."
        )
