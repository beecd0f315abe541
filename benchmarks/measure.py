"""Best times of several runs, taken in turn, and peaks of extra memory."""

from __future__ import annotations

import ctypes
import gc
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Work = Callable[[], Any]
# What takes longer, in seconds, is run once; the table says so.
LONG = 10.0


@dataclass(frozen=True)
class Result:
    """One line of the table."""

    work: str
    seconds: float
    peer_seconds: float
    peer: str
    ratio: float
    at_least: float
    extra_megabytes: float | None
    once: bool = False
    """whether the peer was run once, because it takes long"""

    @property
    def met(self) -> bool:
        """Whether the ratio was reached."""
        return self.ratio >= self.at_least

    def as_json(self) -> dict[str, Any]:
        """Return the line as plain values."""
        return {**asdict(self), "met": self.met}


def in_turn(
    ours: Work, theirs: Work, *, rounds: int, peer_rounds: int, peer_best: float = float("inf")
) -> tuple[float, float]:
    """Return the best time of each; they take turns, so that both meet the same load.

    `peer_best` is the time of a run of the peer that was made before, if there is one. Whoever
    takes LONG is not run again.
    """
    best = warm_up if (warm_up := seconds(ours)) > LONG else float("inf")
    for turn in range(max(rounds, peer_rounds)):
        if turn < peer_rounds and not LONG < peer_best < float("inf"):
            peer_best = min(peer_best, seconds(theirs))
        if turn < rounds and not LONG < best < float("inf"):
            best = min(best, seconds(ours))
    return best, peer_best


def seconds(work: Work) -> float:
    """Return how long `work` takes."""
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        work()
        return time.perf_counter() - start


def extra_megabytes(work: Work, kept: Callable[[Any], int]) -> float | None:
    """Return the peak memory of `work` beyond the memory in use before, and beyond its result.

    None except on Linux, which reports the peak of resident memory and lets it be reset.
    """
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not reset.exists():
        return None
    work()  # so that libraries are loaded
    gc.collect()
    _give_back()
    before = _resident(status, "VmRSS")
    reset.write_text("5")
    answer = work()
    peak = _resident(status, "VmHWM") - before
    return max(0.0, peak - kept(answer) / 1e6)


def _give_back() -> None:
    """Return freed pages to the system; reused, they would hide what `work` allocates."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _resident(status: Path, field: str) -> float:
    for line in status.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError(f"{status} has no {field}")


def model_bytes(model: Any) -> int:
    """Return the size of a fitted model's arrays, each counted once."""
    import numpy as np

    seen: dict[int, int] = {}

    def visit(value: Any) -> None:
        if isinstance(value, np.ndarray):
            owner = value
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            seen[id(owner)] = owner.nbytes
        elif isinstance(value, (list, tuple)):
            for item in value:
                visit(item)
        elif hasattr(value, "__dict__"):
            for item in vars(value).values():
                visit(item)

    visit(model)
    return sum(seen.values())


def line(
    work: str,
    ours: Any,
    theirs: Any,
    at_least: float,
    *,
    peer: str = "scikit-learn",
    rounds: int = 5,
    peer_rounds: int = 3,
    memory: bool = False,
    peer_best: float = float("inf"),
) -> Result:
    """Measure one line of the table."""
    best, peer_best = in_turn(
        ours, theirs, rounds=rounds, peer_rounds=peer_rounds, peer_best=peer_best
    )
    extra = extra_megabytes(ours, model_bytes) if memory else None
    ratio, once = peer_best / best, peer_best > LONG
    return Result(work, best, peer_best, peer, ratio, at_least, extra, once)
