"""A Dirichlet where scikit-learn has class probabilities, on every classifier that has them."""

import numpy as np
import pytest
from scipy.special import gammaln

from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    GaussianDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
    load,
)
from suffice.errors import PriorError

RNG = np.random.default_rng(0)
y = np.repeat(["a", "b", "c"], [5, 15, 30])
X = RNG.poisson(2.0 + (y == "b")[:, None] + 2 * (y == "c")[:, None], (50, 4)) + 0.0
X += 0.25 * RNG.integers(0, 4, X.shape)
WHOLE = np.floor(X)
DOCUMENTS = [" ".join(f"w{at}" for at in range(4) for _ in range(int(row[at]))) for row in WHOLE]
PRIOR = np.array([8.0, 2.0, 2.0])
COUNTS = np.array([5.0, 15.0, 30.0])

CASES = [
    (GaussianNB, "priors", X),
    (GaussianDiscriminant, "priors", X),
    (LinearDiscriminantAnalysis, "priors", X),
    (QuadraticDiscriminantAnalysis, "priors", X),
    (BernoulliNB, "class_prior", WHOLE),
    (CategoricalNB, "class_prior", WHOLE),
    (ComplementNB, "class_prior", WHOLE),
    (MultinomialNB, "class_prior", WHOLE),
    (PoissonNB, "class_prior", WHOLE),
    (TextClassifier, "class_prior", DOCUMENTS),
]


def made(kind, parameter, prior, **settings):
    if kind is TextClassifier:
        settings["calibrate"] = None
    return kind(**{parameter: prior}, **settings)


def fitted_with(kind, parameter, rows, **settings):
    model = made(kind, parameter, Dirichlet(PRIOR), **settings)
    return model.fit(rows, y)


def class_probabilities(model):
    """Return p(class) under the name that scikit-learn has for it."""
    for name in ("priors_", "class_prior_"):
        if hasattr(model, name):
            return getattr(model, name)
    return np.exp(model.class_log_prior_)


@pytest.mark.parametrize(("kind", "parameter", "rows"), CASES)
@pytest.mark.parametrize("estimate", ["predictive", "mean", "map", "mle"])
def test_the_estimate_says_what_is_made_of_the_posterior(kind, parameter, rows, estimate):
    settings = {}
    if "estimate" in kind().get_params():
        settings = {"estimate": estimate}
    elif estimate != "mean":
        pytest.skip(f"{kind.__name__} takes the posterior mean")
    try:
        model = fitted_with(kind, parameter, rows, **settings)
    except ValueError as error:
        assert "estimate" in str(error)  # noqa: PT017 - some have fewer estimates
        pytest.skip(f"{kind.__name__} has no estimate={estimate!r}")
    added = {"map": PRIOR - 1, "mle": np.zeros(3)}.get(estimate, PRIOR)
    wanted = (COUNTS + added) / (COUNTS + added).sum()
    assert class_probabilities(model) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("kind", "parameter", "rows"), CASES)
def test_evidence_has_the_labels_under_the_dirichlet(kind, parameter, rows):
    def labels(prior):
        whole = gammaln(prior.sum()) - gammaln(prior.sum() + COUNTS.sum())
        return whole + (gammaln(prior + COUNTS) - gammaln(prior)).sum()

    given = fitted_with(kind, parameter, rows).log_evidence_
    default = made(kind, parameter, None).fit(rows, y).log_evidence_
    assert given - default == pytest.approx(labels(PRIOR) - labels(np.ones(3)), abs=1e-6)


@pytest.mark.parametrize(("kind", "parameter", "rows"), CASES)
def test_batches_and_files_keep_the_dirichlet(kind, parameter, rows, tmp_path):
    whole = fitted_with(kind, parameter, rows)
    parts = made(kind, parameter, Dirichlet(PRIOR))
    parts.partial_fit(rows[:10], y[:10], classes=["a", "b", "c"]).partial_fit(rows[10:], y[10:])
    assert parts.predict_log_proba(rows) == pytest.approx(whole.predict_log_proba(rows))
    whole.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.predict_log_proba(rows), whole.predict_log_proba(rows))


@pytest.mark.parametrize(("kind", "parameter", "rows"), CASES)
def test_a_dirichlet_of_other_classes_is_refused(kind, parameter, rows):
    with pytest.raises(PriorError, match="there are 3"):
        made(kind, parameter, Dirichlet([1.0, 1.0])).fit(rows, y)
