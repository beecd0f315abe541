"""Learning from a source is learning from its rows, whatever holds them."""

import io
import itertools
import json
import sqlite3
import threading

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    CountingPlan,
    DebtError,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    InputError,
    LinearDiscriminantAnalysis,
    LinearRegression,
    MergeError,
    ModelFileError,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    SourceError,
    TextClassifier,
)
from suffice.engines import estimator, from_source
from suffice.errors import StaleCalibrationWarning, SufficeWarning
from suffice.sources import open_source

ROWS = 2000
# Rows are sampled beyond so many here, so that small tables take the way of large ones.
FEW = 400
FAMILIES = {
    "size": "normal",
    "price": "lognormal",
    "age": "binned",
    "visits": "poisson",
    "city": "categorical",
    "rooms": "categorical",
    "paid": "bernoulli",
    ("height", "width"): "mvn",
    "far": "student",
    ("floor", "door"): "joint",
    "note": "text",
}


def mixed_table(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 3, rows)
    base = rng.normal(size=(rows, 6)) + own[:, None] * 0.7
    words = np.array(["kind", "rude", "late", "quick", "staff", "food"])
    notes = [" ".join(words[(rng.integers(0, 4, 5) + c) % 6]) for c in own]
    missing = rng.random(rows) < 0.1
    return pa.table(
        {
            "size": pa.array(base[:, 0], mask=missing),
            "price": np.exp(base[:, 1]),
            "age": base[:, 2] ** 2,
            "visits": rng.poisson(2 + own),
            "city": pa.array(
                np.array(["Rome", "Oslo", "Lima", "Bonn"])[
                    (rng.random(rows) * 2 + own * 0.7).astype(int)
                ],
                mask=rng.random(rows) < 0.05,
            ),
            "rooms": rng.integers(1, 5, rows) + own,
            "paid": rng.random(rows) < 0.3 + 0.2 * own,
            "height": base[:, 3],
            "width": base[:, 3] + base[:, 4],
            "far": rng.standard_t(2, rows) + own,
            "floor": np.array(["low", "high"])[rng.integers(0, 2, rows)],
            "door": np.array(["left", "right"])[rng.integers(0, 2, rows)],
            "note": notes,
            "label": np.array(["a", "b", "c"])[own],
        }
    )


TABLE = mixed_table()
X, Y = TABLE.drop_columns(["label"]), TABLE["label"]


@pytest.fixture
def few(monkeypatch):
    """Let tables of more than a few rows be sampled."""
    monkeypatch.setattr(from_source, "SAMPLE_ROWS", FEW)


def numbers(model):
    return model.predict_proba(X.slice(0, 50))


def log_loss(model, rows, labels):
    own = np.searchsorted(model.classes_, labels.to_numpy())
    return -np.log(model.predict_proba(rows)[np.arange(len(own)), own]).mean()


def same_tally(one, other):
    return one.tally_.allclose(other.tally_, relative=1e-12)


# A small source is learned as `fit` learns it.


def stored_in_sqlite(table):
    connection = sqlite3.connect(":memory:")
    table.to_pandas().to_sql("given", connection, index=False)
    return connection


SOURCES = {
    "arrow": lambda table, folder: {"source": table},
    "pandas": lambda table, folder: {"source": table.to_pandas()},
    "polars": lambda table, folder: {"source": pl.from_arrow(table)},
    "lazy frame": lambda table, folder: {"source": pl.from_arrow(table).lazy()},
    "reader": lambda table, folder: {"source": table.to_reader(77)},
    "parquet": lambda table, folder: {"source": write_parquet(table, folder)},
    "json lines": lambda table, folder: {"source": write_json(table, folder)},
    "duckdb": lambda table, folder: {"source": duckdb.from_arrow(table)},
    "json lines as bytes": lambda table, folder: {"source": json_bytes(table, folder)},
    "arrow as bytes": lambda table, folder: {"source": arrow_bytes(table)},
    "sqlite": lambda table, folder: {"source": stored_in_sqlite(table), "table": "given"},
    "sqlite cursor": lambda table, folder: {"source": executed(table)},
}


def executed(table):
    return stored_in_sqlite(table).execute("SELECT * FROM given")


def json_bytes(table, folder):
    return io.BytesIO(write_json(table, folder).read_bytes())


