"""score_samples, predict_joint_log_proba and predict_log_proba are of one density."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.naive_bayes import MultinomialNB as TheirMultinomialNB

from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)

RNG = np.random.default_rng(0)
LABELS = np.array(["a", "b", "c"])[RNG.integers(0, 3, 90)]
NUMBERS = RNG.normal(size=(90, 3)) + (LABELS == "a")[:, None]
COUNTS = RNG.poisson(2.0, (90, 4))
MISSING_NUMBERS = np.where(RNG.random(NUMBERS.shape) < 0.2, np.nan, NUMBERS)
MISSING_COUNTS = np.where(RNG.random(COUNTS.shape) < 0.2, np.nan, COUNTS)
TEXTS = [" ".join(RNG.choice(["offer", "money", "lunch", "noon", "report"], 6)) for _ in range(90)]
MIXED = [
    {"size": float(size), "colour": "red" if count > 1 else "blue", "events": int(count)}
    for size, count in zip(NUMBERS[:, 0], COUNTS[:, 0], strict=True)
]

CASES = {
    "GaussianNB": (GaussianNB(), NUMBERS),
    "GaussianNB, predictive": (GaussianNB(estimate="predictive"), MISSING_NUMBERS),
    "GaussianNB, calibrated": (GaussianNB(calibrate="loo"), NUMBERS),
    "BernoulliNB": (BernoulliNB(binarize=1.5), MISSING_COUNTS),
    "MultinomialNB": (MultinomialNB(), COUNTS),
    "MultinomialNB, sparse": (MultinomialNB(), sp.csr_array(COUNTS)),
    "MultinomialNB, predictive": (MultinomialNB(estimate="predictive"), COUNTS),
    "MultinomialNB, missing values": (MultinomialNB(), MISSING_COUNTS),
    "MultinomialNB, fractions": (MultinomialNB(), COUNTS / 3),
    "CategoricalNB": (CategoricalNB(), MISSING_COUNTS),
    "PoissonNB": (PoissonNB(), COUNTS),
    "PoissonNB, predictive": (PoissonNB(estimate="predictive"), MISSING_COUNTS),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis(), NUMBERS),
    "LinearDiscriminantAnalysis, lsqr": (LinearDiscriminantAnalysis("lsqr"), MISSING_NUMBERS),
    "QuadraticDiscriminantAnalysis": (QuadraticDiscriminantAnalysis(), NUMBERS),
    "GaussianDiscriminant": (GaussianDiscriminant(), NUMBERS),
    "GaussianDiscriminant, full": (GaussianDiscriminant("full", estimate="map"), MISSING_NUMBERS),
    "GaussianDiscriminant, spherical": (GaussianDiscriminant("spherical"), NUMBERS),
    "GenerativeClassifier": (GenerativeClassifier(), MIXED),
    "TextClassifier": (TextClassifier(), TEXTS),
    "TextClassifier, bernoulli": (TextClassifier(event="bernoulli"), TEXTS),
    "TextClassifier, polya": (TextClassifier(event="polya", calibrate=None), TEXTS),
    "TextClassifier, unknown": (TextClassifier(unknown="smooth"), TEXTS),
    "TextClassifier, tfidf": (TextClassifier(weighting="tfidf"), TEXTS),
}
# Answers that are calibrated, weighted or refined are no longer those of the density.
UNTOUCHED = [
    name
    for name, (model, _) in CASES.items()
    if getattr(model, "calibrate", None) is None and not isinstance(model, GenerativeClassifier)
]


@pytest.mark.parametrize("case", CASES)
def test_the_density_is_the_sum_over_classes_of_the_joint_density(case):
    model, rows = CASES[case]
    model.fit(rows, LABELS)
    joint = model.predict_joint_log_proba(rows)
    assert np.isfinite(joint).all()
    np.testing.assert_allclose(
        model.score_samples(rows), logsumexp(joint, axis=1), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("case", UNTOUCHED)
def test_probabilities_are_the_joint_density_over_the_density(case):
    model, rows = CASES[case]
    model.fit(rows, LABELS)
    ratio = model.predict_joint_log_proba(rows) - model.score_samples(rows)[:, None]
    np.testing.assert_allclose(model.predict_log_proba(rows), ratio, rtol=1e-9, atol=1e-9)


def test_the_density_of_words_is_that_of_scikit_learns_joint_density():
    ours, theirs = (kind().fit(COUNTS, LABELS) for kind in (MultinomialNB, TheirMultinomialNB))
    joint = theirs.predict_joint_log_proba(COUNTS)
    np.testing.assert_allclose(ours.predict_joint_log_proba(COUNTS), joint, rtol=1e-12)
    np.testing.assert_allclose(ours.score_samples(COUNTS), logsumexp(joint, axis=1), rtol=1e-12)


def test_the_complement_rule_has_the_density_of_the_multinomial():
    words = MultinomialNB().fit(COUNTS, LABELS).score_samples(COUNTS)
    rule = ComplementNB().fit(COUNTS, LABELS)
    np.testing.assert_allclose(rule.score_samples(COUNTS), words, rtol=1e-12)
    texts = TextClassifier(event="multinomial", alpha=1.0).fit(TEXTS, LABELS).score_samples(TEXTS)
    rule = TextClassifier(event="complement", alpha=1.0).fit(TEXTS, LABELS)
    np.testing.assert_allclose(rule.score_samples(TEXTS), texts, rtol=1e-12)
