"""Calibration: a temperature, offsets and a noise rate that suit left-out rows."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from suffice.combine.calibration import fit_calibration
from suffice.combine.combination import Calibration


def normalised(scores):
    return scores - logsumexp(scores, axis=1, keepdims=True)


def drawn(rng, rows, inverse_temperature, offsets):
    """Return log-probabilities off by a temperature and offsets, and classes drawn right."""
    log_proba = normalised(4 * rng.normal(size=(rows, len(offsets))))
    truth = np.exp(normalised(inverse_temperature * log_proba + offsets))
    codes = (truth.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)
    return log_proba, codes


def log_posterior(params, log_proba, codes, weights):
    scores = normalised(params[0] * log_proba + params[1:])
    away = np.square(params - np.eye(len(params))[0]).sum() / 2
    return weights @ scores[np.arange(len(codes)), codes] - away


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_it_is_the_maximum_that_another_optimiser_finds(classes):
    rng = np.random.default_rng(classes)
    log_proba, codes = drawn(rng, 200, 0.4, rng.normal(size=classes))
    weights = rng.integers(1, 4, 200) / 2
    found = fit_calibration(log_proba, codes, weights)
    ours = np.concatenate([[found.inverse_temperature], found.offsets])
    other = minimize(
        lambda u: -log_posterior(u, log_proba, codes, weights), np.zeros(classes + 1), tol=1e-12
    )
    assert log_posterior(ours, log_proba, codes, weights) >= -other.fun - 1e-9
    np.testing.assert_allclose(ours, other.x, atol=1e-4)


def test_the_gradient_at_the_maximum_is_zero():
    rng = np.random.default_rng(1)
    log_proba, codes = drawn(rng, 300, 2.0, np.array([0.3, -0.3, 0.0]))
    weights = np.ones(300)
    found = fit_calibration(log_proba, codes, weights)
    at = np.concatenate([[found.inverse_temperature], found.offsets])
    for unknown in np.eye(4):
        ahead, behind = (
            log_posterior(at + step * unknown, log_proba, codes, weights) for step in (1e-5, -1e-5)
        )
        assert abs(ahead - behind) / 2e-5 < 1e-3


@pytest.mark.parametrize("inverse_temperature", [0.05, 0.5, 1.0, 3.0])
def test_many_rows_recover_what_the_probabilities_were_off_by(inverse_temperature):
    offsets = np.array([0.5, -0.2, -0.3])
    found = fit_calibration(
        *drawn(np.random.default_rng(2), 40_000, inverse_temperature, offsets), np.ones(40_000)
    )
    assert found.inverse_temperature == pytest.approx(inverse_temperature, rel=0.05)
    np.testing.assert_allclose(found.offsets - found.offsets.mean(), offsets, atol=0.1)
    assert found.temperature == pytest.approx(1 / inverse_temperature, rel=0.05)


def test_some_noisy_labels_do_not_flatten_the_probabilities_of_others():
    rng = np.random.default_rng(6)
    log_proba = normalised(60 * rng.normal(size=(4000, 3)))
    truth = np.exp(log_proba)
    codes = (truth.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    clean = fit_calibration(log_proba, codes, np.ones(4000))
    assert clean.noise_rate == 0
    anything = rng.random(4000) < 0.05
    codes[anything] = rng.integers(0, 3, anything.sum())
    found = fit_calibration(log_proba, codes, np.ones(4000))
    assert found.noise_rate == pytest.approx(0.05, abs=0.015)
    assert found.inverse_temperature == pytest.approx(clean.inverse_temperature, rel=0.2)
    applied = np.exp(found.apply(log_proba))
    np.testing.assert_allclose(applied.sum(axis=1), 1.0, rtol=1e-12)
    assert applied.min() >= found.noise_rate / 3 * (1 - 1e-9)


def test_the_noise_rate_is_where_the_likelihood_is_highest():
    rng = np.random.default_rng(7)
    log_proba, codes = drawn(rng, 800, 0.8, np.zeros(3))
    wild = rng.random(800) < 0.1
    log_proba[wild] = normalised(1e5 * rng.normal(size=(wild.sum(), 3)))
    found = fit_calibration(log_proba, codes, np.ones(800))

    def log_likelihood(inverse_temperature, noise_rate):
        moved = Calibration(inverse_temperature, found.offsets, noise_rate)
        gain = moved.apply(log_proba)[np.arange(800), codes].sum()
        return gain - (inverse_temperature - 1) ** 2 / 2

    best = log_likelihood(found.inverse_temperature, found.noise_rate)
    for step in (-0.01, 0.01):
        assert log_likelihood(found.inverse_temperature + step, found.noise_rate) < best + 1e-5
        assert log_likelihood(found.inverse_temperature, found.noise_rate + step / 3) < best + 1e-5


def test_probabilities_beyond_all_floats_are_tamed():
    rng = np.random.default_rng(3)
    log_proba, codes = drawn(rng, 500, 1.0, np.zeros(3))
    found = fit_calibration(normalised(1e6 * log_proba), codes, np.ones(500))
    assert found.inverse_temperature == pytest.approx(1e-6, rel=0.3)


def test_a_few_rows_that_are_all_right_do_not_make_it_certain():
    log_proba = np.log(np.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2]]))
    found = fit_calibration(log_proba, np.array([0, 1, 0]), np.ones(3))
    assert 1.0 < found.inverse_temperature < 2.0


def test_probabilities_that_are_always_wrong_are_not_turned_round():
    log_proba = np.log(np.tile([[0.9, 0.1], [0.1, 0.9]], (50, 1)))
    found = fit_calibration(log_proba, np.tile([1, 0], 50), np.ones(100))
    assert found.inverse_temperature == 0
    assert found.temperature == np.inf
    np.testing.assert_allclose(np.exp(found.apply(log_proba[:1])), [[0.5, 0.5]], atol=1e-6)


def test_rows_that_were_alone_in_their_class_are_left_out():
    rng = np.random.default_rng(4)
    log_proba, codes = drawn(rng, 60, 0.5, np.zeros(3))
    alone = np.array([[np.log(0.5), np.log(0.5), -np.inf]])
    found = fit_calibration(np.vstack([log_proba, alone]), np.append(codes, 2), np.ones(61))
    without = fit_calibration(log_proba, codes, np.ones(60))
    np.testing.assert_allclose(found.offsets, without.offsets, atol=1e-9)
    assert found.inverse_temperature == pytest.approx(without.inverse_temperature)


def test_impossible_classes_stay_impossible():
    applied = Calibration(0.5, np.array([0.1, 0.2, 0.3])).apply(
        np.array([[np.log(0.25), np.log(0.75), -np.inf]])
    )
    assert applied[0, 2] == -np.inf
    assert np.exp(applied).sum() == pytest.approx(1.0)


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(5)
    log_proba, codes = drawn(rng, 80, 0.5, np.zeros(2))
    twice = fit_calibration(np.repeat(log_proba, 2, axis=0), np.repeat(codes, 2), np.ones(160))
    heavy = fit_calibration(log_proba, codes, np.full(80, 2.0))
    assert heavy.inverse_temperature == pytest.approx(twice.inverse_temperature, rel=1e-9)