def arrow_bytes(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=77)
    return pa.BufferReader(sink.getvalue())


def write_parquet(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=300)
    return folder / "rows.parquet"


def write_json(table, folder):
    lines = (json.dumps(row) for row in table.to_pylist())
    (folder / "rows.jsonl").write_text("\n".join(lines))
    return folder / "rows.jsonl"


@pytest.mark.parametrize("kind", SOURCES)
def test_few_rows_give_the_model_that_fit_gives(kind, tmp_path):
    # SQLite has no truth values.
    table = TABLE.drop_columns(["paid"]) if kind.startswith("sqlite") else TABLE
    families = {name: kind for name, kind in FAMILIES.items() if name != "paid" or table is TABLE}
    model = GenerativeClassifier(families, combine="naive")
    model.fit_from(**SOURCES[kind](table, tmp_path), target="label")
    expected = GenerativeClassifier(families, combine="naive").fit(
        table.drop_columns(["label"]), table["label"]
    )
    assert same_tally(model, expected)
    rows = table.drop_columns(["label"]).slice(0, 50)
    assert np.allclose(model.predict_proba(rows), expected.predict_proba(rows), atol=1e-12)


def test_a_csv_file_and_a_frame_of_its_cells_give_one_model(tmp_path):
    frame = TABLE.drop_columns(["note"]).to_pandas()
    frame["label"] = frame["label"].map({"a": 0, "b": 1, "c": 2})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = GenerativeClassifier().fit_from(tmp_path / "rows.csv", target="label")
    cells = pd.read_csv(tmp_path / "rows.csv", dtype=str)
    expected = GenerativeClassifier().fit(cells.drop(columns="label"), frame["label"])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.classes_.dtype == np.int64
    assert model.families_.keys() == expected.families_.keys()
    assert np.array_equal(
        model.predict_proba(cells.drop(columns="label")),
        expected.predict_proba(cells.drop(columns="label")),
    )


def test_declared_categories_of_pandas_stay_categories():
    frame = pd.DataFrame({"code": pd.Categorical(["1", "2"] * 50), "label": ["a", "b"] * 50})
    model = GenerativeClassifier().fit_from(frame, target="label")
    assert model.schema_["code"].kind == "category"


# Many rows: a plan, a count, a model.


@pytest.mark.parametrize("kind", SOURCES)
def test_many_rows_are_counted_in_units_to_the_tally_of_all(kind, few, tmp_path):
    table = TABLE.drop_columns(["paid"]) if kind.startswith("sqlite") else TABLE
    families = {name: kind for name, kind in FAMILIES.items() if name != "paid" or table is TABLE}
    model = GenerativeClassifier(families).fit_from(
        **SOURCES[kind](table, tmp_path), target="label"
    )
    rows = table.drop_columns(["label"])
    expected = GenerativeClassifier(model.families_).fit(rows, table["label"])
    assert model.tally_.weights.tolist() == expected.tally_.weights.tolist()
    assert same_tally_by_name(model, expected)
    assert set(model.classes_) == {"a", "b", "c"}
    assert model.combination_.held_out_log_loss < 0.9 * np.log(3)


def same_tally_by_name(one, other):
    """Compare tallies whose levels may be in another order."""
    mine, theirs = one._fitted, other._fitted
    _, groups = mine.counter.merge(theirs.counter, theirs.tally)
    return mine.tally.allclose(groups, relative=1e-12)


def test_weights_are_fitted_to_the_sample_and_rows_are_kept(few):
    model = GenerativeClassifier(combine="blocks").fit_from(TABLE, target="label")
    assert model.combination_.method == "blocks"
    assert not model.weights_stale_
    assert not model._fitted.sample.complete
    assert 300 < len(model._fitted.sample) <= FEW
    refreshed = model.refresh_weights()
    assert np.isfinite(refreshed.combination_.held_out_log_loss)


def test_quality_on_unseen_rows_is_that_of_learning_in_memory(few):
    new = mixed_table(2000, seed=1)
    unseen = new.drop_columns(["label"]), new["label"]
    here = log_loss(GenerativeClassifier().fit_from(TABLE, target="label"), *unseen)
    assert here < log_loss(GenerativeClassifier().fit(X, Y), *unseen) + 0.02


