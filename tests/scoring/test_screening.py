"""Shortcuts to the best class give the answer of exact scores, near ties and all."""

import numpy as np
import pytest
import scipy.sparse

from suffice import GaussianDiscriminant, MultinomialNB, QuadraticDiscriminantAnalysis
from suffice.errors import InputError
from suffice.scoring import scorer as scoring
from suffice.scoring.discrete import EMPTY_TABLE, TableScorer
from suffice.scoring.gaussian import MIN_SINGLE_PRECISION_ROWS, WhitenedScorer


def exact_best(scorer, X, log_prior):
    return scoring.joint_log_proba(scorer, X, log_prior).argmax(axis=1)


def counts(rng, rows, words, most=4):
    return scipy.sparse.csr_matrix(rng.poisson(0.3, (rows, words)).clip(max=most).astype(float))


@pytest.mark.parametrize("classes", [8, 20, 63, 64, 100, 130])
@pytest.mark.parametrize("scale", [3.0, 0.01, 1e-6])
def test_the_screened_class_is_the_class_of_exact_scores(classes, scale):
    rng = np.random.default_rng(classes)
    X = counts(rng, 400, 60)
    scorer = TableScorer(rng.normal(-8, scale, (60, classes)), np.zeros(classes), EMPTY_TABLE)
    prior = rng.normal(size=classes)
    screened = scorer.screen(X, prior)
    assert screened is not None
    assert np.array_equal(screened, exact_best(scorer, X, prior))


def test_classes_that_are_exactly_alike_go_to_the_first():
    rng = np.random.default_rng(0)
    X = counts(rng, 300, 30)
    table = np.repeat(rng.normal(size=(30, 10)), 8, axis=1)
    scorer = TableScorer(table, np.zeros(80), EMPTY_TABLE)
    best = scorer.screen(X, np.zeros(80))
    assert set(np.unique(best % 8)) == {0}


def test_a_class_without_rows_is_never_the_screened_one():
    rng = np.random.default_rng(1)
    X = counts(rng, 300, 30)
    prior = np.full(70, -4.0)
    prior[5] = -np.inf
    best = TableScorer(rng.normal(size=(30, 70)), np.zeros(70), EMPTY_TABLE).screen(X, prior)
    assert not np.any(best == 5)


def test_screening_leaves_missing_values_infinite_tables_and_few_rows_to_full_scores():
    rng = np.random.default_rng(2)
    X = counts(rng, 300, 30)
    table, zeros = rng.normal(size=(30, 70)), np.zeros(70)
    incomplete = X.copy()
    incomplete.data[3] = np.nan
    assert TableScorer(table, zeros, EMPTY_TABLE).screen(incomplete, zeros) is None
    assert TableScorer(table, zeros, EMPTY_TABLE).screen(X[:1], zeros) is None
    assert TableScorer(table, zeros, EMPTY_TABLE).screen(X.toarray(), zeros) is None
    table[4, 4] = -np.inf
    assert TableScorer(table, zeros, EMPTY_TABLE).screen(X, zeros) is None


def test_a_screened_model_predicts_what_its_probabilities_say():
    rng = np.random.default_rng(3)
    X, y = counts(rng, 2000, 50), rng.integers(0, 90, 2000)
    model = MultinomialNB().fit(X, y)
    assert np.array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


def gaussian_problem(seed, *, condition=1.0, apart=0.5, classes=4, d=7, rows=3000):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(classes, d, d)) * np.geomspace(1.0, condition, d)
    matrix = roots @ roots.transpose(0, 2, 1) + 1e-3 * np.eye(d)
    location = apart * rng.normal(size=(classes, d))
    codes = rng.integers(0, classes, rows)
    noise = np.einsum("ijk,ik->ij", np.linalg.cholesky(matrix)[codes], rng.normal(size=(rows, d)))
    return location, matrix, location[codes] + noise


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e-6])
@pytest.mark.parametrize("apart", [3.0, 0.1, 1e-6])
@pytest.mark.parametrize("degrees", [None, 5.0])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_single_precision_gives_the_class_of_double_precision(condition, apart, degrees, offset):
    location, matrix, X = gaussian_problem(4, condition=condition, apart=apart)
    free = np.empty(0) if degrees is None else np.full(4, degrees)
    scorer = WhitenedScorer(location + offset, matrix, free)
    prior = np.log([0.1, 0.2, 0.3, 0.4])
    X = X + offset
    rough = scorer.best_in_single_precision(X, prior)
    assert rough is not None
    sure = rough >= 0
    assert np.array_equal(rough[sure], exact_best(scorer, X, prior)[sure])
    assert np.array_equal(scoring.best_class(scorer, X, prior), exact_best(scorer, X, prior))


@pytest.mark.parametrize("size", [1e-60, 1e-37, 1e-30, 1e-18, 1e18, 1e30, 1e37, 1e60])
def test_the_unit_of_the_columns_does_not_change_the_answer(size):
    location, matrix, X = gaussian_problem(8, apart=0.3)
    scorer = WhitenedScorer(size * location, size**2 * matrix)
    prior = np.log([0.1, 0.2, 0.3, 0.4])
    best = scoring.best_class(scorer, size * X, prior)
    assert np.array_equal(best, exact_best(scorer, size * X, prior))


def test_single_precision_is_sure_of_most_rows():
    location, matrix, X = gaussian_problem(5)
    rough = WhitenedScorer(location, matrix).best_in_single_precision(X, np.zeros(4))
    assert np.mean(rough >= 0) > 0.99


def test_classes_that_coincide_are_left_to_double_precision():
    location, matrix, X = gaussian_problem(6)
    location[1], matrix[1] = location[0], matrix[0]
    scorer = WhitenedScorer(location, matrix)
    rough = scorer.best_in_single_precision(X, np.zeros(4))
    assert not np.any(np.isin(rough, [0, 1]))
    assert np.array_equal(
        scoring.best_class(scorer, X, np.zeros(4)), exact_best(scorer, X, 0.0 * location[:, 0])
    )


@pytest.mark.parametrize("model", [QuadraticDiscriminantAnalysis(), GaussianDiscriminant("full")])
def test_missing_and_infinite_cells_among_many_rows_are_treated_as_among_few(model):
    _, _, X = gaussian_problem(7, rows=MIN_SINGLE_PRECISION_ROWS + 500)
    y = np.arange(len(X)) % 2
    model.fit(X, y)
    incomplete = X.copy()
    incomplete[17, 2] = np.nan
    incomplete[1200, :3] = np.nan
    proba = model.predict_proba(incomplete)
    assert np.array_equal(model.predict(incomplete), model.classes_[proba.argmax(axis=1)])
    incomplete[1300, 4] = np.inf
    with pytest.raises(InputError, match="inf in row 1300, column 4"):
        model.predict(incomplete)
