"""What the demo shows, in this order."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.table import Table

from suffice.demo import contests, honesty, powers, table, text


class Section(NamedTuple):
    """Parts of the demo that belong together, and what they show."""

    title: str
    about: str
    parts: tuple[Callable[[], Table], ...]


SECTIONS = (
    Section(
        "A table with missing values: GenerativeClassifier",
        "Mixed columns in, calibrated probabilities and reasons out.",
        (table.a_look, table.choices, table.reasons, table.learned_and_forgotten),
    ),
    Section(
        "Messages: TextClassifier",
        "Documents in, labels out; it is corrected, and forgets, one message at a time.",
        (text.sorting, text.reasons, text.learned_and_forgotten),
    ),
    Section(
        "The classes that scikit-learn has",
        "The same names and results, on data that ships with scikit-learn.",
        (contests.side_by_side, contests.timings),
    ),
    Section(
        "And what they can do beyond that",
        "Merge, forget, new classes, missing values, costs, scales.",
        (powers.arithmetic, powers.missing_values, powers.decisions, powers.scales),
    ),
    Section(
        "How far a model can be trusted",
        "Evidence, calibration and intervals, each compared with rows that were not learned.",
        (honesty.evidence, honesty.calibration, honesty.regression),
    ),
)