def test_noise_stays_noise_when_weights_are_fitted_to_a_sample(few):
    rng = np.random.default_rng(3)
    noise = pa.table(
        {f"x{at}": rng.normal(size=3000) for at in range(6)}
        | {"word": rng.choice(list("abcdefgh"), 3000), "label": rng.integers(0, 2, 3000)}
    )
    model = GenerativeClassifier().fit_from(noise, target="label")
    new = pa.table(
        {f"x{at}": rng.normal(size=4000) for at in range(6)}
        | {"word": rng.choice(list("abcdefgh"), 4000)}
    )
    proba = model.predict_proba(new)
    assert -np.log(proba).mean() < np.log(2) + 0.01


ARRAYS = {
    "GaussianNB": GaussianNB(),
    "GaussianNB calibrated": GaussianNB(calibrate="folds"),
    "PoissonNB": PoissonNB(),
    "MultinomialNB": MultinomialNB(),
    "ComplementNB": ComplementNB(),
    "BernoulliNB": BernoulliNB(binarize=2.0),
    "CategoricalNB": CategoricalNB(),
    "GaussianDiscriminant": GaussianDiscriminant(),
    "LDA": LinearDiscriminantAnalysis(),
    "QDA": QuadraticDiscriminantAnalysis(),
}


@pytest.fixture
def counts():
    rng = np.random.default_rng(2)
    own = rng.integers(0, 3, ROWS)
    cells = rng.poisson(1.0 + np.arange(1, 5) * (1 + own[:, None]) * 0.5)
    return pa.table({f"n{at}": cells[:, at] for at in range(4)} | {"label": own})


@pytest.mark.parametrize("name", ARRAYS)
def test_classifiers_of_arrays_learn_from_sources(name, few, counts, tmp_path):
    rows, labels = counts.drop_columns(["label"]), counts["label"]
    expected = type(ARRAYS[name])(**ARRAYS[name].get_params()).fit(rows, labels)
    counts.to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    for source in (counts, tmp_path / "rows.csv", write_parquet(counts, tmp_path)):
        model = type(expected)(**expected.get_params()).fit_from(source, target="label")
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.feature_names_in_.tolist() == ["n0", "n1", "n2", "n3"]
        assert same_tally(model, expected)
        plain = expected if expected.calibrate is None else None
        if plain is not None:
            assert np.allclose(model.predict_proba(rows), plain.predict_proba(rows), atol=1e-9)
        else:
            assert log_loss(model, rows, labels) < log_loss(expected, rows, labels) + 0.02


@pytest.mark.parametrize("kind", [LinearRegression, BayesianLinearRegression])
def test_regressions_learn_from_sources(kind, few, tmp_path):
    rng = np.random.default_rng(4)
    cells = rng.normal(size=(ROWS, 3))
    y = cells @ [1.0, -2.0, 0.5] + rng.normal(size=ROWS)
    table = pa.table({name: cells[:, at] for at, name in enumerate("abc")} | {"y": y})
    expected = kind().fit(table.drop_columns(["y"]), y)
    table.to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    for source in (table, tmp_path / "rows.csv", table.to_reader(100)):
        model = kind().fit_from(source, target="y")
        assert np.allclose(model.coef_, expected.coef_, atol=1e-12)
        assert model.intercept_ == pytest.approx(expected.intercept_, abs=1e-12)
    model.forget_from(table.slice(0, 900), target="y")
    rest = table.slice(900)
    assert np.allclose(model.coef_, kind().fit_from(rest, target="y").coef_, atol=1e-10)
    model.partial_fit_from(table.slice(0, 900), target="y")
    assert np.allclose(model.coef_, expected.coef_, atol=1e-10)


# Texts.


@pytest.fixture
def mails():
    rng = np.random.default_rng(5)
    own = rng.integers(0, 2, 1500)
    words = np.array([f"w{at}" for at in range(200)])
    places = np.minimum((rng.pareto(1.0, (1500, 12)) * 20 + 9 * own[:, None]).astype(int), 199)
    return pa.table(
        {
            "id": np.arange(1500),
            "text": [" ".join(words[row]) for row in places],
            "label": np.array(["ham", "spam"])[own],
        }
    )


