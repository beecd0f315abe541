"""Learning, forgetting and merging regressions: what holds whatever the order and the split."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from suffice.errors import DebtError, InputError, MergeError, MissingRowsWarning, SufficeWarning
from suffice.linear_model import BayesianLinearRegression, LinearRegression

MODELS = {
    "least squares": LinearRegression(),
    "non-negative": LinearRegression(positive=True),
    "no intercept": LinearRegression(fit_intercept=False),
    "evidence": BayesianLinearRegression(),
    "evidence, no intercept": BayesianLinearRegression(fit_intercept=False),
    "evidence, known noise": BayesianLinearRegression(noise_variance=0.5),
    "fixed": BayesianLinearRegression(0.7, standardize=False, noise_shape=1.0, noise_scale=2.0),
    "flat": BayesianLinearRegression(np.inf),
}
every_model = pytest.mark.parametrize("name", MODELS)


def table(rows, columns=3, targets=None, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns)) + offset
    slopes = rng.normal(size=(columns,) if targets is None else (columns, targets))
    return X, X @ slopes + rng.normal(size=(rows, *slopes.shape[1:])) - 4


def answers(model, X):
    """Return all that a fitted model says, as arrays."""
    out = [model.coef_, model.intercept_, model.predict(X)]
    if not getattr(model, "positive", False):
        summary = model.summary()
        out += [*model.predict(X, return_std=True), *model.interval(X, 0.8)]
        out += [summary.estimate, summary.sd, summary.lower]
    if isinstance(model, BayesianLinearRegression):
        out += [model.prior_scale_, model.log_evidence_, model.noise_variance_]
    return [np.asarray(value, dtype=float) for value in out]


def assert_same(a, b, X, relative=1e-8):
    assert_answers(a, answers(b, X), X, relative)


def assert_answers(model, expected, X, relative):
    for mine, other in zip(answers(model, X), expected, strict=True):
        assert mine.shape == other.shape
        size = np.abs(other).max(initial=1e-300)
        np.testing.assert_allclose(mine, other, rtol=relative, atol=relative * size)


def state(model):
    return pickle.dumps(dict(sorted(vars(model).items())))


# ---- splits and orders


@pytest.mark.slow
@every_model
@given(
    cuts=st.lists(st.integers(8, 39), max_size=3),
    targets=st.sampled_from([None, 1, 2]),
    weighted=st.booleans(),
    offset=st.sampled_from([0.0, 1e4]),
    seed=st.integers(0, 10**6),
)
def test_learning_in_parts_is_learning_at_once(name, cuts, targets, weighted, offset, seed):
    if "no intercept" in name:
        offset = min(offset, 10.0)  # columns far from 0 are all but the same without an intercept
    X, y = table(40, targets=targets, seed=seed, offset=offset)
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.5, 2.0, 40) if weighted else None
    whole = clone(MODELS[name]).fit(X, y, w)
    order, edges = rng.permutation(40), [0, *sorted(set(cuts)), 40]
    parts = clone(MODELS[name])
    for a, b in pairwise(edges):
        take = order[a:b]
        parts.partial_fit(X[take], y[take], None if w is None else w[take])
    assert_same(parts, whole, X, 1e-7)


@pytest.mark.slow
@every_model
@given(cut=st.integers(1, 25), weighted=st.booleans(), seed=st.integers(0, 10**6))
def test_forgetting_is_never_having_learned(name, cut, weighted, seed):
    X, y = table(40, targets=2, seed=seed)
    w = np.random.default_rng(seed).uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    model = clone(MODELS[name]).fit(X, y, w).forget(X[:cut], y[:cut], w[:cut])
    assert_same(model, clone(MODELS[name]).fit(X[cut:], y[cut:], w[cut:]), X, 1e-7)


@pytest.mark.slow
@every_model
@given(cut=st.integers(8, 30), seed=st.integers(0, 10**6))
def test_merging_is_learning_both(name, cut, seed):
    X, y = table(40, seed=seed)
    model = MODELS[name]
    a, b = clone(model).fit(X[:cut], y[:cut]), clone(model).fit(X[cut:], y[cut:])
    whole, before = answers(clone(model).fit(X, y), X), (state(a), state(b))
    assert_answers(a + b, whole, X, 1e-7)
    assert_answers(b + a, whole, X, 1e-7)
    assert (state(a), state(b)) == before
    assert a.merge(b) is a
    assert state(b) == before[1]
    assert_answers(a, whole, X, 1e-7)


@every_model
def test_a_weight_of_k_is_k_rows(name):
    X, y = table(40, targets=2)
    times = np.random.default_rng(1).integers(0, 4, 40)
    weighted = clone(MODELS[name]).fit(X, y, times)
    repeated = clone(MODELS[name]).fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    assert_same(weighted, repeated, X, 1e-9)


@every_model
def test_fitting_twice_forgets_the_first_time(name):
    X, y = table(40)
    other, target = table(30, 5, 2, seed=1)
    model = clone(MODELS[name]).fit(other, target).fit(X, y)
    assert_same(model, clone(MODELS[name]).fit(X, y), X, 1e-14)


# Targets share the scale that evidence chooses.
@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("evidence")])
def test_several_targets_are_learned_as_if_alone(name):
    X, y = table(40, targets=3)
    together = clone(MODELS[name]).fit(X, y)
    for t in range(3):
        alone = clone(MODELS[name]).fit(X, y[:, t])
        np.testing.assert_allclose(together.coef_[t], alone.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(together.predict(X)[:, t], alone.predict(X), rtol=1e-9)
        if name != "non-negative":
            sd = together.predict(X, return_std=True)[1][:, t]
            np.testing.assert_allclose(sd, alone.predict(X, return_std=True)[1], rtol=1e-9)


def test_learned_models_survive_pickling():
    X, y = table(40)
    for model in MODELS.values():
        fitted = clone(model).fit(X, y)
        copied = pickle.loads(pickle.dumps(fitted))
        assert_same(copied, fitted, X, 1e-15)
        copied.partial_fit(X, y)


# ---- too little, for now


def test_a_stream_may_start_with_too_few_rows():
    X, y = table(20)
    model = BayesianLinearRegression()
    with pytest.warns(SufficeWarning, match=r"does not suffice .* yet: The noise cannot"):
        model.partial_fit(X[:1], y[:1])
    assert not hasattr(model, "coef_")
    with pytest.raises(InputError, match="cannot answer yet: The noise cannot be learned"):
        model.predict(X)
    with pytest.raises(InputError, match="cannot answer yet"):
        model.leave_one_out(X[:1], y[:1])
    model.partial_fit(X[1:], y[1:])
    assert_same(model, BayesianLinearRegression().fit(X, y), X)


def test_forgetting_down_to_too_few_rows_shows_nothing_stale():
    X, y = table(20)
    model = BayesianLinearRegression(np.inf).fit(X, y)
    with pytest.warns(SufficeWarning, match="does not suffice for a BayesianLinearRegression yet"):
        model.forget(X[3:], y[3:])
    for stale in ("coef_", "intercept_", "log_evidence_", "noise_variance_", "prior_scale_"):
        assert not hasattr(model, stale)
    with pytest.raises(InputError, match="cannot answer yet"):
        model.summary()
    model.partial_fit(X[3:], y[3:])
    assert_same(model, BayesianLinearRegression(np.inf).fit(X, y), X, 1e-7)


# ---- failed calls change nothing


def unwelcome(X, y):
    bad_X, bad_y = X.copy(), y.copy()
    bad_X[3, 1], bad_y[4] = np.inf, -np.inf
    return {
        "infinite cell": (bad_X, y, None, "inf in row 3, column 1"),
        "infinite target": (X, bad_y, None, "infinity in row 4"),
        "too many targets": (X, np.column_stack([y, y]), None, "y has 2 targets, but 1"),
        "other columns": (X[:, :2], y, None, "features"),
        "text": (X, ["a"] * len(y), None, "in row 0 is no number"),
        "text in a column": (X.astype(str).astype(object) + "x", y, None, "could not convert"),
        "lengths": (X, y[:-1], None, "inconsistent numbers of samples"),
        "negative weight": (X, y, -np.ones(len(y)), "Weight -1 in row 0"),
        "no weight": (X, y, np.zeros(len(y)), "All sample weights are zero"),
        "no target": (X, None, None, "requires y to be passed"),
        "all missing": (
            np.full(X.shape, np.nan),
            y,
            None,
            "All 12 rows have a missing value",
        ),
        "no rows": (X[:0], y[:0], None, r"0 sample\(s\)"),
        "complex": (X, y * 1j, None, "Complex data not supported"),
        "a cube": (X, y[:, None, None], None, "got an array of shape"),
    }


@pytest.mark.parametrize("verb", ["fit", "partial_fit", "forget"])
@pytest.mark.parametrize("reason", unwelcome(*table(12)))
@pytest.mark.parametrize("name", ["least squares", "evidence"])
def test_a_failed_call_changes_nothing(name, reason, verb):
    X, y = table(40)
    X_bad, y_bad, w, match = unwelcome(*table(12))[reason]
    model = clone(MODELS[name]).fit(X, y)
    if verb == "fit" and reason in ("too many targets", "other columns"):
        return  # a fit may learn other columns and targets
    if verb != "fit" and reason == "no rows":
        return  # they change nothing
    if verb == "forget" and reason == "all missing":
        match = "More rows with a missing value were to be forgotten"
    before = state(model)
    with pytest.raises(ValueError, match=match):
        getattr(model, verb)(X_bad, y_bad, w)
    assert state(model) == before


@pytest.mark.parametrize("name", ["least squares", "evidence"])
def test_a_first_call_that_fails_leaves_a_model_unfitted(name):
    for X, y, w, _ in unwelcome(*table(12)).values():
        if X.shape[1] < 3 or np.ndim(y) == 2:
            continue
        for verb in ("fit", "partial_fit"):
            model = clone(MODELS[name])
            with pytest.raises(ValueError, match=r"."):
                getattr(model, verb)(X, y, w)
            assert vars(model) == vars(clone(MODELS[name]))


@pytest.mark.parametrize("name", ["least squares", "evidence"])
def test_debt_is_refused_and_changes_nothing(name):
    X, y = table(20)
    model = clone(MODELS[name]).fit(X, y)
    before = state(model)
    for rows, targets, w in (
        (np.vstack([X, X]), np.concatenate([y, y]), None),
        (X[:5] * 30, y[:5], None),
        (X[:5], y[:5] * 30, None),
        (X[:5], y[:5], np.full(5, 30.0)),
    ):
        with pytest.raises(DebtError, match="were not all learned"):
            model.forget(rows, targets, w)
        assert state(model) == before
    with pytest.raises(InputError, match="would leave nothing learned"):
        model.forget(X, y)
    assert state(model) == before


def test_models_that_learned_other_things_do_not_merge():
    X, y = table(20)
    model = LinearRegression().fit(X, y)
    before = state(model)
    with pytest.raises(MergeError, match="of 3 and 2 features"):
        model.merge(LinearRegression().fit(X[:, :2], y))
    with pytest.raises(MergeError, match="of 1 and 2 targets"):
        model.merge(LinearRegression().fit(X, np.column_stack([y, y])))
    with pytest.raises(MergeError, match="Cannot merge BayesianLinearRegression into Linear"):
        model.merge(BayesianLinearRegression().fit(X, y))
    a, b = (pd.DataFrame(X, columns=list(names)) for names in ("abc", "abd"))
    with pytest.raises(MergeError, match="column 2 is 'c' here and 'd' there"):
        LinearRegression().fit(a, y).merge(LinearRegression().fit(b, y))
    with pytest.raises(TypeError, match="unsupported operand"):
        model + 3
    assert state(model) == before


# ---- frames, missing values and kinds of numbers


def frames(X, y):
    columns = {name: X[:, at] for at, name in enumerate("abc")}
    return {
        "pandas": (pd.DataFrame(columns), pd.Series(y, name="price")),
        "pandas, odd index": (
            pd.DataFrame(columns, index=range(100, 100 + len(y))),
            pd.Series(y, name="price"),
        ),
        "polars": (pl.DataFrame(columns), pl.Series("price", y)),
        "Arrow": (pa.table(columns), pa.chunked_array([y[:7], y[7:]])),
        "Arrow batch": (pa.record_batch(columns), pa.array(y)),
        "frames of one target": (pd.DataFrame(columns), pd.DataFrame({"price": y})),
    }


@pytest.mark.parametrize("kind", frames(*table(20)))
def test_frames_are_learned_with_their_names(kind):
    X, y = table(20)
    rows, target = frames(X, y)[kind]
    model = BayesianLinearRegression().fit(rows, target)
    plain = BayesianLinearRegression().fit(X, y)
    np.testing.assert_allclose(np.ravel(model.coef_), plain.coef_, rtol=1e-12)
    np.testing.assert_allclose(np.ravel(model.predict(rows)), plain.predict(X), rtol=1e-12)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.summary().terms == ("intercept", "a", "b", "c")
    assert np.shape(model.coef_) == ((1, 3) if kind == "frames of one target" else (3,))
    model.partial_fit(rows, target)
    assert float(model.tally_.weight) == 40.0


@pytest.mark.parametrize(
    "make",
    [
        lambda y: pd.Series(y).astype("Int64"),
        lambda y: pl.Series("y", y),
        lambda y: pa.array(y),
        lambda y: pa.chunked_array([y[:3], y[3:]]),
        lambda y: y,
        lambda y: np.ma.masked_invalid([np.nan if cell is None else cell for cell in y]),
    ],
)
def test_a_null_target_is_a_missing_value_in_every_form(make):
    X, _ = table(9)
    target = [4, 1, None, 7, 3, 2, 8, 5, 5]
    with pytest.warns(MissingRowsWarning, match=r"1 of 9 rows .* row 2 \(target y\)"):
        model = LinearRegression().fit(X, make(target))
    kept = [0, 1, 3, 4, 5, 6, 7, 8]
    expected = LinearRegression().fit(X[kept], [target[at] for at in kept])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)


def test_rows_with_missing_values_are_left_out_counted_and_said():
    X, y = table(30)
    X[[4, 9], 1] = np.nan
    y[20] = np.nan
    kept = np.delete(np.arange(30), [4, 9, 20])
    with pytest.warns(MissingRowsWarning, match=r"3 of 30 rows .* row 4 \(column 1\)"):
        model = LinearRegression().fit(X, y)
    assert model.n_rows_left_out_ == 3
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X[kept], y[kept]).coef_)
    named = pd.DataFrame(X, columns=list("abc"))
    with pytest.warns(MissingRowsWarning, match=r"row 4 \(column 1 \('b'\)\)"):
        LinearRegression().fit(named, y)
    with pytest.warns(MissingRowsWarning):
        model.partial_fit(X[:10], y[:10])
    assert model.n_rows_left_out_ == 5
    assert (model + model).n_rows_left_out_ == 10
    model.forget(X[:10], y[:10])
    assert model.n_rows_left_out_ == 3


def test_incomplete_rows_that_were_never_met_cannot_be_forgotten():
    X, y = table(20)
    model = LinearRegression().fit(X, y)
    bad = X[:2].copy()
    bad[0, 0] = np.nan
    with pytest.raises(DebtError, match="missing value"):
        model.forget(bad, y[:2])


def test_kinds_of_numbers_are_learned_alike():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (30, 3)), rng.integers(0, 9, 30)
    plain = BayesianLinearRegression().fit(X.astype(float), y.astype(float))
    for rows, target in (
        (X.astype(bool), y),
        (X.astype(np.int8), y.astype(np.float32)),
        (X.astype(np.float32), y.tolist()),
        (np.asfortranarray(X.astype(float)), y.astype(object)),
        (sp.csr_array(X), y),
        (sp.coo_matrix(X), y.astype(np.uint8)),
    ):
        assert_same(BayesianLinearRegression().fit(rows, target), plain, X, 1e-10)
        np.testing.assert_allclose(plain.predict(rows), plain.predict(X.astype(float)))


def test_times_are_no_targets():
    X, _ = table(6)
    for times in (np.arange(6).astype("M8[D]"), pd.Series(pd.date_range("2020", periods=6))):
        with pytest.raises(InputError, match="time"):
            LinearRegression().fit(X, times)
