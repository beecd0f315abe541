"""How much each of many counts has to do with the label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.errors import PriorError
from suffice.model.information import table_information
from suffice.prior import Beta
from suffice.tally import Counts
from suffice.tally.tally import Floats


class Dependence(NamedTuple):
    """What a tally says of each feature and the label, (d,) both."""

    mutual_information: Floats
    log_bayes_factor: Floats


def counts_dependence(tally: Counts, model: Any) -> Dependence:
    """Return how the counts of a naive Bayes model depend on the label: of presence, or of words.

    Parameters
    ----------
    tally : Counts of shape (C, d, 2) or (C, V)
    model : BernoulliNB, MultinomialNB or ComplementNB, which knows its prior
    """
    if tally.counts.ndim == 3:
        beta = model._feature_prior()
        return _coins(tally, beta.successes, beta.failures)
    return _words(tally, model._concentration())


def _coins(tally: Counts, successes: Any, failures: Any) -> Dependence:
    """Read counts (C, d, 2) under a Beta a feature."""
    classes, features = tally.counts.shape[:2]
    heads, tails = (a_feature(pseudo, classes, features) for pseudo in (successes, failures))
    beta = Beta(successes=heads, failures=tails)
    information = table_information(np.moveaxis(tally.counts, 0, 1))
    apart, together = beta.log_evidence(tally), beta.log_evidence(tally.pooled())
    return Dependence(information, apart.sum(axis=0) - together)


def _words(tally: Counts, concentration: Any) -> Dependence:
    """Read counts (C, V) of words: each against all others.

    Whether the next word is k has the prior Beta(alpha_k, sum(alpha) - alpha_k): a Dirichlet's
    shares are Dirichlet again when levels are taken together.
    """
    classes, words = tally.counts.shape
    if words == 1:  # the only word is always the next one
        return Dependence(np.zeros(1), np.zeros(1))
    alpha = a_feature(concentration, classes, words)
    others = tally.total[:, None] - tally.counts
    return _coins(Counts(np.stack([others, tally.counts], axis=-1)), alpha, alpha.sum() - alpha)


def a_feature(field: Any, classes: int, features: int) -> Floats:
    """Return a field of a prior as one value a feature, (d,), the same in all classes."""
    wide = np.broadcast_to(np.asarray(field, dtype=np.float64), (classes, features))
    if np.any(wide != wide[0]):
        at = int(np.flatnonzero((wide != wide[0]).any(axis=0))[0])
        raise PriorError(
            f"The prior of feature {at} differs between classes ({wide[:, at].tolist()}), so there "
            "is none for all classes as one. Give one value a feature."
        )
    return np.asarray(wide[0])