@pytest.mark.parametrize(
    "params",
    [{}, {"event": "bernoulli"}, {"weighting": "tfidf"}, {"ngrams": 2, "unknown": "smooth"}],
    ids=str,
)
def test_texts_are_counted_to_the_tally_of_all(params, few, mails, tmp_path):
    model = TextClassifier(**params).fit_from(
        write_json(mails, tmp_path), target="label", features="text"
    )
    expected = TextClassifier(**params).fit(mails["text"], mails["label"])
    assert sorted(model.terms_) == sorted(expected.terms_)
    order = np.argsort(model.terms_), np.argsort(expected.terms_)
    mine, theirs = (one._fitted.documents.known_counts for one in (model, expected))
    assert np.allclose(mine[:, order[0]], theirs[:, order[1]], rtol=1e-12)
    rows = mails["text"], mails["label"]
    assert log_loss(model, *rows) < log_loss(expected, *rows) + 0.03


@pytest.mark.parametrize("event", ["multinomial", "complement", "polya"])
def test_words_summed_by_class_are_those_of_rows_to_the_bit_and_in_order(event, few, mails):
    model = TextClassifier(event=event, calibrate=None)
    mine = model.fit_from(mails, target="label", features="text")
    ones = mails.append_column("weight", [np.ones(len(mails))])  # documents with weights are rows
    rows = TextClassifier(event=event, calibrate=None).fit_from(
        ones, target="label", features="text", weight="weight"
    )
    assert mine.terms_.tolist() == rows.terms_.tolist()
    assert np.array_equal(mine.tally_.parts.counts, rows.tally_.parts.counts)
    assert np.array_equal(mine.tally_.weights, rows.tally_.weights)


def test_a_text_classifier_needs_to_know_the_column_of_documents(mails):
    with pytest.raises(InputError, match="there are 2 besides the target: 'id', 'text'"):
        TextClassifier().fit_from(mails, target="label")


def test_texts_are_forgotten_and_learned_again(few, mails):
    model = TextClassifier().fit_from(mails, target="label", features="text")
    before = model.predict_proba(mails["text"].slice(0, 20))
    with pytest.warns(StaleCalibrationWarning):
        model.forget_from(mails.slice(0, 700), target="label", features="text")
    rest = TextClassifier(calibrate=None).fit(mails["text"].slice(700), mails["label"].slice(700))
    assert sorted(model.terms_) == sorted(rest.terms_)
    assert len(model._fitted.sample) < 400
    model.partial_fit_from(mails.slice(0, 700), target="label", features="text")
    assert np.allclose(model.predict_proba(mails["text"].slice(0, 20)), before, atol=1e-9)


# Roles.


def test_rows_without_a_target_are_left_out_with_one_warning(few):
    labels = pa.array([None if at % 10 == 0 else one for at, one in enumerate(Y.to_pylist())])
    table = TABLE.set_column(TABLE.num_columns - 1, "label", labels)
    with pytest.warns(SufficeWarning, match="200 of 2,000 rows .* have no target") as caught:
        model = GaussianNB().fit_from(table, target="label", features=["price", "height"])
    assert len(caught) == 1
    assert model.tally_.weights.sum() == 1800
    with pytest.warns(SufficeWarning, match="20 of 200 rows"):
        GenerativeClassifier().fit_from(table.slice(0, 200), target="label")


def test_a_float_target_may_be_nan():
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": [0.0, 1.0, np.nan, 1.0]})
    with pytest.warns(SufficeWarning, match="1 of 4 rows"):
        model = GaussianNB().fit_from(table, target="y")
    assert model.classes_.tolist() == [0.0, 1.0]


def test_weights_features_and_ignored_columns_are_named(few):
    rng = np.random.default_rng(6)
    weights = rng.integers(0, 4, ROWS)
    table = TABLE.append_column("times", pa.array(weights))
    model = GaussianNB().fit_from(
        table,
        target="label",
        features=["price", "height", "width"],
        ignore=["width"],
        weight="times",
    )
    expected = GaussianNB().fit(X.select(["price", "height"]), Y, sample_weight=weights)
    assert same_tally(model, expected)
    assert model.feature_names_in_.tolist() == ["price", "height"]
    with pytest.raises(InputError, match="is the target or the weight, and among the features"):
        GaussianNB().fit_from(table, target="label", features=["price", "label"])
    with pytest.raises(InputError, match="has no column 'lable'"):
        GaussianNB().fit_from(table, target="lable")
    with pytest.raises(SourceError, match="Column 'city' holds 'Rome', which is no number"):
        GaussianNB().fit_from(table.filter(pa.compute.equal(table["city"], "Rome")), target="label")


