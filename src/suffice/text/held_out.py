"""What documents say by the documents of other folds: what their calibration is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.model import scoring
from suffice.model.folds import Folds
from suffice.skin.held_out import fold_models
from suffice.tally.tally import Floats
from suffice.text.fading import Fading


class HeldOutDocuments(NamedTuple):
    """Documents of classes that are held out, and what other folds say of them."""

    likelihoods: Floats
    """(n, C): log p(words | class), up to a term of each document"""
    prior: Floats
    """(C,): what a class's score starts from"""
    codes: NDArray[np.intp]
    """(n,)"""
    weights: Floats
    """(n,)"""
    lengths: Floats
    """(n,): how many words the other folds know"""


def held_out_documents(
    model: Any, folds: Folds, factors: Sequence[float]
) -> list[HeldOutDocuments]:
    """Return what documents say by other folds, for each factor of the pseudocount.

    Terms that only the fold has are unknown.

    Parameters
    ----------
    model : a classifier of documents (`ReadsTerms`)
    folds : Folds of the rows that it has learned, or of some of them
    factors : what its pseudocount is multiplied by
    """
    rows, classes = folds.rows, len(model.classes_)
    out = [np.full((rows.shape[0], classes), -np.inf) for _ in factors]
    lengths = np.zeros(rows.shape[0])
    for members, kept, one in fold_models(model, folds):
        X, alpha = one._event_rows(rows.X[members]), one._model.alpha_
        lengths[members] = one._lengths(X)
        for factor, said in zip(factors, out, strict=True):
            if factor != 1.0:
                one._model.alpha = alpha * factor
                one._model._read(one._model.tally_)
            scores = scoring.joint_log_proba(one._scorer(), X, np.zeros(len(kept)))
            said[np.ix_(members, kept)] = scores
    kept = np.flatnonzero(folds.scored[rows.codes])
    codes, weights = rows.codes[kept].astype(np.intp), rows.row_weights[kept]
    prior = model._decision_prior()
    return [HeldOutDocuments(said[kept], prior, codes, weights, lengths[kept]) for said in out]


def choose_fading(tried: Sequence[HeldOutDocuments]) -> tuple[int, Fading]:
    """Return which factor of the pseudocount suits the documents best, and their fading with it.

    Any but the first must be worth the price of a further unknown.
    """
    found = [Fading.of(*said) for said in tried]
    weight = float(tried[0].weights.sum())
    losses = weight * np.array([one.log_loss for one in found])
    losses[1:] += np.log(max(weight, 1.0)) / 2
    best = int(np.argmin(losses)) if np.isfinite(losses).any() else 0
    return best, found[best]
