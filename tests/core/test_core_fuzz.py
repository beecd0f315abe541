"""Random shapes and contents through every entry point: an answer or an exception, never a crash.

`make sanitize` runs this with checks of every access to memory.
"""

import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp

from suffice import _core

# What sets the core itself, or takes functions.
SETTINGS = {
    "call_in_parallel",
    "limit_libraries",
    "maximize",
    "set_ranges",
    "set_threads",
    "use_instruction_set",
}
# Classes have tests of their own.
ENTRY_POINTS = sorted(
    name
    for name, one in vars(_core).items()
    if callable(one) and not isinstance(one, type) and name not in SETTINGS
)
ARGUMENT = re.compile(r"(\w+): (ndarray\[[^\]]*\]|[\w.]+)")
FIVE = ["float64", "float32", "int64", "int32", "uint8"]
ANY_TYPE = [*FIVE, "int8", "uint16", "uint64", "bool"]
WORDS = ["joint", "log_proba", "proba", "best", "log_density", "other"]


def signature(name):
    """Return names and types of the arguments, as nanobind writes them."""
    text = inspect.getdoc(getattr(_core, name)).splitlines()[0]
    return ARGUMENT.findall(text[text.index("(") : text.rindex(" -> ")])


def numbers(rng, dtype, shape):
    """Return an array of a type: mostly small numbers, sometimes strange ones."""
    if np.dtype(dtype).kind == "f":
        array = rng.choice([rng.normal(size=shape), rng.poisson(1.0, shape).astype(float)])
        if rng.random() < 0.4 and array.size:
            strange = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, -1.0, 2.0**54])
            array.ravel()[rng.integers(array.size)] = strange
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    low = 0 if np.dtype(dtype).kind in "ub" or rng.random() < 0.7 else -2
    array = rng.integers(low, rng.choice([1, 2, 4, 9]), shape)
    if rng.random() < 0.3 and array.ndim == 1:
        array = np.sort(array)
    if rng.random() < 0.1 and array.size and np.dtype(dtype).itemsize == 8:
        array.ravel()[0] = np.iinfo(np.int64).max
    return array.astype(dtype)


def argument(rng, kind, sides):
    """Return a random argument of a type."""
    if kind.startswith("ndarray"):
        axes = kind.count("*")
        shape = tuple(int(rng.choice(sides)) for _ in range(axes))
        found = re.search(r"dtype=(\w+)", kind)
        array = numbers(rng, found[1] if found else rng.choice(ANY_TYPE), shape)
        if "order" not in kind and rng.random() < 0.3:
            array = np.asfortranarray(array) if rng.random() < 0.5 else array.repeat(2, 0)[::2]
        return array
    return {
        "int": lambda: int(rng.choice([0, 1, *sides, 100])),
        "float": lambda: float(rng.choice([0.0, 0.5, 1.0, -1.0, np.nan, np.inf])),
        "bool": lambda: bool(rng.random() < 0.5),
        "str": lambda: str(rng.choice(WORDS)),
        "tuple": lambda: (float(rng.choice([1e-4, 0.5, 2.0, -1.0])), float(rng.choice([0.1, 2.0]))),
        "object": lambda: ["a b", "", "b"],
        "list": lambda: rng.choice(["a b", "", "é", "\ud800", "中😀"], 3).tolist(),
        "RoundedTable": lambda: _core.RoundedTable(numbers(rng, "float64", rng.choice(sides, 2))),
    }[kind.rpartition(".")[2]]()


def arguments(rng, kinds):
    """Return random arguments that may fit together; sparse matrices often are some."""
    sides = rng.choice([0, 1, 2, 3, 5, 70], 3, p=[0.1, 0.2, 0.25, 0.25, 0.15, 0.05])
    found = {name: argument(rng, kind, [*sides, sides[0] + 1]) for name, kind in kinds}
    if "rounded" in found and rng.random() < 0.7:
        found["rounded"] = _core.RoundedTable(found["table"])
    if "indptr" in found and rng.random() < 0.7:
        matrix = sp.csr_array(rng.poisson(0.7, rng.choice(sides, 2)).astype(rng.choice(FIVE)))
        parts = matrix.data, matrix.indices, matrix.indptr
        found.update(zip(("data", "indices", "indptr"), parts, strict=True))
        if rng.random() < 0.3 and matrix.nnz:
            rng.choice([matrix.indices, matrix.indptr[: matrix.nnz]])[0] += rng.integers(-2, 3)
    return found.values()


@pytest.mark.hostile
@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_nonsense_is_answered_or_refused(name, ranges):
    rng = np.random.default_rng(sum(name.encode()))
    ranges(64, sums=64)
    kinds = signature(name)
    answered = 0
    for _ in range(1500):
        try:
            getattr(_core, name)(*arguments(rng, kinds))
            answered += 1
        except (ValueError, TypeError, MemoryError, OverflowError, np.linalg.LinAlgError):
            pass
    assert answered or len(kinds) > 6  # with many arguments random shapes hardly ever fit


@pytest.mark.hostile
def test_nonsense_is_answered_or_refused_by_sums_of_words(ranges):
    rng = np.random.default_rng(0)
    ranges(64, sums=64)
    kinds = [
        (name, kind)
        for name, kind in ARGUMENT.findall(
            inspect.getdoc(_core.TermTable.sum_words).splitlines()[0]
        )
        if name not in ("self", "letters")
    ]
    answered = 0
    for _ in range(1500):
        none = np.empty(0, np.uint8), np.zeros(1, np.int64)
        table = _core.TermTable(*none, int(rng.integers(0, 3)), 1, int(rng.choice([0, 1, 1, 2])))
        text, begins, *rest = arguments(rng, kinds)
        try:
            table.sum_words(text, begins, _core.Letters(True), *rest)
            answered += 1
        except (ValueError, TypeError, MemoryError, OverflowError):
            pass
    assert answered
