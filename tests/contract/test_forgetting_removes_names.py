"""What is forgotten is gone: names of levels, words and classes, from the model and its file."""

import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice
from forgetting_cases import quietly
from suffice import CategoricalNB, GenerativeClassifier, TextClassifier
from suffice.errors import PrecisionWarning, StaleCalibrationWarning

NAME = "alice_smith"
WORDS = ("aa", "bb", "cc", "dd", "ee")


def everything_in(value, seen=None):
    """Yield all texts and bytes that a value holds, however deep."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, type | types.ModuleType | types.FunctionType):
        return
    seen.add(id(value))
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, np.ndarray) and value.dtype.kind not in "OU":
        yield value.tobytes()
    elif isinstance(value, np.ndarray):
        for item in value.ravel().tolist():
            yield from everything_in(item, seen)
    elif isinstance(value, pa.Array | pa.ChunkedArray):
        yield from everything_in(value.to_pylist(), seen)
    elif isinstance(value, dict | types.MappingProxyType):
        for pair in value.items():
            yield from everything_in(pair, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from everything_in(item, seen)
    elif hasattr(value, "__dict__"):
        yield from everything_in(vars(value), seen)


def holds(model, name, tmp_path):
    """Say whether a name is in any attribute of a model, or in its file."""
    path = tmp_path / "model.suffice"
    quietly(model.save, path)
    name = name.encode()
    return any(name in found for found in everything_in(model)) or name in path.read_bytes()


def rows(size=40, seed=0):
    """Return rows of levels, texts, numbers and truth values, by label, some of them missing."""
    rng = np.random.default_rng(seed)
    found = [
        {
            "city": str(rng.choice(["Rome", "Oslo", "Lima"], p=[0.3, 0.6 - y, y + 0.1])),
            "plan": str(rng.choice(["basic", "gold"], p=[0.8 - y, y + 0.2])),
            "note": " ".join(rng.choice(WORDS, rng.integers(1, 4), p=[0.6 - y, y, 0.2, 0.1, 0.1])),
            "rooms": int(rng.choice([2, 3, 5], p=[0.3, 0.6 - y, y + 0.1])),
            "age": round(rng.normal(40 + 20 * y, 10), 1),
            "size": round(float(np.exp(rng.normal(y))), 2),
            "paid": bool(rng.random() < 0.2 + y),
        }
        for y in labels(size) / 2
    ]
    for at in range(0, size, 7):
        found[at][list(found[0])[at % 7]] = None
    return found


def labels(size=40):
    return np.arange(size) % 2


FAMILIES = {
    "categorical": {"city": "categorical"},
    "bernoulli of strings": {"plan": "bernoulli"},
    "categorical numbers": {"rooms": "categorical"},
    "truth values": {"paid": "bernoulli"},
    "joint": {("city", "plan"): "joint"},
    "joint of numbers": {("city", "rooms"): "joint"},
    "text": {"note": "text"},
    "text:bernoulli": {"note": "text:bernoulli"},
    "text:complement": {"note": "text:complement"},
    "binned": {"age": "binned"},
    "student": {"age": "student"},
    "poisson": {"rooms": "poisson"},
    "normal": {"age": "normal"},
    "lognormal": {"size": "lognormal:tied"},
    "mvn": {("age", "size"): "mvn"},
    "all at once": {
        ("city", "plan"): "joint",
        "note": "text",
        "rooms": "categorical",
        "age": "normal",
    },
}
NAMED = ("categorical", "joint", "joint of numbers", "text", "text:bernoulli", "text:complement")
OF_COUNTS = [*NAMED, "bernoulli of strings", "categorical numbers", "truth values", "poisson"]


def model_of(case, **settings):
    families = FAMILIES[case]
    columns = {name for key in families for name in (key if isinstance(key, tuple) else (key,))}
    others = {name: "ignore" for name in rows(1)[0] if name not in columns}
    return GenerativeClassifier({**families, **others}, combine="naive", budget=0, **settings)


def new_rows(case):
    """Return rows of which every name and number is new."""
    row = {"city": NAME, "plan": NAME, "note": f"{NAME} {NAME} other", "rooms": 77}
    row |= {"age": 44.25, "size": 9.75, "paid": True}
    if case == "bernoulli of strings":
        row["plan"] = "gold"  # there are two values only
    return [dict(row), dict(row, note=None), dict(row, city=None), dict(row, note=f"{NAME} aa")]


def learned(model):
    """Return all that a table's classifier has counted, and the levels and settings of it."""
    settings = [family.settings for family in model.blocks_]
    return (
        model.tally_,
        model.schema_,
        settings,
        model.features_,
        model.combination_.residual_coefficients,
    )


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["ignore", "informative"])
@pytest.mark.parametrize("case", FAMILIES)
def test_learning_and_forgetting_rows_restores_the_model(case, missing, tmp_path):
    model = quietly(model_of(case, missing=missing).fit, rows(), labels())
    tally, schema, settings, *_ = learned(model)
    before = model.predict_proba(rows())
    quietly(model.partial_fit, new_rows(case), [0] * 4)
    assert holds(model, NAME, tmp_path) == (case in NAMED or case == "all at once")
    quietly(model.forget, new_rows(case), [0] * 4)
    assert not holds(model, NAME, tmp_path)
    assert model.schema_ == schema
    for family, held in zip(model.blocks_, settings, strict=True):
        np.testing.assert_equal(family.settings, held)
    np.testing.assert_array_equal(model.tally_.weights, tally.weights)
    for left, part in zip(model.tally_.parts.parts, tally.parts.parts, strict=True):
        if hasattr(part, "counts"):
            np.testing.assert_array_equal(left.counts, part.counts)
    after = model.predict_proba(rows())
    if case in OF_COUNTS:
        np.testing.assert_array_equal(after, before)
    np.testing.assert_allclose(after, before, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("case", NAMED)
def test_forgetting_a_class_removes_its_names(case, tmp_path):
    model = quietly(model_of(case).fit, rows(), np.where(labels(), "spam", "ham"))
    quietly(model.partial_fit, new_rows(case), ["mallory"] * 4)
    assert holds(model, "mallory", tmp_path)
    quietly(model.forget, new_rows(case), ["mallory"] * 4)
    assert not holds(model, "mallory", tmp_path)
    assert not holds(model, NAME, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", OF_COUNTS)
def test_forgetting_rows_equals_learning_the_others(case):
    """Levels that were learned first go, too; those that stay keep their order."""
    model = quietly(model_of(case).fit, rows(60), labels(60))
    gone = [at for at, row in enumerate(rows(60)) if row["city"] == "Rome" or row["rooms"] == 2]
    kept = np.setdiff1d(np.arange(60), gone)
    quietly(model.forget, [rows(60)[at] for at in gone], labels(60)[gone])
    left = [rows(60)[at] for at in kept]
    fresh = quietly(model_of(case).fit, left, labels(60)[kept])
    answers = model.predict_joint_log_proba(rows(60)), fresh.predict_joint_log_proba(rows(60))
    if "text" in case:  # the length discount is kept
        answers = [np.sign(odds[:, 0] - odds[:, 1]) for odds in answers]
    np.testing.assert_allclose(*answers, rtol=1e-9)
    assert "Rome" not in model.schema_["city"].levels


@pytest.mark.slow
@pytest.mark.parametrize("case", NAMED)
def test_a_name_that_is_forgotten_is_unknown_and_one_that_comes_back_is_new(case):
    model = quietly(model_of(case).fit, [*rows(), *new_rows(case)], [*labels(), 0, 0, 0, 0])
    alice, nobody = new_rows(case)[:1], [{**new_rows(case)[0], "city": "?", "note": "?? ??"}]
    quietly(model.forget, new_rows(case), [0] * 4)
    if "text" not in case and "numbers" not in case:
        nobody[0]["plan"] = "?"
    np.testing.assert_array_equal(model.predict_proba(alice), model.predict_proba(nobody))
    quietly(model.partial_fit, alice, [1])
    (family,) = model.blocks_
    names = family.terms if "text" in case else model.schema_["city"].levels
    assert NAME in list(names)[3:]  # it came last, with others of its row


@pytest.mark.slow
def test_columns_of_which_all_cells_are_forgotten_have_no_levels(tmp_path):
    for case in ("categorical", "bernoulli of strings", "categorical numbers", "joint", "text"):
        model = quietly(model_of(case).fit, rows(), labels())
        kept = [dict.fromkeys(rows()[0]) for _ in range(4)]
        quietly(model.partial_fit, kept, [0, 1, 0, 1])
        quietly(model.forget, rows(), labels())
        np.testing.assert_allclose(model.predict_proba([*rows(), *kept]), 0.5)
        assert not any(field.levels for field in model.schema_.fields)
        model.save(tmp_path / "model.suffice")
        again = suffice.load(tmp_path / "model.suffice")
        quietly(again.partial_fit, rows(), labels())
        assert np.ptp(again.predict_proba(rows())[:, 0]) > 0.05


# ---- names that no learned row ever had


@pytest.mark.slow
def test_declared_categories_and_rows_of_weight_0_leave_no_names(tmp_path):
    cities = pd.Categorical(["Rome", "Oslo"] * 10, categories=["Rome", NAME, "Oslo"])
    frame = pd.DataFrame({"city": cities, "note": ["aa bb", "bb cc"] * 10})
    model = GenerativeClassifier({"city": "categorical", "note": "text"}, combine="naive")
    model.fit(frame, [0, 1] * 10)
    assert not holds(model, NAME, tmp_path)
    light = pd.DataFrame({"city": ["Rome", "mallory"], "note": ["aa", "mallory"]})
    quietly(model.partial_fit, light, [0, 1], sample_weight=[1.0, 0.0])
    assert not holds(model, "mallory", tmp_path)
    whole = pd.concat([frame.astype(object), light], ignore_index=True)
    weights = np.append(np.ones(21), 0.0)
    fresh = GenerativeClassifier({"city": "categorical", "note": "text"}, combine="naive")
    fresh.fit(whole, [0, 1] * 11, sample_weight=weights)
    np.testing.assert_array_equal(
        fresh.predict_joint_log_proba(frame)[:, 0] > -np.inf, np.ones(20, bool)
    )
    known = model.schema_, model.blocks_
    model.refresh_weights(whole, [0, 1] * 11, weights)
    model.leave_one_out(whole, [0, 1] * 11, weights)
    assert (model.schema_, model.blocks_) == known
    assert not holds(model, "mallory", tmp_path)


def test_ignored_columns_leave_no_names(tmp_path):
    given = [{**row, "id": f"customer{at}"} for at, row in enumerate(rows())]
    model = quietly(GenerativeClassifier(budget=0).fit, given, labels())
    assert model.choices_["id"].family == "ignore"
    quietly(model.partial_fit, [{**given[0], "id": NAME}], [0])
    assert not holds(model, "customer", tmp_path)
    assert not holds(model, NAME, tmp_path)


# ---- residual coefficients of levels


def test_residual_coefficients_stay_with_their_levels():
    rng = np.random.default_rng(3)
    city = rng.choice(["Rome", "Oslo", "Lima", "Bern"], 400)
    plan = np.where(rng.random(400) < 0.8, np.char.add("near ", city), "gold")
    y = (np.isin(city, ["Rome", "Lima"]) ^ (rng.random(400) < 0.2)).astype(int)
    frame = pd.DataFrame({"city": city, "plan": plan, "age": rng.normal(size=400)})
    model = GenerativeClassifier(combine="residual", budget=0).fit(frame, y)
    levels, before = model.schema_["city"].levels, model.residual_coefficients_
    gone = frame.city == "Oslo"
    quietly(model.forget, frame[gone], y[gone])
    left = [levels.index(level) for level in model.schema_["city"].levels]
    assert len(left) == 3
    np.testing.assert_array_equal(model.residual_coefficients_["city"], before["city"][left])
    np.testing.assert_array_equal(model.residual_coefficients_["age"], before["age"])
    quietly(model.partial_fit, frame[gone], y[gone])
    assert model.schema_["city"].levels[-1] == "Oslo"
    assert len(model.residual_coefficients_["city"]) == 3  # it is a new level
    for level in levels:
        quietly(model.forget, frame[frame.city == level], y[frame.city == level])
        if level == levels[2]:
            break
    assert (
        "city" not in model.residual_coefficients_ or len(model.residual_coefficients_["city"]) == 1
    )


# ---- windows


def document(number):
    return {"note": " ".join(f"w{number}x{j}" for j in range(20)) + " common", "id": f"u{number}"}


@pytest.mark.slow
def test_a_window_of_documents_holds_their_words_and_no_others(tmp_path):
    families = {"note": "text", "id": "categorical"}
    model = GenerativeClassifier(families, combine="naive").window(100)
    for start in range(0, 1000, 50):
        batch = [document(at) for at in range(start, start + 50)]
        quietly(model.partial_fit, batch, [f"day{start}", "both"] * 25)
    assert model.tally_.weights.sum() == 100
    text = next(family for family in model.blocks_ if family.name == "text")
    words = {f"w{at}x{j}" for at in range(900, 1000) for j in range(20)} | {"common"}
    assert set(text.terms) == words
    assert set(model.schema_["id"].levels) == {f"u{at}" for at in range(900, 1000)}
    assert model.classes_.tolist() == ["both", "day900", "day950"]
    quietly(model.partial_fit, [document(1000)], ["both"])
    for gone in ("w900x0", "u900", "day850", "w120x3"):
        assert not holds(model, gone, tmp_path)


@pytest.mark.slow
def test_a_window_forgets_row_by_row_what_a_fit_on_its_rows_never_learned():
    for case in OF_COUNTS:
        if "text" in case:
            continue
        model = model_of(case).window(15)
        quietly(model.fit, rows(30), labels(30))
        for at, row in enumerate(rows(60)[30:]):
            quietly(model.partial_fit, [row], [at % 2], sample_weight=[1.0 + at % 3])
        last = rows(60)[45:]
        weights = [1.0 + at % 3 for at in range(15, 30)]
        fresh = quietly(model_of(case).fit, last, np.arange(15, 30) % 2, weights)
        np.testing.assert_allclose(
            model.predict_joint_log_proba(last), fresh.predict_joint_log_proba(last), rtol=1e-9
        )


def test_rows_of_weight_0_leave_a_window_and_were_never_learned(tmp_path):
    model = model_of("categorical").window(4)
    quietly(model.fit, rows(4), [0, 1, 0, 1])
    stranger = [{**rows(1)[0], "city": NAME}, rows(2)[1]]
    quietly(model.partial_fit, stranger, [0, 1], sample_weight=[0.0, 1.0])
    assert NAME not in model.schema_["city"].levels
    quietly(model.partial_fit, rows(8)[4:], [0, 1, 0, 1])
    assert model.tally_.weights.sum() == 4
    assert not holds(model, NAME, tmp_path)


# ---- numbers


@pytest.mark.slow
@pytest.mark.parametrize("case", ["normal", "mvn", "student"])
@pytest.mark.parametrize("far", [1.0, 1e2, 1e4, 1e6])
def test_moments_come_back_to_the_digits_that_the_farthest_value_leaves(case, far):
    model = quietly(model_of(case).fit, rows(), labels())
    ages = np.array([row["age"] for row in rows() if row["age"] is not None])
    centre, deviation = ages.mean(), ages.std()
    before = model.tally_.parts.parts[0].diagonal()
    new = [dict(rows()[1], age=centre + far * deviation * z) for z in (0.3, 0.9, 1.7, -1.1)]
    quietly(model.partial_fit, new, [0, 1] * 2)
    quietly(model.forget, new, [0, 1] * 2)
    after = model.tally_.parts.parts[0].diagonal()
    np.testing.assert_array_equal(after.weight, before.weight)
    # The first column is the age: all cells of it (student), or one beside another column's (mvn).
    column = slice(None) if case == "student" else slice(0, 1)
    seen = before.weight[:, column] > 0
    farthest = max(1.7 * far, np.abs(ages - centre).max() / deviation)
    mean = np.abs(after.mean() - before.mean())[:, column][seen] / deviation
    assert mean.max() <= 1e-12 * farthest**2
    scatter = np.abs(after.scatter() - before.scatter())[:, column][seen] / deviation**2
    assert scatter.max() <= 1e-12 * farthest**2


def test_lost_digits_are_reported():
    model = quietly(model_of("normal").fit, rows(), labels())
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit([dict(rows()[1], age=1e9)], [0])
    with pytest.warns(PrecisionWarning, match="Count the remaining rows again"):
        model.forget([dict(rows()[1], age=1e9)], [0])


# ---- the same law elsewhere


@pytest.mark.slow
@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "complement", "polya"])
@pytest.mark.parametrize("settings", [{}, {"weighting": "tfidf"}, {"ngrams": 2}])
def test_a_text_classifier_forgets_words(event, settings, tmp_path):
    notes = [row["note"] or "" for row in rows()]
    model = TextClassifier(event=event, calibrate=None, **settings)
    model.fit(notes, np.where(labels(), "spam", "ham"))
    before, terms = model.tally_, model.terms_
    new = [f"{NAME} {NAME} aa", f"{NAME} bb"], ["mallory", "ham"]
    quietly(model.partial_fit, *new)
    assert holds(model, NAME, tmp_path)
    quietly(model.forget, *new)
    assert not holds(model, NAME, tmp_path)
    assert not holds(model, "mallory", tmp_path)
    np.testing.assert_array_equal(model.terms_, terms)
    if not settings.get("weighting"):
        assert model.tally_ == before
    assert model.tally_.allclose(before, 1e-12)


def test_categorical_naive_bayes_forgets_levels():
    levels = np.array([[0, 1], [2, 0], [1, 1], [2, 2]])
    model = CategoricalNB().fit(levels, [0, 1, 0, 1])
    before = model.tally_
    model.partial_fit([[900, 1]], [1])
    assert model.tally_.parts.parts[0].counts.shape == (2, 901)
    model.forget([[900, 1]], [1])
    assert model.tally_ == before
    assert [part.counts.shape[1] for part in model._fitted.gross.parts.parts] == [3, 3]
