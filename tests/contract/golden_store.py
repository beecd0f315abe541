"""Stored values: one file for each group of cases, exact, and their comparison with new ones."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import scipy
from threadpoolctl import threadpool_info

FOLDER = Path(__file__).parent / "golden"
# A difference counts by the largest finite number of its array, and by no less than this: below
# 1e-15, rounding of numbers of size one is all there is.
TOLERANCE, LEAST_SCALE = 1e-12, 1e-3
# Names that have changed since the values were stored: "old key": "new key".
RENAMED = {
    "gaps_": "missing_columns_",
    "readings_": "posteriors_",
    "corrections_": "residual_coefficients_",
}
# Texts that have changed since: of a combination, its method.
RENAMED_VALUES = {("combination_.how", "corrected"): "residual"}
# What is left of two sums of size 1 to 10, some hundred times smaller than they are or nothing at
# all: 3.6e-15 of rounding, where 1e-15 would be 1e-12 of the least scale.
ROUNDED = {"explain against.base": 5e-12}
# Cases whose sums the compiled core adds up in another order than the values were stored with.
REORDERED = {
    # Products of weighted rows, and a flat optimum: 2.7e-10.
    "GaussianDiscriminant low_rank mle weights": 1e-9,
    # Products of rows in other pieces, without a penalty: 1.01e-12; of a number near 0: 2.2e-12.
    "LogisticRegression C=inf": 1e-9,
    "LogisticRegression no penalty": 1e-9,
    "LogisticRegression weights=reference lbfgs": 1e-9,
    # L-BFGS without a penalty stops by its own rule, here nearer to the optimum that Newton's
    # method finds than the stored values are (coefficients: 3.4e-7 for 4.6e-7, and 1.7e-9 for
    # 3.1e-8): 1.1e-8 and 6e-8.
    "LogisticRegression C=inf lbfgs": 1e-7,
    "LogisticRegression C=inf lbfgs two classes": 1e-7,
}
SCIPY = tuple(map(int, scipy.__version__.split(".")[:2]))
ABSENT = "refused: AttributeError"
# Attributes that were added since.
ADDED = {"prior_", "log_evidence_", "n_parameters_", "covariance_", "C_", "held_out_"}
# Results are the same to the bit in every process, and for any number of threads of ours or of
# BLAS. Other kernels of BLAS round differently, and older releases of scipy have other special
# functions: these are the tolerances where either is not the one that the values were stored with.
# Measured with OpenBLAS's Haswell and Katmai kernels, and with scipy 1.16.
STORED_WITH, STORED_SCIPY, ELSEWHERE = "SkylakeX", (1, 17), 1e-10
SENSITIVE = {
    # The optimum of factor analysis is flat: 3.4e-7 of the loadings, 4e-8 of the answers.
    "GaussianDiscriminant low_rank": 1e-5,
    "gaussian_discriminant_low_rank": 1e-5,
    "MultivariateNormal fit low rank": 1e-5,
    # A column that is nearly the sum of two others: 1.6e-9.
    "LinearDiscriminantAnalysis nearly singular": 1e-7,
    # L-BFGS stops one step earlier or later: 1.4e-7, and 6e-8 without a penalty.
    "LogisticRegression weights=reference lbfgs": 1e-5,
    "LogisticRegression C=inf lbfgs": 1e-7,
    # Quantiles of Student's t of scipy 1.16 are accurate to 2.5e-11: 4.1e-10 of an interval's end.
    "prior NormalInverseGamma": 1e-8,
}


@cache
def kernel():
    """Return the kernel of BLAS that numpy uses here."""
    found = [one.get("architecture") for one in threadpool_info() if one["user_api"] == "blas"]
    return found[0] if found else "unknown"


def tolerance_of(case, key=""):
    """Return the tolerance of a case, relative to the largest number of an array."""
    if kernel() == STORED_WITH and SCIPY >= STORED_SCIPY:
        return max(ROUNDED.get(key, TOLERANCE), REORDERED.get(case, TOLERANCE))
    return max(
        (size for name, size in SENSITIVE.items() if case.startswith(name)), default=ELSEWHERE
    )


def write(group, values):
    """Write the values of a group: {case: {key: value}}; all floats as they are."""
    index, numbers = {}, []
    at = 0
    for case, found in values.items():
        index[case] = entries = {}
        for key, value in found.items():
            array = np.asarray(value)
            if array.dtype.kind == "U":
                entries[key] = ["U", list(array.shape), array.ravel().tolist()]
                continue
            flat = array.ravel().astype(np.float64)
            if array.dtype.kind in "iu" and np.any(flat.astype(array.dtype) != array.ravel()):
                raise ValueError(f"{case}, {key}: a whole number too large to be stored.")
            entries[key] = [array.dtype.kind, list(array.shape), at]
            at += len(flat)
            numbers.append(flat)
    FOLDER.mkdir(exist_ok=True)
    text = np.frombuffer(json.dumps(index, ensure_ascii=True).encode(), dtype=np.uint8)
    everything = np.concatenate(numbers) if numbers else np.zeros(0)
    np.savez_compressed(FOLDER / f"{group}.npz", index=text, numbers=everything)


def read(group):
    """Return the stored values of a group, {case: {key: array}}, under today's names."""
    with np.load(FOLDER / f"{group}.npz") as file:
        index, numbers = json.loads(file["index"].tobytes()), file["numbers"]
    values = {}
    for case, entries in index.items():
        values[case] = found = {}
        for key, (kind, shape, what) in entries.items():
            if kind == "U":
                what = [RENAMED_VALUES.get((key, text), text) for text in what]
                array = np.array(what, dtype=str).reshape(shape)
            else:
                array = numbers[what : what + int(np.prod(shape))].reshape(shape)
                array = array.astype({"f": "f8", "b": "?", "i": "i8", "u": "i8"}[kind])
            found[renamed(key)] = array
    return values


