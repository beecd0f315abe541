"""Blocks of every family with rows to learn from: gaps, weights, a class of one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.data import Table
from suffice.families import Family, Posterior, family_of

EVERYONE = np.empty(0)
CLASSES = 3


def rows(seed: int = 0, size: int = 60) -> tuple[Table, np.ndarray]:
    """Return a table of columns of every kind, most with gaps, and the classes of its rows."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([[2], rng.integers(0, 2, size - 1)]).astype(np.int32)

    def gappy(values: np.ndarray, part: float = 0.15) -> pa.Array:
        return pa.array(values.tolist(), mask=rng.random(size) < part)

    x = rng.normal(3.0 * codes, 1.0 + codes)
    colours = np.array(["red", "green", "blue", "grey"])
    columns = {
        "x": gappy(x),
        "z": gappy(x + rng.normal(size=size), 0.1),
        "u": gappy(rng.normal(size=size) * 100.0, 0.05),
        "money": gappy(np.exp(x / 3)),
        "calls": gappy(rng.poisson(2.0 + 3.0 * codes)),
        "rooms": gappy(rng.integers(1, 6, size) * 2),
        "colour": gappy(colours[np.minimum(rng.integers(0, 4, size), codes + 2)]),
        "shape": gappy(np.array(["round", "flat"])[rng.integers(0, 2, size)]),
        "paid": gappy(rng.random(size) < 0.3 + 0.2 * codes),
        "long": rng.normal(codes, 1.0),
        "wide": x + rng.normal(size=size),
    }
    return Table.of(pa.table(columns)), codes


BLOCKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "normal": ("normal", ("x",)),
    "tied": ("normal:tied", ("x",)),
    "lognormal": ("lognormal", ("money",)),
    "tied lognormal": ("lognormal:tied", ("money",)),
    "student": ("student", ("x",)),
    "binned": ("binned", ("x",)),
    "poisson": ("poisson", ("calls",)),
    "bernoulli": ("bernoulli", ("paid",)),
    "category": ("categorical", ("colour",)),
    "numbered levels": ("categorical", ("rooms",)),
    "joint": ("joint", ("colour", "shape")),
    "joint of numbers": ("joint", ("rooms", "paid", "colour")),
    "mvn": ("mvn", ("x", "z", "u")),
    "tied mvn": ("mvn:tied", ("x", "z")),
    "mvn of whole rows": ("mvn", ("long", "wide")),
    "tied mvn of whole rows": ("mvn:tied", ("long", "wide")),
}


@dataclass
class Learned:
    """A family with its tally and reading, and what they were made from."""

    table: Table
    codes: np.ndarray
    weights: np.ndarray
    family: Family[Any]
    tally: Any
    reading: Posterior[Any]

    def count(self, some: np.ndarray) -> Any:
        """Return the tally of some rows only, counted from them alone."""
        weights = self.weights[some] if self.weights.size else EVERYONE
        return self.family.count(self.table.take(some), self.codes[some], CLASSES, weights)


def learned(case: str, weights: np.ndarray = EVERYONE, seed: int = 0) -> Learned:
    """Return a block that has learned its rows."""
    table, codes = rows(seed)
    family = family_of(*BLOCKS[case]).fit_settings(table, codes, CLASSES, weights)
    tally = family.count(table, codes, CLASSES, weights)
    return Learned(table, codes, weights, family, tally, family.posterior(tally))


def seen_of(table: Table, family: Family[Any]) -> np.ndarray:
    """Return which rows show all columns of a block."""
    return ~np.any([table[name].missing for name in family.columns], axis=0)
