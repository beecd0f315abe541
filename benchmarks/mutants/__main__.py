"""`make mutants`: small changes to the code, and whether tests notice them.

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
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.mutants.changes import Change, changes_of
from benchmarks.mutants.entered import KERNELS, Entered, key_of
from benchmarks.mutants.forked import load_libraries
from benchmarks.mutants.trial import Copy, Verdict

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "mutants.json"
KEPT = ROOT / ".mutants" / "entered.json"
CHANGES, SECONDS = 100, 30.0
# Seconds of computing time that starting takes at most, and compiling kernels anew; tests that take
# this many times as long as they did are taken for an endless loop.
START, COMPILE, PATIENCE = 60.0, 240.0, 4.0
NOT_ENTERED = "no test enters the function"


def drawn(root: Path, only: str, number: int, seed: int) -> list[Change]:
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
    known = Entered.kept(KEPT, None if keep else key)
    if known is None:
        print("Noting which tests enter which function: all tests are run once ...", flush=True)
        known = Entered.measured(copy.root)
        known.saved(KEPT, key)
    return known


def affordable(entered: Entered, change: Change, seconds: float) -> tuple[list[int], int]:
    """Return the tests to run, and how many enter the function."""
    entering = entered.of((change.path, change.function))
    chosen: list[int] = []
    for test in entering:
        if not chosen or entered.seconds[test] <= seconds:
            chosen.append(test)
            seconds -= entered.seconds[test]
    return chosen, len(entering)


def described(change: Change) -> str:
    """Return a change in one line."""
    before, after = (" ".join(text.split())[:60] for text in (change.before, change.after))
    where = f"{change.path.removeprefix('src/suffice/')}:{change.line}"
    return f"{where} {change.function}  [{change.kind}]  {before or '(nothing)'} -> {after}"


def summary(results: Sequence[dict[str, Any]]) -> str:
    """Return the shares noticed, kind by kind and in all, and what was not noticed."""
    lines = [f"{'kind':<20} {'changes':>8} {'noticed':>8} {'share':>7}"]
    kinds = sorted({result["kind"] for result in results})
    for kind in (*kinds, "all"):
        mine = [result["noticed"] for result in results if kind in ("all", result["kind"])]
        lines.append(f"{kind:<20} {len(mine):>8} {sum(mine):>8} {sum(mine) / len(mine):>7.1%}")
    unnoticed = [result for result in results if not result["noticed"]]
    lines += ["", "Not noticed:", *(f"  {r['told']}  ({r['by']})" for r in unnoticed)]
    return "\n".join(lines)


def main() -> None:
    """Draw changes, try them, print and keep what came of it."""
    parser = argparse.ArgumentParser("python -m benchmarks.mutants", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
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
    given = parser.parse_args()
    changes = drawn(ROOT, given.only, given.changes, given.seed)
    if not changes:
        raise SystemExit(f"There is nothing to change under {given.only}.")
    load_libraries()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy.of(ROOT, Path(folder))
        entered = entered_tests(copy, given.keep_map)
        there = copy.tests_there(entered.tests) if given.keep_map else set(entered.tests)
        for number, change in enumerate(changes, 1):
            chosen, entering = affordable(entered, change, given.seconds)
            tests = [entered.tests[test] for test in chosen if entered.tests[test] in there]
            limit = START + PATIENCE * sum(entered.seconds[test] for test in chosen)
            limit += COMPILE if change.path.startswith(KERNELS) else 0.0
            start = time.perf_counter()
            verdict = copy.tried(change, tests, limit) if tests else Verdict(False, NOT_ENTERED)
            by = verdict.by or f"{len(tests)} of {entering} tests that enter the function"
            told = described(change)
            word = "noticed" if verdict.noticed else "NOT NOTICED"
            print(f"{number:>4} {word:<11} {told}  ({by})", flush=True)
            results.append(
                {
                    **asdict(change),
                    "told": told,
                    "noticed": verdict.noticed,
                    "by": by,
                    "seconds": round(time.perf_counter() - start, 1),
                }
            )
    print("\n" + summary(results))
    share = sum(result["noticed"] for result in results) / len(results)
    settings = {"seed": given.seed, "only": given.only, "seconds": given.seconds}
    content = {**settings, "changes": len(results), "share_noticed": share, "results": results}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
