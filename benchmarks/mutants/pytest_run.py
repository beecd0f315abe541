"""Run pytest in a process of its own, with libraries loaded, and record the lines of each test.

Starting Python and loading libraries takes longer than most tests, and libraries never change.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coverage
import pytest

# Not hypothesis: pytest wants to be the first to import its plugins. Nor polars, whose threads
# would stay behind.
LOADED = (
    "matplotlib.pyplot",
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
    # One thread, as in the tests (tests/conftest.py).
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
        # What finds an editable installation would lead to the tree that was copied.
        sys.meta_path[:] = [one for one in sys.meta_path if "ScikitBuild" not in type(one).__name__]
        # Nothing that a changed file is compiled to outlives the change.
        sys.dont_write_bytecode = True
        import pytest

        code = int(pytest.main(arguments, [plugin()] if plugin is not None else []))
    finally:
        sys.stdout.flush()
        os._exit(code)


NOBODY = "nobody"


class Recorder:
    """Runs coverage with one context for each test, fixture and file.

    Parameters
    ----------
    answers : the file that is written at the end; coverage's own is beside it
    source : the folder whose lines are noted
    """

    def __init__(self, answers: Path, source: Path) -> None:
        self.answers = answers
        self.coverage = coverage.Coverage(
            data_file=str(answers.with_suffix(".coverage")), source=[str(source)], config_file=False
        )
        self.tests: dict[str, dict[str, Any]] = {}
        self.now = NOBODY
        self.coverage.start()

    def switch(self, context: str) -> str:
        """Note from now on for `context`; return whom was noted for before."""
        before, self.now = self.now, context
        self.coverage.switch_context(context)
        return before

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
        """Note what the import of a test file does."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        before = self.switch(f"file:{collector.nodeid}")
        report = yield
        self.switch(before)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Note what a fixture does that several tests share."""
        if fixturedef.scope == "function":
            return (yield)
        before = self.switch(f"fixture:{fixturedef.baseid}::{fixturedef.argname}")
        try:
            return (yield)
        finally:
            self.switch(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Note what a test does, and the fixtures that it may share."""
        file = item.nodeid.split("::")[0]
        places = {"", "tests", file}
        fixtures = [
            f"fixture:{place}::{name}"
            for name in getattr(item, "fixturenames", ())
            for place in sorted(places)
        ]
        self.tests[item.nodeid] = {"seconds": 0.0, "failed": False, "shares": fixtures}
        before = self.switch(f"test:{item.nodeid}")
        start = time.process_time()
        answer = yield
        self.tests[item.nodeid]["seconds"] = time.process_time() - start
        self.switch(before)
        return answer

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether a test failed."""
        self.tests[report.nodeid]["failed"] |= report.outcome != "passed"

    def pytest_sessionfinish(self) -> None:
        """Write the answers."""
        self.coverage.stop()
        self.coverage.save()
        self.answers.write_text(json.dumps(self.tests), encoding="utf-8")
