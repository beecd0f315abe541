"""The report of a model, which is made by a package above all estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suffice._lazy import load_at_first_use

# The page knows every kind of model, and is loaded when the first report is asked for.
_load = load_at_first_use("suffice.report", {"write_report": "page"})


def report_writer() -> Callable[..., Any]:
    """Return `suffice.report.write_report`."""
    found: Callable[..., Any] = _load("write_report")
    return found
