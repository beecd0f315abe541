"""A copy of the tree in which one change at a time is made and tested."""

from __future__ import annotations

import ast
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutants.changes import Change
from benchmarks.mutants.entered import KERNELS
from benchmarks.mutants.pytest_run import run_pytest

LEFT_BEHIND = (".git", ".venv", ".mutants", ".hypothesis", ".*_cache", "pictures", "build", "dist")
# pytest's answers: nothing failed; a test did, a file could not be imported, or a test is gone.
PASSED, FAILED = 0, (1, 2, 4)
QUIETLY = ["-q", "--no-header"]
COLLECTING = 600.0


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
        """Copy a tree, with what has been compiled of it: times of files are kept."""
        root = folder.resolve() / "tree"
        shutil.copytree(tree, root, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
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
        stale = self._stale_kernels(path)
        aside = self.root.parent / "compiled"
        for file in self._compiled(stale):
            (aside / file.relative_to(self.root)).parent.mkdir(parents=True, exist_ok=True)
            file.rename(aside / file.relative_to(self.root))
        path.write_bytes(change.apply(source))
        try:
            yield
        finally:
            path.write_bytes(source)
            # With its old time, whatever was compiled from the file before is valid again.
            os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
            for file in self._compiled(stale):
                file.unlink()
            for file in [file for file in aside.rglob("*") if file.is_file()]:
                file.rename(self.root / file.relative_to(aside))
            shutil.rmtree(aside, ignore_errors=True)

    def _compiled(self, sources: set[Path]) -> list[Path]:
        """Return the files in which numba keeps what it has compiled from some kernels."""
        kept = (self.root / KERNELS).rglob("__pycache__/*.nb[ci]")
        return [
            file for file in kept if file.parents[1] / f"{file.name.split('.')[0]}.py" in sources
        ]

    def _stale_kernels(self, changed: Path) -> set[Path]:
        """Return the files of kernels that a change to a file makes stale.

        numba sees that a file has changed, but not that a kernel which another one calls has: all
        files that import from the changed one, or from one that does, are compiled again too.
        """
        folder = self.root / KERNELS
        if not changed.is_relative_to(folder):
            return set()
        imports = {file: _imported(self.root, file) for file in folder.rglob("*.py")}
        stale: set[Path] = set()
        waiting = [changed]
        while waiting:
            file = waiting.pop()
            if file not in stale:
                stale.add(file)
                waiting += [other for other, files in imports.items() if file in files]
        return stale


def _imported(root: Path, path: Path) -> set[Path]:
    """Return the files of kernels that a file imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("suffice.kernels"):
            module = root / "src" / str(node.module).replace(".", "/")
            found |= {module.with_suffix(".py"), *(module / f"{a.name}.py" for a in node.names)}
    return found
