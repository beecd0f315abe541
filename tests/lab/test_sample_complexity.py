"""Rows that naive Bayes and logistic regression need, by the number of columns."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import make_blobs

from suffice.errors import InputError
from suffice.lab import SampleComplexity, sample_complexity
from suffice.lab.sample_complexity import _error_rate

mpl.use("Agg")


def test_the_error_rate_of_a_rule_is_that_of_many_rows():
    half = np.array([0.5, 0.3, 0.0])
    w, b = np.array([1.0, -0.2, 0.4]), 0.3
    means = np.stack([-half, half])
    X, y = make_blobs([400_000, 400_000], centers=means, cluster_std=1.0, random_state=0)
    assert _error_rate(w, b, half) == pytest.approx(np.mean((X @ w + b > 0) != y), abs=2e-3)
    assert _error_rate(np.zeros(3), 1.0, half) == 0.5


@pytest.fixture(scope="module")
def found():
    sizes = (32, 64, 128, 256, 512)
    return {
        kind: sample_complexity((4, 32), sizes, information=kind, distance=far, repeats=10)
        for kind, far in (("growing", 1.0), ("fixed", 2.0))
    }


@pytest.mark.slow
def test_estimates_of_naive_bayes_need_rows_by_the_logarithm_of_columns(found):
    for one in found.values():
        naive, logistic = one.rows_needed("weights", 0.35)
        assert 1 < naive[1] / naive[0] < 4  # 8 times the columns
        assert logistic[1] > 2 * naive[1]


@pytest.mark.slow
def test_at_a_fixed_distance_naive_bayes_needs_rows_by_columns_as_well(found):
    fixed, growing = (found[kind].rows_needed("excess", 0.015)[0] for kind in ("fixed", "growing"))
    assert fixed[1] / fixed[0] > 4
    assert growing[1] / growing[0] < 2.5


@pytest.mark.slow
def test_errors_fall_with_rows_and_are_no_less_than_the_least(found):
    for one in found.values():
        assert (one.excess > -1e-12).all()
        weights = one.mean("weights")[0]
        assert weights[:, 1] / weights[:, -1] == pytest.approx(np.sqrt(8), rel=0.25)


@pytest.mark.slow
def test_it_prints_and_draws(found):
    one = found["growing"]
    assert "least error" in str(one)
    assert len(one.to_frame()) == 2 * 2 * 5
    figure = one.plot("weights", 0.35)
    assert "From 4 to 32 columns" in figure.get_suptitle()
    assert figure.axes[0].get_xlabel() == "training rows, m"
    pyplot.close("all")


def test_rows_needed_are_read_off_the_curves():
    excess = np.array([[[0.4, 0.2, 0.1], [0.05, 0.04, 0.03]], [[0.4, 0.4, 0.4], [0.4, 0.4, 0.2]]])
    table = SampleComplexity(
        "fixed",
        np.array([2, 4]),
        np.array([10, 20, 40]),
        np.ones(2),
        excess[..., None],
        np.repeat(excess[..., None], 2, axis=3),
    )
    needed = table.rows_needed("excess", 0.2)
    assert needed[0] == pytest.approx([20.0, 0.0])
    assert needed[1] == pytest.approx([np.inf, 40.0])


@pytest.mark.parametrize(
    "settings",
    [
        {"information": "none"},
        {"repeats": 1},
        {"columns": [4, 2]},
        {"sizes": [5, 8]},
        {"columns": []},
    ],
)
def test_what_cannot_be_measured_is_refused(settings):
    with pytest.raises(InputError):
        sample_complexity(**settings)
