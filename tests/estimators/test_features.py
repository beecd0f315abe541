"""Rows and their columns: errors and warnings are scikit-learn's, and nothing is written."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from suffice import InputError
from suffice.estimators.features import Columns, read_feature_names, read_features

CELLS = np.array([[1.0, 2.0], [3.0, np.nan]])
TABLES = {
    "array": CELLS,
    "integers": np.array([[1, 2], [3, 4]]),
    "lists": CELLS.tolist(),
    "sparse": sp.csr_array(CELLS),
    "pandas": pd.DataFrame(CELLS, columns=["a", "b"]),
    "pandas by number": pd.DataFrame(CELLS),
    "polars": pl.DataFrame(CELLS, schema=["a", "b"]),
    "arrow": pa.table({"a": [1.0, 3.0], "b": [2.0, None]}),
    "reordered": pd.DataFrame(CELLS, columns=["b", "a"]),
    "other names": pd.DataFrame(CELLS, columns=["a", "c"]),
    "many names": pd.DataFrame(np.zeros((2, 8)), columns=list("qrstuvwx")),
    "one name less": pd.DataFrame(CELLS[:, :1], columns=["a"]),
    "narrow": CELLS[:, :1],
    "three axes": CELLS[None],
    "one axis": CELLS[0],
    "complex": CELLS + 1j,
}


class Anything(BaseEstimator):
    pass


def outcome(act):
    """Return the cells, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            cells = act()
        except ValueError as error:
            cells = str(error)
    if hasattr(cells, "toarray"):
        cells = cells.toarray()
    return str(cells), [str(one.message) for one in caught]


def theirs(estimator, X, reset):
    if hasattr(X, "columns") or isinstance(X, pa.Table):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X.to_pandas().to_numpy() if isinstance(X, pa.Table) else X.to_numpy()
    return validate_data(estimator, X, reset=reset, accept_sparse="csr", ensure_all_finite=False)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("learned", ["array", "pandas", None], ids=str)
def test_rows_are_read_refused_and_warned_of_as_scikit_learn_does(learned, table):
    estimator, columns = Anything(), None
    if learned is not None:
        validate_data(estimator, TABLES[learned], ensure_all_finite=False)
        columns = read_features(TABLES[learned], None, "Anything")[1]
    due = outcome(lambda: theirs(estimator, table, reset=learned is None))
    found = outcome(lambda: read_features(table, columns, "Anything")[0])
    assert found == due


def test_columns_that_were_learned_are_handed_back():
    _, columns = read_features(TABLES["pandas"], None, "Anything")
    assert columns == Columns(2, ("a", "b"))
    assert read_features(TABLES["arrow"], columns, "Anything")[1] is columns
    assert Columns.restore(columns.saved()) == columns
    assert Columns.restore(Columns(3).saved()) == Columns(3)


def test_names_are_there_only_if_columns_had_them():
    assert Columns(1, ("a",)).feature_names_in().dtype == object
    with pytest.raises(AttributeError, match="feature_names_in_"):
        Columns(1).feature_names_in()


def test_no_rows_are_read_once_columns_are_known():
    cells, _ = read_features([], Columns(3), "Anything")
    assert cells.shape == (0, 3)
    with pytest.raises(InputError, match="Give at least one row"):
        read_features(np.empty((0, 3)), None, "Anything")
    with pytest.raises(InputError, match="Give at least one row"):
        read_features(pd.DataFrame({"a": []}), None, "Anything")


def test_text_is_refused_by_its_place():
    with pytest.raises(InputError, match="Column 1 holds 'ham' in row 1"):
        read_features([[1, 2], [3, "ham"]], None, "Anything")
    with pytest.raises(InputError, match="Column 0 holds a number in row 0 that is beyond"):
        read_features([[10**400, 1]], None, "Anything")
    with pytest.raises(InputError, match="read once only"):
        read_features(iter([[1.0]]), None, "Anything")


def test_one_row_by_name_takes_the_order_of_the_columns():
    cells, _ = read_features({"b": 2.0, "a": 1.0}, Columns(2, ("a", "b")), "Anything")
    assert cells.tolist() == [[1.0, 2.0]]


def test_names_given_for_output_have_to_be_those_learned():
    with pytest.raises(InputError, match="not equal to feature_names_in_"):
        read_feature_names(["b", "a"], Columns(2, ("a", "b")))
    with pytest.raises(InputError, match=r"number of features \(2\), got 1"):
        read_feature_names(["b"], Columns(2))
