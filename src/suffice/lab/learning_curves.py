"""How two classifiers get better with more rows, on the same splits of the same data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from suffice._sklearn import safe_indexing
from suffice.data.frames import frame_to_array, is_frame
from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.errors import InputError
from suffice.lab.encoded import encode_columns, encoded_logistic
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import CategoricalNB, GaussianNB
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread

Index = NDArray[np.intp]

# Their objective has one optimum, so that earlier weights are only a starting point.
WARM_STARTED = (LogisticRegression, linear_model.LogisticRegression)
# Sizes double every two steps from here: 5, 7, 10, 14, 20, 28, 40, ...
SMALLEST_SIZE = 5


@dataclass(frozen=True)
class Candidate:
    """A classifier, not fitted, and the rows as it takes them.

    Parameters
    ----------
    model : classifier with `predict_proba`
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    incremental : bool
        Whether `partial_fit` on further rows is the same as `fit` on all of them.
    """

    model: Any
    X: Any
    incremental: bool

    @property
    def name(self) -> str:
        """The name of its class; of a pipeline, that of the last step."""
        last = self.model[-1] if hasattr(self.model, "named_steps") else self.model
        return type(last).__name__


class Split(NamedTuple):
    """Numbers of rows: to learn from, in this order, and to be tested on."""

    order: Index
    test: Index


def default_sizes(smallest: int, largest: int) -> list[int]:
    """Return sizes that double every two steps, from 5 on (or more), and the largest.

    Examples
    --------
    >>> default_sizes(2, 50)
    [5, 7, 10, 14, 20, 28, 40, 50]
    >>> default_sizes(2, 4)
    [4]
    """
    steps = range(2 * int(np.ceil(np.log2(max(largest, SMALLEST_SIZE)))))
    sizes = (int(SMALLEST_SIZE * 2 ** (step / 2)) for step in steps)
    return [*(size for size in sizes if smallest <= size < largest), largest]


def rows_to_test(counts: Index, share: float) -> Index:
    """Return how many rows of each class are tested on: one at least is left to learn from.

    Examples
    --------
    >>> rows_to_test(np.array([100, 5, 1]), 0.3)
    array([30,  2,  0])
    """
    tested: Index = np.minimum(np.rint(share * counts), counts - 1).astype(np.intp)
    return tested


def draw_split(codes: Index, share: float, rng: np.random.Generator) -> Split:
    """Draw a test part with its share of every class, and an order of all other rows.

    The first C rows of the order are of C classes: of a class that would come late, the first row
    is brought forward. So the first m rows are a plain random draw wherever that has all classes.

    Parameters
    ----------
    codes : (n,)
        The class of each row, 0 to C - 1.
    share : float
        Of the rows of a class that are tested on; one at least is left to learn from.
    rng : Generator

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    >>> split = draw_split(codes, 0.5, np.random.default_rng(0))
    >>> np.sort(codes[split.order[:2]]), np.bincount(codes[split.test])
    (array([0, 1]), array([3, 1]))
    """
    shuffled = rng.permutation(len(codes))
    tested = np.zeros(len(codes), np.bool_)
    for code, count in enumerate(rows_to_test(np.bincount(codes), share)):
        tested[shuffled[codes[shuffled] == code][:count]] = True
    order = rng.permutation(np.flatnonzero(~tested))
    first = np.sort(np.unique(codes[order], return_index=True)[1])
    return Split(np.concatenate([order[first], np.delete(order, first)]), np.flatnonzero(tested))


def learning_curves(
    candidates: Sequence[Candidate],
    y: Any,
    sizes: Sequence[int],
    splits: Iterable[Split],
) -> Iterator[Floats]:
    """Yield, for each split, errors and log-losses, (candidates, 2, sizes).

    An incremental candidate learns only the rows that are new at a size; another one is fitted
    again, starting from its last weights if it is a logistic regression.

    Parameters
    ----------
    candidates : the classifiers
    y : (n_samples,)
    sizes : (sizes,), ascending
    splits : iterable of Split
    """
    y = np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True)
    for split in splits:
        # Matrices of a hundred columns are solved faster than the threads of BLAS meet.
        with one_blas_thread:
            curves = [_curve(one, y, classes, codes, sizes, split) for one in candidates]
        yield np.array(curves)


def _curve(
    candidate: Candidate, y: Any, classes: Any, codes: Index, sizes: Sequence[int], split: Split
) -> Floats:
    """Return errors and log-losses, (2, sizes), on one split."""
    model, incremental = clone(candidate.model), candidate.incremental
    if not incremental and isinstance(model, WARM_STARTED):
        model.set_params(warm_start=True)
    tested, truth = safe_indexing(candidate.X, split.test), codes[split.test]
    scores, learned = [], 0
    for size in sizes:
        rows = split.order[learned if incremental else 0 : size]
        X = safe_indexing(candidate.X, rows)
        if incremental:
            model.partial_fit(X, y[rows], classes=classes)
        else:
            model.fit(X, y[rows])
        scores.append(_scores(model, tested, truth, classes))
        learned = size
    return np.array(scores).T


def _scores(model: Any, X: Any, truth: Index, classes: Any) -> tuple[float, float]:
    """Return the share of rows of which another class is more probable, and the mean log-loss."""
    if not np.array_equal(model.classes_, classes):
        raise InputError(
            f"A {type(model).__name__} that learned {classes.tolist()} knows the classes "
            f"{model.classes_.tolist()}. Give a classifier that keeps to those of y."
        )
    # A model that is certain of a wrong class has an infinite loss, and is to be seen with it.
    with np.errstate(divide="ignore"):
        if hasattr(model, "predict_log_proba"):
            logs = np.asarray(model.predict_log_proba(X))
        else:
            logs = np.log(model.predict_proba(X))
    error = np.mean(logs.argmax(axis=1) != truth)
    return float(error), float(-logs[np.arange(len(truth)), truth].mean())


def show_progress(splits: Sequence[Split], progress: bool | str) -> Iterable[Split]:
    """Return the splits, with a progress bar if one is wanted; text is its name."""
    if progress is False:
        return splits
    name = "Learning curves" if progress is True else progress
    return track(splits, name, console=Console(stderr=True))


# Variance of the prior of the default logistic regression's weights. Ng and Jordan's has none; so
# weak a prior changes little where the rows are informative, and gives separable rows an optimum.
PRIOR_VARIANCE = 100.0
# Logistic regression of a mixed table, its columns encoded.
ENCODED = "encoded"
GENERATIVE_NAMES = ("naive_bayes", "discriminant")


def choose_candidates(generative: Any, discriminative: Any, X: Any) -> tuple[Candidate, Candidate]:
    """Return the models and their rows: a model that is given takes X as it is.

    Others take numbers standardised by all rows, or the levels of all rows (one indicator a level
    for the logistic regression).
    """
    if isinstance(generative, str) and generative not in GENERATIVE_NAMES:
        raise InputError(
            f"generative={generative!r} is none of {', '.join(map(repr, GENERATIVE_NAMES))}. Give "
            "one of these, or a classifier."
        )
    named = generative is None or isinstance(generative, str)
    first = second = None
    if not named:
        first = _candidate(generative, X, incremental=True)
    if isinstance(discriminative, str):
        if discriminative != ENCODED:
            raise InputError(
                f"discriminative={discriminative!r} is not {ENCODED!r}. Give that, or a classifier."
            )
        second = Candidate(encoded_logistic(), encode_columns(X), False)
    elif discriminative is not None:
        second = _candidate(discriminative, X, incremental=False)
    if first is not None and second is not None:
        return first, second
    if named:
        levels = generative != "discriminant" and _has_levels(X)
    else:
        levels = isinstance(generative, CategoricalNB)
    cells = _encode_levels(X) if levels else _standardize(X)
    if first is None:
        first = Candidate(_default_generative(generative, levels, cells), cells, True)
    if second is None:
        columns = OneHotEncoder(sparse_output=False).fit_transform(cells) if levels else cells
        second = Candidate(LogisticRegression(C=PRIOR_VARIANCE), columns, False)
    return first, second


def integrate_out(generative: Candidate) -> Candidate:
    """Return the generative model with its parameters integrated out, of the same rows.

    Its prior is the one that the rows have most evidence for.
    """
    name, known = generative.name, generative.model.get_params(deep=False)
    if "estimate" not in known:
        raise InputError(
            f"{name} has no parameter estimate, so its parameters cannot be integrated out. Use "
            "integrated=False."
        )
    if known["estimate"] == "predictive":
        raise InputError(
            f"The parameters of this {name} are integrated out already. Use integrated=False, or "
            "give it estimate='mle'."
        )
    settings = {"estimate": "predictive"}
    settings |= {"alpha": "evidence"} if "alpha" in known else {}
    return replace(generative, model=clone(generative.model).set_params(**settings))


def _candidate(model: Any, X: Any, *, incremental: bool) -> Candidate:
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"{type(model).__name__} has no predict_proba, which a comparison of log-losses needs. "
            "Give a classifier with probabilities."
        )
    rows = X if is_frame(X) or sparse.issparse(X) else np.asarray(X)
    # What is counted may be chosen from rows; then further rows do not make the same model.
    chooses = getattr(model, "_plans_from_sample", lambda: False)()
    counts = incremental and hasattr(model, "partial_fit") and not chooses
    return Candidate(model, rows, counts)


def _default_generative(name: str | None, levels: bool, cells: NDArray[Any]) -> Any:
    if levels:
        return CategoricalNB(min_categories=cells.max(axis=0) + 1)
    if name == "discriminant":
        return GaussianDiscriminant("tied")
    # One variance a column, as in the paper: the family of which logistic regression is the other.
    return GaussianNB(tie="class")


def _has_levels(X: Any) -> bool:
    """Say whether X holds levels (whole numbers, words) rather than numbers."""
    if sparse.issparse(X):
        raise InputError(
            "X is sparse, which does not say whether its columns are levels. Give both models."
        )
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


def _encode_levels(X: Any) -> NDArray[np.int64]:
    """Return levels as 0, 1, 2, ... in the order of their names."""
    if is_frame(X):
        cells = np.column_stack([column.astype(object) for column in _columns(X).values()])
    else:
        cells = np.asarray(X)
    codes = OrdinalEncoder().fit_transform(cells)
    _check_complete(codes)
    whole: NDArray[np.int64] = codes.astype(np.int64)
    return whole


def _standardize(X: Any) -> Floats:
    if sparse.issparse(X):
        raise InputError(
            "X is sparse, and the default models standardise their columns. Give both models."
        )
    cells = np.asarray(frame_to_array(X) if is_frame(X) else X, dtype=np.float64)
    _check_complete(cells)
    scaled: Floats = StandardScaler().fit_transform(cells)
    return scaled


def _check_complete(cells: Floats) -> None:
    incomplete = np.isnan(cells).any(axis=1)
    if incomplete.any():
        raise InputError(
            f"{int(incomplete.sum())} rows of X have missing values (the first is row "
            f"{int(incomplete.argmax())}), which logistic regression cannot take. Leave them out, "
            "or give two models that can."
        )
