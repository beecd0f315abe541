"""What examples claim is what they compute."""

import importlib.util
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

ROOT = Path(__file__).parents[2]
HAXBY = ROOT.parent / "shared/data/haxby_slice/haxby_slice_detrended.csv.gz"


@pytest.fixture
def example(request):
    path = ROOT / "examples" / f"{request.param}.py"
    spec = importlib.util.spec_from_file_location(f"claims_of_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of(name):
    return pytest.mark.parametrize("example", [name], indirect=True)


@of("efficiency")
def test_efficiencies_are_those_that_efron_published(example):
    published = {0.5: 1.0, 1.0: 0.995, 1.5: 0.968, 2.0: 0.899, 2.5: 0.786, 3.0: 0.641, 3.5: 0.486}
    for distance, value in published.items():
        assert example.efficiency(distance) == pytest.approx(value, abs=6e-4)


@of("efficiency")
def test_excess_errors_have_about_the_ratio_of_efron(example, monkeypatch):
    monkeypatch.setattr(example, "REPEATS", 60)
    found = example.excess(np.random.default_rng(5), 3.0)
    ratio, error = example.ratio_and_error(found)
    assert abs(ratio - 0.641) < 4 * error
    assert ratio + 3 * error < 1


@of("efficiency")
def test_the_exact_error_is_that_of_drawn_rows(example):
    rng = np.random.default_rng(0)
    weights, level = np.array([1.0, 0.4]), 0.3
    y = np.arange(200_000) % 2
    X = rng.standard_normal((len(y), 2))
    X[:, 0] += 2.0 * (y - 0.5)
    share = np.mean((X @ weights + level > 0) != y)
    assert example.true_error(weights, level, 2.0) == pytest.approx(share, abs=0.004)


@of("lognormal_columns")
def test_bins_beat_gaussian_discriminants_on_log_normal_columns(example, monkeypatch):
    monkeypatch.setattr(example, "REPEATS", 5)
    monkeypatch.setattr(example, "SIZES", (640,))
    bins, *gaussians = example.errors(np.random.default_rng(1)).values()
    for other in gaussians:
        gain = (other - bins)[:, 0]
        assert gain.mean() > 4 * gain.std(ddof=1) / np.sqrt(len(gain))


@of("skewed_classes")
def test_the_gaussian_model_stays_above_the_least_error_of_rare_counts(example):
    from suffice.discriminant_analysis import GaussianDiscriminant
    from suffice.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    X, y = example.draw_rows(rng, 20_000)
    new, labels = example.draw_rows(rng, 100_000)
    best = example.least_error(rng)
    wrong = 1 - GaussianDiscriminant("tied", estimate="map").fit(X, y).score(new, labels)
    right = 1 - LogisticRegression().fit(X, y).score(new, labels)
    error = np.sqrt(best * (1 - best) / len(labels))
    assert abs(right - best) < 5 * error
    assert wrong > best + 10 * error


@of("kalman_filter")
def test_a_cone_holds_the_share_of_objects_that_it_says(example, monkeypatch):
    monkeypatch.setattr(example, "TRACKS", 5000)
    inside = example.share_inside(np.random.default_rng(4))
    assert len(inside) == example.AHEAD
    assert np.all(np.abs(inside - example.LEVEL) < 5 * np.sqrt(0.09 / 5000))


@of("brain")
def test_the_searchlight_finds_the_regions_and_nothing_else(example):
    rng = np.random.default_rng(8)
    scan = example.simulate(rng)
    light = example.search(scan)
    regions = [example.ball(centre, example.RADIUS) for centre in example.REGIONS.values()]
    near = [example.ball(centre, example.RADIUS + 2) for centre in example.REGIONS.values()]
    away = light.accuracy[scan.mask & ~near[0] & ~near[1]].mean()
    assert abs(away - 0.5) < 0.03
    for region in regions:
        assert light.accuracy[region].mean() > away + 0.08
    assert near[0][light.best] or near[1][light.best]


@of("brain")
@pytest.mark.slow
@pytest.mark.skipif(not HAXBY.exists(), reason="haxby_slice is not beside the repository")
def test_faces_and_houses_differ_in_the_haxby_slice(example, tmp_path):
    example.main(tmp_path, HAXBY)
    assert (tmp_path / "brain_slice_accuracy.png").exists()
    light = example.search(example.read_slice(HAXBY, ("face", "house")))
    assert light.accuracy[light.best] > 0.95
