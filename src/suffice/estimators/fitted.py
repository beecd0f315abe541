"""All that an estimator has learned is one value, `_fitted`: read once, replaced by one assignment.

So a call that fails changes nothing, and a prediction beside a thread that learns is made by the
old model or by the new one.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from sklearn.utils.validation import check_is_fitted

E = TypeVar("E")
F = TypeVar("F")


class HasFitted(Protocol[F]):
    """An estimator that keeps what it has learned in `_fitted`."""

    _fitted: F


def keep_fitted(estimator: E, fitted: Any) -> E:
    """Replace what an estimator has learned, and return it: the last act of whatever learns."""
    # One line, so that an interruption comes before all of it or after: nothing is half done.
    return estimator.__dict__.update(_fitted=fitted) or estimator


def check_fitted(estimator: HasFitted[F]) -> F:
    """Return what was learned, or raise NotFittedError."""
    if "_fitted" not in vars(estimator):
        check_is_fitted(estimator)
    return estimator._fitted


def fitted_for(estimator: HasFitted[F], attribute: str) -> F:
    """Return what was learned for an attribute, or raise AttributeError as if there was none."""
    if "_fitted" not in vars(estimator):
        raise no_attribute(estimator, attribute)
    return estimator._fitted


def no_attribute(estimator: Any, attribute: str) -> AttributeError:
    """Return the error of an attribute that is not there yet."""
    return AttributeError(f"{type(estimator).__name__!r} object has no attribute {attribute!r} yet")