def renamed(key):
    """Return today's name of a key; a name within it, between dots, may have changed.

    >>> renamed("tally_.weights")
    'tally_.weights'
    """
    return RENAMED.get(key, ".".join(RENAMED.get(part, part) for part in key.split(".")))


def added(key):
    """Say whether a key is of an attribute that was added after the values were stored.

    >>> added("prior_.location"), added("theta_")
    (True, False)
    """
    return key.split(".")[0] in ADDED


def differences(case, stored, found):
    """Return a line for each key that is missing, new, or has another value than the stored one."""
    lines = [f"{case}: {key} is gone" for key in stored if key not in found]
    new = [key for key in found if key not in stored and not added(key)]
    # A property that a model does not have is not there, as an attribute that was never set.
    lines += [f"{case}: {key} is new" for key in new if str(found[key]) != ABSENT]
    for key in stored:
        if key in found:
            change = difference(stored[key], found[key], tolerance_of(case, key))
            if change:
                lines.append(f"{case}: {key} {change}")
    return lines


def difference(stored, found, tolerance=TOLERANCE):
    """Return how a value differs from the stored one; an empty text if it does not.

    >>> difference(np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-12]))
    ''
    >>> difference(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
    'differs by 0.5 at [1] (2.0 was stored, 2.5 found); 2e-12 is allowed'
    """
    found = np.asarray(found)
    kinds = {"u": "i"}
    if kinds.get(stored.dtype.kind, stored.dtype.kind) != kinds.get(
        found.dtype.kind, found.dtype.kind
    ):
        return f"is of type {found.dtype}, where {stored.dtype} was stored: {_shown(found)}"
    if stored.shape != found.shape:
        return f"has shape {found.shape}, where {stored.shape} was stored"
    if stored.dtype.kind != "f":
        wrong = np.flatnonzero((stored != found).ravel())
        if not wrong.size:
            return ""
        at = wrong[0]
        return (
            f"differs in {wrong.size} of {stored.size} places, first {stored.ravel()[at]!r} was "
            f"stored, {found.ravel()[at]!r} found"
        )
    return _float_difference(stored, found.astype(np.float64), tolerance)


def _float_difference(stored, found, tolerance):
    finite = np.isfinite(stored)
    allowed = tolerance * max(np.max(np.abs(stored[finite]), initial=0.0), LEAST_SCALE)
    with np.errstate(invalid="ignore"):
        apart = np.abs(stored - found)
    same = (stored == found) | (np.isnan(stored) & np.isnan(found))
    apart = np.where(same, 0.0, np.where(np.isfinite(apart), apart, np.inf))
    if not stored.size or apart.max() <= allowed:
        return ""
    at = np.unravel_index(np.argmax(apart), apart.shape)
    where = f" at {list(map(int, at))}" if at else ""
    return (
        f"differs by {apart[at]:.3g}{where} ({float(stored[at])!r} was stored, "
        f"{float(found[at])!r} found); {allowed:.3g} is allowed"
    )


def _shown(value):
    text = str(value)
    return text if len(text) < 80 else text[:77] + "..."