def test_negative_weights_are_refused(few):
    table = TABLE.append_column("times", pa.array(np.full(ROWS, -1.0)))
    with pytest.raises(SourceError, match="rows 0 to 1,999: Weight -1 in row 0"):
        GaussianNB().fit_from(table, target="label", features=["price"], weight="times")


# Learning more, and forgetting.


def test_further_sources_are_learned_and_forgotten(few):
    first, second = TABLE.slice(0, 1200), TABLE.slice(1200)
    model = GenerativeClassifier(FAMILIES).fit_from(first, target="label")
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit_from(second, target="label")
    whole = GenerativeClassifier(model.families_).fit(X, Y)
    assert same_tally_by_name(model, whole)
    model.forget_from(first, target="label")
    assert model.tally_.weights.sum() == 800
    assert not model._fitted.sample.holds(whole._fitted.sample)
    kept = model._fitted.sample
    assert len(kept) <= 800
    known = {repr(row) for row in second.select(["size", "price"]).to_pylist()}
    cells = kept.rows.X.table
    pairs = zip(cells["size"].values.tolist(), cells["price"].values.tolist(), strict=True)
    for size, price in pairs:
        assert repr({"size": None if np.isnan(size) else size, "price": price}) in known


def test_forgetting_what_was_not_learned_changes_nothing(few):
    model = GenerativeClassifier(FAMILIES).fit_from(TABLE.slice(0, 1200), target="label")
    before = numbers(model)
    with pytest.raises(DebtError):
        model.forget_from(TABLE.slice(0, 1300), target="label")
    assert np.array_equal(numbers(model), before)


def test_partial_fit_from_of_a_new_model_is_fit_from(few):
    model = GaussianNB().partial_fit_from(TABLE, target="label", features=["price"])
    assert same_tally(model, GaussianNB().fit(X.select(["price"]), Y))


def test_new_levels_words_and_classes_may_arrive_late(few, tmp_path):
    late = mixed_table(300, seed=7)
    late = late.set_column(4, "city", pa.array(["Cairo"] * 300))
    late = late.set_column(12, "note", pa.array(["brand new words"] * 300))
    late = late.set_column(13, "label", pa.array(["z"] * 300))
    path = write_parquet(pa.concat_tables([TABLE, late]), tmp_path)
    model = GenerativeClassifier(FAMILIES).fit_from(path, target="label")
    assert model.classes_.tolist() == ["a", "b", "c", "z"]
    assert "Cairo" in model.schema_["city"].levels
    assert model.predict(late.drop_columns(["label"]).slice(0, 1)).tolist() == ["z"]


# The plan.


def test_a_plan_prints_compares_and_is_saved_as_json(few):
    plan = GenerativeClassifier(FAMILIES).plan(TABLE, target="label")
    assert str(plan).splitlines()[0] == "GenerativeClassifier of 13 columns for 'label'"
    assert "height, width: mvn" in str(plan)
    again = CountingPlan.from_json(plan.to_json())
    assert again == plan
    assert hash(again) == hash(plan)
    assert again.digest == plan.digest
    assert again != GenerativeClassifier({}).plan(TABLE, target="city")
    assert plan != "a plan"


def test_a_plan_holds_rules_and_nothing_that_was_seen(few):
    plan = GenerativeClassifier(FAMILIES).plan(TABLE, target="label")
    counted = json.loads(plan.to_json())
    del counted["notes"]
    text = json.dumps(counted)
    for name in ("Rome", "Oslo", "staff", '"low"', '"a"'):
        assert name not in text


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "suffice counting plan 2"}', "nul"])
def test_what_is_no_plan_is_refused(text):
    with pytest.raises(InputError, match="no counting plan of suffice"):
        CountingPlan.from_json(text)


