"""Classifiers of arrays in the page: naive Bayes, discriminants and logistic regression."""

import numpy as np
import pytest

import suffice
from browser_answers import answers, compare_reasons
from suffice.errors import InputError
from suffice.report.browser_model import browser_model

SIZE = 60


def counts_of(rng, y):
    return rng.poisson(1.0 + np.array([[2.0, 0.5, 0.1], [0.3, 2.0, 1.0], [1.0, 0.2, 3.0]])[y])


def numbers_of(rng, y):
    return rng.normal(y[:, None] * np.array([1.0, -0.5, 0.3]), 1.0 + y[:, None] / 2)


def zeros_and_ones(rng, y):
    return (counts_of(rng, y) > 1).astype(float)


def levels_of(rng, y):
    return np.minimum(counts_of(rng, y), 4)


CASES = [
    ("GaussianNB", {}, numbers_of),
    ("GaussianNB", {"estimate": "map"}, numbers_of),
    ("GaussianNB", {"estimate": "map", "tie": "class"}, numbers_of),
    ("GaussianNB", {"estimate": "predictive", "tie": "class"}, numbers_of),
    ("GaussianNB", {"estimate": "predictive", "calibrate": "folds"}, numbers_of),
    ("GaussianNB", {"tie": "class", "priors": [0.2, 0.3, 0.5]}, numbers_of),
    ("PoissonNB", {}, counts_of),
    ("PoissonNB", {"estimate": "predictive"}, counts_of),
    ("PoissonNB", {"estimate": "map", "alpha": 2.0}, counts_of),
    ("BernoulliNB", {"alpha": 0.5}, zeros_and_ones),
    ("BernoulliNB", {"alpha": "evidence", "binarize": None, "fit_prior": False}, zeros_and_ones),
    ("CategoricalNB", {}, levels_of),
    ("CategoricalNB", {"alpha": "evidence"}, levels_of),
    ("MultinomialNB", {}, counts_of),
    ("MultinomialNB", {"estimate": "predictive", "alpha": 0.3}, counts_of),
    ("MultinomialNB", {"estimate": "map", "alpha": 1.5, "calibrate": "folds"}, counts_of),
    ("ComplementNB", {}, counts_of),
    ("LogisticRegression", {}, numbers_of),
    ("LinearDiscriminantAnalysis", {}, numbers_of),
    ("LinearDiscriminantAnalysis", {"solver": "lsqr", "shrinkage": 0.2}, numbers_of),
    ("LinearDiscriminantAnalysis", {"calibrate": "folds"}, numbers_of),
    ("QuadraticDiscriminantAnalysis", {}, numbers_of),
    ("QuadraticDiscriminantAnalysis", {"reg_param": 0.1}, numbers_of),
    ("GaussianDiscriminant", {"covariance": "full", "estimate": "predictive"}, numbers_of),
    ("GaussianDiscriminant", {"covariance": "tied", "estimate": "predictive"}, numbers_of),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("name", "settings", "draw"), CASES, ids=[f"{name} {settings}" for name, settings, _ in CASES]
)
def test_classifiers_of_arrays(script, name, settings, draw, classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 80)
    if "priors" in settings and classes == 2:
        settings = settings | {"priors": [0.4, 0.6]}
    model = getattr(suffice, name)(**settings).fit(draw(rng, y), y)
    cells = draw(rng, rng.integers(0, classes, SIZE)).astype(float)
    if name not in ("LogisticRegression", "CategoricalNB"):
        cells[rng.random(cells.shape) < 0.15] = np.nan
    if name == "CategoricalNB":
        cells[rng.random(cells.shape) < 0.1] = 9  # never seen
    rows = [
        {f"x{at}": None if np.isnan(x) else x for at, x in enumerate(row)} for row in cells.tolist()
    ]
    found = answers(script, browser_model(model), rows)
    mine = [one["probabilities"] for one in found]
    np.testing.assert_allclose(mine, model.predict_proba(cells), rtol=1e-9, atol=1e-9)
    for row, one in list(zip(cells, found, strict=True))[:5]:
        compare_reasons(model.explain(row[None], one["target"]).to_dict(), one)


def test_what_a_page_cannot_compute_is_refused():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), [0, 1] * 10
    with pytest.raises(InputError, match="A page cannot compute this GaussianNB"):
        browser_model(suffice.GaussianNB(tie="both", estimate="predictive").fit(X, y))
    model = suffice.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)
    with pytest.raises(InputError, match="A page cannot compute this LinearDiscriminantAnalysis"):
        browser_model(model)


def test_columns_of_numbers_have_a_typical_value_and_a_range():
    X = np.random.default_rng(0).normal([5.0, -1.0], [1.0, 0.1], (200, 2))
    for name in ("GaussianNB", "LinearDiscriminantAnalysis", "GaussianDiscriminant"):
        columns = browser_model(getattr(suffice, name)().fit(X, X[:, 0] > 5))["columns"]
        assert [column["typical"] for column in columns] == pytest.approx(X.mean(axis=0))
        assert columns[0]["low"] == pytest.approx(5.0 - 3 * X[:, 0].std(), abs=0.2)
