"""Logistic regression on a mixed table, encoded as users of scikit-learn encode it: a baseline."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer

from suffice.data.columns import Column
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.estimators.folds import fold_numbers
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread
from suffice.validation.evaluation import UNKNOWN, Evaluation

# Levels that get an indicator: rarer ones, and beyond so many, say nothing that could be learned.
MIN_ROWS_OF_LEVEL = 2
MAX_LEVELS = 1_000
MAX_WORDS = 50_000
FOLDS = 5


def encode_columns(X: Any) -> Any:
    """Return a table, or a list of documents, as a sparse matrix of numbers.

    Numbers (and dates) are standardised; a missing one becomes the mean, and has an indicator.
    Levels become indicators, texts tf-idf.

    Examples
    --------
    >>> encode_columns({"size": [1.0, 3.0, None], "colour": ["red", "red", "blue"]}).toarray()
    array([[-1.,  0.,  1.],
           [ 1.,  0.,  1.],
           [ 0.,  1.,  0.]])
    """
    table = Table.of({"text": X}, {"text": "text"}) if _are_documents(X) else Table.of(X)
    parts = [part for column in table for part in _encode(column)]
    if not parts:
        raise InputError("The table has no column that varies. Give columns to learn from.")
    return sparse.csr_matrix(sparse.hstack(parts))


def _are_documents(X: Any) -> bool:
    return isinstance(X, list | np.ndarray) and np.ndim(X) == 1 and isinstance(X[0], str)


def _encode(column: Column) -> list[Any]:
    """Return what stands for a column."""
    rows = len(column)
    if column.numeric:
        missing, seen = column.missing, column.seen
        scale = float(np.std(seen)) if len(seen) else 0.0
        found = []
        if scale > 0:
            cells = np.where(missing, 0.0, (column.values - np.mean(seen)) / scale)
            found.append(sparse.csr_matrix(cells[:, None]))
        if missing.any() and not missing.all():
            found.append(sparse.csr_matrix(missing[:, None].astype(np.float64)))
        return found
    if column.kind == "text":
        texts = [text or "" for text in column.values.to_pylist()]
        try:
            return [TfidfVectorizer(max_features=MAX_WORDS, min_df=1).fit_transform(texts)]
        except ValueError:  # there are no words
            return []
    codes = np.asarray(column.values)
    counts = np.bincount(codes[codes >= 0], minlength=len(column.levels))
    kept = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
    kept = np.sort(kept[counts[kept] >= MIN_ROWS_OF_LEVEL])
    place = np.full(len(column.levels) + 1, -1)
    place[kept] = np.arange(len(kept))
    at = place[codes]  # a missing cell has the code -1, and so the last place
    shown = np.flatnonzero(at >= 0)
    ones = np.ones(len(shown))
    return [sparse.csr_matrix((ones, (shown, at[shown])), shape=(rows, len(kept)))]


def encoded_logistic() -> Any:
    """Return scikit-learn's logistic regression as it comes, with time to converge."""
    return linear_model.LogisticRegression(max_iter=1_000)


@one_blas_thread
def evaluate_logistic(X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
    """Return how logistic regression on the encoded columns answers for held-out rows, by 5 folds.

    Parameters
    ----------
    X : table or list of documents
    y : (n,)
    sample_weight : (n,), optional
    """
    cells = encode_columns(X)
    labels = np.asarray(y)
    classes, codes = np.unique(labels, return_inverse=True)
    weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        numbers = fold_numbers(min(FOLDS, int(np.bincount(codes).max())), codes)
    answers = np.full((len(labels), len(classes)), -np.inf)
    for fold in range(int(numbers.max()) + 1):
        test, training = numbers == fold, numbers != fold
        answers[test] = _answer(cells, codes, weights, training, test, len(classes))
    # A class all of whose rows were held out has no probability: such rows are wrong.
    impossible = np.isneginf(answers[np.arange(len(codes)), codes])
    return Evaluation(answers, np.where(impossible, UNKNOWN, codes), weights, classes)


def _answer(
    cells: Any,
    codes: NDArray[np.intp],
    weights: Floats,
    training: NDArray[np.bool_],
    test: NDArray[np.bool_],
    classes: int,
) -> Floats:
    """Return log p(class | row) of test rows, (t, C), -inf for classes without training rows."""
    found = np.full((int(test.sum()), classes), -np.inf)
    known = np.unique(codes[training])
    if len(known) == 1:
        found[:, known] = 0.0
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = encoded_logistic().fit(cells[training], codes[training], weights[training])
    found[:, model.classes_] = model.predict_log_proba(cells[test])
    return found
