"""Which columns matter: what is lost without a column, and what it says alone."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import StratifiedKFold

import suffice
from classifier_cases import misleading, mixed
from saved_cases import put_together, taken_apart, tensor
from suffice import GenerativeClassifier, rank_features
from suffice.errors import InputError, ModelFileError
from suffice.families import Posterior

FAMILIES = {("weight", "noise", "income"): "mvn", ("city", "member"): "joint", "note": "text"}


def notes(frame, y, seed=0):
    """Return the table with a column of texts, some of whose words go with the label."""
    rng = np.random.default_rng(seed)
    words = np.array(["late", "kind", "rude", "quick", "dear"])
    text = [" ".join([*rng.choice(words, 5), f"{k}{rng.integers(0, 3)}"]) for k in y]
    return frame.drop(columns="since").assign(note=text)


def table(n, seed):
    frame, y = mixed(n, seed)
    return notes(frame, y, seed), y


def losses(model, frame, y):
    own = np.searchsorted(model.classes_, y)
    return -model.predict_log_proba(frame)[np.arange(len(y)), own]


def emptied(frame, name):
    """Return the table with a column of missing values."""
    kinds = {"bool": "boolean", "int64": "Int64"}
    kind = kinds.get(frame[name].dtype.name, frame[name].dtype)
    return frame.assign(**{name: pd.array([None] * len(frame), dtype=kind)})


# ---- measured on rows that are given


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{}, {"combine": "naive"}, {"combine": "residual"}, {"families": FAMILIES}],
    ids=["auto", "naive", "residual", "blocks"],
)
def test_the_loss_on_given_rows_is_that_of_predictions_with_the_cells_missing(settings):
    model = GenerativeClassifier(**settings).fit(*table(600, 0))
    frame, y = table(200, 1)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 200)
    found = model.importance(frame, y, sample_weight=weight)
    before = losses(model, frame, y)
    assert set(found.names) == set(model._fitted.counter.columns)
    for name in found.names:
        more = losses(model, emptied(frame, name), y) - before
        mean = np.average(more, weights=weight)
        error = np.sqrt(np.average((more - mean) ** 2, weights=weight) / weight.sum())
        assert found[name]["log_loss_increase"] == pytest.approx(mean, rel=1e-6, abs=1e-9)
        assert found[name]["standard_error"] == pytest.approx(error, rel=1e-6, abs=1e-8)
    assert found.log_loss == pytest.approx(np.average(before, weights=weight))
    assert found.note.startswith(f"Log-loss {found.log_loss:.4f}, measured on rows of weight ")


def test_a_weight_of_two_is_a_row_given_twice():
    model = GenerativeClassifier().fit(*table(300, 0))
    frame, y = table(90, 1)
    twice = model.importance(pd.concat([frame, frame[:30]]), np.append(y, y[:30]))
    heavy = model.importance(frame, y, sample_weight=np.repeat([2.0, 1.0], [30, 60]))
    np.testing.assert_allclose(heavy.log_loss_increase, twice.log_loss_increase, atol=1e-12)
    np.testing.assert_allclose(heavy.standard_error, twice.standard_error, atol=1e-12)
    assert "measured on 120 rows" in twice.note


def test_the_marginals_of_a_normal_block_are_those_of_rows_with_a_missing_value():
    """The closed form without each column, against each column scored as missing."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5)) + 1e3 + y[:, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    for family in ("mvn", "mvn:tied"):
        for estimate in ("predictive", "mean"):
            names = tuple(f"x{at}" for at in range(5))
            model = GenerativeClassifier({names: family}, estimate=estimate).fit(X, y)
            rows, (posterior,) = model._read(model._fitted, X).table, model.posteriors_
            ours, marginal = (
                posterior.without_columns(rows),
                Posterior.without_columns(posterior, rows),
            )
            np.testing.assert_allclose(ours, marginal, rtol=1e-9, atol=1e-9)


# ---- measured at fit


