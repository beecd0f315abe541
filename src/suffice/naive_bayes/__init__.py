"""Naive Bayes in all its event models: scikit-learn's names and results, read off tallies."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.naive_bayes.bernoulli import BernoulliNB
    from suffice.naive_bayes.categorical import CategoricalNB
    from suffice.naive_bayes.complement import ComplementNB
    from suffice.naive_bayes.gaussian import GaussianNB
    from suffice.naive_bayes.multinomial import MultinomialNB
    from suffice.naive_bayes.poisson import PoissonNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "PoissonNB",
]

# One classifier does not need the others.
_HOME = {
    "BernoulliNB": "bernoulli",
    "CategoricalNB": "categorical",
    "ComplementNB": "complement",
    "GaussianNB": "gaussian",
    "MultinomialNB": "multinomial",
    "PoissonNB": "poisson",
}
__getattr__ = load_at_first_use(__name__, _HOME)
