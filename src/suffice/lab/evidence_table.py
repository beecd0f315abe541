"""Models compared: log evidence, and leave-one-out loss and accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from suffice.discriminant_analysis.base import GaussianClassifier
from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError
from suffice.generative.classifier import TallyClassifier
from suffice.linear_model import BayesianLinearRegression, LogisticRegression
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread

# What a model's evidence is the probability of: only like is compared with like.
EVIDENCE_OF: dict[type, str] = {
    GaussianNB: "densities",
    GaussianClassifier: "densities",
    BernoulliNB: "present or absent",
    MultinomialNB: "counts given row totals",
    ComplementNB: "counts given row totals",
    CategoricalNB: "levels",
    PoissonNB: "counts",
    BayesianLinearRegression: "targets",
}


@dataclass(frozen=True)
class EvidenceTable(Tabular):
    """One line a model, best evidence first; prints as a table.

    Parameters
    ----------
    names : (M,)
    evidence_of : (M,)
        What the evidence is the probability of. Models are compared within one kind only.
    log_evidence : (M,)
    probability : (M,)
        Of the model among those of its kind, all equally probable before the rows were seen.
    loss : (M,)
        Leave-one-out log-loss of a row (of a target, its negative log density): exact, but of
        logistic regressions by one step of Newton's method for each row.
    accuracy : (M,)
        Leave-one-out accuracy; NaN for regressions.
    """

    names: tuple[str, ...]
    evidence_of: tuple[str, ...]
    log_evidence: Floats
    probability: Floats
    loss: Floats
    accuracy: Floats

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns."""
        return {
            "model": list(self.names),
            "evidence_of": list(self.evidence_of),
            "log_evidence": self.log_evidence.tolist(),
            "probability": self.probability.tolist(),
            "loss": self.loss.tolist(),
            "accuracy": self.accuracy.tolist(),
        }

    def _printed(self) -> PrintedTable:
        headings = (
            "model",
            "log evidence",
            "probability",
            "leave-one-out loss",
            "accuracy",
            "evidence of",
        )
        rows = [
            (
                name,
                f"{self.log_evidence[at]:.2f}",
                f"{self.probability[at]:.4f}",
                f"{self.loss[at]:.4f}",
                "" if np.isnan(self.accuracy[at]) else f"{self.accuracy[at]:.4f}",
                self.evidence_of[at],
            )
            for at, name in enumerate(self.names)
        ]
        return PrintedTable(headings, [Section(rows)], left=(0, len(headings) - 1))

    def _columns(self) -> dict[str, list[Any]]:
        return self.to_dict()


@one_blas_thread
def evidence_table(
    models: Mapping[str, Any] | Iterable[Any], X: Any, y: Any, sample_weight: Any = None
) -> EvidenceTable:
    """Compare models by their evidence and by their leave-one-out scores.

    Models that were fitted must have learned exactly these rows; others are fitted to them.

    Parameters
    ----------
    models : mapping from names to models, or models
    X, y, sample_weight : the rows

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant, GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"full": GaussianDiscriminant("full"), "naive": GaussianNB(estimate="predictive")}
    >>> evidence_table(models, X, y).names
    ('full', 'naive')
    """
    named = models if isinstance(models, Mapping) else _name_models(models)
    if not named:
        raise InputError("No models to compare. Give at least one.")
    lines = []
    for name, model in named.items():
        _check_has_evidence(name, model)
        fitted = _fit_model(model, X, y, sample_weight)
        try:
            left_out = fitted.leave_one_out(X, y, sample_weight)
            evidence_of, evidence = _evidence_kind(fitted), fitted.log_evidence_
        except InputError as error:
            raise InputError(f"Model {name!r} cannot be compared: {error}") from error
        if isinstance(fitted, BayesianLinearRegression):
            scores = (-left_out.mean_log_density, np.nan)
        else:
            scores = (left_out.log_loss, left_out.accuracy)
        lines.append((name, evidence_of, evidence, *scores))
    lines.sort(key=lambda line: (line[1], -line[2]))
    names, kinds, evidences, losses, accuracies = zip(*lines, strict=True)
    log_evidence = np.array(evidences)
    return EvidenceTable(
        names,
        kinds,
        log_evidence,
        _probabilities(kinds, log_evidence),
        np.array(losses),
        np.array(accuracies),
    )


def _name_models(models: Iterable[Any]) -> dict[str, Any]:
    """Name models by how they print; two alike are an error of the caller's."""
    named: dict[str, Any] = {}
    for model in models:
        name = " ".join(repr(model).split())
        if name in named:
            raise InputError(f"Two models print as {name}. Name them: pass a mapping.")
        named[name] = model
    return named


def _check_has_evidence(name: str, model: Any) -> None:
    if not isinstance(model, (*EVIDENCE_OF, TallyClassifier, LogisticRegression)):
        raise InputError(
            f"Model {name!r} is a {type(model).__name__}, which has no evidence. Give generative "
            "classifiers, logistic regressions or Bayesian regressions."
        )


def _evidence_kind(model: Any) -> str:
    """Say what the evidence of a fitted model is the probability of."""
    for known, kind in EVIDENCE_OF.items():
        if isinstance(model, known):
            return kind
    found: str = model.evidence_of()
    return found


def _fit_model(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    known = hasattr(model, "tally_") or hasattr(model, "n_iter_")
    return model if known else clone(model).fit(X, y, sample_weight)


def _probabilities(kinds: tuple[str, ...], log_evidence: Floats) -> Floats:
    out = np.empty(len(kinds))
    for kind in set(kinds):
        mine = np.array([k == kind for k in kinds])
        ratio = np.exp(log_evidence[mine] - log_evidence[mine].max())
        out[mine] = ratio / ratio.sum()
    return out