def three_columns(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    colour = np.array(["red", "blue"])[np.where(rng.random(n) < 0.8, y, 1 - y)]
    size = rng.normal(size=n) + y
    noise, level = rng.normal(size=n), np.array(list("abcd"))[rng.integers(0, 4, n)]
    return pd.DataFrame({"size": size, "colour": colour, "noise": noise, "level": level}), y


@pytest.mark.parametrize("seed", range(5))
def test_a_useless_column_is_not_important_and_a_useful_one_is(seed):
    found = GenerativeClassifier().fit(*three_columns(1500, seed)).importance()
    for name in ("noise", "level"):
        assert abs(found[name]["log_loss_increase"]) <= 3 * found[name]["standard_error"] + 1e-3
        assert found[name]["log_bayes_factor"] < 0
    for name in ("size", "colour"):
        assert found[name]["log_loss_increase"] > 5 * found[name]["standard_error"] > 0
        assert found[name]["log_bayes_factor"] > 10
    assert [found.names[at] for at in found.order[:2]] == ["colour", "size"]


def test_what_was_measured_at_fit_is_what_new_rows_lose():
    frame, y = table(2000, 0)
    model = GenerativeClassifier(FAMILIES).fit(frame, y)
    fitted, fresh = model.importance(), model.importance(*table(4000, 1))
    assert fitted.note.endswith("measured at fit on 2,000 held-out rows")
    apart = np.hypot(fitted.standard_error, fresh.standard_error)
    assert np.all(np.abs(fitted.log_loss_increase - fresh.log_loss_increase) <= 4 * apart + 1e-3)
    assert fitted.log_loss == pytest.approx(fresh.log_loss, abs=0.05)


@pytest.mark.slow
def test_what_was_measured_at_fit_is_what_models_of_other_rows_lose():
    """Held-out rows of ten real refits, with the cells of a column missing."""
    frame, y = table(1200, 4)
    whole = GenerativeClassifier(FAMILIES).fit(frame, y)
    found, more = whole.importance(), {name: [] for name in whole.importance().names}
    for learn, ask in StratifiedKFold(10, shuffle=True, random_state=0).split(frame, y):
        model = GenerativeClassifier(FAMILIES).fit(frame.iloc[learn], y[learn])
        rows, own = frame.iloc[ask], y[ask]
        before = losses(model, rows, own)
        for name, lost in more.items():
            lost.append(losses(model, emptied(rows, name), own) - before)
    for name, lost in more.items():
        wanted = np.concatenate(lost).mean()
        error = found[name]["standard_error"]
        assert abs(found[name]["log_loss_increase"] - wanted) <= error + 2e-3


def test_residual_coefficients_go_with_their_column():
    cells, y = misleading(2000)
    model = GenerativeClassifier(combine="residual").fit(cells, y)
    fresh, own = misleading(3000, 1)
    fitted, new = model.importance(), model.importance(fresh, own)
    apart = np.hypot(fitted.standard_error, new.standard_error)
    assert len(model.residual_coefficients_) == 8
    assert np.all(np.abs(fitted.log_loss_increase - new.log_loss_increase) <= 4 * apart)
    assert np.all(fitted.log_loss_increase > 5 * fitted.standard_error)


def test_of_two_equal_columns_neither_is_important():
    frame, y = three_columns(2000, 0)
    frame = frame[["size"]].assign(again=frame["size"] + 1e-3 * np.sin(np.arange(2000.0)))
    families = {("size", "again"): "mvn:tied"}
    both = GenerativeClassifier(families).fit(frame, y).importance()
    alone = GenerativeClassifier().fit(frame[["size"]], y).importance()
    assert both.mutual_information.min() > 0.05
    assert both.log_loss_increase.max() < alone.log_loss_increase[0] / 10


def test_of_many_rows_some_folds_are_measured():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 2)) + y[:, None]
    found = GenerativeClassifier().fit(X, y).importance()
    assert 2500 <= found.weight < 3500
    assert np.all(found.log_loss_increase > 5 * found.standard_error)


# ---- the other numbers


