"""Scorers of correlated rows against scipy: narrow and wide, shared and own, whole and gappy."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

from suffice.scoring.gaussian import NORMAL, WhitenedScorer, by_pattern
from suffice.scoring.scorer import Refused, joint_log_proba


def laws(classes, matrices, features):
    rng = np.random.default_rng(features)
    roots = rng.normal(size=(matrices, features, features))
    matrix = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(features)
    location = rng.normal(size=(classes, features)) + 100
    return location, matrix, rng.uniform(2, 9, classes), rng.uniform(1, 2, classes)


@pytest.mark.parametrize("student", [False, True])
@pytest.mark.parametrize(
    ("classes", "matrices", "features"), [(1, 1, 1), (3, 3, 5), (4, 1, 20), (2, 2, 140)]
)
def test_densities_are_scipys_for_every_pattern_of_gaps(classes, matrices, features, student):
    location, matrix, degrees, stretch = laws(classes, matrices, features)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, features)) + 100
    X[::7, 0] = np.nan
    X[::11, features // 2] = np.nan
    X[5] = np.nan
    scorer = WhitenedScorer(location, matrix, degrees if student else NORMAL, stretch)
    got = joint_log_proba(scorer, X, np.zeros(classes))
    for numbers, seen in by_pattern(~np.isnan(X)):
        for c in range(classes):
            if seen.size == 0:
                assert (got[numbers, c] == 0).all()
                continue
            block = matrix[c % matrices][np.ix_(seen, seen)] * stretch[c]
            mean, cells = location[c, seen], X[numbers][:, seen]
            law = multivariate_normal(mean, block)
            if student:
                law = multivariate_t(mean, block, df=degrees[c])
            np.testing.assert_allclose(got[numbers, c], law.logpdf(cells), rtol=1e-9)


@pytest.mark.parametrize("features", [5, 140])
def test_an_infinite_cell_is_refused_by_the_number_of_its_row(features):
    location, matrix, _, _ = laws(2, 2, features)
    X = np.zeros((30, features))
    X[4, 1], X[17, 2] = np.nan, -np.inf
    with pytest.raises(Refused) as refusal:
        joint_log_proba(WhitenedScorer(location, matrix), X, np.zeros(2))
    assert refusal.value.row == 17


def test_a_row_scores_the_same_in_any_number_type_and_order():
    location, matrix, _, _ = laws(2, 2, 5)
    X = np.random.default_rng(0).integers(90, 110, size=(50, 5))
    scorer = WhitenedScorer(location, matrix)
    wanted = joint_log_proba(scorer, X.astype(np.float64), np.zeros(2))
    for form in (X, X.astype(np.float32), np.asfortranarray(X), X.astype(np.uint8)):
        np.testing.assert_allclose(joint_log_proba(scorer, form, np.zeros(2)), wanted, rtol=1e-12)
