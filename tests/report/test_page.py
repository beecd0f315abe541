"""The page as a file: escaped, locked, small, without rows, and right about what it is made of."""

import base64
import hashlib
import json
import re
import warnings
import zlib

import numpy as np
import pandas as pd
import pytest

import suffice
from report_models import (
    EVIL,
    ROW_OF_ITS_OWN,
    churn,
    churn_rows,
    evil,
    later_churn,
    many_classes,
    messages,
    regression,
)
from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    InputError,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    write_report,
)
from suffice.report.html import element, fill, markup
from suffice.report.page import report_page

LIMIT = 1_000_000


def data_of(page, name):
    found = re.search(rf'<script type="[a-z/]+" id="{name}">(.*?)</script>', page, re.DOTALL)
    return found.group(1)


def model_of(page):
    return json.loads(zlib.decompress(base64.b64decode(data_of(page, "model-data"))))


def text_of(page):
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)


@pytest.fixture(scope="module")
def page():
    return report_page(churn())


def test_markup_is_escaped_wherever_it_comes_in():
    assert element("p", "<b>", title='"><b>') == '<p title="&quot;&gt;&lt;b&gt;">&lt;b&gt;</p>'
    assert markup(["a<", element("b", "c&d")]) == "a&lt;<b>c&amp;d</b>"
    with pytest.raises(TypeError, match="Make it markup first"):
        fill("{{name}}", name="<b>")


def test_names_from_the_data_are_text_on_the_page():
    page = report_page(evil())
    assert EVIL not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    # A level that looks like a place of the template is one of the data.
    assert page.count("<main") == 1
    assert "{{main}}" in page


def test_nothing_is_loaded_from_outside(page):
    assert not re.search(r"""(src|srcset|action|poster|data)=["']""", text_of(page))
    assert all(link.startswith("#") for link in re.findall(r'href="(.*?)"', text_of(page)))
    assert "url(" not in page
    assert "@import" not in page


def test_the_policy_allows_our_own_scripts_and_style_alone(page):
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', page).group(1)
    policy = policy.replace("&#x27;", "'")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    inline = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", page, re.DOTALL)
    assert len(inline) == 3
    for text in inline:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    # Such attributes would need the policy to allow them.
    assert not re.search(r"<[^>]*\s(style|on\w+)=", text_of(page))


def test_the_page_holds_no_rows(page):
    whole = page + json.dumps(model_of(page))
    assert str(ROW_OF_ITS_OWN) not in whole
    frame, _ = churn_rows()
    assert not any(note in whole for note in frame["note"])
    judged = json.loads(data_of(page, "report-data"))
    assert set(judged) == {"classes", "totals", "rowsAWeight", "menu", "above", "rows"}


def test_the_headline_is_that_of_the_held_out_rows(page):
    judged = json.loads(data_of(page, "report-data"))
    at = judged["classes"].index("leaves")
    found, wrong = (side[50] for side in judged["above"][str(at)])
    headline = re.search(r'<p id="headline".*?</p>', page, re.DOTALL).group(0)
    assert f"{100 * found / judged['totals'][at]:.0f}\u202f%" in headline
    assert f"<strong>{100 * found / (found + wrong):.0f}</strong>" in headline
    assert "leaves" in headline


@pytest.mark.parametrize(
    "title",
    [
        "How good it is",
        "Try it",
        "Can its probabilities be trusted?",
        "What it looks at",
        "Words that separate the classes",
        "Columns that go together",
        "Missing values",
        "How it was chosen",
        "Where it comes from",
    ],
)
def test_a_table_has_every_section(page, title):
    assert re.search(rf"<h2 [^>]*>{re.escape(title)}</h2>", page)


def test_columns_come_in_the_order_of_their_importance(page):
    importance = churn().importance()
    order = [importance.names[at] for at in importance.order if importance.names[at] != "note"]
    section = page[page.index('id="columns"') : page.index('id="words"')]
    charts = section[section.index('class="charts"') :]
    places = [charts.index(f">{name}</text>" if name in charts else name) for name in order[:2]]
    assert places == sorted(places)


def test_every_picture_has_a_name(page):
    pictures = re.findall(r"<svg[^>]*>", text_of(page))
    assert len(pictures) > 10
    assert all('aria-label="' in one or 'aria-hidden="true"' in one for one in pictures)


def test_rows_that_are_given_add_histograms_and_a_learning_curve():
    frame, labels = churn_rows(250, 3)
    page = report_page(churn(), frame.assign(churn=labels), "churn")
    assert "Would more rows help?" in page
    assert 'class="hist c0"' in page
    assert "None of them is among the rows" in page
    assert churn()._fitted_plan("churn", None, tuple(frame.columns)).digest in page
    assert not any(note in page + json.dumps(model_of(page)) for note in frame["note"])


def test_two_models_are_shown_side_by_side_the_changed_column_first():
    page = report_page(churn(), against=later_churn())
    assert "Side by side" in page
    table = page[page.index("How much the distributions differ") :]
    first = re.search(r'<th scope="row">(.*?)</th>', table).group(1)
    assert first == "charges"


