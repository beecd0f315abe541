"""GenerativeClassifier: what it takes, what it chooses, what it answers."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from rich.console import Console
from scipy.special import logsumexp
from sklearn.metrics import log_loss

from classifier_cases import mixed
from suffice.errors import InputError, OneClassWarning, SufficeWarning
from suffice.table import GenerativeClassifier
from suffice.table.structure.join_search import JoinSearch

FRAME, LABELS = mixed()
MODEL = GenerativeClassifier(budget=5).fit(FRAME, LABELS)
TEST, ANSWERS = mixed(200, seed=1)


def test_a_table_of_all_kinds_of_columns_is_learned_as_it_is():
    proba = MODEL.predict_proba(TEST)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert log_loss(ANSWERS, proba) < 0.6 * np.log(3)
    assert np.mean(MODEL.predict(TEST) == ANSWERS) > 0.75
    np.testing.assert_allclose(np.exp(MODEL.predict_log_proba(TEST)), proba)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["polars", "pyarrow", "batch", "rows", "shuffled", "wider"])
def test_every_kind_of_table_has_the_same_answers(kind):
    tables = {
        "polars": pl.from_pandas(FRAME),
        "pyarrow": pa.Table.from_pandas(FRAME),
        "batch": pa.RecordBatch.from_pandas(FRAME),
        "rows": FRAME.astype(object).where(FRAME.notna(), None).to_dict("records"),
        "shuffled": FRAME[FRAME.columns[::-1]],
        "wider": FRAME.assign(extra=1.0),
    }
    table = tables[kind]
    np.testing.assert_allclose(
        MODEL.predict_proba(table), MODEL.predict_proba(FRAME), rtol=1e-9, atol=1e-12
    )
    if kind != "wider":
        second = GenerativeClassifier(budget=0).fit(table, LABELS)
        one = GenerativeClassifier(budget=0).fit(FRAME, LABELS)
        np.testing.assert_allclose(
            second.predict_proba(FRAME), one.predict_proba(FRAME), rtol=1e-6, atol=1e-9
        )


def test_float32_is_learned_as_the_numbers_it_holds():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    single, double = (GenerativeClassifier().fit(X.astype(t), y) for t in (np.float32, float))
    np.testing.assert_allclose(single.predict_proba(X), double.predict_proba(X.astype(float)))


def test_an_offset_of_1e8_changes_nothing_but_digits():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    X[:, 0] += 2.0 * y
    normal = {0: "normal", 1: "normal"}
    near = GenerativeClassifier(normal, combine="naive").fit(X, y)
    far = GenerativeClassifier(normal, combine="naive").fit(X + 1e8, y)
    np.testing.assert_allclose(near.predict_proba(X), far.predict_proba(X + 1e8), atol=1e-5)
    # Other numbers are dealt to other folds, so that weights differ by about their own error.
    near, far = (GenerativeClassifier(normal).fit(X + shift, y) for shift in (0.0, 1e8))
    np.testing.assert_allclose(near.predict_proba(X), far.predict_proba(X + 1e8), atol=0.02)


def test_probabilities_of_all_cells_and_classes_add_up_to_one():
    """Of a table of categories all cells can be listed, unseen levels among them."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 80)
    frame = pd.DataFrame({"a": rng.choice(list("uvw"), 80), "b": rng.choice(list("xy"), 80)})
    model = GenerativeClassifier({"a": "categorical", "b": "categorical"}).fit(frame, y)
    cells = pd.DataFrame([(a, b) for a in "uvw?" for b in "xy?"], columns=["a", "b"])
    assert logsumexp(model.predict_joint_log_proba(cells)) == pytest.approx(0.0, abs=1e-12)
    assert logsumexp(model.score_samples(cells)) == pytest.approx(0.0, abs=1e-12)


def test_a_row_of_missing_values_has_the_prior_of_the_classes():
    model = GenerativeClassifier(combine="naive", budget=0).fit(FRAME, LABELS)
    empty = [dict.fromkeys(FRAME.columns)]
    counts = np.unique(LABELS, return_counts=True)[1] + 1.0
    np.testing.assert_allclose(model.predict_proba(empty)[0], counts / counts.sum(), rtol=1e-12)
    assert model.score_samples(empty)[0] == pytest.approx(0.0, abs=1e-12)


def test_naive_combination_is_the_product_of_the_blocks():
    model = GenerativeClassifier(combine="naive", budget=0).fit(FRAME, LABELS)
    joint = model.predict_joint_log_proba(TEST)
    np.testing.assert_allclose(
        model.predict_log_proba(TEST), joint - logsumexp(joint, axis=1, keepdims=True), atol=1e-9
    )
    assert set(model.weights_.values()) == {1.0}