def test_a_plan_made_elsewhere_counts_the_same_here(few):
    plan = GenerativeClassifier(FAMILIES).plan(TABLE, target="label")
    there = CountingPlan.from_json(plan.to_json())
    here = GenerativeClassifier().count(TABLE, plan)
    other = GenerativeClassifier().count(TABLE, there)
    assert here.counts.groups.allclose(other.counts.groups, relative=1e-15)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, ROWS), max_size=4), st.randoms(use_true_random=False))
def test_tallies_of_one_plan_add_up_in_any_split_and_order(cuts, random):
    model = GenerativeClassifier()
    ends = [0, *sorted(cuts), ROWS]
    parts = [TABLE.slice(a, b - a) for a, b in itertools.pairwise(ends) if b > a]
    random.shuffle(parts)
    total = model.count(parts[0], PLAN)
    for part in parts[1:]:
        total = total + model.count(part, PLAN)
    assert total.rows == ROWS
    mine, theirs = total.counts, WHOLE.counts
    _, groups = mine.counter.merge(theirs.counter, theirs.groups)
    assert mine.groups.allclose(groups, relative=1e-12)


PLAN = GenerativeClassifier(FAMILIES).plan(TABLE, target="label")
WHOLE = GenerativeClassifier().count(TABLE, PLAN)


def test_tallies_of_different_plans_are_refused_and_the_difference_named():
    other = GenerativeClassifier({**FAMILIES, "size": "binned"}).plan(TABLE, target="label")
    with pytest.raises(MergeError, match=r"blocks is .*'normal'.* here and .*'binned'.* there"):
        WHOLE + GenerativeClassifier().count(TABLE, other)
    plan = BernoulliNB(binarize=1.0).plan(TABLE, target="label", features=["visits"])
    same = BernoulliNB(binarize=2.0).plan(TABLE, target="label", features=["visits"])
    with pytest.raises(MergeError, match=r"CountOnes\(binarize=1.0\)'} here"):
        plan.check_same(same)


def test_a_plan_of_another_class_is_refused():
    with pytest.raises(InputError, match="The plan is one of GenerativeClassifier, and this is"):
        GaussianNB().count(TABLE, PLAN)


def test_a_model_is_made_of_a_tally_with_or_without_a_sample():
    naive = GenerativeClassifier().from_tally(PLAN, WHOLE)
    assert naive.combination_.method == "naive"
    assert set(naive.weights_.values()) == {1.0}
    expected = GenerativeClassifier(naive.families_, combine="naive").fit(X, Y)
    assert np.allclose(numbers(naive), numbers(expected), atol=1e-9)
    weighted = GenerativeClassifier(combine="blocks").from_tally(PLAN, WHOLE, sample=TABLE)
    assert weighted.combination_.method == "blocks"
    reference = GenerativeClassifier(naive.families_, combine="blocks").fit(X, Y)
    assert np.allclose(numbers(weighted), numbers(reference), atol=1e-6)


def test_a_model_of_a_tally_is_saved_and_learns_on(tmp_path):
    from suffice import load

    model = GenerativeClassifier().from_tally(PLAN, WHOLE)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert np.array_equal(numbers(again), numbers(model))
    with pytest.warns(StaleCalibrationWarning):
        again.partial_fit_from(TABLE.slice(0, 100), target="label")
    assert again.tally_.weights.sum() == ROWS + 100


# What goes wrong changes nothing.


def hostile(name):
    labels = TABLE.num_columns - 1
    return {
        "no rows": lambda folder: TABLE.slice(0, 0),
        "no targets": lambda folder: TABLE.set_column(labels, "label", pa.nulls(ROWS, pa.string())),
        "no such column": lambda folder: TABLE.rename_columns(
            ["other" if one == "size" else one for one in TABLE.column_names]
        ),
        "a type that changes": changing,
        "an infinite cell": lambda folder: TABLE.set_column(
            1, "price", pa.array([*([1.0] * 1999), np.inf])
        ),
        "a negative count": lambda folder: TABLE.set_column(3, "visits", pa.array([-1] * ROWS)),
        "a third truth": lambda folder: TABLE.set_column(6, "paid", pa.array([0, 1, 2, 3] * 500)),
        "a lost connection": lost,
    }[name]


def changing(folder):
    first = TABLE.slice(0, 1000).to_pylist()
    second = [{**row, "size": "very big"} for row in TABLE.slice(1000, 100).to_pylist()]
    path = folder / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in first * 25 + second))
    return path


