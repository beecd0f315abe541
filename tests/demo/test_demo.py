"""The demo shows what it finds on this machine, part by part, with base dependencies alone."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from suffice.demo import __main__ as demo
from suffice.demo import contests, made_up_messages, made_up_orders, powers, sections, table, text
from suffice.demo.parts import contributions, difference
from suffice.scoring.explanation import Explanation

PARTS = [part for section in sections.SECTIONS for part in section.parts]

# The demo in a process that finds nothing of what only extras install.
BARE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("matplotlib", "pandas", "polars", "pytest", "statsmodels"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from suffice.demo import __main__, contests
contests.DRAWN_ROWS = 2_000
__main__.main()
"""


def cells(shown, column):
    return [str(cell) for cell in shown.columns[column].cells]


@pytest.fixture(scope="module")
def bare():
    """Return what the demo does on a wide terminal where no extra is installed."""
    settings = {**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", BARE], env=settings, capture_output=True, encoding="utf-8"
    )


@pytest.mark.slow
def test_the_demo_runs_without_a_warning_where_no_extra_is_installed(bare):
    assert bare.stderr == ""
    assert bare.returncode == 0


def test_everything_is_printed_with_its_title_and_caption_within_80_columns(bare):
    lines = bare.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for section in sections.SECTIONS:
        assert section.title in bare.stdout
    for part in (table.choices, text.sorting, powers.missing_values):
        shown = part()
        assert shown.title in lines
        assert " ".join((shown.caption or "").split()) in " ".join(bare.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.__module__}.{part.__name__}")
def test_a_part_is_a_table_with_something_in_every_row(part, monkeypatch):
    monkeypatch.setattr(contests, "DRAWN_ROWS", 2_000)
    shown = part()
    assert shown.title
    assert shown.row_count > 1
    for column in range(2):
        assert all(cells(shown, column))


def test_nothing_that_is_printed_is_lost_as_markup(capsys):
    shown = text.learned_and_forgotten()
    demo.show(shown, Console(width=80))
    assert 'model.partial_fit([this], ["payment"])' in capsys.readouterr().out


def test_the_orders_are_of_every_kind_of_column_with_missing_values_and_are_the_same_every_time():
    orders, outcomes = made_up_orders.draw_orders()
    assert (orders, outcomes) == made_up_orders.draw_orders()
    assert set(outcomes) == {"kept", "returned"}
    kinds = {
        column: {type(order[column]).__name__ for order in orders} - {"NoneType"}
        for column in orders[0]
    }
    assert kinds == {
        "goods": {"str"},
        "price": {"float"},
        "pieces": {"int"},
        "ordered": {"date"},
        "member": {"bool"},
        "note": {"str"},
    }
    missing = {c for c in orders[0] if any(order[c] is None for order in orders)}
    assert missing == set(made_up_orders.MISSING)


def test_the_messages_are_sixty_or_more_and_none_is_there_twice():
    learned = [message for desk in made_up_messages.LEARNED.values() for message in desk]
    new = [*(message for message, _ in made_up_messages.NEW), made_up_messages.SIMILAR]
    assert len(learned) >= 60
    assert len(set(learned + new)) == len(learned + new)
    assert {desk for _, desk in made_up_messages.NEW} == set(made_up_messages.LEARNED)


def test_data_made_up_for_the_demo_is_said_to_be():
    for module in (made_up_orders, made_up_messages):
        assert "made up" in module.__doc__
    assert "made up for this demo" in table.a_look().title
    assert "written for this demo" in text.sorting().title


def test_the_model_of_the_orders_is_better_than_the_class_shares():
    caption = table.choices().caption
    accuracy, loss, share, guess = map(float, re.findall(r"\d\.\d\d", caption))
    assert accuracy > share
    assert loss < guess - 0.05


def test_a_missing_value_adds_nothing_to_the_log_odds_of_the_order():
    reasons = table.fitted().explain(table.NEW_ORDER, "returned")
    at = reasons.names.index("price")
    assert reasons.contributions[at] == pytest.approx(0.0, abs=1e-12)


def test_orders_are_learned_and_forgotten_one_at_a_time():
    shown = table.learned_and_forgotten()
    assert cells(shown, 1) == ["400", "401", "400", "399"]
    before, learned, forgotten, _ = map(float, cells(shown, 2))
    assert learned < before  # it was kept
    assert forgotten == before
    apart = re.findall(r"(none|\d+e-\d+)", shown.caption)
    assert len(apart) == 2
    assert all(size == "none" or float(size) < 1e-9 for size in apart)


def test_a_corrected_message_is_put_right_and_so_is_one_like_it():
    shown = text.learned_and_forgotten()
    own, similar = ([float(cell) for cell in cells(shown, column)] for column in (2, 3))
    assert own[0] < 0.5 < own[1]
    assert similar[0] < 0.5 < similar[1]
    words = [int(cell) for cell in cells(shown, 1)]
    assert words[1] > words[0]
    assert words[2] < words[1]
    (apart,) = re.findall(r"(none|\d+e-\d+)", shown.caption)
    assert apart == "none" or float(apart) < 1e-8


def test_a_message_in_an_unknown_language_is_left_to_a_person():
    assert cells(text.sorting(), -1)[-1] == "a person"


def test_contributions_beyond_the_first_are_summed_up():
    amounts = np.arange(12.0, 0.0, -1.0)
    names = [f"word {at}" for at in range(12)]
    shown = contributions("why", Explanation.of("a", None, names, names, amounts, 70.0))
    assert cells(shown, 0) == [*names[:8], "(4 others)", "(before any of them)"]
    assert [float(cell) for cell in cells(shown, 1)] == [*amounts[:8], 10.0, -8.0]


def test_a_difference_is_the_largest_and_none_is_said_to_be_none():
    ones = np.ones((2, 2))
    assert difference(ones, ones) == "none"
    assert difference(ones, ones + np.array([0.0, 1e-3])) == "1e-03"
