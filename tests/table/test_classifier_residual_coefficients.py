"""What columns add beyond their blocks: a part of every answer, every reason and every file."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import suffice
from classifier_cases import misleading, mixed
from saved_cases import put_together, taken_apart
from suffice.data import Table
from suffice.errors import ModelFileError, StaleCalibrationWarning
from suffice.table import GenerativeClassifier
from suffice.table.residual_features import MAX_DEVIATIONS, ResidualFeature, ResidualFeatures
from suffice.table.structure.families import family_of

FRAME, LABELS = mixed()
TWO = np.where(LABELS == "a", "a", "z")
MODELS = {
    "three": GenerativeClassifier(combine="residual").fit(FRAME, LABELS),
    "two": GenerativeClassifier(combine="residual").fit(FRAME, TWO),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


def test_columns_have_residual_coefficients_by_level_or_one_for_a_standard_deviation(model):
    found = model.residual_coefficients_
    classes = len(model.classes_)
    assert found["weight"].shape == (1, classes)
    assert found["city"].shape == (len(model.schema_["city"].levels), classes)
    assert all(np.abs(part).max() > 0 for part in found.values())
    assert GenerativeClassifier(combine="blocks").fit(FRAME, LABELS).residual_coefficients_ == {}


def test_probabilities_are_those_of_blocks_and_residual_coefficients(model):
    table = Table.of(FRAME)
    scores = model._fitted.log_prior + model.combination_.offsets
    for weight, reading in zip(model.weights_.values(), model.posteriors_, strict=True):
        scores = scores + weight * reading.relative_scores(table)
    city, weight = model.residual_coefficients_["city"], model.residual_coefficients_["weight"]
    plain = model.predict_log_proba(FRAME) - scores
    others = [
        model.features_.split(table, model.combination_.residual_coefficients)[name]
        for name in model.residual_coefficients_
        if name not in ("city", "weight")
    ]
    levels = list(model.schema_["city"].levels)
    feature = next(one for one in model.features_.columns if one.column == "weight")
    for row in range(20):
        added = sum(part[row] for part in others)
        if isinstance(FRAME["city"][row], str):
            added = added + city[levels.index(FRAME["city"][row])]
        if not np.isnan(FRAME["weight"][row]):
            added = added + (FRAME["weight"][row] - feature.centre) / feature.scale * weight[0]
        left = plain[row] - added
        np.testing.assert_allclose(left - left[0], 0.0, atol=1e-9)


def test_reasons_add_up_to_the_odds_with_residual_coefficients(model):
    for row in (0, 3, 11):
        p = model.predict_proba(FRAME[row : row + 1])[0]
        reasons = model.explain(FRAME[row : row + 1], "a")
        odds = np.log(p[0]) - np.log(p[1:].sum())
        assert reasons.log_odds == pytest.approx(odds)
        assert reasons.base + reasons.contributions.sum() == pytest.approx(odds)
        plain = replace(
            model.combination_, residual_coefficients=model.combination_.residual_coefficients * 0.0
        )
        bare = copy(model)
        bare._fitted = model._fitted.replace(combination=plain)
        one, other = (
            m.explain(FRAME[row : row + 1], "a", "b" if "b" in m.classes_ else "z")
            for m in (model, bare)
        )
        table = model._read(model._fitted, FRAME[row : row + 1]).table
        for name, part in model.features_.split(
            table, model.combination_.residual_coefficients
        ).items():
            added = part[0, 0] - part[0, 1]
            found = dict(zip(one.names, one.contributions, strict=True))[name]
            before = dict(zip(other.names, other.contributions, strict=True))[name]
            assert found - before == pytest.approx(added, abs=1e-9)


def test_missing_values_and_new_levels_have_no_residual_coefficient(model):
    row = dict.fromkeys(FRAME.columns)
    parts = model.features_.split(Table.of(FRAME[:1]), model.combination_.residual_coefficients)
    none = model.features_.of(model._read(model._fitted, [row]).table)
    assert not none.values.any()
    new = model._read(model._fitted, [row | {"city": "Cairo"}]).table
    assert not model.features_.of(new).values.any()
    assert set(parts) == set(model.residual_coefficients_)


def test_the_residual_of_a_number_far_away_is_bounded():
    feature = ResidualFeature("x", 0, 2.0, 0.5)
    column = Table.of(np.array([[2.5], [1e9], [-1e300], [np.nan]]))["x0"]
    np.testing.assert_array_equal(
        feature.of(column)[1], [1.0, MAX_DEVIATIONS, -MAX_DEVIATIONS, 0.0]
    )


def test_numbers_too_far_apart_to_be_measured_have_no_residual_coefficient():
    far = Table.of(np.array([[-1.7e308], [1.7e308], [0.0]]))
    assert ResidualFeatures.fit([family_of("binned", ("x0",))], far, np.empty(0), 40).columns == ()
    near = ResidualFeature("x0", 0, -1.7e308, 1e300)
    np.testing.assert_array_equal(near.of(far["x0"])[1], [0.0, MAX_DEVIATIONS, MAX_DEVIATIONS])


def test_features_are_measured_by_weight_without_losing_digits():
    x = np.array([1e8 + 1, 1e8 + 2, 1e8 + 4])
    table = Table.of(pd.DataFrame({"x": x, "same": 3.0}))
    blocks = GenerativeClassifier({"x": "normal", "same": "normal"}, combine="naive")
    blocks = blocks.fit(pd.DataFrame({"x": x, "same": 3.0}), ["a", "b", "a"]).blocks_
    weights = np.array([1.0, 0.0, 3.0])
    (found,) = ResidualFeatures.fit(blocks, table, weights, 40).columns
    assert found.column == "x"
    assert found.centre == pytest.approx(np.average(x, weights=weights), rel=1e-15)
    assert found.scale == pytest.approx(
        np.sqrt(np.average((x - found.centre) ** 2, weights=weights))
    )


def test_residuals_are_of_logarithms_where_they_are_normal():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": np.exp(rng.normal(size=50)), "age": rng.normal(size=50)})
    y = rng.integers(0, 2, 50)
    model = GenerativeClassifier({"income": "lognormal"}, combine="residual").fit(frame, y)
    feature = model.features_.columns[0]
    assert feature.logarithm
    assert feature.centre == pytest.approx(np.log(frame["income"]).mean())
    odd = model._read(model._fitted, pd.DataFrame({"income": [-1.0], "age": [np.nan]}))
    assert not model.features_.of(odd.table).values.any()


@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
def test_a_new_class_has_no_residual_coefficients_and_old_ones_keep_theirs():
    model = GenerativeClassifier(combine="residual").fit(FRAME, LABELS)
    before = model.combination_.residual_coefficients
    model.partial_fit(FRAME[:5], ["aa"] * 5)
    assert model.classes_.tolist() == ["a", "aa", "b", "c"]
    np.testing.assert_array_equal(model.combination_.residual_coefficients[:, [0, 2, 3]], before)
    assert not model.combination_.residual_coefficients[:, 1].any()
    model.forget(FRAME[:5], ["aa"] * 5)
    np.testing.assert_array_equal(model.combination_.residual_coefficients, before)


def test_residual_coefficients_are_refitted_with_the_weights():
    half = len(FRAME) // 2
    model = GenerativeClassifier(MODELS["two"].families_, combine="residual")
    model.fit(FRAME[:half], TWO[:half])
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit(FRAME[half:], TWO[half:])
    model.refresh_weights(FRAME, TWO)
    np.testing.assert_allclose(
        model.predict_proba(FRAME), MODELS["two"].predict_proba(FRAME), atol=1e-6
    )


def test_weights_are_repeats_of_rows():
    times = np.random.default_rng(1).integers(0, 3, len(FRAME))
    copies = np.repeat(np.arange(len(FRAME)), times)
    families = MODELS["three"].families_
    heavy = GenerativeClassifier(families, combine="residual").fit(FRAME, LABELS, times)
    many = GenerativeClassifier(families, combine="residual")
    many.fit(FRAME.iloc[copies], LABELS[copies])
    np.testing.assert_allclose(heavy.predict_proba(FRAME), many.predict_proba(FRAME), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two", "three"])
def test_leaving_a_row_out_takes_it_out_of_the_residual_coefficients(kind):
    """Against fits without the row, whose blocks and prior scales may differ a little."""
    y = TWO if kind == "two" else LABELS
    model = MODELS[kind]
    left_out = model.leave_one_out(FRAME, y)
    assert left_out.log_loss == pytest.approx(model.combination_.held_out_log_loss, rel=0.1)
    codes = np.searchsorted(model.classes_, y)
    held = -model.predict_log_proba(FRAME)[np.arange(len(y)), codes]
    assert left_out.log_loss > held.mean()
    refits = []
    for row in range(0, len(y), 12):
        others = np.delete(np.arange(len(y)), row)
        one = GenerativeClassifier(model.families_, combine="residual")
        one.fit(FRAME.iloc[others], y[others])
        own = np.searchsorted(one.classes_, y[row])
        refits.append(float(one.predict_log_proba(FRAME[row : row + 1])[0, own]))
    away = left_out.log_proba[np.arange(len(y)), codes][::12] - np.array(refits)
    # Refits have other folds and may choose other prior scales, which is as good as chance.
    assert abs(away.mean()) < 0.02 + 3 * away.std() / np.sqrt(len(away))


@pytest.mark.slow
def test_large_residual_coefficients_are_left_out_as_well():
    X, y = misleading(300, seed=3)
    families = {(at,): "categorical" for at in range(8)}
    model = GenerativeClassifier(families, combine="residual").fit(X, y)
    assert np.abs(model.combination_.residual_coefficients).max() > 0.5
    left_out = model.leave_one_out(X, y)
    found = left_out.log_proba[np.arange(300), y]
    held = model.predict_log_proba(X)[np.arange(300), y]
    refits = []
    for row in range(0, 300, 5):
        others = np.delete(np.arange(300), row)
        one = GenerativeClassifier(families, combine="residual").fit(X[others], y[others])
        refits.append(one.predict_log_proba(X[row : row + 1])[0, y[row]])
    # A fit without the row would also adjust what its level lacks without it.
    assert -0.04 < np.mean(found[::5]) - np.mean(refits) < 0.01
    # Held, the coefficients would reveal the labels of the rows.
    assert np.mean(held[::5]) - np.mean(refits) > 0.04


def test_a_file_holds_them(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))
    for name, part in model.residual_coefficients_.items():
        np.testing.assert_array_equal(loaded.residual_coefficients_[name], part)


SPOILED = {
    "no column": (0, "nobody"),
    "a column of no block": (0, 3),
    "more levels than there are": (1, 99),
    "half a level": (1, 1.5),
    "fewer levels than residual coefficients": (1, 2),
    "a centre that is none": (2, {"is": "float", "text": "nan"}),
    "no scale": (3, 0.0),
    "an endless scale": (3, {"is": "float", "text": "inf"}),
    "a logarithm that may be": (4, "perhaps"),
}


@pytest.mark.parametrize(("place", "value"), SPOILED.values(), ids=SPOILED.keys())
def test_a_file_of_features_that_there_are_none_of_is_refused(tmp_path, place, value):
    path = tmp_path / "model"
    MODELS["three"].save(path)
    document, tensors = taken_apart(path.read_bytes())
    features = document["state"]["features"]
    city = next(one for one in features if one[0] == "city")
    city[place] = value
    path.write_bytes(put_together(document, tensors))
    with pytest.raises(ModelFileError):
        suffice.load(path)


def test_a_file_with_residuals_of_a_column_twice_is_refused(tmp_path):
    path = tmp_path / "model"
    MODELS["three"].save(path)
    document, tensors = taken_apart(path.read_bytes())
    features = document["state"]["features"]
    numbers = [one for one in features if one[1] == 0]
    numbers[1][:] = numbers[0]
    path.write_bytes(put_together(document, tensors))
    with pytest.raises(ModelFileError, match="twice"):
        suffice.load(path)


def test_too_many_features_have_residual_coefficients_only_with_residual():
    rng = np.random.default_rng(0)
    X = np.strings.add("level ", rng.integers(0, 30, (400, 12)).astype(str)).astype(object)
    y = rng.integers(0, 3, 400)
    assert GenerativeClassifier(budget=0).fit(X, y).residual_coefficients_ == {}
    few = GenerativeClassifier({0: "categorical"}, combine="residual", budget=0)
    assert len(few.fit(X[:, :2], y).residual_coefficients_) == 2
