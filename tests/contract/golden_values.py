"""Results of a fitted model, by the public interface, as a flat mapping of names to values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping

import numpy as np
from scipy import sparse

import suffice

# Objects whose fields are public and documented: what they hold is a result.
TALLIES = (
    suffice.Blocks,
    suffice.Counts,
    suffice.Events,
    suffice.Groups,
    suffice.Moments,
    suffice.Patterns,
    suffice.Quartics,
)
PRIORS = (
    suffice.Beta,
    suffice.Dirichlet,
    suffice.Gamma,
    suffice.NormalInverseGamma,
    suffice.NormalInverseWishart,
    suffice.PointMasses,
)
FIELDS = {
    suffice.Blocks: ("parts",),
    suffice.Counts: ("counts", "log_orderings"),
    suffice.Events: ("weight", "sum_x", "sum_log_factorial"),
    suffice.Groups: ("classes", "weights", "parts"),
    suffice.Moments: ("weight", "origin", "sum_x", "sum_xx"),
    suffice.Patterns: ("features", "parts"),
    suffice.Quartics: ("weight", "origin", "sum_z", "sum_zz"),
    suffice.Beta: ("successes", "failures"),
    suffice.Dirichlet: ("concentration",),
    suffice.Gamma: ("shape", "rate"),
    suffice.NormalInverseGamma: ("location", "pseudo_rows", "shape", "scale", "shared"),
    suffice.NormalInverseWishart: ("location", "pseudo_rows", "degrees", "scale_matrix", "shared"),
    suffice.PointMasses: ("points", "weights"),
    suffice.MultivariateNormal: ("mean", "covariance", "structure", "names"),
}
FIELDS_BY_NAME = {
    "Calibration": ("inverse_temperature", "offsets", "noise_rate", "temperature"),
    "Combination": ("method", "weights", "offsets", "noise_rate"),
    "MultivariateStudentT": ("degrees", "location", "scale_matrix"),
    "FeatureRanking": ("names", "mutual_information", "log_bayes_factor", "order"),
}

# Names of fields when the values were stored.
STORED_NAMES = {"inverse_temperature": "sharpness", "noise_rate": "lapse", "method": "how"}


def flat(name, value):
    """Return a value as a mapping of names to arrays, numbers and texts, without other objects.

    >>> flat("a", {"b": [1.0, 2.0], "c": "text", "d": object()})
    {'a.b': array([1., 2.]), 'a.c': 'text'}
    """
    if value is None:
        return {name: "None"}
    if isinstance(value, bool | np.bool_ | int | float | str | np.number):
        return {name: value}
    if isinstance(value, np.datetime64 | np.timedelta64):
        return {name: str(value)}
    if sparse.issparse(value):
        return {name: value.toarray()}
    if isinstance(value, np.ndarray):
        return {name: _array(value)}
    for kind, fields in FIELDS.items():
        if isinstance(value, kind):
            return _fields(name, value, fields)
    if type(value).__name__ in FIELDS_BY_NAME:
        return _fields(name, value, FIELDS_BY_NAME[type(value).__name__])
    if isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            found |= flat(f"{name}.{_key(key)}", item)
        return found
    if isinstance(value, list | tuple | frozenset):
        return _sequence(name, sorted(value) if isinstance(value, frozenset) else value)
    return {}


def _key(key):
    return "+".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _array(value):
    if value.dtype.kind in "mM":
        return value.astype(str)
    if value.dtype.kind == "O":
        return np.array([str(item) for item in value.ravel()], dtype=str).reshape(value.shape)
    return value


def _fields(name, value, fields):
    found = {}
    for field in fields:
        if hasattr(value, field):
            stored = STORED_NAMES.get(field, field)
            found |= flat(f"{name}.{stored}", getattr(value, field))
    return found


def _sequence(name, items):
    items = list(items)
    if not items:
        return {name: "empty"}
    if all(isinstance(item, int | float | np.number) for item in items):
        return {name: np.array(items)}
    if all(isinstance(item, str) for item in items):
        return {name: np.array(items, dtype=str)}
    found = {}
    for at, item in enumerate(items):
        found |= flat(f"{name}[{at}]", item)
    return found


# Numbers of steps: at tight tolerances they depend on the last bit, and are not compared.
STEPS = ("n_iter_", "loss_curve_")


def fitted(model):
    """Return all public fitted attributes: names that end, and do not start, in an underscore."""
    found = {}
    left = STEPS if getattr(model, "tol", 1.0) < 1e-9 else ()
    for name in sorted(set(dir(type(model))) | set(vars(model))):
        if name.endswith("_") and not name.startswith("_") and name not in left:
            found |= value_or_refusal(name, lambda name=name: getattr(model, name))
    return found


def value_or_refusal(name, act):
    """Return the value of a call, or the kind of error that it raises.

    >>> value_or_refusal("a", lambda: 1), value_or_refusal("a", lambda: suffice.Beta(-1, 1))
    ({'a': 1}, {'a': 'refused: PriorError'})
    """
    try:
        return flat(name, act())
    except (suffice.SufficeError, AttributeError, NotImplementedError) as error:
        return {name: f"refused: {type(error).__name__}"}


def fields_of(value, *names):
    """Return named attributes of a result."""
    return {name: getattr(value, name) for name in names}


EXPLAINED = ("target", "against", "names", "values", "contributions", "log_odds", "base")
LEFT_OUT = ("log_proba", "predictions", "log_loss", "accuracy", "calibration_error")
VALIDATED = ("log_loss", "accuracy", "calibration_error", "fold_weights", "best")
IMPORTANT = (
    "names",
    "log_loss_increase",
    "standard_error",
    "mutual_information",
    "log_bayes_factor",
    "log_loss",
    "weight",
)
ANSWERS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "score_samples",
    "decision_function",
    "transform",
)


def answers(model, new, prefix=""):
    """Return the predictions of a model for new rows."""
    found = {}
    for name in ANSWERS:
        if hasattr(type(model), name):
            found |= value_or_refusal(prefix + name, lambda name=name: getattr(model, name)(new))
    if hasattr(model, "decide"):
        found |= value_or_refusal(f"{prefix}decide", lambda: model.decide(new, reject=0.2))
        loss = 1.0 + np.arange(2.0 * len(model.classes_)).reshape(2, -1) % 3
        found |= value_or_refusal(f"{prefix}decide by loss", lambda: model.decide(new, loss))
    return found


def explanations(model, row, rest=True):
    """Return what each column of one row adds to log-odds, against a class and all the rest."""
    # Against the rest, parts are integrals along a line: much the slowest of all results.
    found = (
        value_or_refusal("explain", lambda: fields_of(model.explain(row), *EXPLAINED))
        if rest
        else {}
    )
    last = model.classes_[-1]
    return found | value_or_refusal(
        "explain against",
        lambda: fields_of(model.explain(row, model.classes_[0], last), *EXPLAINED),
    )


def leave_one_out(model, rows, labels, weights=None):
    """Return the results of leave-one-out."""
    weighted = {} if weights is None else {"sample_weight": weights}
    return value_or_refusal(
        "leave_one_out",
        lambda: fields_of(model.leave_one_out(rows, labels, **weighted), *LEFT_OUT),
    )


def cross_validation(model, rows, labels, folds=3, **settings):
    """Return the results of cross-validation."""
    return value_or_refusal(
        "cross_validate",
        lambda: fields_of(model.cross_validate(rows, labels, folds, **settings), *VALIDATED),
    )


def samples(model):
    """Return rows drawn from a model, and their labels."""
    return value_or_refusal(
        "sample", lambda: dict(zip(("rows", "labels"), _sampled(model), strict=True))
    )


def _sampled(model):
    rows, labels = model.sample(4, random_state=0)
    if hasattr(rows, "to_dict"):
        rows = rows.to_dict("list")
    return rows, labels


def to_logistic(model, whole):
    """Return the weights of the logistic regression with the same probabilities."""

    def weights():
        logistic = model.to_logistic()
        last = logistic[-1] if hasattr(logistic, "steps") else logistic
        return {
            "coef": last.coef_,
            "intercept": last.intercept_,
            "predict_proba": logistic.predict_proba(whole),
        }

    return value_or_refusal("to_logistic", weights)


def classifier(model, rows, labels, new, *, weights=None, whole=None, validate=True, leave=True):
    """Return all results of a fitted classifier: of new rows, of its own, and its attributes."""
    found = answers(model, new) | fitted(model) | samples(model)
    found |= explanations(model, new[:1], rest=validate)
    if leave:
        found |= leave_one_out(model, rows, labels, weights)
    if validate:
        found |= cross_validation(model, rows, labels)
    return found if whole is None else found | to_logistic(model, whole)


def with_warnings(make):
    """Return the results of a case, with the kinds of warnings as one more value."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = make()
    kinds = sorted({warning.category.__name__ for warning in caught})
    return found | {"warnings": " ".join(kinds)}


def numbers_in(values: Iterable) -> int:
    """Return how many numbers there are in values.

    >>> numbers_in([np.ones((2, 3)), 1.0, "text"])
    7
    """
    return sum(math.prod(np.shape(value)) for value in values if not isinstance(value, str))
