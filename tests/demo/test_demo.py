"""The demo prints what it computes, with base dependencies alone."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from suffice.demo import __main__ as demo
from suffice.demo import arrays, shop, shop_data
from suffice.demo.tables import explanation_table, largest_difference, print_table
from suffice.scoring import Explanation

PARTS = [part for section in demo.sections() for part in section.parts]

# The demo in a process that cannot import what only extras install.
BARE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("matplotlib", "pandas", "polars", "pytest", "statsmodels"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from suffice.demo import __main__, arrays
arrays.DRAWN_ROWS = 2_000
__main__.main()
"""


def cells(table, column):
    return [str(cell) for cell in table.columns[column].cells]


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


@pytest.mark.slow
def test_tables_are_printed_with_title_and_caption_within_80_columns(bare):
    lines = bare.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for section in demo.sections():
        assert section.title in bare.stdout
    for part in (shop.families, shop.sorted_messages, arrays.missing_values):
        shown = part()
        assert shown.title in lines
        assert " ".join((shown.caption or "").split()) in " ".join(bare.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.__module__}.{part.__name__}")
def test_a_part_is_a_table_with_something_in_every_row(part, monkeypatch):
    monkeypatch.setattr(arrays, "DRAWN_ROWS", 2_000)
    shown = part()
    assert shown.title
    assert shown.row_count > 1
    for column in range(2):
        assert all(cells(shown, column))


def test_square_brackets_in_a_table_are_printed_not_read_as_markup(capsys):
    shown = shop.updated_messages()
    print_table(shown, Console(width=80))
    assert 'model.partial_fit([this], ["payment"])' in capsys.readouterr().out


def test_orders_have_columns_of_every_kind_and_missing_values_and_do_not_change():
    orders, outcomes = shop_data.draw_orders()
    assert (orders, outcomes) == shop_data.draw_orders()
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
    assert missing == set(shop_data.MISSING)


def test_there_are_at_least_sixty_messages_all_distinct():
    learned = [message for desk in shop_data.MESSAGES.values() for message in desk]
    new = [*(message for message, _ in shop_data.NEW_MESSAGES), shop_data.SIMILAR_MESSAGE]
    assert len(learned) >= 60
    assert len(set(learned + new)) == len(learned + new)
    assert {desk for _, desk in shop_data.NEW_MESSAGES} == set(shop_data.MESSAGES)


def test_made_up_data_are_called_made_up():
    assert "made up" in shop_data.__doc__
    assert "made up for this demo" in shop.first_orders().title
    assert "written for this demo" in shop.sorted_messages().title


def test_the_model_of_the_orders_has_a_lower_log_loss_than_class_frequencies():
    caption = shop.families().caption
    accuracy, loss, share, guess = map(float, re.findall(r"\d\.\d\d", caption))
    assert accuracy > share
    assert loss < guess - 0.05


def test_a_missing_value_adds_nothing_to_the_log_odds_of_the_order():
    reasons = shop.order_model().explain(shop.NEW_ORDER, "returned")
    at = reasons.names.index("price")
    assert reasons.contributions[at] == pytest.approx(0.0, abs=1e-12)


def test_orders_are_learned_and_forgotten_one_at_a_time():
    shown = shop.updated_orders()
    assert cells(shown, 1) == ["400", "401", "400", "399"]
    before, learned, forgotten, _ = map(float, cells(shown, 2))
    assert learned < before  # it was kept
    assert forgotten == before
    apart = re.findall(r"(?m)(\b0$|\d+e-\d+)", shown.caption)
    assert len(apart) == 2
    assert all(float(size) < 1e-9 for size in apart)


def test_learning_a_correction_changes_the_label_of_the_message_and_of_a_similar_one():
    shown = shop.updated_messages()
    own, similar = ([float(cell) for cell in cells(shown, column)] for column in (2, 3))
    assert own[0] < 0.5 < own[1]
    assert similar[0] < 0.5 < similar[1]
    words = [int(cell) for cell in cells(shown, 1)]
    assert words[1] > words[0]
    assert words[2] < words[1]
    (apart,) = re.findall(r"(?m)(\b0$|\d+e-\d+)", shown.caption)
    assert float(apart) < 1e-8


def test_a_message_in_an_unknown_language_is_left_to_a_person():
    assert cells(shop.sorted_messages(), -1)[-1] == "a person"


def test_small_contributions_are_summed():
    amounts = np.arange(12.0, 0.0, -1.0)
    names = [f"word {at}" for at in range(12)]
    shown = explanation_table("why", Explanation.of("a", None, names, names, amounts, 70.0))
    assert cells(shown, 0) == [*names[:8], "(4 others)", "(prior log-odds)"]
    assert [float(cell) for cell in cells(shown, 1)] == [*amounts[:8], 10.0, -8.0]


def test_the_largest_difference_is_written_and_zero_is_0():
    ones = np.ones((2, 2))
    assert largest_difference(ones, ones) == "0"
    assert largest_difference(ones, ones + np.array([0.0, 1e-3])) == "1e-03"
