"""Cross-validation of many pseudocounts at once, where a table of logarithms serves them all."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from suffice.estimators.folds import MOST_SUMS, NEVER, Experiment
from suffice.naive_bayes.discrete import MIN_ALPHA
from suffice.prior import Dirichlet
from suffice.scoring.alphas import alpha_scores, whole_numbers
from suffice.tally.tally import Floats
from suffice.validation.cross_validation import binned_error


def score_many_alphas(
    models: list[Any], experiment: Experiment
) -> tuple[Floats, Floats, Floats] | None:
    """Return log-loss, accuracy and calibration error (S, F), or None if there is no such way.

    There is for plugged-in multinomials on sparse rows of unweighted counts that differ in one
    pseudocount for all words.
    """
    rows, numbers = experiment.rows, experiment.numbers
    classes, folds = len(experiment.classes), experiment.folds
    alphas = np.array([model.alpha if isinstance(model.alpha, Real) else 0.0 for model in models])
    alike = len({repr(settings_but_alpha(model)) for model in models}) == 1
    if not (
        alike
        and models[0].estimate == "mean"
        and not isinstance(models[0].class_prior, Dirichlet)
        and models[0].calibrate is None
        and np.all(alphas > 0)
        and (models[0].force_alpha or alphas.min() > MIN_ALPHA)
        and rows.sparse
        and not rows.weights.size
        and not np.any(numbers == NEVER)
        and folds * classes * rows.shape[1] <= MOST_SUMS
        and whole_numbers(rows.X)
    ):
        return None
    weights, tally = experiment.counted_by_fold(models[0]._counter().count)
    counts = tally.counts.reshape(folds, classes, -1)
    by_fold = weights.reshape(folds, classes)
    learned = by_fold.sum(axis=0) - by_fold
    with np.errstate(divide="ignore"):
        if models[0].class_prior is not None:
            log_priors = np.log(np.broadcast_to(models[0].class_prior, learned.shape))
        elif models[0].fit_prior:
            log_priors = np.log(learned / learned.sum(axis=1, keepdims=True))
        else:
            log_priors = np.zeros(learned.shape)
    # A class without rows in the other folds is none that could be answered.
    log_priors = np.where(learned > 0, log_priors, -np.inf)
    found = alpha_scores(rows.X, rows.codes, numbers, counts, log_priors, alphas)
    if found is None:
        return None
    out = np.empty((3, len(models), folds))
    right = found.best == rows.codes[:, None]
    for fold, part in enumerate(experiment.parts):
        out[0, :, fold] = found.losses[part].mean(axis=0)
        out[1, :, fold] = right[part].mean(axis=0)
        ones = np.ones(len(part))
        for at in range(len(models)):
            out[2, at, fold] = binned_error(found.confidence[part, at], right[part, at], ones)
    return out[0], out[1], out[2]


def settings_but_alpha(model: Any) -> dict[str, Any]:
    """Return a model's parameters without its pseudocount."""
    return {name: value for name, value in model.get_params().items() if name != "alpha"}
