"""Results print as tables, are tables in a notebook, and become data frames."""

import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from suffice import (
    BayesianLinearRegression,
    GaussianNB,
    LinearRegression,
    LogisticRegression,
    MissingPackageError,
    SufficeError,
    evidence_table,
    rank_features,
)
from suffice.display.tables import Bar, PrintedTable, Section, printable
from suffice.scoring import Explanation

X, SPECIES = load_iris(return_X_y=True, as_frame=True)
Y = np.asarray(load_iris().target_names)[SPECIES]
DIABETES = load_diabetes(return_X_y=True, as_frame=True)


def results():
    model = GaussianNB().fit(X, Y)
    line = LinearRegression().fit(*DIABETES)
    both = pd.DataFrame({"one": DIABETES[1], "two": -2.0 * DIABETES[1]})
    several = LinearRegression().fit(DIABETES[0], both)
    spam = Explanation.of("spam", None, ["free", "hi"], ["free x2", "hi x1"], [2.0, -0.5], 1)
    return {
        "summary": line.summary(),
        "summary of several targets": several.summary(),
        "summary of a logistic regression": LogisticRegression().fit(X, Y).summary(),
        "explanation": spam,
        "cross-validation": model.cross_validate(X, Y, 5, var_smoothing=[1e-9, 1e-2]),
        "cross-validation of a regression": line.cross_validate(*DIABETES, fit_intercept=[True]),
        "leave-one-out": model.leave_one_out(X, Y),
        "leave-one-out of a regression": line.leave_one_out(*DIABETES),
        "leave-one-out of several targets": several.leave_one_out(DIABETES[0], both),
        "evidence table": evidence_table({"naive": model}, X, Y),
        "ranking": rank_features(model),
    }


NAMES = [
    "summary",
    "summary of several targets",
    "summary of a logistic regression",
    "explanation",
    "cross-validation",
    "cross-validation of a regression",
    "leave-one-out",
    "leave-one-out of a regression",
    "leave-one-out of several targets",
    "evidence table",
    "ranking",
]


@pytest.fixture(scope="module")
def every_result():
    return results()


class Cells(HTMLParser):
    """Reads tables as a browser does: rows of texts, and whether every tag was closed."""

    def __init__(self, markup):
        super().__init__()
        self.rows, self.open, self.tags = [], [], []
        self.feed(markup)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_the_cells_that_the_text_has(every_result, name):
    result = every_result[name]
    text = str(result)
    read = Cells(result._repr_html_())
    assert read.tags.count("table") == 1
    assert len({len(row) for row in read.rows if len(row) > 1}) == 1
    cells = [cell for row in read.rows for cell in row if cell]
    assert cells
    assert all(cell in text for cell in cells)
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("name", NAMES)
def test_the_frame_has_one_length_and_full_precision(every_result, name):
    result = every_result[name]
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    assert frame.columns.is_unique


def test_frames_hold_the_numbers_of_the_results(every_result):
    summary = every_result["summary of several targets"]
    frame = summary.to_frame().set_index(["target", "term"])
    assert frame.loc[("two", "bmi"), "sd"] == summary.to_dict()["two"]["bmi"]["sd"]
    reasons = every_result["explanation"]
    assert reasons.to_frame().contribution.sum() == pytest.approx(reasons.log_odds)
    assert reasons.to_frame().name.tolist() == ["free", "hi", "(before)"]
    left = every_result["leave-one-out"]
    frame = left.to_frame()
    assert frame.log_loss.mean() == pytest.approx(left.log_loss)
    assert (frame.label == frame.prediction).mean() == pytest.approx(left.accuracy)
    assert frame.label.tolist() == Y.tolist()
    assert np.allclose(frame[[f"p({name})" for name in left.classes]].sum(axis=1), 1.0)
    rows = every_result["leave-one-out of a regression"]
    frame = rows.to_frame()
    assert np.allclose(frame.prediction + frame.residual, DIABETES[1])
    several = every_result["leave-one-out of several targets"].to_frame()
    assert np.allclose(several.residual_1, -2.0 * several.residual_0)
    found = every_result["cross-validation"]
    assert found.to_frame().log_loss.tolist() == found.mean_log_loss.tolist()
    assert found.to_frame().var_smoothing.tolist() == [1e-9, 1e-2]


