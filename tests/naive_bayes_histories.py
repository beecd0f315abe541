"""Every naive Bayes model with several settings, and rows for it to learn and forget."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import strategies as st

from suffice.errors import SufficeWarning
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)
from suffice.prior import Beta, Dirichlet, Gamma, NormalInverseGamma

CLASSES = np.array(["eggs", "ham", "spam", "toast"])
NIG = NormalInverseGamma(location=0.5, pseudo_rows=0.7, shape=1.5, scale=2.0)

# Every class with several ways of reading its tally. Smoothing keeps a class of one row from
# having a variance of rounding errors.
MODELS = {
    "gaussian": lambda: GaussianNB(var_smoothing=0.05),
    "gaussian tied over classes": lambda: GaussianNB(var_smoothing=0.05, tie="class"),
    "gaussian tied over features": lambda: GaussianNB(var_smoothing=0.05, tie="feature"),
    "gaussian map": lambda: GaussianNB(estimate="map", prior=NIG),
    "gaussian predictive": lambda: GaussianNB(estimate="predictive", prior=NIG),
    "gaussian predictive tied": lambda: GaussianNB(estimate="predictive", prior=NIG, tie="both"),
    "bernoulli": lambda: BernoulliNB(binarize=1.5),
    "bernoulli beta": lambda: BernoulliNB(alpha=Beta(2.0, 1.5), binarize=0.5, estimate="map"),
    "bernoulli mle": lambda: BernoulliNB(binarize=1.5, estimate="mle"),
    "multinomial": lambda: MultinomialNB(alpha=0.3),
    "multinomial polya": lambda: MultinomialNB(
        alpha=Dirichlet([0.5, 1.0, 2.0]), estimate="predictive"
    ),
    "complement": lambda: ComplementNB(alpha=0.5),
    "complement norm": lambda: ComplementNB(norm=True, fit_prior=False),
    "categorical": lambda: CategoricalNB(alpha=0.5),
    "categorical mle": lambda: CategoricalNB(estimate="mle", fit_prior=False),
    "poisson": lambda: PoissonNB(alpha=2.0, prior_rows=0.5),
    "poisson predictive": lambda: PoissonNB(alpha=Gamma(1.5, 2.0), estimate="predictive"),
    "poisson mle": lambda: PoissonNB(estimate="mle"),
}
alone = pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
histories = st.tuples(st.integers(0, 2**32 - 1), st.integers(3, 25))


def rows(rng, make, size, gaps=True):
    """Draw rows, labels and weights that the model may learn from."""
    X = rng.integers(0, 4, (size, 3)).astype(float)
    if isinstance(make(), GaussianNB):
        X = X + rng.normal(size=X.shape)
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, rng.choice(CLASSES, size), rng.choice([0.5, 1.0, 2.0, 3.25], size)


def history_of(seed, size, make):
    """Draw rows of which the last two differ in every column, so that something varies."""
    X, y, w = rows(np.random.default_rng(seed), make, size)
    X[-2:] = [[0.0] * 3, [3.0] * 3]
    return X, y, w


def same(a, b, X, after_forgetting=False):
    """Check that two models have learned the same and say the same."""
    np.testing.assert_array_equal(a.classes_, b.classes_)
    np.testing.assert_allclose(a.class_count_, b.class_count_, rtol=1e-12)
    # What is left of a scatter is known to the digits of what it was taken from.
    assert after_forgetting or a.tally_.allclose(b.tally_, 1e-10)
    # A joint log-probability is compared on its own size, and on that of one cell's.
    np.testing.assert_allclose(
        a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9
    )
    assert a.n_parameters_ == b.n_parameters_


def state(model):
    """Return all that a model holds, to the last bit."""
    return pickle.dumps(vars(model))


def quietly(model, act, *args, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)  # one class, or one row, so far
        return getattr(model, act)(*args, **named)
