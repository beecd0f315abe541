"""A stream may start with one row: families are decided again until there are enough rows."""

import pickle
import warnings
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import GenerativeClassifier
from suffice.errors import InputError, MergeError, StaleCalibrationWarning

pytestmark = pytest.mark.slow

MANY = 2600
ENOUGH = 2000


def made_up(seed=0, size=MANY):
    """Return a table of all kinds of columns, and labels that depend on each of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size)
    table = pd.DataFrame(
        {
            "age": rng.normal(40 + 6 * y, 10).round(1),
            "visits": rng.poisson(1.0 + y),
            "city": rng.choice(["Rome", "Oslo", "Lima", "Bonn"], size),
            "paid": np.where(rng.random(size) < 0.3 + 0.2 * y, "yes", "no"),
            "price": [f"${value:,.2f}" for value in rng.lognormal(6 + 0.4 * y, 0.7)],
            "grade": np.where(rng.random(size) < 0.5, None, rng.choice(["a", "b"], size)),
            "when": [date(2024, 1, 1) + timedelta(int(day)) for day in rng.integers(0, 200, size)],
        }
    )
    table.loc[y == 1, "city"] = rng.choice(["Rome", "Oslo"], int((y == 1).sum()))
    table.loc[0, ["age", "price", "city", "grade"]] = None
    return table, np.array(["low", "mid", "high"])[y]


TABLE, LABELS = made_up()
REST = slice(ENOUGH, MANY)


def quietly(act, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return act(*given, **named)


def streamed(size, stop, model=None, table=TABLE, labels=LABELS):
    model = GenerativeClassifier(budget=5) if model is None else model
    for at in range(0, stop, size):
        quietly(
            model.partial_fit, table[at : min(at + size, stop)], labels[at : min(at + size, stop)]
        )
    return model


def loss(model, table=TABLE[REST], labels=LABELS[REST]):
    log_proba = model.predict_log_proba(table)
    return -log_proba[np.arange(len(table)), np.searchsorted(model.classes_, labels)].mean()


@pytest.mark.parametrize(("size", "stop"), [(1, 400), (1, 23), (7, 2000), (100, 1350), (100, 2000)])
def test_a_stream_in_small_batches_is_as_good_as_a_fit_of_its_rows(size, stop):
    model = streamed(size, stop)
    whole = quietly(GenerativeClassifier(budget=5).fit, TABLE[:stop], LABELS[:stop])
    assert loss(model) <= 1.05 * loss(whole)
    assert model.tally_.weights.sum() == stop


def test_what_is_decided_of_all_rows_is_what_fit_decides():
    model = streamed(100, ENOUGH)
    whole = quietly(GenerativeClassifier(budget=5).fit, TABLE[:ENOUGH], LABELS[:ENOUGH])
    assert [(b.name, b.columns) for b in model.blocks_] == [
        (b.name, b.columns) for b in whole.blocks_
    ]
    np.testing.assert_allclose(model.predict_proba(TABLE), whole.predict_proba(TABLE), rtol=1e-6)


def test_choices_say_when_they_were_made():
    model = streamed(1, 1)
    assert "decided from 1 row, to be decided again after 5" in str(model.choices_)
    streamed(7, 70, model := GenerativeClassifier(budget=0))
    assert model.choices_.rows == 70
    assert "decided from 70 rows, to be decided again after 85" in str(model.choices_)
    streamed(2000, 2000, model := GenerativeClassifier(budget=0))
    assert str(model.choices_).endswith("decided from 2,000 rows")
    assert str(quietly(GenerativeClassifier(budget=0).fit, TABLE, LABELS).choices_).endswith(
        "decided from 2,600 rows"
    )


def test_no_warning_while_a_stream_begins_and_one_afterwards():
    model = streamed(100, 1900)
    model.partial_fit(TABLE[1900:1950], LABELS[1900:1950])  # warnings are errors here
    assert model.weights_stale_
    quietly(model.partial_fit, TABLE[1950:ENOUGH], LABELS[1950:ENOUGH])
    assert not model.weights_stale_
    assert model._fitted.stream is None
    with pytest.warns(StaleCalibrationWarning, match=r"refresh_weights\(\) fits it again"):
        model.partial_fit(TABLE[ENOUGH:2100], LABELS[ENOUGH:2100])
    model.partial_fit(TABLE[2100:2200], LABELS[2100:2200])
    assert model.choices_.rows == ENOUGH
    blocks = model.blocks_
    model.refresh_weights()
    assert [b.name for b in model.blocks_] == [b.name for b in blocks]


def test_a_fit_is_held():
    model = quietly(GenerativeClassifier(budget=0).fit, TABLE[:30], LABELS[:30])
    quietly(model.partial_fit, TABLE[30:300], LABELS[30:300])
    assert model.choices_.rows == 30


def test_families_that_were_given_with_their_settings_are_held():
    first = quietly(GenerativeClassifier(budget=0).fit, TABLE[:300], LABELS[:300])
    model = GenerativeClassifier(first.families_)
    quietly(model.partial_fit, TABLE[:30], LABELS[:30])
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit(TABLE[30:80], LABELS[30:80])
    assert model.families_.keys() == first.families_.keys()


def test_a_stream_forgets_rows_as_if_it_had_never_had_them():
    model = streamed(7, 98)
    quietly(model.forget, TABLE[:40], LABELS[:40])
    streamed(50, 50, model, TABLE[98:], LABELS[98:])  # decides at 145 rows seen
    whole = quietly(GenerativeClassifier(budget=5).fit, TABLE[40:148], LABELS[40:148])
    np.testing.assert_allclose(model.predict_proba(TABLE), whole.predict_proba(TABLE), rtol=1e-6)
    assert model.choices_.rows == 108


def test_what_a_stream_forgot_is_in_no_byte():
    model = streamed(7, 63)
    odd = TABLE[70:71].assign(city="alice_smith", price="bobby_jones")
    quietly(model.partial_fit, odd, ["mallory"])
    assert b"alice_smith" in pickle.dumps(model)
    quietly(model.forget, odd, ["mallory"])
    for name in (b"alice_smith", b"bobby_jones", b"mallory"):
        assert name not in pickle.dumps(model)


def test_cells_written_otherwise_are_forgotten_too():
    rows = [{"size": f"{at % 7}.50", "city": "Rome" if at % 2 else "Oslo"} for at in range(60)]
    model = quietly(GenerativeClassifier(budget=0).partial_fit, rows, np.arange(60) % 2)
    same = [dict(row, size=float(row["size"])) for row in rows[:4]]
    quietly(model.forget, same, [0, 1, 0, 1])
    assert model.tally_.weights.sum() == 56
    assert model.choices_.again_at == 0
    assert model._fitted.sample.rows.weights.sum() == 56


def test_a_window_decides_from_its_own_rows():
    model = streamed(20, 300, GenerativeClassifier(budget=0).window(60))
    assert model.tally_.weights.sum() == 60
    assert model._fitted.sample.rows.weights.sum() == 60
    assert model.choices_.rows <= 80  # those of the window, and those that came
    like = quietly(GenerativeClassifier(model.families_).fit, TABLE[240:300], LABELS[240:300])
    quietly(model.refresh_weights)
    np.testing.assert_allclose(model.predict_proba(TABLE), like.predict_proba(TABLE), rtol=1e-6)


def test_a_first_cell_that_is_missing_or_odd_decides_nothing():
    rows = [
        {"note": None, "size": 3},
        {"note": "blue", "size": "large"},
        {"note": "red", "size": 4},
    ]
    model = GenerativeClassifier(budget=0)
    for row, label in zip(rows * 20, [0, 1, 0] * 20, strict=True):
        quietly(model.partial_fit, row, label)
    assert model.schema_["size"].kind == "category"
    assert set(model.schema_["note"].levels) == {"blue", "red"}
    whole = quietly(GenerativeClassifier(budget=0).fit, rows * 20, [0, 1, 0] * 20)
    np.testing.assert_allclose(model.predict_proba(rows), whole.predict_proba(rows), rtol=1e-6)


def test_declared_categories_stay_categories():
    codes = pd.Series(["1.5", "2.5"] * 40, dtype="category")
    frame = pd.DataFrame({"code": codes, "age": np.arange(80.0) % 9})
    model = GenerativeClassifier(budget=0)
    for at in range(0, 80, 8):
        quietly(model.partial_fit, frame[at : at + 8], np.arange(at, at + 8) % 2)
    assert model.schema_["code"].kind == "category"


def test_weights_and_classes_that_were_announced_stay():
    model = GenerativeClassifier(budget=0)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 120)
    for at in range(0, 120, 6):
        given = TABLE[at : at + 6], LABELS[at : at + 6], ["high", "low", "mid", "none"]
        quietly(model.partial_fit, *given, sample_weight=weights[at : at + 6])
    assert model.classes_.tolist() == ["high", "low", "mid", "none"]
    np.testing.assert_allclose(model.tally_.weights.sum(), weights.sum())
    before = dict(vars(model))
    with pytest.raises(InputError, match=r"'other'.*first in row 1"):
        model.partial_fit(TABLE[:2], ["low", "other"])
    assert all(vars(model)[name] is value for name, value in before.items())


def test_a_decision_that_is_interrupted_changes_nothing(monkeypatch):
    model = streamed(7, 49)
    before = dict(vars(model))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("suffice.table.combining.select_combination", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quietly(model.partial_fit, TABLE[49:60], LABELS[49:60])
    assert all(vars(model)[name] is value for name, value in before.items())


def test_bad_cells_are_refused_and_nothing_changes():
    model = streamed(7, 21)
    before = dict(vars(model))
    for odd in ({"age": np.inf}, {"age": date(2024, 1, 1)}):
        with pytest.raises(InputError):
            quietly(model.partial_fit, TABLE[30:31].assign(**odd), ["low"])
        assert all(vars(model)[name] is value for name, value in before.items())


def test_streams_are_merged_with_their_rows():
    families = {"age": "normal", "city": "categorical"}
    some = TABLE[["age", "city"]]
    first, second = (
        streamed(10, 40, GenerativeClassifier(families), some[at:], LABELS[at:]) for at in (0, 40)
    )
    quietly(first.merge, second)
    assert first._fitted.sample.counts.sum() == 80
    quietly(first.partial_fit, some[80:100], LABELS[80:100])
    assert first.choices_.rows == 100
    whole = quietly(GenerativeClassifier(families).fit, some[:100], LABELS[:100])
    np.testing.assert_allclose(first.predict_proba(some), whole.predict_proba(some), rtol=1e-6)
    held = quietly(GenerativeClassifier(families).fit, some[100:140], LABELS[100:140])
    quietly(held.merge, first)
    assert held._fitted.sample.rows.weights.sum() == 140
    assert held.choices_.again_at == 0
    with pytest.raises(MergeError):
        held.merge(quietly(GenerativeClassifier(budget=0).fit, TABLE[:50], LABELS[:50]))


def test_a_stream_goes_on_from_a_file_with_what_it_has_decided(tmp_path):
    model = streamed(10, 60)
    model.save(tmp_path / "model.safetensors")
    loaded = suffice.load(tmp_path / "model.safetensors")
    assert loaded.choices_.rows == 60
    quietly(loaded.partial_fit, TABLE[60:200], LABELS[60:200])
    assert loaded.choices_.rows == 60
    assert loaded.tally_.weights.sum() == 200