def lost(folder):
    def batches():
        yield from TABLE.slice(0, 600).to_batches()
        raise OSError("connection reset by peer")

    return pa.RecordBatchReader.from_batches(TABLE.schema, batches())


@pytest.mark.parametrize(
    "name",
    [
        "no rows",
        "no targets",
        "no such column",
        "a type that changes",
        "an infinite cell",
        "a negative count",
        "a third truth",
        "a lost connection",
    ],
)
@pytest.mark.parametrize("method", ["fit_from", "partial_fit_from", "forget_from"])
def test_bad_sources_are_refused_and_the_model_stays(name, method, few, tmp_path):
    model = GenerativeClassifier(FAMILIES, combine="naive").fit(X, Y)
    before, fitted = numbers(model), model._fitted
    with pytest.raises((InputError, SourceError, DebtError, OSError)) as caught:
        getattr(model, method)(hostile(name)(tmp_path), target="label")
    assert len(str(caught.value)) > 10
    assert model._fitted is fitted
    assert np.array_equal(numbers(model), before)


def test_an_error_names_the_place_of_the_rows(few, tmp_path):
    path = write_parquet(TABLE, tmp_path)
    with open_source(path) as rows:
        sampled = set(rows.sample(("price",), FEW).table["price"].to_pylist())
    prices = TABLE["price"].to_pylist()
    odd = next(row for row in range(1500, 1800) if prices[row] not in sampled)
    prices[odd] = np.inf
    write_parquet(TABLE.set_column(1, "price", pa.array(prices)), tmp_path)
    with pytest.raises(
        SourceError, match=r"rows.parquet, rows 1,500 to 1,799: .*'price' holds inf"
    ):
        GenerativeClassifier(FAMILIES).fit_from(path, target="label")


def test_an_interruption_while_counting_changes_nothing(few, monkeypatch, tmp_path):
    model = GaussianNB().fit_from(TABLE, target="label", features=["price"])
    fitted, calls = model._fitted, []

    def interrupt(*args, **kwargs):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    original = GaussianNB._count_rows
    monkeypatch.setattr(GaussianNB, "_count_rows", interrupt)
    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit_from(write_parquet(TABLE, tmp_path), target="label")
    assert model._fitted is fitted
    assert threading.active_count() <= threads + 1


def test_a_model_with_a_window_learns_from_no_source(few):
    with pytest.raises(InputError, match="The model has a window"):
        GenerativeClassifier().window(100).fit_from(TABLE, target="label")
    model = GenerativeClassifier().window(100).fit(X.slice(0, 50), Y.slice(0, 50))
    with pytest.raises(InputError, match="The model has a window"):
        model.forget_from(TABLE, target="label")