def test_left_out_classes_print_a_line_a_class_and_the_totals(every_result):
    left = every_result["leave-one-out"]
    total, head, *lines = str(left).splitlines()
    assert f"150 rows, log-loss {left.log_loss:.4f}, accuracy {left.accuracy:.4f}" in total
    assert head.split() == ["class", "rows", "log-loss", "accuracy"]
    assert [line.split()[0] for line in lines] == ["setosa", "versicolor", "virginica"]
    frame = left.to_frame()
    of_class = frame[frame.label == "virginica"]
    assert lines[2].split()[1:] == ["50", f"{of_class.log_loss.mean():.4f}", "0.9200"]


def test_many_classes_print_as_the_heaviest_and_how_many_more_there_are():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(50), np.r_[np.full(45, 2), np.full(5, 4)])
    rows = rng.normal(size=(len(labels), 2)) + labels[:, None]
    lines = str(GaussianNB().fit(rows, labels).leave_one_out(rows, labels)).splitlines()
    assert lines[-1] == "and 30 more"
    assert [line.split()[0] for line in lines[-6:-1]] == ["45", "46", "47", "48", "49"]


def test_left_out_targets_print_their_errors(every_result):
    rows = every_result["leave-one-out of a regression"]
    total, head, line = str(rows).splitlines()
    assert total.startswith("Leave-one-out: 442 rows")
    assert head.split()[0] == "target"
    assert line.split()[1] == f"{rows.root_mean_square:.6g}"
    assert len(str(every_result["leave-one-out of several targets"]).splitlines()) == 4


def test_regressions_give_their_cross_validation_as_columns():
    found = BayesianLinearRegression().cross_validate(*DIABETES, prior_scale=[0.1, 1.0])
    columns = found.to_dict()
    assert columns["prior_scale"] == [0.1, 1.0]
    assert columns["log_density"] == found.mean_log_density.tolist()


def test_names_are_text_never_markup_or_commands_to_a_terminal():
    nasty = '<script>alert(1)</script>\x1b[2J\n& "quoted"'
    reasons = Explanation.of("<b>", None, [nasty], [nasty], [1.0], 1.0)
    markup = reasons._repr_html_()
    assert "script" not in Cells(markup).tags
    assert "<b>" not in markup
    assert Cells(markup).rows[0][0].startswith("<script>alert(1)</script>")
    text = str(reasons)
    assert len(text.splitlines()) == 3
    assert "\x1b" not in text
    assert printable("tab\there") == "tab\\there"
    assert printable("naïve — 字") == "naïve — 字"


def test_a_long_level_is_cut_where_it_is_printed():
    name = "word " * 200
    reasons = Explanation.of("a", None, ["c"], [name], [1.0], 1.0)
    assert max(map(len, str(reasons).splitlines())) < 120
    assert reasons.to_frame().value[0] == name


def test_bars_are_as_long_as_their_share_of_the_longest():
    rows = [("a", Bar(1.0)), ("b", Bar(-0.5)), ("c", Bar(0.0))]
    table = PrintedTable(("", ""), [Section(rows)], left=(0, 1))
    assert table.text().splitlines() == ["a  " + "+" * 20, "b  " + "-" * 10, "c"]
    assert "width:120px" in table.html()
    assert "width:60px" in table.html()


def test_columns_are_as_wide_as_their_widest_cell_in_all_sections():
    one, two = Section([("a", "1")], "first"), Section([("longer", "12345")], "second")
    table = PrintedTable(("name", "n"), [one, two], above=("title",), below=("end",))
    assert table.text().splitlines() == [
        "title",
        "first",
        "name        n",
        "a           1",
        "second",
        "name        n",
        "longer  12345",
        "end",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_without_pandas_the_error_names_the_cure_and_the_table_still_prints(
    every_result, name, monkeypatch
):
    result = every_result[name]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"needs pandas.*Install pandas") as caught:
        result.to_frame()
    assert isinstance(caught.value, SufficeError)
    assert isinstance(caught.value, ImportError)
    assert str(result)
    assert result._repr_html_()


def test_without_matplotlib_the_error_names_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    reasons = Explanation.of("a", None, ["c"], ["c"], [1.0], 1.0)
    with pytest.raises(MissingPackageError, match=r"suffice\[plot\]"):
        reasons.plot()