def test_mutual_information_and_bayes_factors_are_those_of_the_tally():
    frame, y = three_columns(800, 0)
    model = GenerativeClassifier().fit(frame, y)
    found, ranking = model.importance(), rank_features(model)
    for name in ("colour", "level"):
        wanted = mutual_info_score(frame[name], y)
        assert found[name]["mutual_information"] == pytest.approx(wanted)
    for at, name in enumerate(ranking.names):
        assert found[name]["log_bayes_factor"] == ranking.log_bayes_factor[at]
    assert found["size"]["mutual_information"] == pytest.approx(0.1114, abs=0.03)  # by quadrature


def test_the_table_is_sorted_by_what_is_lost_then_by_information():
    found = GenerativeClassifier().fit(*three_columns(800, 0)).importance()
    title, head, *lines = str(found).splitlines()
    assert title == f"Log-loss {found.log_loss:.4f}, measured at fit on 800 held-out rows"
    assert head.split("  ")[0] == "column"
    lost = found.log_loss_increase[found.order]
    assert np.all(np.diff(lost) <= 0)
    for at, line in zip(found.order, lines, strict=True):
        assert line.startswith(found.names[at])
        assert f"{found.log_loss_increase[at]:+.4f} +- {found.standard_error[at]:.4f}" in line
    frame = found.to_frame()
    assert frame.column.tolist() == [found.names[at] for at in found.order]
    assert list(frame)[1:] == [
        "log_loss_increase",
        "standard_error",
        "mutual_information",
        "log_bayes_factor",
    ]
    assert "<table>" in found._repr_html_()
    with pytest.raises(KeyError, match="No column 'age' was learned"):
        found["age"]


def test_the_picture_has_a_bar_and_an_interval_for_each_column():
    found = GenerativeClassifier().fit(*three_columns(800, 0)).importance()
    axes = found.plot()
    bars = [patch.get_width() for patch in axes.patches]
    np.testing.assert_allclose(bars, found.log_loss_increase[found.order])
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [found.names[at] for at in found.order]
    low, high = axes.get_xlim()
    assert low <= np.min(found.log_loss_increase - 2 * found.standard_error)
    assert high >= np.max(found.log_loss_increase + 2 * found.standard_error)
    assert len(found.plot(shown=2).patches) == 2


# ---- where there is nothing to measure


@pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
def test_what_could_not_be_held_out_is_not_measured():
    frame, _ = three_columns(50, 0)
    found = GenerativeClassifier().fit(frame, np.zeros(50)).importance()
    assert np.isnan(found.log_loss_increase).all()
    assert "not measured" in str(found)
    assert found.note == (
        "No rows were held out to measure the log-loss on: learn several rows of two classes, or "
        "call importance(X, y)."
    )
    assert found.plot().get_xlabel() == "mutual information with the label"
    few = GenerativeClassifier().fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
    assert not few.importance().measured.any()
    assert few.importance([[1.0], [2.5]], ["a", "b"]).measured.all()


def test_labels_that_are_missing_or_unknown_are_refused():
    frame, y = three_columns(100, 0)
    model = GenerativeClassifier().fit(frame, y)
    with pytest.raises(InputError, match=r"X without y: .* Give the labels too"):
        model.importance(frame)
    y[7] = 5
    with pytest.raises(InputError, match="label 5 in row 7 was never learned"):
        model.importance(frame, y)
    with pytest.raises(InputError, match="no rows"):
        model.importance(frame[:0], y[:0])
    with pytest.raises(ValueError, match="not fitted"):
        GenerativeClassifier().importance()


# ---- what is kept, and for how long


