"""Folds are dealt by what rows hold, and nothing in them tells the label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from suffice import GaussianNB, GenerativeClassifier, TextClassifier
from suffice.data import Rows, array_hashes
from suffice.validation.folds import FOLDS, DistinctRows, assign_folds

NOBODY = np.empty(0)


def folds_of(X, codes, weights=NOBODY, groups=None):
    codes = np.asarray(codes, np.int32)
    rows = Rows(X, codes, int(codes.max()) + 1, weights)
    hashes = array_hashes(X)
    if groups is not None:
        rows = replace(rows, groups=array_hashes(groups[:, None]))
        hashes = hashes ^ rows.groups
    return assign_folds(DistinctRows.of(rows, hashes))


def by_content(folds):
    """The folds and the weight of every row, by what it holds and its class."""
    found: dict = {}
    for row, code, weight, number in zip(
        folds.rows.X.tolist(),
        folds.rows.codes.tolist(),
        folds.rows.row_weights.tolist(),
        folds.numbers.tolist(),
        strict=True,
    ):
        key = (*row, code, number)
        found[key] = found.get(key, 0.0) + weight
    return found


def drawn(seed, n=200, classes=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.integers(0, classes, n)


def test_the_order_of_rows_does_not_matter():
    X, y = drawn(0)
    for order in (np.random.default_rng(1).permutation(200), np.argsort(y), np.argsort(X[:, 0])):
        assert by_content(folds_of(X[order], y[order])) == by_content(folds_of(X, y))


@pytest.mark.parametrize("levels", [4, 1000])
def test_a_weight_of_k_is_k_repeats_and_a_weight_of_0_is_no_row(levels):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, levels, (60, 2)).astype(float), rng.integers(0, 2, 60)
    weights = rng.integers(0, 4, 60).astype(float)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    weighed = by_content(folds_of(X, y, weights))
    assert weighed == pytest.approx(by_content(folds_of(X[repeated], y[repeated])))


def test_equal_rows_share_a_fold_where_repeats_are_copies():
    X, y = drawn(3)
    copied = np.concatenate([np.arange(200), np.arange(50)])
    folds = folds_of(X[copied], y[copied])
    assert len(folds.numbers) == 200
    assert folds.rows.row_weights.sum() == 250


def test_rows_that_occur_with_several_labels_are_assigned_one_by_one():
    """A table of two levels could not be held out otherwise."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (300, 1)).astype(float), rng.integers(0, 2, 300)
    folds = folds_of(X, y)
    assert set(folds.numbers.tolist()) == set(range(FOLDS))
    assert folds.rows.row_weights.sum() == 300
    assert (folds.weights > 10).all()  # of 15 a class and fold


def test_each_class_is_spread_evenly_over_folds():
    X, y = drawn(5, 1000)
    counts = folds_of(X, y).weights
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()


@pytest.mark.parametrize("rows", [2, 3, 9])
def test_a_class_of_few_rows_has_each_in_a_fold_of_its_own(rows):
    X, y = drawn(6, 100, 2)
    X = np.concatenate([X, np.arange(2.0 * rows).reshape(rows, 2)])
    folds = folds_of(X, [*y, *[2] * rows])
    assert (folds.weights[:, 2] <= 1).all()
    assert folds.scored.all()


def test_a_class_of_one_distinct_row_is_never_held_out_and_has_no_offset():
    X, y = drawn(7, 120, 2)
    X = np.concatenate([X, [[9.0, 9.0]] * 5])
    y = np.array([*y, *[2] * 5])
    assert folds_of(X, y).scored.tolist() == [True, True, False]
    model = GenerativeClassifier().fit(X, y)
    assert model.combination_.offsets[2] == 0.0
    assert np.isfinite(model.predict_proba(X)).all()
    calm = GaussianNB(calibrate="folds").fit(X + np.random.default_rng(0).normal(size=X.shape), y)
    assert np.isfinite(calm.predict_proba(X)).all()


def test_groups_stay_together():
    X, y = drawn(8)
    groups = np.random.default_rng(9).integers(0, 40, 200)
    folds = folds_of(X, y, groups=groups)
    for one in np.unique(array_hashes(groups[:, None])):
        assert len(set(folds.numbers[folds.rows.groups == one].tolist())) == 1