def test_progress_goes_to_stderr_on_request(few, capsys, monkeypatch):
    monkeypatch.setattr("suffice.engines.progress.PAUSE", 0.0)
    GenerativeClassifier(FAMILIES).fit_from(TABLE.to_reader(100), target="label", progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "The reader can be read once: spooling it to a temporary file: " in shown.err
    assert "Counting The reader: 2,000 rows, " in shown.err
    assert "100%" in shown.err
    GaussianNB().fit_from(TABLE, target="label", features=["price"])
    assert capsys.readouterr().err == ""


def test_every_estimator_made_of_a_tally_has_the_methods():
    for kind in (
        *map(type, ARRAYS.values()),
        GenerativeClassifier,
        TextClassifier,
        LinearRegression,
    ):
        assert issubclass(kind, estimator.LearnsFromSources)


def test_credentials_are_in_no_plan_error_or_name(tmp_path):
    import sqlalchemy

    engine = sqlalchemy.create_engine("postgresql+psycopg://ada:s3cret@127.0.0.1:1/db")
    with pytest.raises(SourceError) as caught:
        GaussianNB().fit_from(engine, target="label", table="rows")
    assert "s3cret" not in str(caught.value)
    assert "ada:" not in str(caught.value)


# Tallies that travel.


@pytest.mark.parametrize("name", ["table", "text", "arrays", "discriminant", "regression"])
def test_a_tally_is_saved_and_added_up_elsewhere(name, few, mails, counts, tmp_path):
    model, table, given = {
        "table": (GenerativeClassifier(FAMILIES), TABLE, {"target": "label"}),
        "text": (TextClassifier(ngrams=2), mails, {"target": "label", "features": "text"}),
        "arrays": (BernoulliNB(binarize=2.0), counts, {"target": "label"}),
        "discriminant": (QuadraticDiscriminantAnalysis(), counts, {"target": "label"}),
        "regression": (LinearRegression(), counts, {"target": "label"}),
    }[name]
    plan = model.plan(table, **given)
    half = table.num_rows // 2
    first, second = (model.count(part, plan) for part in (table.slice(0, half), table.slice(half)))
    first.save(tmp_path / "first.tally")
    loaded = type(model)(**model.get_params()).load_tally(tmp_path / "first.tally")
    both = loaded + model.load_tally(second.to_bytes())
    whole = model.count(table, plan)
    assert both.rows == table.num_rows
    expected = type(model)(**model.get_params()).from_tally(plan, whole)
    found = type(model)(**model.get_params()).from_tally(plan, both)
    rows = table.column("text") if name == "text" else table.drop_columns(["label"])
    answer = "predict" if name == "regression" else "predict_proba"
    assert np.allclose(getattr(found, answer)(rows), getattr(expected, answer)(rows), atol=1e-9)


def test_a_damaged_tally_is_refused(tmp_path):
    WHOLE.save(tmp_path / "whole.tally")
    raw = bytearray((tmp_path / "whole.tally").read_bytes())
    raw[len(raw) // 2] ^= 1
    with pytest.raises(ModelFileError, match="checksum"):
        GenerativeClassifier().load_tally(bytes(raw))
    for bad in (b"", b"nonsense" * 20):
        with pytest.raises(ModelFileError):
            GenerativeClassifier().load_tally(bad)


# Cells of odd types.


def test_decimals_large_integers_zones_and_bytes_are_read_as_documented(tmp_path):
    from datetime import datetime
    from decimal import Decimal
    from zoneinfo import ZoneInfo

    rows = 60
    zone = ZoneInfo("Asia/Tokyo")
    table = pa.table(
        {
            "price": pa.array([Decimal(at) / 4 for at in range(rows)], pa.decimal128(10, 2)),
            "number": pa.array([2**53 + 2 * (at % 7) for at in range(rows)], pa.int64()),
            "when": pa.array(
                [datetime(2024, 1, 1 + at % 28, 23, tzinfo=zone) for at in range(rows)],
                pa.timestamp("us", tz="Asia/Tokyo"),
            ),
            "code": pa.array([b"ab", "é".encode(), b"ab"] * 20, pa.binary()),
            "label": ["a", "b"] * (rows // 2),
        }
    )
    path = write_parquet(table, tmp_path)
    for source in (table, path):
        model = GenerativeClassifier({"price": "normal", "number": "normal", "when": "normal"})
        model.fit_from(source, target="label")
        means = {
            block.column: part.mean()[:, 0]
            for block, part in zip(model.blocks_, model.tally_.parts.parts, strict=True)
            if block.name == "normal"
        }
        prices = np.array([at / 4 for at in range(rows)])
        assert np.allclose(means["price"], [prices[::2].mean(), prices[1::2].mean()])
        assert np.all(means["number"] >= 2.0**53)
        # Days since 1970 on the clock of the zone: 23 hours, not 14 as in UTC.
        days = 19723 + np.arange(rows) % 28 + 23 / 24
        assert np.allclose(means["when"], [days[::2].mean(), days[1::2].mean()], atol=1e-6)
        assert model.schema_["code"].levels == ("ab", "é")
        assert model.schema_["when:weekday"].kind == "category"
    broken = table.set_column(3, "code", pa.array([b"\xff"] * rows, pa.binary()))
    with pytest.raises(InputError, match="which is no text in UTF-8"):
        GenerativeClassifier().fit_from(broken, target="label")
    nested = table.set_column(3, "code", pa.array([[1, 2]] * rows))
    with pytest.raises(InputError, match="is of Arrow's type list"):
        GenerativeClassifier().fit_from(nested, target="label")
    GenerativeClassifier().fit_from(nested, target="label", ignore=["code"])