@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
def test_what_was_measured_is_kept_and_noted_as_stale():
    frame, y = three_columns(600, 0)
    model = GenerativeClassifier().fit(frame[:400], y[:400])
    before = model.importance()
    other = GenerativeClassifier(model.families_).fit(frame[400:], y[400:])
    model.merge(other)
    merged = model.importance()
    np.testing.assert_array_equal(merged.log_loss_increase, before.log_loss_increase)
    assert merged.note == f"{before.note}; rows were learned or forgotten since"
    # The other numbers are those of all rows.
    wanted = mutual_info_score(frame.colour, y)
    assert merged["colour"]["mutual_information"] == pytest.approx(wanted)
    model.forget(frame[400:], y[400:]).partial_fit(frame[400:], y[400:])
    np.testing.assert_array_equal(model.importance().log_loss_increase, before.log_loss_increase)
    model.refresh_weights(frame, y)
    assert model.importance().note.endswith("measured at fit on 600 held-out rows")
    model.partial_fit(frame[:1], [2])
    assert not model.importance().measured.any()


def test_a_copy_from_a_file_has_measured_the_same(tmp_path):
    model = GenerativeClassifier(FAMILIES).fit(*table(300, 0))
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model").importance()
    pd.testing.assert_frame_equal(loaded.to_frame(), model.importance().to_frame())
    assert loaded.note == model.importance().note


def spoil_array(name, value):
    def act(saved, tensors):
        node = saved[name]
        tensors[node["tensor"]] = tensor(value)
        node["axes"] = list(range(value.ndim))

    return act


def spoil(name, value):
    return lambda saved, tensors: saved.__setitem__(name, value)


HOSTILE = {
    "a feature twice": spoil_array("features", np.array([0, 0, 1, 2])),
    "features that are none": spoil_array("features", np.array([0, 1, 2, 4])),
    "features below 0": spoil_array("features", np.array([-1, 1, 2, 3])),
    "features of floats": spoil_array("features", np.arange(4.0)),
    "more features": spoil_array("features", np.arange(5)),
    "fewer losses": spoil_array("mean", np.zeros(3)),
    "losses of no number": spoil_array("mean", np.array([0.0, np.nan, 0.0, 0.0])),
    "endless losses": spoil_array("mean", np.full(4, np.inf)),
    "errors below 0": spoil_array("error", np.full(4, -0.1)),
    "a table of errors": spoil_array("error", np.ones((2, 2))),
    "no weight": spoil("weight", 0.0),
    "a weight that is text": spoil("weight", "many"),
    "no loss": spoil("log_loss", {"is": "float", "text": "nan"}),
    "endless weight": spoil("weight", {"is": "float", "text": "inf"}),
    "something else": spoil("secret", 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("act", HOSTILE.values(), ids=HOSTILE)
def test_absurd_losses_in_a_file_are_refused(act, tmp_path):
    GenerativeClassifier().fit(*three_columns(200, 0)).save(tmp_path / "whole")
    document, tensors = taken_apart((tmp_path / "whole").read_bytes())
    document, tensors = copy.deepcopy(document), dict(tensors)
    node = document["state"]["loss_increase"]
    saved = dict(node["items"])
    act(saved, tensors)
    node["items"] = [list(pair) for pair in saved.items()]
    (tmp_path / "model").write_bytes(put_together(document, tensors))
    with pytest.raises(
        ModelFileError, match=r"of the log-loss|a log-loss of|Its '(mean|error|weight)'"
    ):
        suffice.load(tmp_path / "model")


@pytest.mark.slow
def test_the_loss_at_fit_does_not_flatter_weights_that_were_fitted_to_the_same_rows():
    """Held against rows that truly were not seen: of 100 rows there are 13 numbers to fit."""
    families, rng = {f"x{at}": "normal:tied" for at in range(12)}, np.random.default_rng(0)
    too_large = []
    for _ in range(60):
        y = rng.integers(0, 2, 2100)
        X = rng.normal(size=(2100, 12)) + 0.6 * np.outer(y, np.arange(12) < 3)
        model = GenerativeClassifier(families, combine="residual", budget=0).fit(X[:100], y[:100])
        too_large.append(model.importance().log_loss - losses(model, X[100:], y[100:]).mean())
    error = np.std(too_large) / np.sqrt(len(too_large))
    assert np.mean(too_large) > -3 * error
