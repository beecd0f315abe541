"""What a file may hold: refusals, and checks that what it holds goes together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from suffice.errors import ModelFileError
from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Quartics, Tally

CURE = "Fetch the file again from where it is whole, or save the model again."
# How large numbers may be, far beyond any of rows: the square of the largest cell is a float, and
# so are sums of squares, of weights and of products of both.
MAX_WEIGHT = 1e100
MAX_CELL = 1e150
MAX_SQUARE = 1e300
MAX_FOURTH_ROOT = 1e70
SIZES = {"weight": MAX_WEIGHT, "counts": MAX_WEIGHT, "origin": MAX_CELL}


def refuse(fact: str) -> NoReturn:
    """Say what is wrong with a file; whoever knows its name adds it."""
    raise ModelFileError(fact)


@contextmanager
def refusals(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a file makes us stumble over into one error with the file's name.

    What the system says of a file (that there is none, that it may not be read) stays as it is,
    and so does a library that cannot be imported.
    """
    name = os.fspath(path)
    try:
        yield
    except (OSError, ImportError):
        raise
    except WholeFileError as error:
        raise ModelFileError(f"Cannot load {name!r}: {error}") from error
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {name!r}: {error} {CURE}") from error
    except Exception as error:  # values that pass for ones, until a tally or a model reads them
        shown = f"{type(error).__name__}: {error}"
        raise ModelFileError(
            f"Cannot load {name!r}: what it holds is no model ({shown[:300]}). {CURE}"
        ) from error


class WholeFileError(ModelFileError):
    """A file that is whole, and refused for another reason: its text has a cure of its own."""


def entries(node: Any, *names: str, what: str) -> list[Any]:
    """Return the values of a JSON object that has just these keys.

    Examples
    --------
    >>> entries({"b": 2, "a": 1}, "a", "b", what="A thing")
    [1, 2]
    """
    if type(node) is not dict or node.keys() != set(names):
        shown = sorted(node)[:8] if type(node) is dict else type(node).__name__
        refuse(f"{what} should have the entries {sorted(names)}, but has {shown}.")
    return [node[name] for name in names]


def check_kinds(state: Mapping[str, Any], **kinds: type | tuple[type, ...]) -> None:
    """Refuse attributes, of those that are there, that are of another type.

    Examples
    --------
    >>> check_kinds({"classes_closed_": 1}, classes_closed_=bool)
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: Its 'classes_closed_' is of type int.
    """
    for name, kind in kinds.items():
        if name in state and not isinstance(state[name], kind):
            refuse(f"Its {name!r} is of type {type(state[name]).__name__}.")


def check_shapes(state: Mapping[str, Any], **shapes: tuple[int, ...]) -> None:
    """Refuse attributes, of those that are there, that are no finite numbers of these shapes."""
    for name, shape in shapes.items():
        if name not in state:
            continue
        values = state[name]
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
            refuse(f"Its {name!r} is no array of numbers.")
        if values.shape != shape or not np.all(np.isfinite(values)):
            refuse(f"Its {name!r} is no array of shape {shape} of finite numbers.")


def check_columns(state: Mapping[str, Any]) -> int:
    """Return how many columns there are, or refuse their number or their names."""
    columns = state.get("n_features_in_")
    if type(columns) is not int or columns < 1:
        refuse(f"It has {columns!r:.80} columns.")
    names = state.get("feature_names_in_")
    if names is not None and (
        not isinstance(names, np.ndarray) or names.dtype != object or names.shape != (columns,)
    ):
        refuse(f"Its names of columns are not {columns} texts.")
    return columns


def check_groups(groups: Any, columns: int) -> None:
    """Refuse what is no tally of classes with rows, or too small to be one of so many columns."""
    if type(groups) is not Groups or not isinstance(groups.parts, Tally):
        refuse(f"Its tally is of type {type(groups).__name__}, where Groups are due.")
    if not groups.weights.any() or not np.isfinite(groups.weights).all():
        refuse("Its classes have no rows, or endless ones.")
    check_sizes({"weights": groups.weights}, MAX_WEIGHT)
    if columns > numbers_in(groups.parts):
        refuse(f"It has {columns} columns, and a tally of fewer numbers.")


def check_alike(tally: Any, like: Tally, classes: int, *, any_levels: bool = False) -> None:
    """Refuse a tally that is not of the kind and shape of `like`, with `classes` for one class.

    Parameters
    ----------
    tally : whatever was saved
    like : Tally with a first axis of length 1
    classes : int
    any_levels : bool
        Whether counts may be of more levels, or fewer.
    """
    if type(tally) is not type(like):
        refuse(f"Its tally holds {type(tally).__name__}, where {type(like).__name__} are due.")
    if isinstance(tally, Blocks) and isinstance(like, Blocks):
        if len(tally.parts) != len(like.parts):
            refuse(f"Its tally has {len(tally.parts)} blocks, where {len(like.parts)} are due.")
        for part, same in zip(tally.parts, like.parts, strict=True):
            check_alike(part, same, classes, any_levels=True)
        return
    if isinstance(tally, Patterns) and isinstance(like, Patterns):
        if tally.features != like.features:
            refuse(f"Its tally is of {tally.features} columns, where {like.features} are due.")
        if tally.all_features not in tally.parts:
            refuse("Its tally has no place for complete rows.")
        for part in tally.parts.values():
            if part.weight.shape != (classes,):
                refuse(f"Its tally is of {part.weight.shape} classes, where {classes} are due.")
            check_finite(part)
        if not any(part.weight.any() for part in tally.parts.values()):
            refuse("Its tally has no rows.")
        return
    for name, array in vars(like).items():
        shape, due = getattr(tally, name).shape, (classes, *array.shape[1:])
        if isinstance(tally, Counts) and any_levels and name == "counts":
            due = (*due[:-1], shape[-1] if shape else 0)
        if shape != due:
            refuse(f"Its tally has {name} of shape {shape}, where {due} is due.")
    check_finite(tally)


