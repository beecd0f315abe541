"""A plugin of pytest's: which lines each test runs, and how much computing time it takes.

What a fixture of a module does is noted for the fixture, and what a test file does when it is
imported for the file: all tests that use them depend on it, not only the first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import pytest

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