@pytest.mark.parametrize("model", [GenerativeClassifier(), GaussianNB(calibrate="folds")])
def test_groups_that_repeat_themselves_are_not_learned_by_heart(model):
    """Forty patients of twelve rows each, with a label for each patient that means nothing."""
    rng = np.random.default_rng(10)
    patients = np.repeat(np.arange(40), 12)
    X = rng.normal(size=(40, 5))[patients] + 0.05 * rng.normal(size=(480, 5))
    y = rng.integers(0, 2, 40)[patients]
    new = rng.normal(size=(2000, 5))

    def excess(fitted):
        return -fitted.predict_log_proba(new).mean() - np.log(2)

    assert excess(model.fit(X, y, groups=patients)) < 0.25 * excess(model.fit(X, y)) + 0.05


def test_the_length_discount_is_chosen_by_documents_of_other_groups():
    """Forty threads with words of their own; a thread's other letters make words look trusty."""
    rng = np.random.default_rng(12)
    threads = np.repeat(np.arange(40), 12)
    common = [f"common{word}" for word in range(200)]

    def letter(thread):
        own = [f"thread{thread}word{word}" for word in range(20)]
        return " ".join([*rng.choice(own, 8), *rng.choice(common, 30)])

    X = pd.DataFrame({"letter": [letter(thread) for thread in threads]})
    y = rng.integers(0, 2, 40)[threads]
    new = pd.DataFrame({"letter": [" ".join(rng.choice(common, 40)) for _ in range(500)]})
    model = GenerativeClassifier({"letter": "text"}, combine="naive")
    excess = [
        -model.fit(X, y, groups=groups).predict_log_proba(new).mean() - np.log(2)
        for groups in (None, threads)
    ]
    assert excess[1] < 0.25 * excess[0]


@pytest.mark.parametrize("model", [GenerativeClassifier(), GaussianNB(calibrate="folds")])
def test_cross_validation_keeps_groups_together_within_its_training_folds(model):
    rng = np.random.default_rng(10)
    patients = np.repeat(np.arange(40), 12)
    X = rng.normal(size=(40, 5))[patients] + 0.05 * rng.normal(size=(480, 5))
    y = rng.integers(0, 2, 40)[patients]
    folds = np.arange(40)[patients] % 4
    losses = []
    for fold in range(4):
        train, test = folds != fold, folds == fold
        fitted = clone(model).fit(X[train], y[train], groups=patients[train])
        losses.append(log_loss(y[test], fitted.predict_proba(X[test])))
    found = model.cross_validate(X, y, folds, groups=patients)
    np.testing.assert_allclose(found.log_loss[0], losses, rtol=1e-6)


def test_leaving_rows_out_keeps_groups_together_as_refits_without_the_row_do():
    rng = np.random.default_rng(10)
    patients = np.repeat(np.arange(40), 12)
    X = rng.normal(size=(40, 5))[patients] + 0.05 * rng.normal(size=(480, 5))
    y = rng.integers(0, 2, 40)[patients]
    families = dict.fromkeys(range(5), "normal")
    model = GenerativeClassifier(families, combine="blocks").fit(X, y, groups=patients)
    some = np.arange(0, 480, 60)
    refitted = []
    for row in some:
        others = np.arange(480) != row
        without = clone(model).fit(X[others], y[others], groups=patients[others])
        refitted.append(without.predict_log_proba(X[[row]])[0])
    found = model.leave_one_out(X, y, groups=patients).log_proba[some]
    np.testing.assert_allclose(found, refitted, atol=0.02)


def test_fits_do_not_depend_on_order_or_on_how_repeats_are_given():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 150)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=150) + y,
            "level": rng.choice(list("abcd"), 150),
            "text": [
                f"case {v:x} was {'good' if v % 3 else 'bad'}" for v in rng.integers(0, 99, 150)
            ],
        }
    )
    weights = rng.integers(0, 3, 150)
    repeated = rng.permutation(np.repeat(np.arange(150), weights))
    families = {"number": "normal", "level": "categorical", "text": "text"}
    one = GenerativeClassifier(families).fit(frame, y, sample_weight=weights)
    other = GenerativeClassifier(families).fit(frame.iloc[repeated], y[repeated])
    np.testing.assert_allclose(
        one.predict_proba(frame), other.predict_proba(frame), rtol=1e-6, atol=1e-9
    )


def templates(rng, n):
    return [f"Payment received for invoice {v:06x}" for v in rng.integers(0, 1 << 24, n)]


def shuffled_words(rng, n):
    words = [f"word{at}" for at in range(400)]
    return [" ".join(rng.choice(words, 12)) for _ in range(n)]


def one_row_levels(rng, n):
    return [f"{v:08x}" for v in rng.integers(0, 1 << 32, n)]


