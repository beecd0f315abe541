"""Naive Bayes of arrays and a table of the same families are one model: their answers are equal."""

import numpy as np
import pytest

from suffice import (
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    PoissonNB,
)

RNG = np.random.default_rng(0)
LABELS = np.array(["a", "b", "c"])[RNG.integers(0, 3, 150)]
SHIFT = np.searchsorted(["a", "b", "c"], LABELS)[:, None]
NUMBERS = RNG.normal(size=(150, 3)) * [1.0, 5.0, 0.01] + SHIFT * [0.7, 0.0, 0.01]
EVENTS = RNG.poisson(np.exp(RNG.normal(size=(1, 3)) + SHIFT * [0.5, 0.0, -0.4])).astype(float)
COINS = (RNG.random((150, 3)) < 0.2 + 0.25 * SHIFT * [1.0, 0.0, 1.0]).astype(float)
LEVELS = np.minimum(RNG.poisson(1.0 + SHIFT * [0.5, 0.0, 1.0]), 4).astype(float)

# An array classifier, the family of each column of a table, and rows for both.
PAIRS = {
    "normal": (GaussianNB(estimate="predictive"), "normal", NUMBERS),
    "normal, tied": (GaussianNB(estimate="predictive", tie="class"), "normal:tied", NUMBERS),
    "normal, diagonal": (GaussianDiscriminant("diagonal"), "normal", NUMBERS),
    "poisson": (PoissonNB(alpha="evidence", estimate="predictive"), "poisson", EVENTS),
    "bernoulli": (BernoulliNB(alpha="evidence", estimate="predictive"), "bernoulli", COINS),
    "categorical": (
        CategoricalNB(alpha="evidence", estimate="predictive"),
        "categorical",
        LEVELS,
    ),
}
JOINT = {
    "mvn": (GaussianDiscriminant("full"), "mvn"),
    "mvn, tied": (GaussianDiscriminant("tied"), "mvn:tied"),
}


def some_missing(rows):
    rows = rows.copy()
    rows[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
    return rows


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_naive_bayes_and_a_table_of_its_family_give_the_same_probabilities(name, missing):
    model, family, rows = PAIRS[name]
    rows = some_missing(rows) if missing else rows
    table = GenerativeClassifier(dict.fromkeys(range(3), family), combine="naive")
    one, other = (each.fit(rows, LABELS).predict_proba(rows) for each in (model, table))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_they_give_the_same_densities_and_the_same_evidence_of_rows(name):
    model, family, rows = PAIRS[name]
    table = GenerativeClassifier(dict.fromkeys(range(3), family), combine="naive")
    one, other = model.fit(rows, LABELS), table.fit(rows, LABELS)
    np.testing.assert_allclose(one.score_samples(rows), other.score_samples(rows), atol=1e-9)
    assert one.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_they_leave_rows_out_alike(name):
    model, family, rows = PAIRS[name]
    table = GenerativeClassifier(dict.fromkeys(range(3), family), combine="naive")
    one, other = (each.fit(rows, LABELS).leave_one_out(rows, LABELS) for each in (model, table))
    np.testing.assert_allclose(one.log_proba, other.log_proba, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", JOINT)
def test_discriminant_analysis_and_a_block_of_normals_give_the_same_probabilities(name):
    model, family = JOINT[name]
    table = GenerativeClassifier({(0, 1, 2): family}, combine="naive")
    one, other = (each.fit(NUMBERS, LABELS).predict_proba(NUMBERS) for each in (model, table))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
