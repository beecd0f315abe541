"""pytest in a process of its own that has other people's libraries loaded already.

Starting Python and loading them takes longer than most tests do, and they never change.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Not hypothesis: pytest wants to be the first to import its plugins. Nor polars, whose threads
# would stay behind.
LOADED = (
    "matplotlib.pyplot",
    "numba",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "rich.console",
    "rich.table",
    "safetensors.numpy",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
    "sklearn.covariance",
    "sklearn.datasets",
    "sklearn.discriminant_analysis",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.naive_bayes",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.utils.estimator_checks",
    "statsmodels.api",
)
# Real time that may pass for a second of computing time: others may be using the machine.
WAITING = 20.0
LOOKING = 0.05


@dataclass(frozen=True)
class Ended:
    """How a run of pytest ended: its exit code, minus a signal if one ended it, and its output."""

    code: int
    output: str


def load_libraries() -> None:
    """Load what tests need beside our own package, once for all runs."""
    # Kernels are kept beside their files; and one thread, as in the tests (tests/conftest.py).
    os.environ.pop("NUMBA_CACHE_DIR", None)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["MPLBACKEND"] = "agg"
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def run_pytest(
    root: Path, arguments: list[str], seconds: float, plugin: Callable[[], object] | None = None
) -> Ended:
    """Run pytest in a tree for at most so many seconds of computing time.

    A plugin is made in the new process, before anything of ours is imported there.
    """
    output = root.parent / "output.txt"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _become_pytest(root, arguments, seconds, output, plugin)
    deadline = time.monotonic() + WAITING * seconds
    try:
        done, status = os.waitpid(child, os.WNOHANG)
        while not done:
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGXCPU)
            time.sleep(LOOKING)
            done, status = os.waitpid(child, os.WNOHANG)
    except BaseException:
        os.killpg(child, signal.SIGKILL)
        raise
    return Ended(os.waitstatus_to_exitcode(status), output.read_text(errors="replace"))


def _become_pytest(
    root: Path,
    arguments: list[str],
    seconds: float,
    output: Path,
    plugin: Callable[[], object] | None,
) -> None:
    """Run pytest and end the process with its answer."""
    code = 3
    try:
        os.setsid()
        log = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 10))
        os.chdir(root)
        paths = [str(root / "src"), str(root)]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        sys.path[:0] = paths
        # Nothing that a changed file is compiled to outlives the change.
        sys.dont_write_bytecode = True
        import pytest

        code = int(pytest.main(arguments, [plugin()] if plugin is not None else []))
    finally:
        sys.stdout.flush()
        os._exit(code)
