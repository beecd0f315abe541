"""Orders of a shop that does not exist: a table of mixed columns with missing values.

Every row is made up: drawn by rules that were written for this demo, with a fixed seed. What a
model reaches on them says nothing of what it reaches on the orders of any real shop.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

ROWS = 600
YEAR = 2025
# The share of cells that nobody filled in, by column.
MISSING = {"price": 0.1, "ordered": 0.05, "member": 0.2, "note": 0.4}

Order = dict[str, Any]


class Goods(NamedTuple):
    """A kind of goods: its usual price, what it adds to the log-odds of a return, and names."""

    price: float
    log_odds: float
    names: tuple[str, ...]


GOODS = {
    "shoes": Goods(70.0, 0.9, ("boots", "sandals", "trainers", "slippers", "walking shoes")),
    "coats": Goods(120.0, 0.5, ("raincoat", "winter coat", "jacket", "parka", "anorak")),
    "books": Goods(18.0, -1.5, ("atlas", "cookbook", "novel", "dictionary", "poems")),
    "lamps": Goods(45.0, -0.5, ("desk lamp", "floor lamp", "reading lamp", "lantern")),
}


class Reason(NamedTuple):
    """Why somebody orders: what it adds to the log-odds of a return, and what a note may say."""

    log_odds: float
    openings: tuple[str, ...]
    endings: tuple[str, ...]


UNSURE = Reason(
    1.8,
    (
        "not sure about the {}",
        "maybe the {}, maybe something else",
        "two kinds of {} please, one of them goes back",
        "first time that I order {} unseen",
        "would like to try the {} at home",
    ),
    (
        "I hope the colour is right",
        "I will decide when I see it",
        "the last one was too small",
        "can it be sent back",
    ),
)
PRESENT = Reason(
    -0.3,
    (
        "the {}, as a present for my sister",
        "please wrap the {}, it is a present",
        "my nephew wants the {} for his birthday",
        "no bill in the box with the {} please",
    ),
    ("it is a surprise", "the party is on Sunday", "with best wishes", "and a card please"),
)
AGAIN = Reason(
    -1.5,
    (
        "the same {} as last year",
        "my old {} broke, exactly this one again",
        "another {}, very happy with the first",
        "the {} that my neighbour has",
    ),
    ("no hurry", "please leave it next door", "thank you", "as always"),
)
REASONS = (UNSURE, PRESENT, AGAIN)


def draw_orders(rows: int = ROWS, seed: int = 0) -> tuple[list[Order], list[str]]:
    """Draw orders with cells missing at random, and whether each was kept or returned."""
    rng = np.random.default_rng(seed)
    drawn = [_draw_order(rng) for _ in range(rows)]
    return [order for order, _ in drawn], [outcome for _, outcome in drawn]


def _draw_order(rng: np.random.Generator) -> tuple[Order, str]:
    name = str(rng.choice(list(GOODS), p=[0.3, 0.2, 0.3, 0.2]))
    goods = GOODS[name]
    reason = REASONS[rng.choice(len(REASONS), p=[0.3, 0.3, 0.4])]
    dearness = rng.normal(0.0, 0.4)
    day = date(YEAR, 1, 1) + timedelta(days=int(rng.integers(365)))
    member = bool(rng.random() < 0.5)
    opening = str(rng.choice(reason.openings)).format(rng.choice(goods.names))
    order = {
        "goods": name,
        "price": round(float(goods.price * np.exp(dearness)), 2),
        "pieces": 1 + int(rng.poisson(1.5 if reason is UNSURE else 0.4)),
        "ordered": day,
        "member": member,
        "note": f"{opening}, {rng.choice(reason.endings)}",
    }
    log_odds = -0.7 + goods.log_odds + reason.log_odds + dearness - 0.8 * member
    if day.month == 12:  # presents that come back
        log_odds += 1.5
    for column, share in MISSING.items():
        if rng.random() < share:
            order[column] = None
    return order, "returned" if rng.random() < expit(log_odds) else "kept"