def test_a_saved_model_is_reported_from_its_file(tmp_path):
    path = tmp_path / "churn.suffice"
    churn().save(path, source="the shop's table")
    page = write_report(path, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the shop&#x27;s table" in page
    there = report_page(churn())
    assert data_of(page, "report-data") == data_of(there, "report-data")
    assert "before (naive Bayes)" in page


def test_a_file_of_before_has_no_curve_before_calibration(request):
    folder = request.config.rootpath / "tests" / "contract" / "saved_format_1"
    page = report_page(folder / "table.safetensors")
    assert "How good it is" in page
    assert "before (naive Bayes)" not in page


ROWS = np.random.default_rng(0).poisson([[2, 5, 3]] * 60 + [[4, 2, 3]] * 60)
CODES = np.repeat(["a", "b"], 60)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        GaussianNB(calibrate="folds"),
        MultinomialNB(),
        ComplementNB(),
        BernoulliNB(binarize=2),
        PoissonNB(),
        CategoricalNB(),
        GaussianDiscriminant(),
        QuadraticDiscriminantAnalysis(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_of_arrays_has_a_report(model, tmp_path):
    path = model.fit(ROWS, CODES).report(tmp_path / "report.html")
    page = path.read_text(encoding="utf-8")
    assert "Where it comes from" in page
    assert ("keeps no held-out scores" in page) == (model.calibrate is None)
    given = report_page(model, ROWS, CODES)
    assert "keeps no held-out scores" not in given


def test_a_model_that_the_page_cannot_hold_has_no_form_and_says_why(monkeypatch):
    monkeypatch.setattr("suffice.report.what_if.MAX_MODEL_LETTERS", 100)
    page = report_page(many_classes())
    assert "There is no form to try this model in." in page
    assert 'id="model-data"' not in page


def test_a_regression_is_judged_by_rows_left_out_where_they_are_given():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=30)})
    y = frame["x"] * 2 + rng.normal(0, 1, 30)
    model = LinearRegression().fit(frame, y)
    errors = np.empty(30)
    for row in range(30):
        others = np.arange(30) != row
        errors[row] = (
            LinearRegression().fit(frame[others], y[others]).predict(frame[row : row + 1])[0]
            - y[row]
        )
    page = report_page(model, frame.assign(y=y), "y")
    assert "leave-one-out" in page
    assert f"{np.sqrt(np.mean(errors**2)):.4g}" in page
    assert "keeps no held-out rows" in report_page(model)


@pytest.mark.parametrize("case", ["positive", "collinear"])
def test_a_regression_without_a_posterior_has_its_coefficients(case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X = np.column_stack([X, X[:, 0]]) if case == "collinear" else X
    model = LinearRegression(positive=case == "positive")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = report_page(model.fit(X, X[:, 0] + rng.normal(size=40)))
    assert "Coefficients of the target" in page
    assert "Explains" in page


def test_two_regressions_are_compared_by_their_coefficients():
    page = report_page(regression(), against=regression())
    assert "difference, standard deviations" in page


def test_pages_of_documents_and_of_many_classes_are_whole():
    assert "Words that separate the classes" in report_page(messages())
    page = report_page(many_classes())
    assert "Charts show the 6 largest of 8 classes." in page
    assert "Cost matrix" in page


@pytest.mark.slow
def test_the_page_stays_below_a_megabyte_whatever_the_table():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(30), 12)
    wide = {f"column {at}": rng.normal(codes * (at % 3), 5) for at in range(50)}
    wide |= {f"level {at}": rng.integers(0, 80, 360).astype(str) for at in range(10)}
    model = GenerativeClassifier(budget=0, combine="temperature").fit(wide, codes)
    page = report_page(model)
    assert len(page.encode()) < LIMIT
    assert "most important of 60 columns are drawn" in page


def test_the_size_of_the_page_does_not_grow_with_the_rows():
    sizes = []
    for size in (6_000, 30_000):
        X = np.random.default_rng(0).normal(size=(size, 3))
        model = GaussianNB(calibrate="folds").fit(X, np.where(X[:, 0] > 0.5, "a", "b"))
        sizes.append(len(report_page(model)))
    assert abs(sizes[1] - sizes[0]) < 0.05 * sizes[0]


def test_wrong_calls_say_what_to_do(tmp_path):
    frame, labels = churn_rows(20)
    path = tmp_path / "report.html"
    with pytest.raises(InputError, match="data without target"):
        write_report(churn(), path, frame)
    with pytest.raises(InputError, match="There is no column 'churn' among contract"):
        write_report(churn(), path, frame, "churn")
    with pytest.raises(InputError, match="whose columns have no names"):
        write_report(churn(), path, np.zeros((3, 2)), "churn")
    with pytest.raises(InputError, match="The target of row 0 is 'moves'"):
        write_report(churn(), path, frame, ["moves", *labels[1:]])
    with pytest.raises(InputError, match="A LogisticRegression has no report"):
        write_report(LogisticRegression(), path)
    with pytest.raises(InputError, match="two classifiers or two regressions"):
        churn().report(path, against=regression())
    assert not path.exists()


def test_a_page_that_cannot_be_made_leaves_the_old_one(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(InputError):
        churn().report(path, data=[{"contract": 1}], target="churn")
    assert path.read_text() == "old"


def test_the_public_name_is_there():
    assert suffice.write_report is write_report
