"""How values are stored: arrays, texts, tallies, priors and normal distributions."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.persist.checks import MAX_WEIGHT, check_sizes, entries, refuse
from suffice.persist.file_format import MAX_AXES, NAMES, is_shape

Array = NDArray[Any]
Node = dict[str, Any]
Take = Callable[[Any], Array]
# numpy makes every text as wide as the widest. So many times its own bytes an array may take;
# one that takes more is stored as wide as it is, so that no file takes more memory than its size.
MAX_PADDING = 64
LETTER = np.dtype("<u4")
# The types of numbers that a model may remember having been given.
NUMBER_TYPES = {
    "float32": np.float32,
    "float64": np.float64,
    "int32": np.int32,
    "int64": np.int64,
}
PLAIN = (type(None), bool, int, str)
# A model may hold another, which it chose with or cuts words with.
MAX_MODELS = 100
# Tallies, priors and the like, each by itself. A tally brings a tensor, of which there are as many.
MAX_VALUES = 10_000
TALLY, PRIOR = "suffice.tally", "suffice.prior"
Tensors = dict[str, Array]
_TIME = re.compile(r"(datetime64|timedelta64)(\[(\d{1,4})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")
# Columns of levels, or missing-value patterns. A part takes some 600 bytes of Python beside its
# numbers.
MAX_PARTS = 100_000


def array_node(array: Array, path: str, tensors: Tensors) -> Node | None:
    """Put an array among the tensors and return its description; None for what is no such array.

    Examples
    --------
    >>> tensors = {}
    >>> array_node(np.array([[1.0, 2.0]]), "coef_", tensors)
    {'is': 'array', 'tensor': 'coef_', 'axes': [0, 1]}
    >>> array_of({"is": "array", "tensor": "coef_", "axes": [0, 1]}, tensors.pop)
    array([[1., 2.]])
    """
    kind = array.dtype.kind
    if kind in "OU":
        return text_node(array, path, tensors)
    if kind in "mM":
        name = array.dtype.newbyteorder("=").name
        numbers = array.astype(array.dtype.newbyteorder("="), copy=False).view(np.int64)
        return {"is": "times", "dtype": name, "numbers": array_node(numbers, path, tensors)}
    little = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
    if little not in NAMES:
        return None
    axes = axes_of(array)
    tensors[path] = np.ascontiguousarray(array.transpose(axes), dtype=little).reshape(
        [array.shape[axis] for axis in axes]
    )
    return {"is": "array", "tensor": path, "axes": axes}


def axes_of(array: Array) -> list[int]:
    """Return the axes as they lie in memory, the slowest first.

    A sum over an array depends, in its last digits, on the order in which it lies: what was saved
    must lie as it lay, or it would not be read to the last bit.

    Examples
    --------
    >>> axes_of(np.zeros((2, 3))), axes_of(np.zeros((2, 3)).T)
    ([0, 1], [1, 0])
    """
    if array.flags.c_contiguous:
        return list(range(array.ndim))
    return sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis))


def array_of(node: Node, take: Take) -> Array:
    """Return the array that a node describes; `take` gives each tensor once."""
    if node["is"] in OTHERS:
        return OTHERS[node["is"]](node, take)
    _, tensor, axes = entries(node, "is", "tensor", "axes", what="An array")
    array = take(tensor)
    known = type(axes) is list and all(type(axis) is int for axis in axes)
    if not known or sorted(axes) != list(range(array.ndim)):
        refuse(f"An array of {array.ndim} axes lies in the order {axes!r:.80}.")
    return array.transpose(np.argsort(axes)) if axes != sorted(axes) else array


def _times_of(node: Node, take: Take) -> Array:
    _, name, inner = entries(node, "is", "dtype", "numbers", what="An array of times")
    if type(name) is not str or not _TIME.fullmatch(name):
        refuse(f"An array has the type {name!r:.80}, which is no type of times.")
    if type(inner) is not dict or inner.get("is") != "array":
        refuse("An array of times has no numbers.")
    numbers = array_of(inner, take)
    if numbers.dtype != np.int64:
        refuse(f"An array of times has numbers of type {numbers.dtype}, not int64.")
    return numbers.view(np.dtype(name))


def text_node(array: Array, path: str, tensors: dict[str, Array]) -> Node | None:
    """Put an array of str among the tensors; None where something in it is no str.

    Examples
    --------
    >>> tensors = {}
    >>> node = text_node(np.array(["ham", "spam"]), "classes", tensors)
    >>> tensors["classes.ends"], tensors["classes.letters"].tobytes()
    (array([3, 7]), b'hamspam')
    >>> text_of(node, tensors.pop)
    array(['ham', 'spam'], dtype='<U4')
    """
    texts = array.ravel().tolist()
    if not all(type(text) is str for text in texts):
        return None
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in raw], dtype=np.int64)
    letters = np.frombuffer(b"".join(raw), np.uint8)
    width = array.dtype.itemsize // LETTER.itemsize if array.dtype.kind == "U" else None
    if width is not None and _too_wide(width, ends, letters):
        flat = np.ascontiguousarray(array, dtype=f"<U{width}").reshape(-1).view(LETTER)
        tensors[path] = flat.reshape(*array.shape, width)
        return {"is": "wide text", "tensor": path}
    names = {"letters": f"{path}.letters", "ends": f"{path}.ends"}
    tensors[names["letters"]], tensors[names["ends"]] = letters, ends
    return {"is": "text", "shape": list(array.shape), "width": width, **names}


def _too_wide(width: int, ends: Array, letters: Array) -> bool:
    made = width * LETTER.itemsize * len(ends)
    return made > MAX_PADDING * (ends.nbytes + letters.nbytes)


def text_of(node: Node, take: Take) -> Array:
    """Return the texts that a node describes: of fixed width, or (width None) as objects."""
    keys = ("is", "shape", "width", "letters", "ends")
    _, shape, width, *names = entries(node, *keys, what="An array of text")
    letters, ends = (take(name) for name in names)
    if letters.dtype != np.uint8 or ends.dtype != np.int64 or letters.ndim != 1 or ends.ndim != 1:
        refuse("An array of text has letters or ends of another type.")
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    if np.any(starts[1:] < starts[:-1]) or starts[-1] != len(letters):
        refuse("An array of text has texts that do not follow each other.")
    if not is_shape(shape) or math.prod(shape) != len(ends):
        refuse(f"An array of {len(ends)} texts has the shape {shape!r:.80}.")
    if width is not None and (
        type(width) is not int or width < 1 or _too_wide(width, ends, letters)
    ):
        refuse(f"An array of text is {width!r:.80} letters wide.")
    raw = letters.tobytes()
    places = starts.tolist()
    texts = [raw[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(places)]
    if width is not None and max(map(len, texts), default=0) > width:
        refuse(f"A text is wider than the {width} letters of its array.")
    return np.array(texts, dtype=object if width is None else f"U{width}").reshape(shape)


def wide_text_of(node: Node, take: Take) -> Array:
    """Return the texts that were stored as wide as they are."""
    _, tensor = entries(node, "is", "tensor", what="An array of wide text")
    letters = take(tensor)
    if letters.dtype != LETTER or letters.ndim < 1 or letters.shape[-1] < 1:
        refuse("An array of wide text has letters of another type.")
    if letters.max(initial=0) > sys.maxunicode:
        refuse(f"A text has the letter {letters.max()}, where {sys.maxunicode} is the last.")
    width = letters.shape[-1]
    return letters.reshape(-1).view(f"<U{width}").reshape(letters.shape[:-1])


# What is no array of plain numbers, by its name in the document.
OTHERS: dict[str, Callable[[Node, Take], Array]] = {
    "text": text_of,
    "wide text": wide_text_of,
    "times": _times_of,
}


def many_node(parts: Sequence[Any], path: str, tensors: Tensors) -> Node | None:
    """Put tallies of one kind among the tensors; None if they differ or do not lie in C order.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> tensors = {}
    >>> node = many_node([Counts([1, 2]), Counts([3, 4, 5])], "parts", tensors)
    >>> tensors["parts.counts"], tensors["parts.counts.shapes"].tolist()
    (array([1., 2., 3., 4., 5.]), [[2], [3]])
    >>> [part.counts.tolist() for part in many_of(node, tensors.pop)]
    [[1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    name = kind_of(parts[0]) if parts else None
    if name is None or not all(kind_of(part) == name for part in parts):
        return None
    columns = {field: [getattr(part, field) for part in parts] for field in KINDS[name].fields}
    arrays = [array for column in columns.values() for array in column]
    if not all(isinstance(a, np.ndarray) and a.flags.c_contiguous for a in arrays):
        return None
    if any(len({(a.ndim, a.dtype) for a in column}) > 1 for column in columns.values()):
        return None
    for field, column in columns.items():
        tensors[f"{path}.{field}"] = np.concatenate([array.reshape(-1) for array in column])
        shapes = np.array([array.shape for array in column], dtype=np.int64)
        tensors[f"{path}.{field}.shapes"] = shapes.reshape(len(column), column[0].ndim)
    return {"is": "many", "of": name, "at": path}


def many_of(node: Any, take: Take) -> list[Any]:
    """Return the tallies that a node describes."""
    _, name, path = entries(node, "is", "of", "at", what="A list of tallies")
    if type(name) is not str or name not in KINDS or type(path) is not str:
        refuse(f"A list is of {name!r:.80}, which is no kind of tally.")
    fields = KINDS[name].fields
    columns = [_column(take(f"{path}.{f}"), take(f"{path}.{f}.shapes")) for f in fields]
    if len({len(column) for column in columns}) > 1:
        refuse(f"A list of {name} has fields of different lengths.")
    return [
        construct(name, dict(zip(fields, parts, strict=True)))
        for parts in zip(*columns, strict=True)
    ]


def _column(flat: NDArray[Any], shapes: NDArray[Any]) -> list[NDArray[Any]]:
    if flat.ndim != 1 or shapes.ndim != 2 or shapes.dtype != np.int64 or np.any(shapes < 0):
        refuse("A list of tallies has numbers or shapes of another type.")
    if shapes.shape[1] > MAX_AXES:
        refuse(f"A list of tallies of {shapes.shape[1]} axes, where {MAX_AXES} are the most.")
    if len(shapes) > MAX_PARTS:
        refuse(f"A list of {len(shapes)} tallies, where {MAX_PARTS} are the most.")
    flat.flags.writeable = False
    rows = shapes.tolist()
    ends = [0]
    for row in rows:
        ends.append(ends[-1] + math.prod(row))
    if ends[-1] != len(flat):
        refuse(f"A list of tallies has {len(flat)} numbers, where {ends[-1]} are due.")
    return [flat[a:b].reshape(row) for (a, b), row in zip(pairwise(ends), rows, strict=True)]


class Kind(NamedTuple):
    """A class, and the fields that make a value of it: its attributes and its arguments.

    In older files some fields had other names.
    """

    module: str
    fields: tuple[str, ...]
    old_names: Mapping[str, str] = {}


KINDS = {
    "Counts": Kind(TALLY, ("counts", "log_orderings")),
    "Events": Kind(TALLY, ("weight", "sum_x", "sum_log_factorial")),
    "Moments": Kind(TALLY, ("weight", "origin", "sum_x", "sum_xx")),
    "Quartics": Kind(TALLY, ("weight", "origin", "sum_z", "sum_zz")),
    "Groups": Kind(TALLY, ("classes", "weights", "parts")),
    "Beta": Kind(PRIOR, ("successes", "failures")),
    "Dirichlet": Kind(PRIOR, ("concentration",)),
    "Gamma": Kind(PRIOR, ("shape", "rate")),
    "NormalInverseGamma": Kind(PRIOR, ("location", "pseudo_rows", "shape", "scale", "shared")),
    "NormalInverseWishart": Kind(
        PRIOR, ("location", "pseudo_rows", "degrees", "scale_matrix", "shared")
    ),
    "Calibration": Kind(
        "suffice.combine.combination",
        ("inverse_temperature", "offsets", "noise_rate"),
        {"sharpness": "inverse_temperature", "lapse": "noise_rate"},
    ),
}


def kind_of(value: Any) -> str | None:
    """Return the name under which a value is saved, or None if it is of no such class.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> kind_of(Counts([1, 2])), kind_of([1, 2])
    ('Counts', None)
    """
    name = type(value).__name__
    # Compared by where it lives, so that nothing is imported for a value that is something else.
    if name in KINDS and type(value).__module__.startswith(KINDS[name].module):
        return name
    return None


def check_prior(name: str, fields: dict[str, Any]) -> None:
    """Refuse a prior of numbers beyond all data, such as no model could count with.

    Examples
    --------
    >>> check_prior("Gamma", {"shape": 1e200, "rate": 1.0})
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: It has 1e+200 in its shape of a Gamma, where 1e+100 is the \
most.
    """
    if KINDS[name].module == PRIOR:
        numbers = {
            f"{field} of a {name}": value
            for field, value in fields.items()
            if isinstance(value, np.ndarray | float | int)
        }
        check_sizes(numbers, MAX_WEIGHT)


def construct(name: str, fields: dict[str, Any]) -> Any:
    """Return the value of a kind that has these fields, checked by its own constructor."""
    kind = KINDS[name]
    fields = {kind.old_names.get(field, field): value for field, value in fields.items()}
    if fields.keys() != set(kind.fields):
        refuse(f"A {name} should have {list(kind.fields)}, but has {sorted(fields)[:8]}.")
    check_prior(name, fields)
    return getattr(import_module(kind.module), name)(**fields)


def normal_fields(normal: Any) -> dict[str, Any]:
    """Return the fields that a normal is made of, by the form of its covariance.

    Examples
    --------
    >>> from suffice.gaussian import MultivariateNormal
    >>> fields = normal_fields(MultivariateNormal.from_diagonal([0.0], [4.0], ["age"]))
    >>> sorted(fields), normal_of(fields)
    (['mean', 'names', 'variances'], MultivariateNormal(mean=[0.], structure='diagonal', \
names=('age',)))
    """
    covariance: Any = normal._structure
    fields = {"mean": normal.mean, "names": normal.names}
    if normal.structure == "diagonal":
        return {**fields, "variances": covariance.variances}
    if normal.structure == "low_rank":
        return {**fields, "loadings": covariance.loadings, "noise": covariance.noise}
    if covariance.lower is not None:
        return {**fields, "lower": covariance.lower}
    return {**fields, "covariance": covariance.matrix}


def normal_of(fields: dict[str, Any]) -> Any:
    """Return the normal of such fields, checked by the constructors it is made with."""
    # By name, as `construct` does: what reads other values needs no Gaussian algebra.
    normal: Any = import_module("suffice.gaussian").MultivariateNormal
    constructors: dict[tuple[str, ...], Callable[..., Any]] = {
        ("variances",): normal.from_diagonal,
        ("loadings", "noise"): normal.from_low_rank,
        ("lower",): normal.from_cholesky,
        ("covariance",): normal,
    }
    form = tuple(sorted(fields.keys() - {"mean", "names"}))
    if form not in constructors or not {"mean", "names"} <= fields.keys():
        refuse(f"A MultivariateNormal has the fields {sorted(fields)[:8]}.")
    return constructors[form](
        fields["mean"], *(fields[name] for name in form), names=fields["names"]
    )


@dataclass
class Census:
    """How many models and values a file holds: each takes time and memory beside its bytes."""

    models: int = 0
    values: int = 0

    def check(self) -> None:
        """Refuse more than there may be."""
        if self.models > MAX_MODELS:
            refuse(f"It holds more than {MAX_MODELS} models.")
        if self.values > MAX_VALUES:
            refuse(f"It holds more than {MAX_VALUES} tallies and priors.")
