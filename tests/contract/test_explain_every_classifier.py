"""Every classifier explains a row: the parts are what they say, and add up to the log-odds."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)
from suffice.errors import InputError
from suffice.scoring import Explanation

RNG = np.random.default_rng(0)
SIZE = 150
THREE = np.array(["a", "b", "c"])[RNG.integers(0, 3, SIZE)]
TWO = np.where(THREE == "c", "b", THREE)
MIX = RNG.normal(size=(4, 4))
NUMBERS = RNG.normal(size=(SIZE, 4)) @ MIX + (THREE == "a")[:, None] - 2.0 * (THREE == "c")[:, None]
COUNTS = RNG.poisson(np.exp(0.3 * NUMBERS.clip(-4, 4)))
MISSING_CELL = NUMBERS[:1].copy()
MISSING_CELL[0, 1] = np.nan
MISSING_COUNTS = COUNTS[:1].astype(float)
MISSING_COUNTS[0, [1, 2]] = np.nan

MODELS = {
    "GaussianNB": (GaussianNB(), NUMBERS),
    "GaussianNB, map": (GaussianNB(estimate="map"), NUMBERS),
    "GaussianNB, predictive": (GaussianNB(estimate="predictive"), NUMBERS),
    "GaussianNB, tied": (GaussianNB(tie="both", estimate="predictive"), NUMBERS),
    "GaussianNB, tied over features": (GaussianNB(tie="feature", estimate="predictive"), NUMBERS),
    "GaussianNB, calibrated": (GaussianNB(calibrate="loo"), NUMBERS),
    "BernoulliNB": (BernoulliNB(binarize=1.0), COUNTS),
    "BernoulliNB, cells as they are": (BernoulliNB(binarize=None), (COUNTS > 1).astype(float)),
    "MultinomialNB": (MultinomialNB(), COUNTS),
    "MultinomialNB, predictive": (MultinomialNB(estimate="predictive", alpha=0.3), COUNTS),
    "MultinomialNB, calibrated": (MultinomialNB(calibrate="loo"), COUNTS),
    "ComplementNB": (ComplementNB(), COUNTS),
    "ComplementNB, norm": (ComplementNB(norm=True), COUNTS),
    "CategoricalNB": (CategoricalNB(), COUNTS),
    "PoissonNB": (PoissonNB(), COUNTS),
    "PoissonNB, predictive": (PoissonNB(estimate="predictive"), COUNTS),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis(), NUMBERS),
    "LinearDiscriminantAnalysis, lsqr": (LinearDiscriminantAnalysis("lsqr"), NUMBERS),
    "QuadraticDiscriminantAnalysis": (QuadraticDiscriminantAnalysis(), NUMBERS),
    "QuadraticDiscriminantAnalysis, calibrated": (
        QuadraticDiscriminantAnalysis(calibrate="loo"),
        NUMBERS,
    ),
    "GaussianDiscriminant": (GaussianDiscriminant(), NUMBERS),
    "GaussianDiscriminant, tied map": (GaussianDiscriminant(estimate="map"), NUMBERS),
    "GaussianDiscriminant, full": (GaussianDiscriminant("full"), NUMBERS),
    "GaussianDiscriminant, diagonal": (GaussianDiscriminant("diagonal"), NUMBERS),
    "GaussianDiscriminant, spherical": (GaussianDiscriminant("spherical"), NUMBERS),
    "GaussianDiscriminant, low rank": (GaussianDiscriminant("low_rank", estimate="map"), NUMBERS),
    "LogisticRegression": (LogisticRegression(), NUMBERS),
    "GenerativeClassifier": (GenerativeClassifier(), NUMBERS),
}
TAKE_MISSING = [name for name in MODELS if "Logistic" not in name]


def odds_of(model, row, target, against=None):
    proba = model.predict_proba(row)[0]
    at = model.classes_.tolist().index(target)
    if against is None:
        return np.log(proba[at]) - np.log(np.delete(proba, at).sum())
    return np.log(proba[at]) - np.log(proba[model.classes_.tolist().index(against)])


def check(model, row, target=None, against=None):
    reasons = model.explain(row, target, against)
    assert isinstance(reasons, Explanation)
    message = model.predict(row)[0] if target is None else target
    assert reasons.target == message
    assert reasons.log_odds == pytest.approx(odds_of(model, row, message, against), abs=1e-8)
    assert reasons.base + reasons.contributions.sum() == pytest.approx(reasons.log_odds)
    return reasons


@pytest.mark.slow
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("case", MODELS)
def test_the_parts_add_up_to_the_log_odds_of_predict_proba(case, labels):
    model, rows = MODELS[case]
    model.fit(rows, labels)
    for at in (0, 7, 42):
        check(model, rows[[at]])
        check(model, rows[[at]], "a")
        check(model, rows[[at]], "b", "a")


@pytest.mark.slow
@pytest.mark.parametrize("case", TAKE_MISSING)
def test_a_missing_value_contributes_nothing_and_the_rest_adds_up(case):
    model, rows = MODELS[case]
    model.fit(rows, THREE)
    counts = rows.dtype.kind == "i" or "cells as they are" in case
    row = MISSING_COUNTS if counts else MISSING_CELL
    reasons = check(model, row)
    for name, value, share in zip(
        reasons.names, reasons.values, reasons.contributions, strict=True
    ):
        if value == f"{name} missing":
            assert share == 0.0


LEARNED = {
    "GaussianNB": "shares",
    "GaussianNB, predictive": "predictive",
    "GaussianNB, tied": "predictive",
    "BernoulliNB": "shares",
    "MultinomialNB": "shares",
    "MultinomialNB, predictive": "predictive",
    "ComplementNB": "none",
    "CategoricalNB": "shares",
    "PoissonNB": "shares",
    "PoissonNB, predictive": "predictive",
    "QuadraticDiscriminantAnalysis": "shares",
    "GaussianDiscriminant": "predictive",
    "GaussianDiscriminant, full": "predictive",
    "GaussianDiscriminant, spherical": "predictive",
}


@pytest.mark.parametrize("case", LEARNED)
def test_the_base_is_the_class_prior(case):
    """So the base contains nothing of a column."""
    model, rows = MODELS[case]
    model.fit(rows, TWO)
    counts = np.array([(label == TWO).sum() for label in ("a", "b")], float)
    more = {"shares": 0.0, "predictive": 1.0}.get(LEARNED[case])
    wanted = 0.0 if more is None else np.log((counts[1] + more) / (counts[0] + more))
    reasons = model.explain(rows[[3]], "b")
    assert reasons.base == pytest.approx(wanted, abs=1e-9)


def contributions(model, row, target="b"):
    reasons = model.explain(row, target)
    return dict(zip(reasons.names, reasons.contributions, strict=True))


def test_normal_columns_add_their_log_density_ratios():
    model = GaussianNB(var_smoothing=0).fit(NUMBERS, TWO)
    found = contributions(model, NUMBERS[[5]])
    for j in range(4):
        own, other = (NUMBERS[label == TWO, j] for label in ("b", "a"))
        ratio = stats.norm.logpdf(NUMBERS[5, j], own.mean(), own.std())
        ratio -= stats.norm.logpdf(NUMBERS[5, j], other.mean(), other.std())
        assert found[f"x{j}"] == pytest.approx(ratio, abs=1e-9)


def test_words_add_their_count_times_the_log_ratio_of_their_shares():
    model = MultinomialNB().fit(COUNTS, TWO)
    row = np.array([[3, 0, 1, 0]])
    found = contributions(model, row)
    assert list(found) == ["x0", "x2"]  # words that are there
    shares = {
        label: (COUNTS[label == TWO].sum(axis=0) + 1) / (COUNTS[label == TWO].sum() + 4)
        for label in ("a", "b")
    }
    assert found["x0"] == pytest.approx(3 * np.log(shares["b"][0] / shares["a"][0]))
    assert found["x2"] == pytest.approx(np.log(shares["b"][2] / shares["a"][2]))


def test_presence_absence_levels_and_events_add_their_log_ratios():
    row = COUNTS[[8]]
    present = BernoulliNB(binarize=1.0).fit(COUNTS, TWO)
    levels = CategoricalNB().fit(COUNTS, TWO)
    events = PoissonNB().fit(COUNTS, TWO)
    found = [contributions(model, row) for model in (present, levels, events)]
    for j in range(4):
        logs = []
        for label in ("b", "a"):
            mine = COUNTS[label == TWO, j]
            chance = ((mine > 1).sum() + 1) / (len(mine) + 2)
            known = COUNTS[:, j].max() + 1
            rate = (mine.sum() + 1) / (len(mine) + 1)
            logs.append(
                (
                    np.log(chance if row[0, j] > 1 else 1 - chance),
                    np.log(((mine == row[0, j]).sum() + 1) / (len(mine) + known)),
                    stats.poisson.logpmf(row[0, j], rate),
                )
            )
        for one, other, shares in zip(*logs, found, strict=True):
            assert shares[f"x{j}"] == pytest.approx(one - other, abs=1e-9)


def test_dependent_columns_contribute_by_the_chain_rule():
    model = QuadraticDiscriminantAnalysis().fit(NUMBERS, TWO)
    found = contributions(model, NUMBERS[[5]])
    upto = [0.0]
    for width in range(1, 5):
        ratio = 0.0
        for sign, label in ((1, "b"), (-1, "a")):
            mine = NUMBERS[label == TWO][:, :width]
            law = stats.multivariate_normal(mine.mean(axis=0), np.cov(mine.T, bias=True))
            ratio += sign * law.logpdf(NUMBERS[5, :width])
        upto.append(ratio)
    np.testing.assert_allclose(list(found.values()), np.diff(upto), atol=1e-8)


def test_linear_scores_add_weight_times_cell():
    logistic = LogisticRegression().fit(NUMBERS, TWO)
    found = contributions(logistic, NUMBERS[[5]])
    np.testing.assert_allclose(list(found.values()), logistic.coef_[0] * NUMBERS[5], rtol=1e-12)
    assert logistic.explain(NUMBERS[[5]], "b").base == pytest.approx(logistic.intercept_[0])
    for solver in ("svd", "lsqr"):
        linear = LinearDiscriminantAnalysis(solver).fit(NUMBERS, TWO)
        one, other = (contributions(linear, NUMBERS[[at]]) for at in (5, 6))
        steps = [one[name] - other[name] for name in one]
        wanted = linear.coef_[0] * (NUMBERS[5] - NUMBERS[6])
        np.testing.assert_allclose(steps, wanted, rtol=1e-9, atol=1e-12)


def test_contributions_of_data_far_from_zero_keep_their_digits():
    far = NUMBERS + 1e8
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), GaussianNB()):
        near_parts = model.fit(NUMBERS, TWO).explain(NUMBERS[[5]], "b").contributions
        far_parts = model.fit(far, TWO).explain(far[[5]], "b").contributions
        np.testing.assert_allclose(far_parts, near_parts, rtol=1e-4, atol=1e-5)


def test_columns_have_their_names_and_values():
    frame = pd.DataFrame(NUMBERS, columns=["age", "size", "price", "rent"])
    for model in (GaussianNB(), LinearDiscriminantAnalysis(), LogisticRegression()):
        reasons = model.fit(frame, TWO).explain(frame[:1])
        assert reasons.names == ("age", "size", "price", "rent")
        assert reasons.values[0] == f"age = {NUMBERS[0, 0]:g}"
        assert "log-odds" in str(reasons)
        assert reasons.to_frame().contribution.sum() == pytest.approx(reasons.log_odds)


def test_sparse_rows_are_explained_by_their_cells():
    for model in (MultinomialNB(), LogisticRegression(), BernoulliNB()):
        model.fit(COUNTS, TWO)
        sparse = model.explain(sp.csr_array(COUNTS[:1]), "b")
        dense = model.explain(COUNTS[:1], "b")
        assert sparse.log_odds == pytest.approx(dense.log_odds)
        shares = dict(zip(dense.names, dense.contributions, strict=True))
        for name, share in zip(sparse.names, sparse.contributions, strict=True):
            assert share == pytest.approx(shares[name])


@pytest.mark.parametrize("case", MODELS)
def test_one_row_is_explained_at_a_time_and_classes_must_be_known(case):
    model, rows = MODELS[case]
    model.fit(rows, THREE)
    with pytest.raises(InputError, match=r"2 rows to explain. Give one"):
        model.explain(rows[:2])
    with pytest.raises(InputError, match=r"There is no class 'z'; the classes are \['a', 'b', 'c'"):
        model.explain(rows[:1], "z")
    with pytest.raises(InputError, match="Class 'a' is compared with itself"):
        model.explain(rows[:1], "a", "a")


@pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
def test_a_model_of_one_class_has_no_log_odds():
    model = GaussianNB().fit(NUMBERS, np.full(SIZE, "a"))
    with pytest.raises(InputError, match="There is one class only, 'a', so there are no odds"):
        model.explain(NUMBERS[:1])


def test_a_class_of_probability_0_is_left_out_of_an_explanation():
    rows, labels = [[2, 1, 0], [1, 2, 0], [0, 0, 3]], ["a", "b", "c"]
    model = MultinomialNB(estimate="mle").fit(rows, labels)
    reasons = model.explain([[1, 1, 0]], "a")  # not of c, which has no such word
    assert reasons.log_odds == pytest.approx(odds_of(model, [[1, 1, 0]], "a"))
    with pytest.raises(InputError, match=r"Class 'c'.* has probability 0 for this row"):
        model.explain([[1, 1, 0]], "c")
    with pytest.raises(InputError, match="or every class against it, has probability 0"):
        model.explain([[1, 1, 0]], "a", "c")


@pytest.mark.parametrize("case", ["GaussianNB", "LogisticRegression", "PoissonNB"])
def test_cells_that_cannot_be_scored_are_refused_with_their_place(case):
    model, rows = MODELS[case]
    model.fit(rows, TWO)
    bad = rows[:1].astype(float)
    bad[0, 2] = np.inf
    with pytest.raises(InputError, match="inf in row 0, column 2"):
        model.explain(bad)


def test_contributions_of_words_add_up_for_every_event_model():
    texts = [" ".join(RNG.choice(["offer", "money", "lunch", "noon", "report"], 5)) for _ in TWO]
    for settings in (
        {"event": "multinomial"},
        {"event": "bernoulli"},
        {"event": "polya"},
        {"event": "complement", "calibrate": None},
        {"refine": "logistic"},
        {"unknown": "smooth", "weighting": "tfidf"},
    ):
        model = TextClassifier(**settings).fit(texts, THREE)
        reasons = model.explain("offer offer lunch", "a")
        assert reasons.log_odds == pytest.approx(odds_of(model, ["offer offer lunch"], "a"))


def test_explaining_with_an_unfitted_model_raises():
    for model in (GaussianNB(), LogisticRegression(), LinearDiscriminantAnalysis()):
        with pytest.raises(ValueError, match="is not fitted yet"):
            type(model)().explain(NUMBERS[:1])
