"""`make mutants`: small changes to the code, and whether a test fails on each.

A number of random changes are made to the functions of src/suffice, one at a time, in a copy of
the tree. After each, the tests that enter the changed function are run until one fails. The share
of changes that were noticed (killed mutants, in the words of the field), and those that were not,
are printed and kept in mutants.json. Some of the latter change nothing, or speed alone: each has
to be looked at.

The kind of a change is drawn first, each as likely as the others, then its place. Kinds: another
comparison, arithmetic or boolean operator, a constant one larger or smaller, a negated condition,
a raise or a call left out, any for all and min for max, and a slice one shorter.

Which tests enter which function is measured once, by a run of all tests that notes lines, and kept
in .mutants until the code or a test changes. Of the tests that enter a function as many are run as
took --seconds together then, those that enter the fewest other functions first.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.mutants.changes import Change, changes_of
from benchmarks.mutants.entered import Entered, key_of
from benchmarks.mutants.pytest_run import load_libraries
from benchmarks.mutants.trial import Copy, Verdict

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "mutants.json"
KEPT = ROOT / ".mutants" / "entered.json"
CHANGES, SECONDS = 100, 30.0
# The most seconds of computing time for starting; tests that take this many times as long as before
# are taken for an endless loop.
START, PATIENCE = 60.0, 4.0


def draw_changes(root: Path, only: str, number: int, seed: int) -> list[Change]:
    """Return some of the changes to the files under a path, drawn at random."""
    places: dict[str, dict[tuple[str, int, int], list[Change]]] = defaultdict(dict)
    for path in sorted((root / "src" / "suffice").rglob("*.py")):
        if f"{path.relative_to(root).as_posix()}/".startswith(f"{only.rstrip('/')}/"):
            for change in changes_of(root, path):
                place = (change.path, change.start, change.end)
                places[change.kind].setdefault(place, []).append(change)
    rng = random.Random(seed)
    kinds = {kind: rng.sample(sorted(found), len(found)) for kind, found in sorted(places.items())}
    chosen: list[Change] = []
    while len(chosen) < number and any(kinds.values()):
        kind = rng.choice([kind for kind, left in kinds.items() if left])
        chosen.append(rng.choice(places[kind][kinds[kind].pop()]))
    return chosen


def entered_tests(copy: Copy, keep: bool) -> Entered:
    """Return which tests enter which function, measured if that is not known of this code."""
    key = key_of(ROOT)
    known = Entered.read(KEPT, None if keep else key)
    if known is None:
        print("Noting which tests enter which function: all tests are run once ...", flush=True)
        known = Entered.measure(copy.root)
        known.write(KEPT, key)
    return known


def affordable(entered: Entered, entering: Sequence[int], seconds: float) -> list[int]:
    """Return the first of some tests that take so long together; one at least."""
    chosen: list[int] = []
    for test in entering:
        if not chosen or entered.seconds[test] <= seconds:
            chosen.append(test)
            seconds -= entered.seconds[test]
    return chosen


def try_changes(
    copy: Copy, entered: Entered, there: set[str], changes: Sequence[Change], seconds: float
) -> Iterator[tuple[Change, Verdict]]:
    """Try changes one after the other."""
    for change in changes:
        entering = entered.of((change.path, change.function))
        chosen = affordable(entered, entering, seconds)
        tests = [entered.tests[test] for test in chosen if entered.tests[test] in there]
        limit = START + PATIENCE * sum(entered.seconds[test] for test in chosen)
        verdict = copy.try_change(change, tests, limit)
        if tests and not verdict.noticed:
            verdict = replace(verdict, by=f"{verdict.by} of {len(entering)} that enter it")
        yield change, verdict


def describe(change: Change, verdict: Verdict) -> str:
    """Return a change and its verdict in one line."""
    before, after = (" ".join(text.split())[:60] for text in (change.before, change.after))
    word = "noticed" if verdict.noticed else "NOT NOTICED"
    where = f"{change.path.removeprefix('src/suffice/')}:{change.line} {change.function}"
    return f"{word:<11} {where}: {change.kind}, {before!r} -> {after!r} ({verdict.by})"


def summary(results: Sequence[tuple[Change, Verdict]]) -> str:
    """Return the shares noticed, kind by kind and in all, and what was not noticed."""
    lines = [f"{'kind':<20} {'changes':>8} {'noticed':>8} {'share':>7}"]
    for kind in (*sorted({change.kind for change, _ in results}), "all"):
        mine = [verdict.noticed for change, verdict in results if kind in ("all", change.kind)]
        lines.append(f"{kind:<20} {len(mine):>8} {sum(mine):>8} {sum(mine) / len(mine):>7.1%}")
    missed = [describe(*result) for result in results if not result[1].noticed]
    return "\n".join([*lines, "", *missed])


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=0, help="of the changes that are drawn")
    parser.add_argument("--changes", type=int, default=CHANGES, help="how many (%(default)s)")
    parser.add_argument("--only", default="src/suffice", help="a folder or file to change")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="of tests for each change (%(default)s)"
    )
    parser.add_argument(
        "--keep-map",
        action="store_true",
        help="use the map of tests and functions that is there, though the code has changed",
    )
    return parser.parse_args()


def main() -> None:
    """Draw changes, try them, print and keep the results."""
    given = arguments()
    changes = draw_changes(ROOT, given.only, given.changes, given.seed)
    if not changes:
        raise SystemExit(f"There is nothing to change under {given.only}.")
    load_libraries()
    results: list[tuple[Change, Verdict]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy.of(ROOT, Path(folder))
        entered = entered_tests(copy, given.keep_map)
        there = copy.tests_there(entered.tests) if given.keep_map else set(entered.tests)
        for result in try_changes(copy, entered, there, changes, given.seconds):
            results.append(result)
            print(f"{len(results):>4} {describe(*result)}", flush=True)
    print("\n" + summary(results))
    content = {
        "seed": given.seed,
        "only": given.only,
        "seconds": given.seconds,
        "changes": len(results),
        "share_noticed": sum(verdict.noticed for _, verdict in results) / len(results),
        "results": [asdict(change) | asdict(verdict) for change, verdict in results],
    }
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