def check_finite(tally: Any) -> None:
    """Refuse sums that are no numbers, weights below 0, and what no rows can have added up to."""
    for name, array in vars(tally).items():
        if not np.isfinite(array).all() or (name == "weight" and np.any(array < 0)):
            refuse(f"Its tally has {name} that are no finite numbers, or below 0.")
        check_sizes({name: array}, SIZES.get(name, MAX_SQUARE))
    with np.errstate(all="ignore"):  # what overflows is refused
        if isinstance(tally, Quartics):
            check_sizes({"origin": tally.origin, "sum_z": tally.sum_z}, MAX_FOURTH_ROOT)
            tally = tally.moments()
        if isinstance(tally, Moments):
            weight = tally.weight[..., None, None] if tally.full else tally.weight
            check_sizes({"mean": tally.mean()}, MAX_CELL)
            check_sizes({"variance": np.where(weight > 0, tally.variance(), 0.0)}, MAX_SQUARE)
        if isinstance(tally, Events):
            check_sizes({"mean": np.where(tally.weight > 0, tally.mean(), 0.0)}, MAX_WEIGHT)


def check_sizes(arrays: Mapping[str, Any], most: float) -> None:
    """Refuse numbers beyond a size that no data have, before their squares overflow.

    Examples
    --------
    >>> check_sizes({"offsets": np.array([0.5, -1e200])}, MAX_WEIGHT)
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: It has 1e+200 in its offsets, where 1e+100 is the most.
    """
    for name, array in arrays.items():
        size = float(np.max(np.abs(array), initial=0.0))
        if not size <= most:
            refuse(f"It has {size:g} in its {name}, where {most:g} is the most.")


def check_joint_moments(tally: Any, columns: int) -> int:
    """Return how many targets there are beside the columns, or refuse the moments of both."""
    if type(tally) is not Moments or not tally.full or tally.weight.ndim:
        refuse(
            f"Its tally is of type {type(tally).__name__}, where full Moments of all rows are due."
        )
    check_finite(tally)
    targets = tally.origin.size - columns
    if targets < 1 or tally.weight == 0:
        refuse(f"Its tally is of {tally.origin.size} columns and targets, or of no rows.")
    return targets


def numbers_in(tally: Tally) -> int:
    """Return how many numbers a tally holds.

    Examples
    --------
    >>> numbers_in(Blocks((Counts([1, 2]), Counts([3.0]))))
    5
    """
    if isinstance(tally, Blocks):
        return sum(numbers_in(part) for part in tally.parts)
    if isinstance(tally, Patterns):
        return sum(numbers_in(part) for part in tally.parts.values())
    return sum(int(np.size(field)) for field in vars(tally).values())


def check_calibration(found: Any, classes: int) -> None:
    """Refuse a calibration that no held-out rows of so many classes have."""
    check_shapes(vars(found), offsets=(classes,))
    if found.weights.shape != (1,):
        refuse(f"Its calibration has {found.weights.size} inverse temperatures.")
    if not (0 <= found.inverse_temperature < np.inf and 0 <= found.noise_rate < 1):
        refuse(
            f"Its calibration has inverse temperature {found.inverse_temperature}, noise rate "
            f"{found.noise_rate}."
        )
    check_sizes(
        {"offsets": found.offsets, "inverse temperature": found.inverse_temperature}, MAX_WEIGHT
    )


def check_gross_scale(gross: Any, tally: Tally) -> None:
    """Refuse what is no gross scale of this tally: a file may say anything."""
    _check_scale_alike(gross, tally.magnitude())


def _check_scale_alike(gross: Any, like: Tally) -> None:
    if type(gross) is not type(like):
        refuse(f"Its gross scale is of type {type(gross).__name__}.")
    if isinstance(gross, Groups) and isinstance(like, Groups):
        known = np.isin(gross.classes, like.classes)
        if not known.all() or not np.isfinite(gross.weights).all():
            refuse("Its gross scale is of other classes, or endless.")
        _check_scale_alike(gross.parts, like.take(np.isin(like.classes, gross.classes)).parts)
        return
    if isinstance(gross, Blocks) and isinstance(like, Blocks):
        if len(gross.parts) != len(like.parts):
            refuse(f"Its gross scale has {len(gross.parts)} blocks.")
        for part, same in zip(gross.parts, like.parts, strict=True):
            _check_scale_alike(part, same)
        return
    if isinstance(gross, Moments) and (np.any(gross.origin) or np.any(gross.sum_x)):
        refuse("Its gross scale is not about 0.")
    for name, same in vars(like).items():
        sizes = getattr(gross, name)
        shape = sizes.shape
        if isinstance(like, Counts) and name == "counts" and shape:
            # Levels that came later are not in it.
            shape = (*shape[:-1], max(shape[-1], same.shape[-1]))
        if shape != same.shape or not np.isfinite(sizes).all() or np.any(sizes < 0):
            refuse(f"Its gross scale has {name} of shape {sizes.shape}, or below 0, or endless.")
