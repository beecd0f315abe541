"""A user's script with types: mypy must agree with every one of them (see test_types.py)."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import suffice
from suffice import (
    BayesianLinearRegression,
    Beta,
    Counts,
    Dirichlet,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    Groups,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    Moments,
    MultinomialNB,
    MultivariateNormal,
    NormalInverseGamma,
    Polynomial,
    TextClassifier,
    get_threads,
)
from suffice.linear_model import Summary
from suffice.prior import Bernoulli, Interval
from suffice.scoring import Explanation
from suffice.testing import check_prior
from suffice.validation import LeaveOneOutResult

Floats = NDArray[np.float64]


def tallies_and_priors() -> None:
    """Add, subtract and compute posteriors."""
    coin = Counts([3, 7])
    assert_type(coin + coin, Counts)
    assert_type(coin - coin, Counts)
    assert_type(coin.counts, Floats)
    prior = Beta(1, 1)
    assert_type(prior.posterior(coin), Beta)
    assert_type(prior.predictive(), Bernoulli)
    assert_type(prior.interval(0.9), Interval)
    assert_type(Dirichlet.symmetric(1.0, 3).posterior([0, 2, 2]), Dirichlet)
    assert_type(NormalInverseGamma(0, 1, 2, 1).log_evidence(Moments.of([1.0, 2.0])), Floats)
    groups = Groups(["ham", "spam"], [1, 1], Counts([[2, 0], [0, 5]]))
    assert_type(groups["spam"], Counts)
    check_prior(prior)


def classifiers() -> None:
    """Learn, forget, predict and explain."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.5], [5.0, 4.0], [6.0, 5.5]]), ["a", "a", "b", "b"]
    model = GaussianNB(var_smoothing=1e-9).fit(X, y)
    assert_type(model, GaussianNB)
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.predict_proba(X), Floats)
    assert_type(model.theta_, Floats)
    assert_type(model.partial_fit(X[:1], y[:1]).forget(X[:1], y[:1]), GaussianNB)
    assert_type(model.leave_one_out(X, y), LeaveOneOutResult)
    assert_type(model.explain(X[:1]), Explanation)
    assert_type(model.score(X, y), float)
    assert_type(model.get_params(), dict[str, Any])
    assert_type(LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis)
    assert_type(GaussianDiscriminant("tied").fit(X, y).priors_, Floats)
    assert_type(MultinomialNB(alpha="evidence").fit([[2, 1], [0, 3]], y[::2]), MultinomialNB)
    assert_type(LogisticRegression().fit(X, y).predict(X), NDArray[Any])


def tables_and_texts() -> None:
    """Learn from columns of any kind, and from documents."""
    rows = [{"age": age, "city": "Rome" if age < 40 else "Oslo"} for age in range(20, 60)]
    y = [row["city"] == "Rome" for row in rows]
    table = GenerativeClassifier().fit(rows, y)
    assert_type(table, GenerativeClassifier)
    assert_type(table.predict_proba(rows), Floats)
    texts = TextClassifier().fit(["free money", "see you at lunch"] * 5, ["spam", "ham"] * 5)
    assert_type(texts, TextClassifier)
    assert_type(texts.explain("free lunch"), Explanation)


def regressions() -> None:
    """Fit a line, and summarise it."""
    X = np.arange(12.0)[:, None]
    model = BayesianLinearRegression().fit(X, X[:, 0] + np.sin(X[:, 0]))
    assert_type(model, BayesianLinearRegression)
    assert_type(model.summary(), Summary)
    assert_type(Polynomial(2).fit(X), Polynomial)
    assert_type(MultivariateNormal.from_diagonal([0.0], [1.0]), MultivariateNormal)


def package() -> None:
    """Use the package itself."""
    assert_type(suffice.__version__, str)
    assert_type(get_threads(), int)
    assert_type(suffice.naive_bayes.GaussianNB(), GaussianNB)


if __name__ == "__main__":
    tallies_and_priors()
    classifiers()
    tables_and_texts()
    regressions()
    package()
