"""How far a pass over a source has come, on one line of the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Self

Shown = bool | Callable[[str], None]

# Seconds between two lines, and before the first: short work says nothing.
PAUSE = 0.5


class Progress:
    """Writes rows, rows a second and, where the number of rows is known, the share, to stderr.

    Parameters
    ----------
    shown : bool, or a function that is given each line in place of stderr
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._what = ""
        self._total: int | None = None
        self._rows = 0
        self._began = self._last = time.monotonic()
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            print(file=sys.stderr)

    def begin(self, what: str, total: int | None = None) -> None:
        """Say what is done from now on, and to how many rows."""
        self._what, self._total, self._rows = what, total, 0
        self._began = time.monotonic()

    def add(self, rows: int) -> None:
        """Note that so many rows more are done."""
        self._rows += rows
        now = time.monotonic()
        if self._shown and now - self._last >= PAUSE:
            self._last = now
            self._write(now - self._began)

    def _write(self, seconds: float) -> None:
        share = "" if not self._total else f", {self._rows / self._total:.0%}"
        rate = self._rows / max(seconds, 1e-9)
        line = f"{self._what}: {self._rows:,} rows, {rate:,.0f} rows/s{share}"
        if callable(self._shown):
            self._shown(line)
            return
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)
