"""The two models of a comparison, and the rows as each takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from suffice.data.frames import frame_to_array, is_frame
from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.errors import InputError
from suffice.lab.learning_curves import Side
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import CategoricalNB, GaussianNB
from suffice.tally.tally import Floats

# Variance of the prior of the default logistic regression's weights. Ng and Jordan's has none; so
# weak a one changes little where the rows say something, and gives separable rows an optimum.
PRIOR_VARIANCE = 100.0
NAMED = ("naive_bayes", "discriminant")


def sides_of(generative: Any, discriminative: Any, X: Any) -> tuple[Side, Side]:
    """Return the models and their rows: a model that is given takes X as it is.

    Others take numbers standardised by all rows, or the levels of all rows (one indicator a level
    for the logistic regression).
    """
    if isinstance(generative, str) and generative not in NAMED:
        raise InputError(
            f"generative={generative!r} is none of {', '.join(map(repr, NAMED))}. Give one of "
            "these, or a classifier."
        )
    named = generative is None or isinstance(generative, str)
    if not named and discriminative is not None:
        return _given(generative, X, grows=True), _given(discriminative, X, grows=False)
    if generative == "discriminant":
        levels = False
    else:
        levels = _has_levels(X) if named else isinstance(generative, CategoricalNB)
    cells = _levels(X) if levels else _numbers(X)
    if not named:
        first = _given(generative, X, grows=True)
    else:
        first = Side(_generative(generative, levels, cells), cells, True)
    if discriminative is not None:
        return first, _given(discriminative, X, grows=False)
    columns = OneHotEncoder(sparse_output=False).fit_transform(cells) if levels else cells
    return first, Side(LogisticRegression(C=PRIOR_VARIANCE), columns, False)


def _given(model: Any, X: Any, *, grows: bool) -> Side:
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"{type(model).__name__} has no predict_proba, which a comparison of log-losses needs. "
            "Give a classifier with probabilities."
        )
    rows = X if is_frame(X) or sparse.issparse(X) else np.asarray(X)
    return Side(model, rows, grows and hasattr(model, "partial_fit"))


def _generative(name: str | None, levels: bool, cells: NDArray[Any]) -> Any:
    if levels:
        return CategoricalNB(min_categories=cells.max(axis=0) + 1)
    if name == "discriminant":
        return GaussianDiscriminant("tied")
    # One variance a column, as in the paper: the family of which logistic regression is the other.
    return GaussianNB(tie="class")


def _has_levels(X: Any) -> bool:
    """Say whether X holds levels (whole numbers, words) rather than numbers."""
    if sparse.issparse(X):
        raise InputError("X is sparse, which tells nothing of its columns. Give both models.")
    if not is_frame(X):
        return np.asarray(X).dtype.kind != "f"
    kinds = {name: column.dtype.kind for name, column in _columns(X).items()}
    numbers = [name for name, kind in kinds.items() if kind == "f"]
    words = [name for name, kind in kinds.items() if kind not in "iuf"]
    if numbers and words:
        raise InputError(
            f"X has numbers (column {numbers[0]!r}) and levels (column {words[0]!r}). Give columns "
            "of one kind, or both models."
        )
    return not numbers


def _columns(X: Any) -> dict[str, NDArray[Any]]:
    # Arrow's `columns` are the columns themselves.
    names = X.schema.names if hasattr(X, "schema") and hasattr(X, "column_names") else X.columns
    return {str(name): np.asarray(X[name]) for name in names}


def _levels(X: Any) -> NDArray[np.int64]:
    """Return levels as 0, 1, 2, ... in the order of their names."""
    cells = np.asarray(X) if not is_frame(X) else _as_objects(X)
    codes = OrdinalEncoder().fit_transform(cells)
    _check_whole(codes)
    whole: NDArray[np.int64] = codes.astype(np.int64)
    return whole


def _as_objects(X: Any) -> NDArray[Any]:
    columns = list(_columns(X).values())
    out = np.empty((len(columns[0]), len(columns)), dtype=object)
    for at, column in enumerate(columns):
        out[:, at] = column
    return out


def _numbers(X: Any) -> Floats:
    if sparse.issparse(X):
        raise InputError(
            "X is sparse, and the default models standardise their columns. Give both models."
        )
    cells = np.asarray(frame_to_array(X) if is_frame(X) else X, dtype=np.float64)
    _check_whole(cells)
    scaled: Floats = StandardScaler().fit_transform(cells)
    return scaled


def _check_whole(cells: Floats) -> None:
    incomplete = np.isnan(cells).any(axis=1)
    if incomplete.any():
        raise InputError(
            f"{int(incomplete.sum())} rows of X have missing values (the first is row "
            f"{int(incomplete.argmax())}), which logistic regression cannot take. Leave them out, "
            "or give two models that can."
        )
