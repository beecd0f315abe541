"""Logistic regression of a source is that of its rows in memory, in several passes."""

import gc
import io
import sqlite3
import tempfile
import warnings

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression

from interruptions import count_lines, interrupt_at
from suffice import GaussianNB, InputError, SourceError
from suffice.engines import evaluate_from, from_source, passes, sample_of
from suffice.errors import ConvergenceWarning
from suffice.linear_model import LogisticRegression
from suffice.sources import open_source

ROWS, COLUMNS = 4000, ["a", "b", "c"]
FEW = 300


def drawn(rows=ROWS, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * np.arange(1, columns + 1) + 10
    scores = 0.3 * (X - 10) @ rng.normal(size=(columns, 3)) + [0.5, 0.0, -1.0]
    own = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    names = [chr(ord("a") + at) for at in range(columns)]
    return pa.table(
        {
            **dict(zip(names, X.T, strict=True)),
            "kind": np.array(["ant", "bee", "cow"])[own],
            "weight": rng.integers(0, 4, rows).astype(float),
        }
    )


TABLE = drawn()
TWO = TABLE.filter(pa.compute.not_equal(TABLE["kind"], "cow"))


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Let tables of more than a few rows be read in passes."""
    monkeypatch.setattr(from_source, "SAMPLE_ROWS", FEW)


def write_parquet(table, folder):
    """Write a table as three files of several row groups each."""
    third = len(table) // 3 + 1
    for at in range(3):
        part = table.slice(at * third, third)
        pq.write_table(part, folder / f"part-{at}.parquet", row_group_size=170)
    return folder / "*.parquet"


def in_memory(model, table=TABLE, weight=None, columns=COLUMNS):
    weights = None if weight is None else table[weight].to_numpy()
    return model.fit(table.select(columns), table["kind"], weights)


def agree(found, expected, relative=1e-6):
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert found.n_parameters_ == expected.n_parameters_
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert found.converged_ == expected.converged_
    assert pytest.approx(expected.C_, rel=relative) == found.C_
    scale = np.abs(expected.coef_).max()
    np.testing.assert_allclose(found.coef_, expected.coef_, relative, atol=relative * scale)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, relative, atol=relative)
    np.testing.assert_allclose(found.coef_sd_, expected.coef_sd_, relative)
    largest = np.abs(expected.covariance_).max()
    np.testing.assert_allclose(
        found.covariance_, expected.covariance_, relative, atol=relative * largest
    )


SETTINGS = {
    "newton": {},
    "lbfgs": {"solver": "lbfgs", "tol": 1e-7},
    "no intercept": {"fit_intercept": False},
    "no penalty": {"C": np.inf, "weights": "reference"},
    "reference": {"weights": "reference", "C": 0.01},
    "balanced": {"class_weight": "balanced"},
    "weights of classes": {"class_weight": {"ant": 0.5, "cow": 3.0}},
    "towards naive Bayes": {"prior_mean": "naive_bayes", "C": 1e-3},
    "towards the discriminant": {"prior_mean": "discriminant", "C": 1e-3, "solver": "lbfgs"},
    "towards weights": {"prior_mean": [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.3]], "C": 1e-3},
    "precision": {"prior_precision": [1.0, 2.0, 3.0], "C": 1e-2},
}


@pytest.mark.parametrize(
    ("kind", "weight"),
    [*((kind, None) for kind in SETTINGS), ("newton", "weight"), ("balanced", "weight")],
)
def test_files_give_the_weights_of_their_rows_in_memory(kind, weight, tmp_path):
    path = write_parquet(TABLE, tmp_path)
    model = LogisticRegression(**SETTINGS[kind])
    model.fit_from(path, "kind", features=COLUMNS, weight=weight)
    expected = in_memory(LogisticRegression(**SETTINGS[kind]), weight=weight)
    agree(model, expected)
    assert model._rows_learned() == expected._rows_learned()
    if kind in ("newton", "lbfgs", "reference", "precision"):
        assert model.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("kind", ["newton", "balanced", "towards naive Bayes"])
def test_two_classes_of_files_give_the_weights_of_their_rows(kind, tmp_path):
    path = write_parquet(TWO, tmp_path)
    model = LogisticRegression(**SETTINGS[kind]).fit_from(path, "kind", ignore=["weight"])
    agree(model, in_memory(LogisticRegression(**SETTINGS[kind]), TWO))


def test_weights_of_classes_differ_between_two_classes(tmp_path):
    path = write_parquet(TWO, tmp_path)
    heavy = LogisticRegression(class_weight={"ant": 5.0})
    agree(
        heavy.fit_from(path, "kind", features=COLUMNS),
        in_memory(heavy.__class__(class_weight={"ant": 5.0}), TWO),
    )
    plain = LogisticRegression().fit_from(path, "kind", features=COLUMNS)
    assert heavy.intercept_[0] < plain.intercept_[0] - 1


def test_steps_of_gradient_ascent_are_those_of_the_rows_in_memory(tmp_path):
    path = write_parquet(TABLE, tmp_path)
    settings = {"solver": "gradient", "step_size": 0.01, "max_iter": 15}
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(**settings).fit_from(path, "kind", features=COLUMNS)
    with pytest.warns(ConvergenceWarning):
        expected = in_memory(LogisticRegression(**settings))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.loss_curve_, expected.loss_curve_, rtol=1e-12)


def test_many_columns_whose_hessian_is_that_of_a_sample_reach_the_same_optimum(tmp_path):
    table = drawn(6000, columns=12, seed=1)
    names = table.column_names[:12]
    model = LogisticRegression().fit_from(write_parquet(table, tmp_path), "kind", features=names)
    agree(model, in_memory(LogisticRegression(), table, columns=names))


def test_the_scale_of_the_prior_by_evidence_is_that_of_the_rows_in_memory(tmp_path):
    table = TWO.slice(0, 600)
    path = write_parquet(table, tmp_path)
    model = LogisticRegression(C="evidence").fit_from(path, "kind", features=["a", "b"])
    expected = in_memory(LogisticRegression(C="evidence"), table, columns=["a", "b"])
    agree(model, expected)


def test_weights_of_files_are_those_of_scikit_learn(tmp_path):
    path = write_parquet(TABLE, tmp_path)
    model = LogisticRegression(C=0.05).fit_from(path, "kind", features=COLUMNS, weight="weight")
    X = np.column_stack([TABLE[name].to_numpy() for name in COLUMNS])
    peer = SklearnLogisticRegression(C=0.05, solver="newton-cholesky", tol=1e-10)
    peer.fit(X, TABLE["kind"].to_numpy(zero_copy_only=False), TABLE["weight"].to_numpy())
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-6, atol=1e-8)
    rows = TABLE.select(COLUMNS).slice(0, 9)
    np.testing.assert_allclose(model.predict_proba(rows), peer.predict_proba(X[:9]), rtol=1e-6)


def in_sqlite(table):
    connection = sqlite3.connect(":memory:")
    table.to_pandas().to_sql("given", connection, index=False)
    return connection


def csv_of(table, folder):
    pa.csv.write_csv(table, folder / "rows.csv")
    return folder / "rows.csv"


def arrow_of(table, folder):
    with pa.ipc.new_file(folder / "rows.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=700)
    return folder / "rows.arrow"


SOURCES = {
    "table": (lambda table, folder: {"source": table}, False),
    "pandas": (lambda table, folder: {"source": table.to_pandas()}, False),
    "arrow file": (lambda table, folder: {"source": arrow_of(table, folder)}, False),
    "csv": (lambda table, folder: {"source": csv_of(table, folder)}, True),
    "csv as bytes": (
        lambda table, folder: {"source": io.BytesIO(csv_of(table, folder).read_bytes())},
        True,
    ),
    "reader": (lambda table, folder: {"source": table.to_reader(77)}, True),
    "lazy frame": (lambda table, folder: {"source": pl.from_arrow(table).lazy()}, True),
    "duckdb": (lambda table, folder: {"source": in_duckdb(table), "table": "given"}, True),
    "relation": (lambda table, folder: {"source": duckdb.from_arrow(table)}, True),
    "sqlite": (lambda table, folder: {"source": in_sqlite(table), "table": "given"}, True),
    "cursor": (
        lambda table, folder: {"source": in_sqlite(table).execute("SELECT * FROM given")},
        True,
    ),
}


def in_duckdb(table):
    connection = duckdb.connect()
    connection.from_arrow(table).create("given")
    return connection


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_weights_of_its_rows(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    given, _ = SOURCES[kind]
    model = LogisticRegression().fit_from(**given(TABLE, tmp_path), target="kind", weight="weight")
    agree(model, in_memory(LogisticRegression(), weight="weight"), 1e-9)
    assert not list(tmp_path.glob("suffice-*"))


@pytest.mark.parametrize("kind", SOURCES)
def test_what_is_slow_to_read_again_is_spooled_and_the_progress_says_so(kind, tmp_path):
    given, spooled = SOURCES[kind]
    lines = said_of(LogisticRegression(), given(TABLE, tmp_path))
    assert any("spooling its numbers to a temporary file" in line for line in lines) == spooled
    assert any(line.startswith("Pass 3 over ") for line in lines)


def test_strings_of_numbers_in_memory_are_parsed_once():
    columns = [TABLE["a"].cast(pa.string()), *TABLE.select(["b", "c", "kind"]).columns]
    table = pa.table(columns, ["a", "b", "c", "kind"])
    model = LogisticRegression()
    lines = said_of(model, {"source": table})
    assert any("spooling" in line for line in lines)
    agree(model, in_memory(LogisticRegression()), 1e-9)


def said_of(model, given):
    """Return all that a fit says of its progress."""
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("suffice.engines.progress.PAUSE", 0.0)
        model.fit_from(**given, target="kind", progress=lines.append)
    return lines


def test_a_stream_of_several_units_is_read_once_and_learned_whole(monkeypatch):
    table = drawn(140_000, columns=1, seed=2).select(["a", "kind"])
    model = LogisticRegression().fit_from(table.to_reader(1000), "kind")
    agree(model, in_memory(LogisticRegression(), table, columns=["a"]))


@pytest.mark.parametrize("kind", ["table", "csv", "sqlite", "reader"])
def test_few_rows_are_learned_exactly_as_fit_learns_them(kind, tmp_path):
    table = TABLE.slice(0, FEW)
    model = LogisticRegression().fit_from(
        **SOURCES[kind][0](table, tmp_path), target="kind", weight="weight"
    )
    expected = in_memory(LogisticRegression(), table, "weight")
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.covariance_, expected.covariance_)
    assert model.loss_curve_ == expected.loss_curve_


@pytest.mark.parametrize("labels", [[0, 1, 2], [False, True, True], [0.0, 5.0, 7.0]])
def test_labels_keep_their_type(labels, tmp_path):
    kinds = np.array(labels)[np.unique(TABLE["kind"].to_numpy(), return_inverse=True)[1]]
    table = TABLE.set_column(3, "kind", [pa.array(kinds)])
    expected = in_memory(LogisticRegression(), table)
    for given in (write_parquet(table, tmp_path), table.to_reader(77)):
        model = LogisticRegression().fit_from(given, "kind", features=COLUMNS)
        assert model.classes_.dtype == expected.classes_.dtype
        agree(model, expected)


def test_classes_that_come_late_are_learned(tmp_path):
    table = TABLE.sort_by("kind")
    model = LogisticRegression().fit_from(write_parquet(table, tmp_path), "kind", features=COLUMNS)
    agree(model, in_memory(LogisticRegression(), table))


def test_parts_without_weight_are_not_there(tmp_path):
    weights = np.where(np.arange(ROWS) < 1000, 0.0, 2.0)
    table = TABLE.set_column(4, "weight", [weights])
    path = write_parquet(table, tmp_path)
    model = LogisticRegression().fit_from(path, "kind", weight="weight")
    agree(model, in_memory(LogisticRegression(), table, "weight"))


def test_many_classes_and_columns_are_counted_without_products(tmp_path):
    rng = np.random.default_rng(3)
    names = [f"x{at}" for at in range(30)]
    kinds = np.sort(rng.integers(0, 40, 1000))
    X = rng.normal(size=(1000, 30)) + 0.1 * kinds[:, None]
    table = pa.table({**dict(zip(names, X.T, strict=True)), "kind": kinds})
    model = LogisticRegression(C=1e-3).fit_from(write_parquet(table, tmp_path), "kind")
    expected = in_memory(LogisticRegression(C=1e-3), table, columns=names)
    assert model.solver_ == expected.solver_ == "lbfgs"
    rows = table.select(names)
    np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(rows), atol=1e-4)


def test_a_warm_start_begins_at_the_weights_found_last(tmp_path):
    path = write_parquet(TABLE, tmp_path)
    model = LogisticRegression(solver="lbfgs", warm_start=True)
    model.fit_from(path, "kind", features=COLUMNS)
    last = model.loss_curve_[-1]
    model.fit_from(path, "kind", features=COLUMNS)
    assert model.loss_curve_[0] == pytest.approx(last, rel=1e-12)


def test_a_fitted_model_may_be_the_prior(tmp_path):
    naive = GaussianNB(tie="class").fit(TABLE.select(COLUMNS), TABLE["kind"])
    settings = {"prior_mean": naive, "C": 1e-3}
    path = write_parquet(TABLE, tmp_path)
    model = LogisticRegression(**settings).fit_from(path, "kind", features=COLUMNS)
    agree(model, in_memory(LogisticRegression(**settings)))


# What cannot be learned is refused, and leaves the model as it was.


def with_cell(table, row, cell):
    cells = table["b"].to_pylist()
    cells[row] = cell
    return table.set_column(1, "b", [pa.array(cells)])


@pytest.mark.parametrize("cell", [None, float("nan")])
def test_a_missing_cell_is_named_with_its_file_and_rows(cell, tmp_path):
    path = write_parquet(with_cell(TABLE, 2000, cell), tmp_path)
    # The second file begins with row 1334, its row groups have 170 rows.
    place = r"part-1\.parquet, rows 510 to 679: Input X contains NaN: nan in row 156, column 1"
    with pytest.raises(SourceError, match=rf"{place} \('b'\).*fill it or leave the row out"):
        LogisticRegression().fit_from(path, "kind")


def test_text_among_numbers_is_named_with_its_place(tmp_path):
    path = csv_of(with_cell(TABLE.slice(0, 900), 700, None), tmp_path)
    path.write_text(path.read_text().replace(",,", ",much,"))
    message = r"rows\.csv', rows 0 to 899: Column 'b' holds 'much' in row 700, which is no number"
    with pytest.raises(SourceError, match=message + r"\. Correct the cell, or leave the row"):
        LogisticRegression().fit_from(path, "kind")
    model = LogisticRegression().fit_from(TABLE, "kind")
    with pytest.raises(SourceError, match=message):
        model.predict_to(path, tmp_path / "out.csv")


def test_a_column_of_text_is_named(tmp_path):
    table = TABLE.set_column(1, "b", [["much"] * ROWS])
    with pytest.raises(SourceError, match=r"Column 'b' holds 'much', which is no number\. Leave"):
        LogisticRegression().fit_from(write_parquet(table, tmp_path), "kind")


def test_rows_without_a_target_are_left_out_with_one_warning(tmp_path):
    kinds = TABLE["kind"].to_pylist()
    kinds[5] = kinds[3000] = None
    path = write_parquet(TABLE.set_column(3, "kind", [pa.array(kinds)]), tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LogisticRegression().fit_from(path, "kind", features=COLUMNS)
    (warning,) = caught
    assert "2 of 4,000 rows of" in str(warning.message)
    assert "have no target in column 'kind'" in str(warning.message)
    assert warning.filename == __file__
    others = TABLE.filter(~np.isin(np.arange(ROWS), [5, 3000]))
    agree(model, in_memory(LogisticRegression(), others))


def test_no_row_with_a_target_is_refused():
    table = pa.table({"a": [1.0, 2.0], "kind": pa.array([None, None], pa.string())})
    with pytest.raises(SourceError, match=r"no row with a target in column 'kind' \(2 without\)"):
        LogisticRegression().fit_from(table, "kind")


@pytest.mark.parametrize("rows", [FEW, ROWS])
def test_one_class_is_refused_as_fit_refuses_it(rows):
    table = TABLE.slice(0, rows).set_column(3, "kind", [["ant"] * rows])
    with pytest.raises(InputError) as expected:
        in_memory(LogisticRegression(), table)
    with pytest.raises(InputError) as found:
        LogisticRegression().fit_from(table, "kind", features=COLUMNS)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("rows", [FEW, ROWS])
def test_no_weight_at_all_is_refused(rows):
    table = TABLE.slice(0, rows).set_column(4, "weight", [np.zeros(rows)])
    with pytest.raises(InputError, match="All sample weights are zero"):
        LogisticRegression().fit_from(table, "kind", weight="weight")


def test_no_column_beside_the_target_is_refused():
    with pytest.raises(InputError, match="no column to learn from beside 'kind'"):
        LogisticRegression().fit_from(TABLE.select(["kind"]), "kind")


def changing(path, second):
    """Return a Parquet source whose file is another one from the second pass on."""
    source = open_source(path)
    passed, units = [], source.units

    def read(*args, **kwargs):
        if len(passed) == 1:
            pq.write_table(second, path, row_group_size=500)
        passed.append(None)
        return units(*args, **kwargs)

    source.units = read
    return source


@pytest.mark.parametrize(
    ("second", "fact"),
    [
        (TABLE.slice(0, 3500), r"it had 4,000 rows with a target, and has 3,500"),
        (TABLE.set_column(3, "kind", [["dog"] * ROWS]), r"class 'dog' was not there before"),
    ],
)
def test_a_file_that_changes_between_passes_is_noticed(second, fact, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(TABLE, path, row_group_size=500)
    with pytest.raises(SourceError, match=rf"has changed while it was learned: {fact}"):
        LogisticRegression().fit_from(changing(path, second), "kind", features=COLUMNS)


@pytest.mark.parametrize("kind", ["table", "csv"])
def test_an_interruption_leaves_the_model_as_it_was_and_no_file(kind, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    table = TABLE.slice(0, 400)
    given = {**SOURCES[kind][0](table, tmp_path), "target": "kind"}
    model = in_memory(LogisticRegression(), TABLE.slice(400, 400))
    before, files = model.coef_.copy(), [passes.__file__]
    lines = count_lines(lambda: LogisticRegression().fit_from(**given), files)
    for at in np.linspace(1, lines, 12).astype(int):
        interrupt_at(lambda: model.fit_from(**given), files, KeyboardInterrupt(), at)
        assert np.array_equal(model.coef_, before), f"interrupted at line {at} of {lines}"
        gc.collect()
        assert not list(folder.iterdir()), f"interrupted at line {at} of {lines}"


def test_rows_of_spark_are_not_collected(spark):
    frame = spark.createDataFrame([(1.0, "a"), (2.0, "b")], ["x", "kind"])
    with pytest.raises(InputError, match=r"passes over its rows.*stay on its cluster.*Parquet"):
        LogisticRegression().fit_from(frame, "kind")


def test_it_counts_no_further_rows():
    assert not hasattr(LogisticRegression, "partial_fit_from")
    assert not hasattr(LogisticRegression, "forget_from")


# Predictions and evaluations.


@pytest.fixture
def model():
    return in_memory(LogisticRegression())


@pytest.mark.parametrize("kind", ["table", "csv", "sqlite"])
def test_predictions_are_written_beside_the_rows(kind, model, tmp_path):
    out, table = tmp_path / "out.parquet", TABLE.slice(0, 50)
    given = SOURCES[kind][0](table, tmp_path)
    assert model.predict_to(**given, destination=out, columns=["kind"], reasons=1) == 50
    found = pq.read_table(out)
    assert found.column_names == ["kind", "label", "p_ant", "p_bee", "p_cow", "reason_1"]
    rows = table.select(COLUMNS)
    assert found["label"].to_pylist() == model.predict(rows).tolist()
    proba = np.column_stack([found[f"p_{name}"].to_numpy() for name in model.classes_])
    np.testing.assert_allclose(proba, model.predict_proba(rows), rtol=1e-12)


def test_a_cell_that_cannot_be_predicted_is_named_and_nothing_is_written(model, tmp_path):
    path = write_parquet(with_cell(TABLE, 30, None), tmp_path)
    message = r"part-0\.parquet, rows 0 to 169: Input X contains NaN: nan in row 30, column 1"
    with pytest.raises(SourceError, match=message):
        model.predict_to(path, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_evaluations_are_those_of_the_rows_in_memory(model, tmp_path):
    found = evaluate_from(model, csv_of(TABLE, tmp_path), "kind")
    rows = TABLE.select(COLUMNS)
    own = np.searchsorted(model.classes_, TABLE["kind"].to_numpy(zero_copy_only=False))
    assert found.rows == ROWS
    assert found.accuracy == pytest.approx(model.score(rows, TABLE["kind"].to_pylist()))
    logs = model.predict_log_proba(rows)
    assert found.log_loss == pytest.approx(-logs[np.arange(ROWS), own].mean(), rel=1e-9)


def test_samples_of_a_source_are_drawn_for_it():
    X, y, _ = sample_of(LogisticRegression(), TABLE, "kind", 50, ignore=["weight"])
    assert X.column_names == COLUMNS
    assert len(y) == 50