def test_temperature_is_one_weight_for_all_blocks():
    model = GenerativeClassifier(combine="temperature", budget=0).fit(FRAME, LABELS)
    assert len(set(model.weights_.values())) == 1
    weighted = GenerativeClassifier(combine="blocks", budget=0).fit(FRAME, LABELS)
    assert len(set(weighted.weights_.values())) > 1
    assert weighted.combination_.method == "blocks"


def test_auto_takes_the_lowest_held_out_log_loss():
    losses = {
        method: GenerativeClassifier(combine=method, budget=0)
        .fit(FRAME, LABELS)
        .combination_.held_out_log_loss
        for method in ("naive", "temperature", "blocks", "residual", "auto")
    }
    assert losses["auto"] < losses["naive"]
    # Averaged by the likelihood of n rows, m methods are behind the best by at most log(m) / n.
    methods = 2 + 8 + 7  # two, and the prior scales of weights and of residual coefficients
    assert losses["auto"] <= min(losses.values()) + np.log(methods) / len(LABELS)


def test_choices_say_for_every_column_what_was_chosen_and_why():
    choices = MODEL.choices_
    assert set(choices) == {*FRAME.columns, "since:weekday", "since:month"}
    assert choices["city"].family == "categorical"
    assert choices["member"].family == "bernoulli"
    evidence = choices["income"].evidence
    assert set(evidence) >= {"normal", "lognormal", "binned"}
    assert max(evidence, key=evidence.get).startswith("lognormal")
    assert "poisson" in choices["children"].evidence
    assert "evidence" in choices["income"].why
    printed = str(choices)
    assert re.search(r"income: lognormal.*best evidence.*normal -\d", printed)
    console = Console(width=200)
    with console.capture() as shown:
        console.print(choices)
    assert "best evidence" in shown.get()


def test_names_and_numbers_of_rows_are_left_out_and_named():
    frame = FRAME.assign(
        id=np.arange(len(FRAME)),
        name=[f"person {i}" for i in range(len(FRAME))],
    )
    with pytest.warns(SufficeWarning, match=r"Left out: 'id' \(240 whole numbers.*'name'"):
        model = GenerativeClassifier(budget=0).fit(frame, LABELS)
    assert [model.choices_[name].family for name in ("id", "name")] == ["ignore"] * 2
    np.testing.assert_allclose(
        model.predict_proba(frame.assign(id=7, name="x")),
        GenerativeClassifier(budget=0).fit(FRAME, LABELS).predict_proba(FRAME),
    )
    families = {"id": "ignore", "name": "ignore"}
    GenerativeClassifier(families, budget=0).fit(frame, LABELS)


def test_columns_without_values_or_with_one_value_are_left_out_silently():
    frame = FRAME.assign(empty=np.nan, constant=3.0)
    model = GenerativeClassifier(budget=0).fit(frame, LABELS)
    assert model.choices_["empty"].why == "no value at all"
    assert model.choices_["constant"].why == "one value only"


def test_a_mapping_gives_the_families_of_some_columns():
    families = {("weight", "income"): "mvn:tied", "children": "poisson", "noise": "ignore"}
    model = GenerativeClassifier(families, budget=0).fit(FRAME, LABELS)
    chosen = {family.columns: family.name for family in model.blocks_}
    assert chosen[("weight", "income")] == "mvn:tied"
    assert chosen[("children",)] == "poisson"
    assert ("noise",) not in chosen
    assert ("weight", "income") in model.weights_
    assert model.choices_["weight"].block == ("weight", "income")


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ({"height": "normal"}, "No column 'height'; the columns are 'weight'"),
        ({"weight": "gamma"}, "No family 'gamma'. Use one of"),
        ({("weight", "noise"): "mvn", "noise": "normal"}, "'noise' is given a family twice"),
        ({"weight": "mvn"}, "The family 'mvn' is of two or more columns"),
        ({"weight": "text"}, "'weight' holds no texts. Give strings"),
        ({"city": "normal"}, "'city'"),
    ],
)
def test_families_that_cannot_be_are_refused(families, message):
    with pytest.raises(InputError, match=message):
        GenerativeClassifier(families).fit(FRAME, LABELS)


