"""Which features are meant, by number or by name, and rows that name theirs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from suffice.data.frames import frame_to_array, is_frame
from suffice.errors import InputError, ShapeError
from suffice.tally.tally import Floats, Index

Names = tuple[str, ...] | None
Feature = int | str


def check_names(names: Iterable[str] | None, features: int) -> Names:
    """Return one name for each feature, all different; or None."""
    if names is None:
        return None
    if isinstance(names, str):
        raise InputError(f"names={names!r} is one name. Give a sequence of {features}.")
    found = tuple(names)
    if len(found) != features:
        raise ShapeError(
            f"{len(found)} names for {features} features. Give a name for each, or none."
        )
    met: set[str] = set()
    for name in found:
        if not isinstance(name, str):
            raise InputError(f"Feature name {name!r} is no string. Give strings.")
        if name in met:
            raise InputError(f"Two features are named {name!r}. Give each a name of its own.")
        met.add(name)
    return found


def common_names(mine: Names, theirs: Names) -> Names:
    """Return the common names of two objects with the same features."""
    if mine is not None and theirs is not None and mine != theirs:
        raise InputError(
            f"Features {', '.join(mine)} meet features {', '.join(theirs)}. Bring them to the "
            "same order with marginal([...])."
        )
    return mine if mine is not None else theirs


def select_names(names: Names, which: Index) -> Names:
    """Return the names of some features."""
    return None if names is None else tuple(names[i] for i in which.tolist())


def feature_indices(which: Any, names: Names, features: int, *, none: bool = False) -> Index:
    """Return the numbers of the features meant by a number, a name or a sequence of them."""
    if isinstance(which, str | int | np.integer):
        which = [which]
    found = [_number(one, names, features) for one in which]
    if not found and not none:
        raise InputError("No feature is chosen. Choose at least one, by number or name.")
    met: set[int] = set()
    for number in found:
        if number in met:
            shown = number if names is None else names[number]
            raise InputError(f"Feature {shown!r} is chosen twice. Choose each once.")
        met.add(number)
    return np.array(found, dtype=np.intp)


def _number(one: Any, names: Names, features: int) -> int:
    if isinstance(one, str):
        if names is None:
            raise InputError(f"Feature {one!r}, where none has a name. Choose by number.")
        if one not in names:
            raise InputError(f"No feature is named {one!r}. There are: {', '.join(names)}.")
        return names.index(one)
    if isinstance(one, bool | np.bool_) or not isinstance(one, int | np.integer):
        raise InputError(f"Feature {one!r} is neither a number nor a name. Choose by either.")
    if not -features <= one < features:
        raise InputError(
            f"Feature {one} of {features}. Choose from 0 to {features - 1}, or from the end."
        )
    return int(one) % features


def common_axes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that leading axes of values and means broadcast to, or refuse them."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(str(shape) for shape in shapes)
        raise ShapeError(
            f"Leading axes of shapes {shown} do not fit together. Give values whose leading axes "
            "broadcast with each other and with those of the mean."
        ) from None


def as_rows(x: Any, names: Names, features: int) -> Floats:
    """Return rows (..., d) of numbers, from an array or from a frame that has the same names."""
    if is_frame(x):
        common_names(names, frame_names(x))
        x = frame_to_array(x)
    rows = np.asarray(x, dtype=np.float64)
    if rows.shape[-1:] != (features,):
        raise ShapeError(
            f"Rows of shape {rows.shape} for {features} features. Give (..., {features})."
        )
    return rows


def frame_names(frame: Any) -> Names:
    """Return the names of a frame's columns; None if they are numbers."""
    arrow = type(frame).__module__.partition(".")[0] == "pyarrow"
    found = list(frame.schema.names if arrow else frame.columns)
    return tuple(found) if all(isinstance(name, str) for name in found) else None
