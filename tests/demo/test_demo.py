"""The demo prints what it computes, with base dependencies alone."""

import json
import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from suffice.cli import main
from suffice.demo import __main__ as demo
from suffice.demo import messages, passengers
from suffice.demo.tables import explanation_table, largest_difference, print_table, quality_row
from suffice.scoring import Explanation
from suffice.text.mail import parse_message

# The demo in a process that cannot import what only extras install.
BARE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("matplotlib", "pandas", "polars", "pytest", "statsmodels"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from suffice.demo import __main__
__main__.main(sys.argv[1])
"""


def cells(table, column):
    return [str(cell) for cell in table.columns[column].cells]


@pytest.mark.slow
def test_in_a_pipe_without_extras_it_prints_all_parts_in_80_columns_without_a_warning(tmp_path):
    settings = {**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", BARE, str(tmp_path / "report.html")]
    done = subprocess.run(command, env=settings, capture_output=True, encoding="utf-8")
    assert (done.stderr, done.returncode) == ("", 0)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout
    for section in demo.sections():
        assert section.title in done.stdout
    for said in ("no benchmark", "scikit-learn:", "log-loss", "explain(", "partial_fit("):
        assert said in done.stdout
    assert done.stdout.count("forget(") >= 3


# Passengers.


def test_the_table_has_columns_of_every_kind_and_missing_values():
    found = passengers.data()
    assert found.name == "passengers"
    assert len(found.rows) == len(found.y) == 1309
    kinds = {column: {type(row[column]).__name__ for row in found.rows} for column in found.rows[0]}
    assert kinds == {
        "cabin class": {"str"},
        "sex": {"str"},
        "age": {"float", "NoneType"},
        "siblings": {"int"},
        "parents": {"int"},
        "fare": {"float", "NoneType"},
        "port": {"str", "NoneType"},
    }
    assert Counter(found.y) == {"died": 809, "survived": 500}


def test_where_scikit_learn_came_without_the_file_its_diabetes_data_stand_in(monkeypatch, tmp_path):
    monkeypatch.setattr(passengers, "FILE", tmp_path / "absent")
    found = passengers.data.__wrapped__()
    assert found.name == "patients"
    assert {type(cell).__name__ for row in found.rows for cell in row.values()} == {"float", "str"}
    assert Counter(found.y) == {"faster": 221, "slower": 221}


@pytest.mark.slow
def test_the_model_of_the_passengers_is_better_than_their_shares():
    shown = passengers.quality()
    losses = [float(cell.split()[0]) for cell in cells(shown, 2)]
    accuracies = [float(cell.split()[0]) for cell in cells(shown, 1)]
    assert losses[2] < losses[0] - 0.1
    assert accuracies[2] > accuracies[0] + 0.1


def test_a_missing_value_adds_nothing_to_the_log_odds():
    reasons = passengers.model().explain(passengers.data().new, "survived")
    assert reasons.contributions[reasons.names.index("fare")] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_rows_are_learned_and_forgotten_one_at_a_time():
    shown = passengers.forgotten()
    assert cells(shown, 1) == ["1309", "1310", "1309", "1308"]
    before, learned, forgotten, _ = map(float, cells(shown, 2))
    assert learned < before  # it died
    assert forgotten == before
    apart = re.findall(r"(?m)(\b0$|\d+e-\d+)", shown.caption)
    assert len(apart) == 2
    assert all(float(size) < 1e-9 for size in apart)


# Messages.


def test_there_are_about_300_messages_all_distinct_and_none_is_broken():
    found = messages.mail()
    assert 280 <= len(found.texts) <= 320
    assert len(set(found.texts)) == len(found.texts)
    assert min(Counter(found.y).values()) > 100
    assert all(message.subject and message.sender and message.body for message in found.messages)


def test_no_address_and_no_link_is_a_real_one():
    for message in messages.mail().messages:
        addresses = re.findall(r"[\w.-]+@([\w.-]+)", f"{message.sender} {message.body}")
        assert addresses
        for host in (*addresses, *message.links):
            assert host.rstrip(".").endswith(".example")


def test_the_message_that_is_corrected_is_new():
    for raw in (messages.TRICKY, messages.SIMILAR):
        assert parse_message(raw).text not in messages.mail().texts


@pytest.mark.slow
def test_one_correction_puts_a_message_right():
    shown = messages.corrected()
    before, after, _ = map(float, cells(shown, 2))
    assert after < 0.5 < before
    assert float(shown.caption.rsplit(": ", 1)[1]) < 1e-9


@pytest.mark.slow
def test_messages_are_sorted_better_than_by_their_shares():
    shown = messages.quality()
    assert len(cells(shown, 0)) == 3
    assert float(cells(shown, 1)[2].split()[0]) > 0.9
    assert "no benchmark" in shown.caption


# How it is printed.


def test_quality_is_the_mean_over_rows():
    proba, y = np.array([[0.9, 0.1], [0.6, 0.4]]), np.array(["a", "b"])
    accuracy, loss = quality_row(proba, y, np.array(["a", "b"]))
    assert accuracy.startswith("0.500 ±")
    assert loss.startswith(f"{-np.log([0.9, 0.4]).mean():.3f} ±")


def test_square_brackets_in_a_table_are_printed_not_read_as_markup(capsys):
    table = Table(title="forget(rows[:1])")
    table.add_column("call")
    table.caption = "rows[:1]"
    print_table(table, Console(width=80))
    shown = capsys.readouterr().out
    assert "forget(rows[:1])" in shown
    assert shown.rstrip().endswith("rows[:1]")


@pytest.mark.slow
def test_as_json_it_has_the_figures_of_its_tables_and_writes_the_report(tmp_path, capsys):
    report = tmp_path / "report.html"
    assert main(["demo", "--json", "-o", str(report)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["title"] for one in found["sections"]] == [one.title for one in demo.sections()]
    tables = [table for section in found["sections"] for table in section["tables"]]
    assert all(len(row) == len(table["columns"]) for table in tables for row in table["rows"])
    assert any(row[0].startswith("suffice: Gen") for table in tables for row in table["rows"])
    assert report.read_text(encoding="utf-8").startswith("<!")


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