def test_columns_that_belong_together_are_joined():
    """Two signs that say something only together: their exclusive or."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, (2, 400))
    y = np.where(rng.random(400) < 0.1, 1 - (a ^ b), a ^ b)
    frame = pd.DataFrame({"a": np.array(["u", "v"])[a], "b": np.array(["x", "y"])[b]})
    alone = GenerativeClassifier(budget=0).fit(frame, y)
    joined = GenerativeClassifier().fit(frame, y)
    assert [family.columns for family in joined.blocks_] == [("a", "b")]
    assert joined.choices_.trials[0].taken
    assert log_loss(y, joined.predict_proba(frame)) < 0.4 < log_loss(y, alone.predict_proba(frame))


def test_correlated_numbers_are_joined_into_one_normal():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    common = rng.normal(size=(300, 1))
    X = common + 0.3 * rng.normal(size=(300, 4))
    X[:, 0] += 0.6 * y
    model = GenerativeClassifier(combine="blocks").fit(X, y)
    assert len(model.blocks_) == 1
    assert model.blocks_[0].name.startswith("mvn")


def test_missing_values_that_depend_on_the_class_may_be_learned():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    frame.loc[rng.random(300) < np.where(y == 1, 0.8, 0.1), "a"] = np.nan
    frame.loc[rng.random(300) < 0.3, "b"] = np.nan
    plain = GenerativeClassifier().fit(frame, y)
    telling = GenerativeClassifier(missing="informative").fit(frame, y)
    assert log_loss(y, telling.predict_proba(frame)) < 0.5 < log_loss(y, plain.predict_proba(frame))
    assert telling.choices_["a:missing"].family == "bernoulli"
    assert telling.choices_["b:missing"].family == "ignore"
    drawn, _ = telling.sample(2000, random_state=0)
    assert 0.3 < drawn["a"].isna().mean() < 0.6


def test_one_class_is_always_answered():
    with pytest.warns(OneClassWarning, match="has seen one class only, 'a'"):
        model = GenerativeClassifier().fit(FRAME, np.full(len(FRAME), "a"))
    assert set(model.predict(TEST)) == {"a"}
    with pytest.raises(InputError, match="There is one class only, 'a', so there are no odds"):
        model.explain(TEST.iloc[:1])


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
def test_very_few_rows_are_learned_without_complaint(n):
    proba = GenerativeClassifier().fit(FRAME[:n], LABELS[:n]).predict_proba(TEST)
    assert np.isfinite(proba).all()


def test_no_rows_are_refused():
    with pytest.raises(InputError, match=r"Found array with 0 sample\(s\)"):
        GenerativeClassifier().fit(FRAME[:0], LABELS[:0])


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="Column 'city' is missing"):
        MODEL.predict(TEST.drop(columns="city"))


def test_infinity_is_refused_and_named():
    with pytest.raises(InputError, match="Column 'weight' holds inf in row 0"):
        MODEL.predict(TEST.assign(weight=np.inf))


def test_missing_labels_are_refused():
    with pytest.raises(InputError, match="Input y contains NaN or None"):
        GenerativeClassifier().fit(FRAME, pd.Series(LABELS).where(np.arange(len(LABELS)) > 0, None))


def test_a_family_suits_all_rows_also_where_few_are_looked_at_to_choose():
    """A rare 0 is no lognormal, a rare half no number of events, however the others look."""
    rng = np.random.default_rng(8)
    y = np.repeat([0, 1], 4000)
    size = np.exp(rng.normal(size=8000) + y)
    events = rng.poisson(3.0 + y).astype(float)
    size[13], events[17] = 0.0, 2.5
    model = GenerativeClassifier().fit(np.stack([size, events], axis=1), y)
    assert not {c.family for c in model.choices_.values()} & {"lognormal", "poisson"}
    assert model.tally_.weights.sum() == 8000


@pytest.mark.parametrize("seed", range(4))
def test_a_newton_step_rejects_no_block_that_a_whole_trial_would_take(seed, monkeypatch):
    """Columns of levels, two of which decide together, two of which repeat each other."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 3, (400, 6))
    levels[:, 3] = np.where(rng.random(400) < 0.8, levels[:, 2], levels[:, 3])
    y = ((levels[:, 0] + levels[:, 1]) % 3 == 0) ^ (rng.random(400) < 0.1)
    frame = pd.DataFrame(levels.astype(str), columns=list("abcdef"))
    quick = GenerativeClassifier().fit(frame, y)
    assert any(block.columns == ("a", "b") for block in quick.blocks_)
    monkeypatch.setattr(JoinSearch, "_is_promising", lambda *given: True)
    whole = GenerativeClassifier().fit(frame, y)
    assert [block.columns for block in quick.blocks_] == [block.columns for block in whole.blocks_]
    pairs = zip(quick.choices_.trials, whole.choices_.trials, strict=True)
    for first, full in pairs:
        assert first.what == full.what
        assert first.after == pytest.approx(full.after, abs=0.01)
