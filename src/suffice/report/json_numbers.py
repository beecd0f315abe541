"""Numbers, labels and class priors as JSON, every digit kept, and the deflated object of a page."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from suffice.families.class_prior import ClassPrior

# Whole numbers up to this are written without a fraction, and are the same floats to a browser.
MAX_INTEGER = 2.0**53
# 9 takes eight times as long for 3 % less room, on 128,000 words with their counts.
LEVEL = 6


def numbers(values: Any) -> Any:
    """Return an array as nested lists; what JSON has no word for is a string that Number() reads.

    Examples
    --------
    >>> numbers(np.array([[1.0, 2.0], [0.5, -np.inf]]))
    [[1, 2], [0.5, '-Infinity']]
    """
    array = np.asarray(values)
    if array.ndim > 1:
        return [numbers(part) for part in array]
    if array.dtype.kind != "f":
        return array.tolist()
    if np.isfinite(array).all():
        whole = (array == np.floor(array)) & (np.abs(array) <= MAX_INTEGER)
        if whole.all():
            return array.astype(np.int64).tolist()
        return array.tolist()
    if array.ndim == 0:
        return _word(float(array))
    return [one if np.isfinite(one) else _word(one) for one in array.tolist()]


def _word(value: float) -> str:
    if np.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def plain_labels(labels: Iterable[Any]) -> list[Any]:
    """Return labels or levels as JSON has them; what it has no word for is written out.

    >>> plain_labels(["ham", 3, 0.5, None, float("nan")])
    ['ham', 3, 0.5, 'None', 'nan']
    """
    return [
        label
        if isinstance(label, str | bool | int) or (isinstance(label, float) and np.isfinite(label))
        else str(label)
        for label in labels
    ]


def browser_prior(prior: ClassPrior) -> dict[str, Any]:
    """Return the weights of the classes and what is added to them, or what was given."""
    weights = numbers(prior.weights)
    if prior.added is None:
        return {"weights": weights, "added": None, "given": numbers(prior.prob)}
    return {"weights": weights, "added": numbers(prior.added), "given": None}


def compress(found: dict[str, Any]) -> str:
    """Return an object as JSON, deflated, in base64; `Suffice.decompress` of the page reads it.

    Examples
    --------
    >>> text = compress({"classes": ["ham", "spam"]})
    >>> json.loads(zlib.decompress(base64.b64decode(text)))
    {'classes': ['ham', 'spam']}
    """
    written = json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(written.encode("utf-8", "replace"), LEVEL)).decode()
