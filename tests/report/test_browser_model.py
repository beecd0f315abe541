"""The page computes what Python computes: every family, on rows with missing and unseen cells."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import suffice.report
from browser_cases import (
    LABELS,
    UNICODE,
    correlated,
    documents,
    joined,
    mixed,
    mixed_rows,
    new_documents,
    one_column,
    random_rows,
    random_text,
)
from suffice import CountVectorizer, TextClassifier
from suffice.report.browser_model import browser_model, compress
from suffice.tally import Blocks, Counts, Events, Moments

SCRIPT = (Path(suffice.report.__file__).parent / "model.js").read_text(encoding="utf-8")
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
# Rows whose reasons are compared, of those whose probabilities are.
EXPLAINED = 12


@pytest.fixture(scope="module")
def script(browser):
    """Return a page that has the script, and nothing else."""
    context = browser.new_context()
    page = context.new_page()
    page.evaluate(SCRIPT + "; window.Suffice = Suffice; null")
    yield page
    context.close()


def answers(script, found, rows):
    """Return what the page says of rows, given the object as a page has it."""
    return script.evaluate(
        """async ([text, rows]) => {
            const model = Suffice.model(await Suffice.decompress(text));
            return rows.map((row) => model.predict(row));
        }""",
        [compress(found), rows],
    )


def compare(script, model, rows, given=None, explained=EXPLAINED):
    """Assert that the page gives Python's probabilities, labels and reasons."""
    found = answers(script, browser_model(model), rows)
    given = rows if given is None else given
    expected = model.predict_proba(given)
    probabilities = np.array([one["probabilities"] for one in found])
    np.testing.assert_allclose(probabilities, expected, rtol=1e-9, atol=1e-9)
    labels = [model.classes_[np.argmax(row)] for row in expected]
    assert [one["label"] for one in found] == labels
    for row, one in list(zip(given, found, strict=True))[:explained]:
        compare_reasons(model.explain(row, one["target"]).to_dict(), one)


def compare_reasons(why, one):
    # Of log-odds of 1e22, which a number far out has, the last digits are millions.
    close = {"rtol": 1e-9, "atol": 1e-9 * max(1.0, abs(why["log_odds"]))}
    np.testing.assert_allclose(one["log_odds"], why["log_odds"], **close)
    np.testing.assert_allclose(one["base"], why["base"], **close)
    mine, theirs = (
        sorted(pieces, key=lambda piece: (piece["name"], piece["value"]))
        for pieces in (one["reasons"], why["pieces"])
    )
    assert [(p["name"], p["value"]) for p in mine] == [(p["name"], p["value"]) for p in theirs]
    np.testing.assert_allclose(
        [piece["contribution"] for piece in mine],
        [piece["contribution"] for piece in theirs],
        **close,
    )
    sizes = [abs(piece["contribution"]) for piece in one["reasons"]]
    assert sizes == sorted(sizes, reverse=True)


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


def test_cells_that_do_not_read_are_missing_and_named(script):
    rows = [{"day": "?", "clock": "25:00", "price": "free"}, {"day": "NA", "clock": "", "gap": "x"}]
    found = answers(script, browser_model(mixed()), rows)
    assert [one["unreadable"] for one in found] == [["day", "clock", "price"], ["gap"]]


# Documents.


def compare_documents(script, model, texts, explained=EXPLAINED):
    rows = [{"document": text} for text in texts]
    found = answers(script, browser_model(model), rows)
    expected = model.predict_proba(texts)
    np.testing.assert_allclose(
        [one["probabilities"] for one in found], expected, rtol=1e-9, atol=1e-9
    )
    for text, one in list(zip(texts, found, strict=True))[:explained]:
        compare_reasons(model.explain(text, one["target"]).to_dict(), one)


@pytest.mark.parametrize("calibrate", [None, "folds"])
@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "complement", "polya"])
def test_documents_of_every_event(script, event, calibrate):
    model = TextClassifier(event=event, calibrate=calibrate).fit(*documents())
    compare_documents(script, model, new_documents())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"weighting": "tfidf"},
        {"unknown": "smooth"},
        {"unknown": "smooth", "event": "bernoulli"},
        {"ngrams": (1, 3), "unknown": "smooth"},
        {"refine": "logistic"},
        {"fit_prior": False},
        {"class_prior": [0.2, 0.8]},
        {
            "words": CountVectorizer(
                lowercase=False, token_pattern=r"\w+", stop_words=["you", "née"]
            )
        },
        {"words": CountVectorizer(vocabulary=["lunch", "pills", "free lunch"]), "ngrams": (1, 2)},
    ],
    ids=str,
)
def test_documents_of_every_setting(script, settings, classes):
    if len(settings.get("class_prior", "  ")) != classes and "class_prior" in settings:
        settings = {"class_prior": [0.2, 0.5, 0.3]}
    model = TextClassifier(**settings).fit(*documents(classes=classes))
    compare_documents(script, model, new_documents(), explained=5)


def test_words_are_those_of_python_in_any_script(script):
    rng = np.random.default_rng(0)
    texts = [*UNICODE, *(random_text(rng) for _ in range(400))]
    for lowercase, pattern in ((True, r"(?u)\b\w\w+\b"), (False, r"\w+")):
        words = CountVectorizer(lowercase=lowercase, token_pattern=pattern)
        model = TextClassifier(words=words, calibrate=None, alpha=1.0)
        model.fit(texts, LABELS[rng.integers(0, 3, len(texts))])
        found = answers(script, browser_model(model), [{"document": text} for text in texts])
        analyze = words.build_analyzer()
        for text, one in zip(texts, found, strict=True):
            counted = {p["name"]: int(p["value"].rpartition("x")[2]) for p in one["reasons"]}
            expected = analyze(text)
            assert counted == {word: expected.count(word) for word in expected}, text


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