USELESS = {"template": templates, "shuffled words": shuffled_words, "levels": one_row_levels}


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.03])
@pytest.mark.parametrize("weights", ["none", "log-normal", "six decades"])
@pytest.mark.parametrize("kind", list(USELESS))
def test_a_useless_column_does_no_harm(kind, weights, share):
    rng = np.random.default_rng(12)
    n = 2400
    y = (rng.random(n) < share).astype(int)
    number = rng.normal(size=n) + y
    frame = pd.DataFrame({"number": number, "useless": USELESS[kind](rng, n)})
    family = "categorical" if kind == "levels" else "text"
    scale = {"none": 0.0, "log-normal": 1.0, "six decades": 3.0}[weights]
    w = rng.lognormal(0, scale, 400) if scale < 3 else 10.0 ** rng.uniform(-3, 3, 400)
    learned = np.argsort(y[:400], kind="stable")  # sorted rows
    families = {"number": "normal", "useless": family}
    losses = []
    for columns in (["number"], ["number", "useless"]):
        model = GenerativeClassifier({name: families[name] for name in columns})
        model.fit(frame[columns].iloc[learned], y[learned], sample_weight=w[learned])
        losses.append(log_loss(y[400:], model.predict_proba(frame[columns][400:])))
    assert losses[1] < losses[0] + 0.02


@pytest.mark.parametrize("rare", [2, 3, 9])
def test_rare_classes_are_not_predicted_by_columns_of_noise(rare):
    rng = np.random.default_rng(13)
    y = np.repeat([0, 1, 2], [rare, 60, 140])
    n = len(y) + 1000
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "text": templates(rng, n),
            "level": rng.choice(list("ab"), n),
        }
    )
    model = GenerativeClassifier().fit(frame[: len(y)], y)
    proba = model.predict_proba(frame[len(y) :]).mean(axis=0)
    np.testing.assert_allclose(proba, np.bincount(y) / len(y), atol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["template", "shuffled words"])
def test_leave_one_out_predicts_the_log_loss_of_new_rows(kind):
    """Accuracies of rows left out and of new ones agree within three standard errors."""
    rng = np.random.default_rng(14)
    y = rng.integers(0, 2, 2400)
    frame = pd.DataFrame({"number": rng.normal(size=2400) + y, "text": USELESS[kind](rng, 2400)})
    learned, new = frame[:400], frame[400:]
    model = GenerativeClassifier({"number": "normal", "text": "text"}).fit(learned, y[:400])
    left_out = model.leave_one_out(learned, y[:400])
    hits = (model.predict(new) == y[400:]).mean()
    error = np.sqrt(hits * (1 - hits) * (1 / 400 + 1 / 2000))
    assert abs(left_out.accuracy - hits) < 3 * error
    loss = log_loss(y[400:], model.predict_proba(new))
    assert left_out.log_loss == pytest.approx(loss, abs=0.06)
    crossed = model.cross_validate(learned, y[:400], 10)
    assert abs(float(crossed.accuracy.mean()) - hits) < 3 * error


def test_words_that_mean_nothing_leave_text_at_the_shares():
    rng = np.random.default_rng(15)
    y = (rng.random(400) < 0.3).astype(int)
    documents, new = shuffled_words(rng, 400), shuffled_words(rng, 1000)
    model = TextClassifier().fit(documents, y)
    shares = np.bincount(y) / 400
    log_proba = model.predict_log_proba(new)
    excess = float((np.log(shares) - log_proba).mean(axis=0) @ shares)
    assert excess < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("text", ["template", "words"])
def test_rows_of_pure_noise_are_left_out_as_refits_leave_them_out(text):
    """As many rows of either class: where a row leaves the class prior twice, none is right."""
    rng = np.random.default_rng(21)
    y = rng.permutation(np.repeat([0, 1], 40))
    if text == "template":
        notes = [f"Payment received for invoice {v:06x}" for v in rng.integers(0, 1 << 24, 80)]
    else:
        notes = [" ".join(f"w{v}" for v in rng.integers(0, 300, 12)) for _ in range(80)]
    X = pd.DataFrame({"note": notes})
    model = GenerativeClassifier().fit(X, y)
    refitted = np.empty((80, 2))
    for row in range(80):
        others = np.arange(80) != row
        without = clone(model).fit(X[others], y[others])
        refitted[row] = without.predict_log_proba(X.iloc[[row]])[0]
    found = model.leave_one_out(X, y)
    own = refitted[np.arange(80), y]
    assert found.log_loss == pytest.approx(-own.mean(), abs=0.004)
    right = refitted.argmax(axis=1) == y
    assert abs(found.accuracy - right.mean()) < 3 * 0.5 / np.sqrt(80)
