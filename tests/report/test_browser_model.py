"""The page computes what Python computes: every family, on rows with missing and unseen cells."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from browser_answers import answers, compare, compare_reasons
from browser_cases import correlated, joined, mixed, mixed_rows, one_column, random_rows
from suffice import CountVectorizer
from suffice.errors import InputError
from suffice.report.browser_model import browser_model
from suffice.tally import Blocks, Counts, Events, Moments

FAMILIES = (
    "normal",
    "normal:tied",
    "lognormal",
    "lognormal:tied",
    "student",
    "binned",
    "poisson",
    "bernoulli",
    "categorical",
    "text",
    "text:bernoulli",
    "text:complement",
)


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_column_of_every_family(script, family, estimate):
    model = one_column(family, estimate)
    compare(script, model, random_rows(model))


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
@pytest.mark.parametrize("family", ["joint", "mvn", "mvn:tied"])
def test_several_columns_with_missing_cells(script, family, estimate):
    model = joined(family, estimate)
    compare(script, model, random_rows(model))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("combine", ["naive", "temperature", "blocks", "residual"])
def test_every_combination(script, combine, classes):
    model = correlated(combine, classes=classes)
    if combine == "residual":
        assert len(model.residual_coefficients_) > 2
    compare(script, model, random_rows(model), explained=15)


def test_a_noise_rate(script):
    model = correlated("blocks", noise=0.15)
    assert model.combination_.noise_rate > 0.01
    compare(script, model, random_rows(model), explained=15)


@pytest.mark.parametrize("family", ["normal", "lognormal", "student", "binned", "poisson"])
def test_numbers_that_are_far_out(script, family):
    model = one_column(family)
    far = [1e-300, 1e6, 1e15, 1e150, 1e300, -1e6, -1e300, 0.0, 0.5]
    rows = [{"x": x, "beside": "red"} for x in far]
    compare(script, model, rows, explained=0)


def test_dates_times_units_and_gaps_that_tell(script):
    model = mixed()
    typed, given = mixed_rows()
    names = {name for block in model.blocks_ for name in block.columns}
    assert {"when:month", "gap:missing"} & names, names
    with pytest.warns(Warning, match="Read as missing values"):
        compare(script, model, typed, given, explained=0)
    for row, one in zip(given[:60], answers(script, browser_model(model), typed[:60]), strict=True):
        if not one["unreadable"]:
            compare_reasons(model.explain(row, one["target"]).to_dict(), one)


NUMBERS = [
    "1.250,50 €",
    "€ 3",
    "€3",
    "-€ 3",
    "€ -3",
    "- 3",
    "+7",
    "0,5",
    ",5",
    "5,",
    "1e3",
    "1,5E-2",
    "1.2.3",
    "12.34",
    "1 250",
    "1'250",
    "1’250",
    "−5",
    "1\xa0250,5",
    "1\u202f000",
    "12 €€",
    "$5",
    "5 %",
    "0012",
    "1.000.000,25",
    "10.00",
    "abc",
    "",
    "NA",
    " n/a ",
    "1e999",
    ".5",
    "--5",
]
DATES = [
    "31.12.2020",
    "1.6.20",
    "3.2.68",
    "3.2.69",
    "2020-02-29",
    "2021-02-29",
    "2020/2/9",
    "2020-02-29T18:30",
    "1.2.2020 6:05 PM",
    "1/2-2020",
    "31 January 2024",
    "Wed, 31 Jan 2024",
    "Jan. 31, 2024",
    "jan 1 24",
    "3rd of May 2020",
    "3rd May 2020",
    "1.13.2020",
    "13.1.2020",
    "2020-1-1 24:00",
    "2020-01-01 23:59:59.999999",
    "1.1.2020 12:00 am",
    "Sept 5, 2021",
    "0001-01-01",
    "9999-12-31",
    "5-May-20",
    "5. May 2020",
    "?",
    "NA",
]
TIMES = [
    "18:00",
    "6:00 PM",
    "12:30 a.m.",
    "0:00",
    "24:00",
    "23:59:59.25",
    "7:60",
    "13:00 pm",
    "12:00pm",
    "6:5",
    "18:00Z",
    "18:00+02:00",
    "",
    "x",
]


@pytest.mark.parametrize(
    ("column", "strings"), [("price", NUMBERS), ("day", DATES), ("clock", TIMES)]
)
def test_strings_are_read_as_python_reads_them(script, column, strings):
    model = mixed()
    field = model._check_ready().counter.schema[column]
    expected = field.strings.read(pa.array(strings))
    found = script.evaluate(
        """([object, column, strings]) => {
            const model = Suffice.model(object);
            return strings.map((text) => String(model.read({ [column]: text }).cells[column]));
        }""",
        [browser_model(model), column, strings],
    )
    assert dict(zip(strings, map(float, found), strict=True)) == pytest.approx(
        dict(zip(strings, expected.tolist(), strict=True)), rel=0, abs=0, nan_ok=True
    )
    assert np.isnan(expected).any()
    assert np.isfinite(expected).sum() > 5


def test_cells_that_do_not_read_are_missing_and_named(script):
    rows = [{"day": "?", "clock": "25:00", "price": "free"}, {"day": "NA", "clock": "", "gap": "x"}]
    found = answers(script, browser_model(mixed()), rows)
    assert [one["unreadable"] for one in found] == [["day", "clock", "price"], ["gap"]]


def test_levels_without_room_count_in_the_totals(script, monkeypatch):
    monkeypatch.setattr("suffice.report.browser_blocks.MAX_LEVELS", 3)
    model = one_column("categorical", combine="blocks")
    found = browser_model(model)
    columns = {column["name"]: column for column in found["columns"]}
    kept = columns["x"]["levels"]
    assert len(kept) == 3
    assert columns["x"]["left_out"] == 2
    rows = [{"x": x, "beside": b} for x in [*kept, None] for b in [*columns["beside"]["levels"]]]
    compare(script, model, rows, explained=4)


# A changed count.


def with_more(tally, at, amount):
    """Return a tally with one of its sums changed."""
    if isinstance(tally, Moments):
        weight = np.array(tally.weight)
        weight[at] += amount
        return Moments(weight, tally.origin, tally.sum_x, tally.sum_xx)
    if isinstance(tally, Events):
        events = np.array(tally.sum_x)
        events[at] += amount
        return dataclasses.replace(tally, sum_x=events)
    counts = np.array(tally.counts)
    counts[at] += amount
    return Counts(counts)


# For each family: which sum is changed (class, then level, bin or term), and its place in the page.
CHANGES = {
    "normal": ((1, 0), "weight", (1,)),
    "normal:tied": ((0, 0), "weight", (0,)),
    "lognormal": ((2, 0), "weight", (2,)),
    "student": ((1, 30), "weight", (1, 30)),
    "poisson": ((2, 0), "sum_x", (2,)),
    "categorical": ((1, 2), "counts", (1, 2)),
    "bernoulli": ((0, 1), "counts", (0, 1)),
    "binned": ((2, 1), "counts", (2, 1)),
    "joint": ((1, 3), "counts", (1, 3)),
    "mvn": ((1,), "weight", (1,)),
    "mvn:tied": ((2,), "weight", (2,)),
    "text": ((0, 4), "counts", (0, 3)),
    "text:bernoulli": ((1, 0), "documents", (1,)),
    "text:complement": ((1, 2), "counts", (1, 1)),
}


@pytest.mark.parametrize("family", CHANGES)
def test_a_changed_count_changes_the_answer_as_in_python(script, family):
    make = joined if family in ("joint", "mvn", "mvn:tied") else one_column
    model = make(family, combine="blocks")
    at, name, place = CHANGES[family]
    number = next(k for k, block in enumerate(model.blocks_) if block.name == family)
    rows = random_rows(model, seed=3, size=50)
    # The page: one number of the object, and the number of rows of a class.
    found = browser_model(model)
    sums = found["blocks"][number]["tally"][name]
    for step in place[:-1]:
        sums = sums[step]
    sums[place[-1]] += 3
    found["class_prior"]["weights"][1] += 5
    mine = np.array([one["probabilities"] for one in answers(script, found, rows)])
    # Python: the same tally under the same prior.
    posteriors, weights = list(model.posteriors_), np.array(model.tally_.weights)
    tally = posteriors[number].tally
    if isinstance(tally, Blocks):
        new = Blocks((with_more(tally.parts[0], at, 3), *tally.parts[1:]))
    else:
        new = with_more(tally, at, 3)
    posteriors[number] = posteriors[number].with_tally(new)
    weights[1] += 5
    log_prior = np.log((weights + 1) / (weights + 1).sum())
    table = model._read(model._check_ready(), rows).table
    likelihoods = np.stack([one.relative_scores(table) for one in posteriors], axis=2)
    expected = np.exp(model.combination_.apply(likelihoods, log_prior))
    np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)
    assert np.abs(mine - model.predict_proba(rows)).max() > 1e-4


def test_a_model_that_is_no_model_is_refused():
    with pytest.raises(InputError, match="A page cannot compute a CountVectorizer"):
        browser_model(CountVectorizer())
