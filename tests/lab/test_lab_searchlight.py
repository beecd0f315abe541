"""The searchlight: the answers of real refits at every position, and maps that say so."""

import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, cross_val_predict

from suffice import GaussianNB, InputError, NormalInverseGamma, ShapeError
from suffice.errors import SufficeWarning
from suffice.lab import Searchlight, searchlight

matplotlib.use("Agg")
from matplotlib import pyplot

HAXBY = Path(__file__).parents[3] / "shared/data/haxby_slice/haxby_slice_detrended.csv.gz"


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


def images(shape, rows=36, seed=0, classes=3):
    """Return rows of images whose classes differ in mean and scale here and there, and runs."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % classes)
    means, scales = rng.normal(size=(classes, *shape)), rng.uniform(0.5, 2, (classes, *shape))
    X = means[y] + scales[y] * rng.normal(size=(rows, *shape))
    return X, y, rng.permutation(np.arange(rows) % 5)


def a_mask(shape, seed=1):
    mask = np.random.default_rng(seed).random(shape) < 0.7
    mask[(0,) * len(shape)] = True
    return mask


def refitted(model, X, y, mask, cube, runs=None):
    """Return the accuracy map by refits on the rows that are not left out, position by position."""
    folds = LeaveOneOut() if runs is None else LeaveOneGroupOut()
    places = np.argwhere(mask)
    out = np.full(mask.shape, np.nan)
    for place in places:
        near = np.abs(places - place).max(axis=1) <= cube // 2
        cells = X[:, mask][:, near]
        predicted = np.empty_like(y)
        for train, test in folds.split(cells, y, runs):
            predicted[test] = model(near).fit(cells[train], y[train]).predict(cells[test])
        out[tuple(place)] = np.mean(predicted == y)
    return out


SHAPES = [((4, 5), 3), ((3, 3), 5), ((2, 3, 3), 3), ((5, 4), 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "cube"), SHAPES)
@pytest.mark.parametrize("by_run", [False, True])
def test_every_position_has_the_accuracy_of_refits_of_scikit_learn(shape, cube, by_run):
    X, y, runs = images(shape)
    runs = runs if by_run else None
    everything = np.ones(shape, bool)
    light = searchlight(X, y, shape, cube, runs=runs)
    expected = refitted(lambda _: theirs.GaussianNB(var_smoothing=0), X, y, everything, cube, runs)
    np.testing.assert_allclose(light.accuracy, expected)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 4)])
@pytest.mark.parametrize("by_run", [False, True])
def test_cubes_are_clipped_to_the_mask(shape, by_run):
    X, y, runs = images(shape, seed=2)
    runs, mask = runs if by_run else None, a_mask(shape)
    light = searchlight(X[:, mask], y, shape, mask=mask, runs=runs)
    expected = refitted(lambda _: theirs.GaussianNB(var_smoothing=0), X, y, mask, 3, runs)
    np.testing.assert_allclose(light.accuracy, expected)
    np.testing.assert_array_equal(
        light.accuracy, searchlight(X, y, shape, mask=mask, runs=runs).accuracy
    )


@pytest.mark.parametrize("by_run", [False, True])
def test_tied_variances_are_those_of_tied_refits(by_run):
    X, y, runs = images((3, 4), seed=3)
    runs = runs if by_run else None
    light = searchlight(X, y, (3, 4), runs=runs, covariance="tied_diagonal")
    mask = np.ones((3, 4), bool)
    expected = refitted(lambda _: GaussianNB(tie="class", var_smoothing=0), X, y, mask, 3, runs)
    np.testing.assert_allclose(light.accuracy, expected)


@pytest.mark.parametrize(("covariance", "tie"), [("diagonal", None), ("tied_diagonal", "class")])
@pytest.mark.parametrize("by_run", [False, True])
def test_parameters_are_integrated_out_as_refits_do(covariance, tie, by_run):
    X, y, runs = images((3, 4), rows=15, seed=4)
    runs, mask = runs if by_run else None, np.ones((3, 4), bool)
    rng = np.random.default_rng(5)
    fields = (
        rng.normal(size=12),
        rng.uniform(0.1, 2, 12),
        rng.uniform(1, 3, 12),
        rng.uniform(1, 2, 12),
    )

    def model(near):
        prior = NormalInverseGamma(*(field[near] for field in fields))
        return GaussianNB(estimate="predictive", tie=tie, prior=prior)

    light = searchlight(
        X,
        y,
        (3, 4),
        runs=runs,
        covariance=covariance,
        estimate="predictive",
        prior=NormalInverseGamma(*fields),
    )
    np.testing.assert_allclose(light.accuracy, refitted(model, X, y, mask, 3, runs))


def test_the_prior_of_most_evidence_is_that_of_all_voxels():
    X, y, _ = images((3, 4), rows=15, seed=4)
    flat = X.reshape(len(X), -1)
    chosen = GaussianNB(estimate="predictive").fit(flat, y).prior_
    by_evidence = searchlight(flat, y, (3, 4), estimate="predictive")
    by_hand = searchlight(flat, y, (3, 4), estimate="predictive", prior=chosen)
    np.testing.assert_array_equal(by_evidence.accuracy, by_hand.accuracy)


def test_a_class_whose_rows_are_all_in_one_run_is_unknown_without_it():
    X, y, _ = images((3, 3), rows=30, seed=6)
    runs = np.where(y == 2, 0, 1 + np.arange(30) % 3)
    light = searchlight(X, y, (3, 3), runs=runs)
    mask = np.ones((3, 3), bool)
    expected = refitted(lambda _: theirs.GaussianNB(var_smoothing=0), X, y, mask, 3, runs)
    np.testing.assert_allclose(light.accuracy, expected)
    assert np.nanmax(light.accuracy) <= np.mean(y != 2)


def test_wild_rows_and_far_origins_cost_no_digits():
    X, y, runs = images((3, 4), seed=7)
    X[5, 1, 1] = 1e9
    X[7, 2, 3] = -1e12
    mask = np.ones((3, 4), bool)
    light = searchlight(X, y, (3, 4), runs=runs)
    expected = refitted(lambda _: GaussianNB(var_smoothing=0), X, y, mask, 3, runs)
    np.testing.assert_allclose(light.accuracy, expected)
    X, y, _ = images((3, 4), seed=7)
    far, near = searchlight(X + 1e7, y, (3, 4)), searchlight(X, y, (3, 4))
    np.testing.assert_array_equal(far.accuracy, near.accuracy)


def test_voxels_that_do_not_vary_get_the_variance_that_gaussian_nb_takes_and_a_warning():
    X, y, _ = images((3, 4), seed=8)
    X[y == 1, 1, 2] = 4.0
    X[:, 0, 0] = 0.0
    X[y == 0, 2, 3] = 1.0
    X[np.flatnonzero(y == 0)[0], 2, 3] = 2.0  # without this row the class does not vary
    with pytest.warns(
        SufficeWarning, match=r"when rows are left out: 3, such as \(0, 0\) in class 0"
    ):
        light = searchlight(X, y, (3, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        mask = np.ones((3, 4), bool)
        expected = refitted(lambda _: GaussianNB(var_smoothing=0), X, y, mask, 3)
    np.testing.assert_allclose(light.accuracy, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.bool_])
def test_rows_of_any_number_are_read_as_floats(dtype):
    X, y, _ = images((4, 4), seed=9)
    X = (10 * X).astype(dtype) if dtype is not np.bool_ else X > 0
    mask = np.ones((4, 4), bool)
    mask[2] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        found = searchlight(X, y, (4, 4), mask=mask)
        same = searchlight(X.astype(float), y, (4, 4), mask=mask)
    np.testing.assert_array_equal(found.accuracy, same.accuracy)


def test_frames_and_names_are_taken():
    X, y, _ = images((2, 3), seed=10)
    names = np.array(["cat", "face", "house"])[y]
    frame = pd.DataFrame(X.reshape(len(X), -1))
    light = searchlight(frame, pd.Series(names), (2, 3), runs=list(np.arange(len(y)) % 4))
    plain = searchlight(X, y, (2, 3), runs=np.arange(len(y)) % 4)
    np.testing.assert_array_equal(light.accuracy, plain.accuracy)
    assert light.classes.tolist() == ["cat", "face", "house"]


def test_what_it_found_is_printed():
    X, y, _ = images((3, 4), seed=11)
    X[:, 1, 2] += 20 * y[:, None, None][:, 0, 0]
    mask = a_mask((3, 4))
    mask[1, 2] = True
    light = searchlight(X, y, (3, 4), cube=1, mask=mask)
    assert isinstance(light, Searchlight)
    assert light.best == (1, 2)
    assert light.chance == pytest.approx(1 / 3)
    assert np.isnan(light.accuracy).tolist() == (~mask).tolist()
    expected = np.where(mask, X[y == 1].mean(axis=0), np.nan)
    np.testing.assert_allclose(light.class_means[1], expected)
    assert str(light).endswith("best accuracy 1.000 at (1, 2), chance 0.333")
    with pytest.raises(ValueError, match="read-only"):
        light.accuracy[0, 0] = 1.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"cube": 2}, InputError, "cube=2 has no cell in its middle"),
        ({"covariance": "full"}, InputError, "covariance='full' is none of 'diagonal'"),
        ({"estimate": "map"}, InputError, "estimate='map' is none of 'mle', 'predictive'"),
        ({"shape": (12,)}, ShapeError, r"grid of shape \(12,\)"),
        ({"shape": (3, 5)}, ShapeError, "for 15 voxels"),
        ({"mask": np.ones((2, 2), bool)}, ShapeError, r"mask of shape \(2, 2\)"),
        ({"mask": np.ones((3, 4))}, ShapeError, "type float64"),
        ({"mask": np.zeros((3, 4), bool)}, InputError, "marks no cell"),
        ({"y": None}, InputError, "needs the class of each row"),
        ({"y": np.zeros(36, int)}, InputError, "All rows are of class 0"),
        ({"runs": np.zeros(36, int)}, InputError, "All rows are of run 0"),
        ({"runs": [1, 2]}, ValueError, "inconsistent numbers of samples"),
        ({"estimate": "predictive", "prior": "weak"}, InputError, "prior='weak'"),
        ({"X": np.full((36, 12), "a")}, InputError, "array of numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(change, error, message):
    X, y, _ = images((3, 4))
    given_arguments = {"X": X.reshape(36, -1), "y": y, "shape": (3, 4), **change}
    with pytest.raises(error, match=message):
        searchlight(**given_arguments)


def test_missing_values_and_infinite_cells_are_refused_with_their_place():
    X, y, _ = images((3, 4))
    X[4, 1, 2] = np.nan
    with pytest.raises(InputError, match=r"missing value \(NaN\) in row 4 at position \(1, 2\)"):
        searchlight(X, y, (3, 4))
    X[4, 1, 2] = np.inf
    with pytest.raises(InputError, match="infinity: inf in row 4, column 6"):
        searchlight(X, y, (3, 4))


# Pictures.


def test_the_map_of_an_image_shows_the_cells_of_the_mask_at_their_places():
    X, y, _ = images((5, 6))
    mask = np.zeros((5, 6), bool)
    mask[1:4, 2:6] = True
    mask[1, 2] = False
    light = searchlight(X, y, (5, 6), mask=mask)
    ax = light.plot()
    (image,) = ax.get_images()
    assert image.get_extent() == [1.5, 5.5, 3.5, 0.5]
    np.testing.assert_allclose(image.get_array().filled(np.nan), light.accuracy[1:4, 2:6])
    assert image.get_clim()[0] == light.chance
    assert ax.get_title() == f"best {light.accuracy[light.best]:.3f} at {light.best}"
    (ring,) = ax.get_lines()
    assert (ring.get_ydata()[0], ring.get_xdata()[0]) == light.best


def test_a_map_is_drawn_where_the_caller_says():
    X, y, _ = images((3, 4))
    _, ax = pyplot.subplots()
    assert searchlight(X, y, (3, 4)).plot(ax) is ax


@pytest.mark.parametrize("slices", [2, 8])
def test_the_slices_of_a_volume_stand_side_by_side(slices):
    X, y, _ = images((slices, 3, 4))
    light = searchlight(X, y, (slices, 3, 4))
    ax = light.plot()
    shown = ax.get_images()[0].get_array().filled(np.nan)
    np.testing.assert_allclose(np.sort(shown[np.isfinite(shown)]), np.sort(light.accuracy.ravel()))
    assert [text.get_text() for text in ax.texts] == [str(number) for number in range(slices)]
    (ring,) = ax.get_lines()
    row, column = int(ring.get_ydata()[0]), int(ring.get_xdata()[0])
    assert shown[row, column] == light.accuracy[light.best]


@pytest.mark.parametrize(("shape", "shift"), [((3, 4), 0.0), ((3, 4), 99.0), ((2, 3, 3), 0.0)])
def test_the_means_of_the_classes_are_drawn_on_one_scale(shape, shift):
    X, y, _ = images(shape, classes=5, rows=50)
    light = searchlight(X + shift, y, shape)
    axes = light.plot_means()
    assert [ax.get_title() for ax in axes] == ["0", "1", "2", "3", "4"]
    (limits,) = {ax.get_images()[0].get_clim() for ax in axes}
    low, high = limits
    assert low <= light.class_means.min()
    assert high >= light.class_means.max()
    assert shift or low == -high


# Real data.


@pytest.mark.slow
@pytest.mark.skipif(not HAXBY.exists(), reason="haxby_slice is not beside the repository")
@pytest.mark.parametrize("by_run", [False, True])
def test_the_haxby_slice_has_the_accuracies_of_scikit_learn(by_run):
    frame = pd.read_csv(HAXBY)
    frame = frame[
        frame["label"].isin(["face", "house"] if not by_run else set(frame["label"]) - {"rest"})
    ]
    names = [name for name in frame if name.startswith("v_")]
    places = np.array([[int(part) for part in name.split("_")[1:3]] for name in names])
    order = np.lexsort(places.T[::-1])
    mask = np.zeros(places.max(axis=0) + 1, bool)
    mask[tuple(places.T)] = True
    X, y = frame[names].to_numpy()[:, order], frame["label"].to_numpy()
    runs = frame["run"].to_numpy() if by_run else None
    light = searchlight(X, y, mask.shape, mask=mask, runs=runs)
    where = np.argwhere(mask)
    for at in np.random.default_rng(12).choice(len(where), 20 if by_run else 2, replace=False):
        near = np.abs(where - where[at]).max(axis=1) <= 1
        folds = LeaveOneGroupOut() if by_run else LeaveOneOut()
        model = theirs.GaussianNB(var_smoothing=0)
        predicted = cross_val_predict(model, X[:, near], y, groups=runs, cv=folds)
        assert light.accuracy[tuple(where[at])] == pytest.approx(np.mean(predicted == y))
    assert light.accuracy[light.best] > (0.35 if by_run else 0.85)
