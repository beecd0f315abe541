"""The demo tells what it finds on this machine, part by part."""

import pytest
from rich.console import Console

from suffice.demo import __main__ as demo
from suffice.demo import contests

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


@pytest.mark.parametrize("part", demo.PARTS, ids=lambda part: part.__name__)
def test_a_part_is_a_table_of_full_rows(part, monkeypatch):
    monkeypatch.setattr(contests, "DRAWN_ROWS", 2_000)
    table = part()
    assert table.title
    assert table.row_count > 1
    for column in table.columns:
        assert all(str(cell) for cell in column.cells)


def test_everything_is_printed_under_its_title(monkeypatch, capsys):
    monkeypatch.setattr(demo, "PARTS", (demo.gaps, demo.calibration))
    monkeypatch.setattr(demo, "Console", lambda: Console(width=100))
    demo.main()
    printed = capsys.readouterr().out
    assert demo.gaps().title in printed
    assert "calibrate=" in printed
