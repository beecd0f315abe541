"""Which tests enter which function: from one run of all tests, kept for the next time."""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

from benchmarks.mutants.changes import scopes
from benchmarks.mutants.pytest_run import Recorder, run_pytest

# Computing time that all tests may take.
ALL_TESTS = 4 * 3600.0
# A function: the path of its file from the root, and its name.
Function = tuple[str, str]


@dataclass(frozen=True)
class Entered:
    """The tests that enter each function.

    Parameters
    ----------
    tests : ids of all tests that pass on the code as it is
    seconds : of computing time that each took while lines were noted
    functions : of each function that a test enters, the numbers of the tests
    """

    tests: list[str]
    seconds: list[float]
    functions: dict[Function, list[int]]

    def of(self, function: Function) -> list[int]:
        """Return the tests that enter a function, those that enter the fewest others first.

        One case of each test comes before a second case of any.
        """
        found = self.functions.get(function, [])
        sizes = self._sizes
        cases: dict[str, list[int]] = defaultdict(list)
        for number in sorted(found, key=lambda at: (sizes[at], self.tests[at])):
            cases[self.tests[number].partition("[")[0]].append(number)
        order = sorted(cases.values(), key=lambda numbers: sizes[numbers[0]])
        turns = max(map(len, order), default=0)
        return [numbers[turn] for turn in range(turns) for numbers in order if turn < len(numbers)]

    @cached_property
    def _sizes(self) -> list[int]:
        """How many functions each test enters."""
        sizes = [0] * len(self.tests)
        for numbers in self.functions.values():
            for number in numbers:
                sizes[number] += 1
        return sizes

    def write(self, path: Path, key: str) -> None:
        """Write it to a file."""
        path.parent.mkdir(exist_ok=True)
        functions = [[*function, numbers] for function, numbers in self.functions.items()]
        content = {"key": key, "tests": self.tests, "seconds": self.seconds, "functions": functions}
        path.write_text(json.dumps(content), encoding="utf-8")

    @classmethod
    def read(cls, path: Path, key: str | None) -> Entered | None:
        """Read it from a file; None if there is none, or if it is of other code than `key`."""
        if not path.exists():
            return None
        content = json.loads(path.read_text(encoding="utf-8"))
        if key is not None and content["key"] != key:
            return None
        functions = {(file, name): numbers for file, name, numbers in content["functions"]}
        return cls(content["tests"], content["seconds"], functions)

    @classmethod
    def measure(cls, root: Path) -> Entered:
        """Run all tests of a tree and note the lines that each runs."""
        answers = root / "entered.json"
        ended = run_pytest(root, ["-q"], ALL_TESTS, lambda: Recorder(answers, root / "src"))
        if not answers.exists():
            raise SystemExit(f"The tests could not be run:\n{ended.output[-2000:]}")
        noted = json.loads(answers.read_text(encoding="utf-8"))
        tests = sorted(test for test, known in noted.items() if not known["failed"])
        whose: dict[str, list[int]] = defaultdict(list)
        for number, test in enumerate(tests):
            shared = (f"test:{test}", f"file:{test.split('::')[0]}", *noted[test]["shares"])
            for context in shared:
                whose[context].append(number)
        lines = _lines(root, answers.with_suffix(".coverage"), whose)
        functions = _functions(root, lines)
        seconds = [round(noted[test]["seconds"], 4) for test in tests]
        return cls(
            tests, seconds, {key: sorted(found) for key, found in functions.items() if found}
        )


def key_of(root: Path) -> str:
    """Return a hash of the code and the tests."""
    digest = hashlib.sha256()
    for path in sorted([*root.glob("src/**/*.py"), *root.glob("tests/**/*.py")]):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


# Lines, and the tests that run them, file by file.
Lines = dict[str, dict[int, set[int]]]


def _lines(root: Path, data_file: Path, whose: dict[str, list[int]]) -> Lines:
    data = CoverageData(str(data_file))
    data.read()
    found: Lines = {}
    for name in data.measured_files():
        path = os.path.relpath(name, root).replace(os.sep, "/")
        found[path] = {
            line: {test for context in contexts for test in whose.get(context, ())}
            for line, contexts in data.contexts_by_lineno(name).items()
        }
    return found


def _functions(root: Path, lines: Lines) -> dict[Function, set[int]]:
    """Return the tests that run a line of each function."""
    found: dict[Function, set[int]] = defaultdict(set)
    for file in sorted(root.glob("src/**/*.py")):
        path = file.relative_to(root).as_posix()
        owner: dict[int, Function] = {}
        for name, node in scopes(ast.parse(file.read_bytes())):  # inner functions come last
            for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1):
                owner[line] = path, name
        for line, who in lines.get(path, {}).items():
            if line in owner:
                found[owner[line]] |= who
    return found
