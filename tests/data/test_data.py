"""What users hand over: frames, labels and weights of many kinds, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from suffice.data.frames import frame_to_array, is_frame
from suffice.data.labels import encode_labels
from suffice.errors import InputError
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, PoissonNB

NAN = float("nan")
# One table, missing values included, as every kind of frame holds it.
COLUMNS = {
    "whole": [1, None, 3, 4],
    "flag": [True, False, None, True],
    "real": [0.5, NAN, 2.5, -1.0],
    "plain": [4, 3, 2, 1],
}
CELLS = np.array([[1, 1, 0.5, 4], [NAN, 0, NAN, 3], [3, NAN, 2.5, 2], [4, 1, -1.0, 1]], dtype=float)
LABELS = ["b", "a", "b", "a"]


def arrow_table():
    return pa.table({name: pa.array(cells, from_pandas=True) for name, cells in COLUMNS.items()})


FRAMES = {
    "pandas nullable": lambda: pd.DataFrame(
        {
            "whole": pd.array(COLUMNS["whole"], dtype="Int64"),
            "flag": pd.array(COLUMNS["flag"], dtype="boolean"),
            "real": pd.array([0.5, None, 2.5, -1.0], dtype="Float32"),
            "plain": COLUMNS["plain"],
        }
    ),
    "pandas of Arrow types": lambda: arrow_table().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects with None": lambda: pd.DataFrame(
        {name: pd.Series(cells, dtype=object) for name, cells in COLUMNS.items()}
    ),
    "pandas objects with NA": lambda: pd.DataFrame(
        {
            name: pd.Series([pd.NA if x is None else x for x in cells], dtype=object)
            for name, cells in COLUMNS.items()
        }
    ),
    "pandas floats": lambda: pd.DataFrame(CELLS, columns=list(COLUMNS)),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "Arrow table": arrow_table,
    "Arrow table in chunks": lambda: pa.concat_tables(
        [arrow_table().slice(0, 1), arrow_table().slice(1, 2), arrow_table().slice(3)]
    ),
    "Arrow record batch": lambda: arrow_table().to_batches()[0],
}


@pytest.fixture(params=list(FRAMES))
def frame(request):
    return FRAMES[request.param]()


# ---- frames


def test_every_frame_gives_the_same_numbers_with_nulls_as_nan(frame):
    assert is_frame(frame)
    np.testing.assert_array_equal(frame_to_array(frame), CELLS)


def test_models_of_frames_equal_models_of_arrays(frame):
    model = GaussianNB(var_smoothing=0.1).fit(frame, LABELS)
    wanted = GaussianNB(var_smoothing=0.1).fit(CELLS, LABELS)
    np.testing.assert_array_equal(model.theta_, wanted.theta_)
    np.testing.assert_array_equal(model.predict_proba(frame), wanted.predict_proba(CELLS))
    assert model.feature_names_in_.tolist() == list(COLUMNS)


def test_names_of_columns_are_checked_in_every_method(frame):
    model = GaussianNB(var_smoothing=0.1).fit(frame, LABELS)
    wrong = pd.DataFrame(CELLS, columns=["whole", "flag", "real", "other"])
    for act in (
        lambda: model.predict(wrong),
        lambda: model.partial_fit(wrong, LABELS),
        lambda: model.forget(wrong, LABELS),
        lambda: model.score_samples(wrong),
    ):
        with pytest.raises(ValueError, match=r"(?s)feature names.*unseen.*other.*missing.*plain"):
            act()


def test_columns_in_another_order_are_refused_by_name():
    model = GaussianNB().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}), [0, 1])
    with pytest.raises(ValueError, match="same order"):
        model.predict(pl.DataFrame({"b": [1.0], "a": [3.0]}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [True, False], "b": [1.5, 2.0]}),
        pd.DataFrame({"a": [True, False], "b": np.array([1.5, 2.0], np.float32)}),
        pl.DataFrame({"a": [True, False], "b": [1.5, 2.0]}),
        pa.table({"a": [True, False], "b": [1.5, 2.0]}),
        pd.DataFrame({"a": pd.Categorical([1, 0]), "b": [1.5, 2.0]}),
        pa.table({"a": pa.array([1, 0]).dictionary_encode(), "b": [1.5, 2.0]}),
    ],
    ids=["pandas", "pandas float32", "polars", "Arrow", "categorical", "dictionary"],
)
def test_truth_values_and_numbered_categories_beside_numbers_are_numbers(frame):
    array = frame_to_array(frame)
    assert array.dtype.kind == "f"
    np.testing.assert_array_equal(array, [[1, 1.5], [0, 2.0]])


def test_narrow_types_stay_narrow():
    assert frame_to_array(pd.DataFrame({"a": [1, 2]}, dtype=np.int8)).dtype == np.int8
    assert frame_to_array(pd.DataFrame({"a": [True, False]})).dtype == np.bool_
    assert frame_to_array(pl.DataFrame({"a": pl.Series([1.0, 2.0], dtype=pl.Float32)})).dtype == (
        np.float32
    )
    assert frame_to_array(pa.table({"a": pa.array([1, 2], pa.uint8())})).dtype == np.uint8


def test_a_column_of_nulls_is_all_missing():
    for frame in (pa.table({"a": pa.nulls(2), "b": [1, 2]}), pl.DataFrame({"a": [None] * 2})):
        assert np.isnan(frame_to_array(frame)[:, 0]).all()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"size": [1, 2], "colour": ["3", "red"]}),
        pd.DataFrame({"size": [1, 2], "colour": pd.Series(["3", "red"], dtype=object)}),
        pd.DataFrame({"size": [1, 2], "colour": pd.Categorical(["3", "red"])}),
        pl.DataFrame({"size": [1, 2], "colour": ["3", "red"]}),
        pa.table({"size": [1, 2], "colour": ["3", "red"]}),
        pa.table({"size": [1, 2], "colour": pa.array(["3", "red"]).dictionary_encode()}),
    ],
    ids=["pandas", "objects", "categorical", "polars", "Arrow", "dictionary"],
)
def test_text_in_a_frame_is_refused_by_column_row_and_value(frame):
    with pytest.raises(InputError, match=r"Column 'colour' holds 'red' in row 1: could not conv"):
        GaussianNB().fit(frame, [0, 1])


def test_text_after_a_missing_cell_is_refused_by_its_own_row():
    frame = pd.DataFrame({"a": pd.Series([pd.NA, None, "red"], dtype="string")})
    with pytest.raises(InputError, match="Column 'a' holds 'red' in row 2"):
        GaussianNB().fit(frame, [0, 1, 1])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1, 2], [3, "red"]], dtype=object),
        np.array([["1", "2"], ["3", "red"]]),
        [["1", "2"], ["3", "red"]],
        [[1, 2], [3, "red"]],
    ],
    ids=["objects", "text", "list of text", "mixed list"],
)
def test_text_in_an_array_is_refused_by_column_row_and_value(X):
    with pytest.raises(ValueError, match=r"Column 1 holds 'red' in row 1.*Encode the column"):
        GaussianNB().fit(X, [0, 1])
    model = GaussianNB().fit([[1.0, 2.0], [2.0, 4.0]], [0, 1])
    with pytest.raises(ValueError, match=r"Column 1 holds 'red' in row 1"):
        model.predict(X)


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (pd.DataFrame({"a": []}), "0 sample"),
        (pl.DataFrame({"a": []}), "0 sample"),
        (pa.table({"a": pa.array([], pa.float64())}), "0 sample"),
        (pd.DataFrame(index=range(3)), "0 feature"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        (sp.csr_matrix((0, 2)), "0 sample"),
    ],
    ids=["pandas", "polars", "Arrow", "no columns", "array", "array no columns", "sparse"],
)
def test_empty_input_is_refused(frame, text):
    with pytest.raises(ValueError, match=rf"Found array with {text}.*minimum of 1 is required"):
        GaussianNB().fit(frame, [0] * frame.shape[0])


def test_another_number_of_columns_is_refused():
    model = GaussianNB().fit(CELLS, LABELS)
    for X in (CELLS[:, :3], sp.csr_matrix(CELLS[:, :1])):
        with pytest.raises(ValueError, match=r"X has \d features?, but GaussianNB is expecting 4"):
            model.predict(X)


def test_sparse_rows_of_any_format_and_with_duplicates_are_one_matrix():
    dense = np.array([[1, 0, 2], [0, 3, 0], [2, 1, 0], [0, 0, 4]])
    wanted = MultinomialNB().fit(dense, LABELS)
    coo = sp.coo_matrix(dense)
    twice = sp.csr_matrix(
        (
            np.concatenate([coo.data * 0.25, coo.data * 0.75]),
            (np.tile(coo.row, 2), np.tile(coo.col, 2)),
        ),
        shape=dense.shape,
    )
    unsummed = sp.csr_matrix(
        ([1.0, 1, 1, 3, 1, 1, 1, 4], [0, 2, 2, 1, 0, 1, 0, 2], [0, 3, 4, 7, 8]), shape=(4, 3)
    )
    kept = unsummed.copy()
    for X in (coo, coo.tocsc(), sp.csr_array(coo), sp.lil_matrix(coo), twice, unsummed):
        model = MultinomialNB().fit(X, LABELS)
        np.testing.assert_array_equal(model.feature_count_, wanted.feature_count_)
        np.testing.assert_allclose(model.predict_proba(X), wanted.predict_proba(dense))
    assert unsummed.nnz == kept.nnz  # what the user holds is not touched


def test_sparse_truth_values_are_counted_and_scored():
    dense = np.array([[1, 0], [1, 1], [0, 1]], bool)
    for kind in (BernoulliNB, MultinomialNB, PoissonNB, GaussianNB):
        model = kind().fit(sp.csr_array(dense), [0, 1, 1])
        wanted = kind().fit(dense, [0, 1, 1])
        np.testing.assert_allclose(
            model.predict_proba(sp.csr_array(dense)), wanted.predict_proba(dense), rtol=1e-12
        )


def test_levels_are_not_taken_from_sparse_rows():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CategoricalNB().fit(sp.csr_matrix(np.eye(2)), [0, 1])


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"])}), "times"),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="D")}), "times"),
        (pl.DataFrame({"a": pl.Series([1, 2]).cast(pl.Date)}), "times"),
        (pa.table({"a": pa.array([1, 2], pa.timestamp("s"))}), "times"),
        (pd.DataFrame({"a": [1j, 2.0]}), "complex numbers"),
    ],
    ids=["dates", "durations", "polars", "Arrow", "complex"],
)
def test_times_and_complex_numbers_are_not_taken_for_numbers(frame, what):
    with pytest.raises(InputError, match=f"Column 'a' holds {what}"):
        GaussianNB().fit(frame, [0, 1])


def test_masked_cells_are_missing_values_and_masked_labels_are_missing():
    X = np.ma.array([[1, 5], [2, 6], [4, 8]], mask=[[0, 0], [0, 1], [0, 0]])
    model = GaussianNB().fit(X, [0, 1, 1])
    np.testing.assert_array_equal(model.theta_, [[1, 5], [3, 8]])
    with pytest.raises(InputError, match=r"Input y contains NaN or None \(row 2\)"):
        GaussianNB().fit(X, np.ma.array([0, 1, 1], mask=[0, 0, 1]))


def test_numbers_whose_squares_overflow_are_refused_by_column():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1e200, -1e200, 3e200]})
    with pytest.raises(InputError, match=r"The squares of column 1 \('b'\) are too large"):
        GaussianNB().fit(frame, [0, 0, 1])


# ---- labels


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1, 3, 7]),
        np.array([3, 1, 3, 7], np.uint8),
        np.array([3, 1, 3, 7], np.uint64),
        np.array([-100, 100, -100, 127], np.int8),
        np.array([10**12, -(10**12), 5, 5]),
        np.array([2**60 + 5, 2**60 + 1, 2**60 + 5, 2**60 + 1], np.uint64),
        np.array([2**63 + 5, 2**63 + 1, 2**63 + 5, 2**63 + 1], np.uint64),
        np.array([True, False, True, True]),
        np.array([1.0, -2.0, 1.0, 5.0]),
        np.array([1.0, 2.0, 1.0, 5.0], np.float32),
        np.array([1e300, -1e300, 1e300, 5.0]),
        np.array(["b", "a", "b", "ccc"]),
        np.array(["b", "a", "b", "ccc"], object),
        np.array(["é", "Z", "a", "é"]),
        np.array([b"b", b"a", b"b", b"c"]),
        np.array([7]),
    ],
    ids=lambda labels: f"{labels.dtype}-{labels[0]}",
)
def test_labels_are_numbered_as_numpy_numbers_them(labels):
    classes, codes = encode_labels(labels)
    wanted, inverse = np.unique(labels, return_inverse=True)
    assert classes.tolist() == wanted.tolist()
    assert classes.dtype == labels.dtype
    assert codes.tolist() == inverse.tolist()
    assert codes.dtype == np.int32


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, object),
        pd.Series(LABELS),
        pd.Series(LABELS, dtype=object),
        pd.Series(LABELS, dtype="string"),
        pd.Series(LABELS, index=[9, 8, 7, 6]),
        pd.Categorical(LABELS),
        pd.Series(LABELS, dtype="category"),
        pd.Series(LABELS, dtype=pd.ArrowDtype(pa.string())),
        pl.Series(LABELS),
        pl.Series(LABELS, dtype=pl.Categorical),
        pa.array(LABELS),
        pa.chunked_array([LABELS[:1], LABELS[1:]]),
        pa.array(LABELS).dictionary_encode(),
        pa.array(LABELS, pa.large_string()),
    ],
    ids=lambda labels: f"{type(labels).__module__}.{type(labels).__name__}",
)
def test_names_of_classes_come_in_any_container(labels):
    model = GaussianNB(var_smoothing=0.1).fit(CELLS, labels)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.class_count_.tolist() == [2.0, 2.0]
    assert set(model.predict(CELLS)) <= {"a", "b"}


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([1, 0, 1, 0], dtype="Int64"),
        pd.Series([1, 0, 1, 0], dtype="category"),
        pl.Series([1, 0, 1, 0]),
        pa.array([1, 0, 1, 0]),
        pa.chunked_array([[1], [0, 1, 0]]),
    ],
    ids=["Int64", "category", "polars", "Arrow", "chunked"],
)
def test_numbers_of_classes_stay_whole(labels):
    model = GaussianNB(var_smoothing=0.1).fit(CELLS, labels)
    assert model.classes_.dtype.kind == "i"
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    "labels",
    [pd.Series([True, False] * 2, dtype="boolean"), pa.array([True, False] * 2), [True, False] * 2],
    ids=["boolean", "Arrow", "list"],
)
def test_truth_values_may_be_classes(labels):
    model = GaussianNB(var_smoothing=0.1).fit(CELLS, labels)
    assert model.classes_.tolist() == [False, True]
    assert model.classes_.dtype.kind == "b"


@pytest.mark.parametrize(
    "labels",
    [
        [1.0, 0.0, NAN, 1.0],
        ["a", "b", None, "a"],
        ["a", "b", NAN, "a"],
        [1, 0, None, 1],
        np.array(["a", "b", NAN, "a"], object),
        np.array(["a", "b", pd.NA, "a"], object),
        pd.Series(["a", "b", None, "a"]),
        pd.Series(["a", "b", None, "a"], dtype="string"),
        pd.Series([1, 0, None, 1], dtype="Int64"),
        pd.Series([True, False, None, True], dtype="boolean"),
        pd.Categorical(["a", "b", None, "a"]),
        pl.Series(["a", "b", None, "a"]),
        pl.Series([1, 0, None, 1]),
        pl.Series([True, False, None, True]),
        pa.array(["a", "b", None, "a"]),
        pa.array([1, 0, None, 1]),
        pa.array([True, False, None, True]),
        pa.chunked_array([["a", "b"], [None, "a"]]),
    ],
    ids=lambda labels: f"{type(labels).__name__}-{getattr(labels, 'dtype', '')}",
)
def test_a_missing_label_is_refused_by_row(labels):
    with pytest.raises(InputError, match=r"Input y contains NaN.*row 2.*without a label"):
        GaussianNB().fit(CELLS, labels)


def test_an_infinite_label_is_refused_by_row():
    with pytest.raises(InputError, match=r"Input y contains infinity \(row 3\)"):
        GaussianNB().fit(CELLS, [0.0, 1.0, 0.0, np.inf])


def test_a_fractional_label_is_no_class():
    with pytest.raises(InputError, match=r"Unknown label type: continuous. Label 0.5 in row 2"):
        GaussianNB().fit(CELLS, [0.0, 1.0, 0.5, 1.0])


@pytest.mark.parametrize(
    "labels",
    [["a", 1, "b", 2], np.array(["a", 1, "b", 2], object), ("a", 1, "b", 2), ["a", True, "b", "a"]],
    ids=["list", "objects", "tuple", "bool"],
)
def test_names_beside_numbers_are_refused(labels):
    with pytest.raises(TypeError, match=r"Labels of different types: (bool|int), str"):
        GaussianNB().fit(CELLS, labels)


def test_labels_that_are_other_objects_are_refused():
    with pytest.raises(InputError, match=r"Unknown label type: unknown. Label 1 is held as"):
        GaussianNB().fit(CELLS, np.array([1, 2, 1, 2], object))


def test_no_labels_and_too_few_labels_are_refused():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        GaussianNB().fit(CELLS, None)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[4, 3\]"):
        GaussianNB().fit(CELLS, LABELS[:3])
    with pytest.raises(ValueError, match="1d array"):
        GaussianNB().fit(CELLS, np.ones((4, 2)))


def test_text_held_in_different_ways_is_the_same_text():
    model = GaussianNB(var_smoothing=0.1).fit(CELLS, pd.Series(LABELS, dtype=object))
    model.partial_fit(CELLS, np.array(LABELS)).forget(CELLS, pl.Series(LABELS))
    other = GaussianNB(var_smoothing=0.1).fit(CELLS, np.array(["a", "b", "longer", "a"]))
    assert (model + other).classes_.tolist() == ["a", "b", "longer"]
    assert (other + model).classes_.tolist() == ["a", "b", "longer"]
    assert (other + model).class_count_.tolist() == [4.0, 3.0, 1.0]


@pytest.mark.parametrize("dtype", [object, str])
def test_numbers_never_join_classes_that_have_names(dtype):
    model = GaussianNB(var_smoothing=0.1).fit(CELLS, np.array(LABELS, dtype))
    for act in (model.partial_fit, model.forget):
        with pytest.raises(InputError, match=r"\['a', 'b'\] and \[1, 2\] are of different types"):
            act(CELLS, [1, 2, 1, 2])
    with pytest.raises(InputError, match="are of different types"):
        model.merge(GaussianNB(var_smoothing=0.1).fit(CELLS, [1, 2, 1, 2]))
    closed = GaussianNB(var_smoothing=0.1).partial_fit(CELLS, LABELS, classes=["a", "b"])
    with pytest.raises(InputError, match="are of different types"):
        closed.partial_fit(CELLS, [1, 2, 1, 2])


# ---- weights


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1, 1, -2, 1], r"Weight -2 in row 2: Negative values"),
        ([1, 1, 1, NAN], r"Weight nan in row 3"),
        ([1, np.inf, 1, 1], r"Weight inf in row 1"),
        ([0, 0, 0, 0], r"All sample weights are zero"),
        (0.0, r"All sample weights are zero"),
        ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\)"),
        (np.ones((4, 1)), r"Sample weights must be 1D array or scalar"),
    ],
    ids=["negative", "NaN", "infinite", "zeros", "zero", "too few", "matrix"],
)
def test_weights_that_are_none_are_refused_by_row(weights, text):
    with pytest.raises(InputError, match=text):
        GaussianNB().fit(CELLS, LABELS, sample_weight=weights)


def test_one_weight_is_every_rows_weight():
    model = PoissonNB().fit(np.ones((3, 2)), [0, 1, 1], sample_weight=2)
    assert model.class_count_.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("container", [list, pd.Series, pl.Series, pa.array, tuple])
def test_weights_come_in_any_container(container):
    model = PoissonNB().fit(np.ones((3, 2)), [0, 1, 1], sample_weight=container([0.5, 1.0, 2.0]))
    assert model.class_count_.tolist() == [0.5, 3.0]
