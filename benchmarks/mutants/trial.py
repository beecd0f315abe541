"""A copy of the tree in which one change at a time is made and tested."""

from __future__ import annotations

import os
import shutil
import signal
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutants.changes import Change
from benchmarks.mutants.pytest_run import run_pytest

LEFT_BEHIND = (".git", ".venv", ".mutants", ".hypothesis", ".*_cache", "pictures", "build", "dist")
# pytest's answers: nothing failed; a test did, a file could not be imported, or a test is gone.
PASSED, FAILED = 0, (1, 2, 4)
QUIETLY = ["-q", "--no-header"]
COLLECTING = 600.0
# Run at the start of every process: an editable installation would lead to the tree itself.
USE_COPY = """
import sys

sys.meta_path[:] = [one for one in sys.meta_path if "ScikitBuild" not in type(one).__name__]
"""


@dataclass(frozen=True)
class Verdict:
    """Whether the tests noticed a change: which failed, or how many did not."""

    noticed: bool
    by: str


@dataclass(frozen=True)
class Copy:
    """A copy of the tree. The tree itself is only read."""

    root: Path

    @classmethod
    def of(cls, tree: Path, folder: Path) -> Copy:
        """Copy a tree, and the compiled core; times of files are kept."""
        root = folder.resolve() / "tree"
        shutil.copytree(tree, root, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
        # Not imported here: processes that are to use the copy are forked from this one.
        for core in Path(sysconfig.get_path("platlib"), "suffice").glob("_core.*"):
            shutil.copy2(core, root / "src" / "suffice" / core.name)
        (root / "sitecustomize.py").write_text(USE_COPY)
        return cls(root)

    def tests_there(self, tests: list[str]) -> set[str]:
        """Return the tests, of some, that exist."""
        ended = run_pytest(self.root, [*QUIETLY, "--collect-only"], COLLECTING)
        return set(tests) & set(ended.output.splitlines())

    def try_change(self, change: Change, tests: list[str], seconds: float) -> Verdict:
        """Make a change, run tests until one fails, and undo the change."""
        if not tests:
            return Verdict(False, "no test enters the function")
        with self._changed(change):
            ended = run_pytest(self.root, [*QUIETLY, "-x", *tests], seconds)
        if ended.code == PASSED:
            return Verdict(False, f"{len(tests)} tests")
        failed = [
            line for line in ended.output.splitlines() if line.startswith(("FAILED", "ERROR"))
        ]
        if ended.code in FAILED and failed:
            return Verdict(True, failed[0].split(" - ")[0])
        if ended.code == -signal.SIGXCPU:
            return Verdict(True, f"no end after {seconds:.0f} s")
        if ended.code < 0:
            return Verdict(True, f"the process died of {signal.Signals(-ended.code).name}")
        raise SystemExit(f"pytest ended with {ended.code}:\n{ended.output[-2000:]}")

    @contextmanager
    def _changed(self, change: Change) -> Iterator[None]:
        path = self.root / change.path
        source, known = path.read_bytes(), path.stat()
        path.write_bytes(change.apply(source))
        try:
            yield
        finally:
            path.write_bytes(source)
            # With its old time, whatever was compiled from the file before is valid again.
            os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
