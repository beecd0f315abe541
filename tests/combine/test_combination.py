"""Weights of blocks: the best there are, honestly validated, and blunted by no outlier."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from block_likelihoods import drawn
from suffice.combine.calibration import fit_noise_rate
from suffice.combine.combination import Combination
from suffice.combine.select import (
    PRIOR_ODDS,
    WEIGHT_SCALES,
    average_by_likelihood,
    fit_candidates,
    select_combination,
)
from suffice.combine.weights import (
    OFFSET_SCALE,
    TEMPERATURE_SCALE,
    fit_block_weights,
    fit_naive,
    fit_temperature,
    held_out_rows,
    log_ratio,
    row_losses,
    weights_prior,
)
from suffice.logistic import MulticlassLogLikelihood


def combined(rows, method="auto", features=None):
    """Return the combination that is chosen for rows."""
    return select_combination(rows, method, features).combination


def by_difference(rows):
    """Return rows of two classes as differences of the classes."""
    ratios = [log_ratio(rows.log_likelihoods[:, :, at]) for at in range(rows.size[1])]
    priors, own = (rows.log_prior, rows.left_out_prior), (rows.class_index, rows.row_weights)
    return held_out_rows(*priors, ratios, *own)


def test_the_prior_of_the_weights_is_normal_around_a_normal_temperature():
    rng = np.random.default_rng(3)
    draws = 200_000
    t = rng.normal(1.0, TEMPERATURE_SCALE, (draws, 1))
    weights = t + rng.normal(scale=0.7, size=(draws, 3))
    prior = weights_prior(2, 3, 0.7)
    centre, precision = prior.mean, prior.precision
    covariance = np.linalg.inv(precision)[2:, 2:]
    # Five standard errors of a covariance, which is about 1.5 at most.
    np.testing.assert_allclose(np.cov(weights.T), covariance, atol=5 * 1.5 * np.sqrt(2 / draws))
    np.testing.assert_allclose(centre, [0, 0, 1, 1, 1])
    np.testing.assert_allclose(np.diag(precision)[:2], OFFSET_SCALE**-2)


@pytest.mark.parametrize("fitted", [fit_temperature, lambda rows: fit_block_weights(rows, 0.5)])
def test_a_weight_is_so_many_repeats(fitted):
    rows = drawn(n=60)
    repeats = np.random.default_rng(4).integers(1, 4, 60)
    copies = np.repeat(np.arange(60), repeats)
    a = fitted(replace(rows, row_weights=repeats.astype(float))).combination
    b = fitted(replace(rows.take(copies), row_weights=np.ones(len(copies)))).combination
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-6)
    np.testing.assert_allclose(a.offsets, b.offsets, atol=1e-6)


def test_a_row_leaves_the_fit_with_all_its_weight():
    """A heavy row may be so many copies, of which one must not vouch for another."""
    rows = drawn(n=80, copies=2)
    row_weights = rows.row_weights.copy()
    row_weights[7] = 60.0
    rows = replace(rows, row_weights=row_weights)
    found = fit_block_weights(rows, 0.5)
    real = fit_block_weights(rows.take(np.arange(80) != 7), 0.5).combination
    scores = rows.log_prior[7] + real.offsets + rows.log_likelihoods[7] @ real.weights
    whole = found.combination
    stayed = rows.log_prior[7] + whole.offsets + rows.log_likelihoods[7] @ whole.weights
    far = np.abs(softmax(stayed) - softmax(scores)).max()
    assert np.abs(softmax(found.scores[7]) - softmax(scores)).max() < 0.5 * far


def test_no_weight_is_negative():
    """A weight below 0 is what a fold's lack of its own rows looks like: it is 0 instead."""
    rows = drawn(n=300, classes=2, blocks=3, seed=2)
    parts = rows.log_likelihoods.copy()
    parts[:, :, 1] *= -1.0
    against = replace(rows, log_likelihoods=parts)
    for turned in (against, by_difference(against)):
        found = fit_block_weights(turned, 2.0)
        assert found.combination.weights[1] == 0.0
        assert (found.combination.weights[[0, 2]] > 0.5).all()
        kept = np.ascontiguousarray(parts[:, :, [0, 2]])

        def loss(params, kept=kept):
            """Of offsets and the other two weights; the one in the middle is 0."""
            prior = weights_prior(2, 3, 2.0)
            away = np.insert(params, 3, 0.0) - prior.mean
            scores = rows.log_prior + params[:2] + kept @ params[2:]
            own = log_softmax(scores, axis=1)[np.arange(300), rows.class_index]
            return -(rows.row_weights @ own) + away @ prior.precision @ away / 2

        best = minimize(loss, np.array([0.0, 0.0, 1.0, 1.0]), tol=1e-12).x
        np.testing.assert_allclose(found.combination.weights[[0, 2]], best[2:], atol=1e-4)


def test_blocks_without_information_leave_the_class_shares():
    rng = np.random.default_rng(3)
    noise = drawn(n=400, seed=5)
    codes = rng.integers(0, 3, 400).astype(np.int32)
    found = combined(replace(noise, class_index=codes))
    np.testing.assert_allclose(found.weights, 0.0, atol=0.05)


def test_independent_blocks_have_weights_of_one():
    found = combined(drawn(n=3000, seed=5))
    np.testing.assert_allclose(found.weights, 1.0, atol=0.15)


def test_a_block_given_three_times_has_three_weights_of_a_third():
    found = combined(drawn(n=3000, seed=6, copies=3))
    np.testing.assert_allclose(found.weights.reshape(4, 3).sum(axis=1), 1.0, atol=0.4)
    assert found.method != "naive"


def test_blocks_of_noise_have_weights_of_zero():
    rows = drawn(n=2000, seed=7, blocks=3)
    noise = np.random.default_rng(8).normal(scale=2.0, size=(2000, 3, 3))
    parts = np.concatenate([rows.log_likelihoods, noise], axis=2)
    found = combined(replace(rows, log_likelihoods=parts))
    assert found.method == "blocks"
    np.testing.assert_allclose(found.weights, [1, 1, 1, 0, 0, 0], atol=0.3)


def test_auto_is_an_average_weighted_by_leave_one_out_likelihood():
    """Four ways of two blocks, with the shares that Bayes' rule gives them."""
    rows = drawn(n=25, blocks=2, seed=3)
    ways = fit_candidates(rows, "auto", (0.5,), tol=1e-10)
    kinds = ["shares", "naive", "temperature", "blocks"]
    assert [way.combination.method for way in ways] == kinds
    odds = [PRIOR_ODDS[kind] for kind in kinds]
    likely = odds * np.exp([-rows.row_weights @ way.losses for way in ways])
    shares = likely / np.sum(likely)
    assert shares.max() < 0.99
    mean = average_by_likelihood(rows, ways)
    weights = np.stack([way.combination.weights for way in ways])
    offsets = np.stack([way.combination.offsets for way in ways])
    np.testing.assert_allclose(mean.combination.weights, shares @ weights)
    np.testing.assert_allclose(mean.combination.offsets, shares @ offsets)
    scores = np.tensordot(shares, np.stack([way.scores for way in ways]), axes=1)
    own = log_softmax(scores, axis=1)[np.arange(25), rows.class_index]
    loss = -np.average(own, weights=rows.row_weights)
    assert mean.combination.held_out_log_loss == pytest.approx(loss)


def test_of_many_rows_auto_takes_the_lowest_held_out_log_loss():
    rows = drawn(n=3200, copies=2)
    one = {method: combined(rows, method) for method in ("naive", "temperature", "blocks", "auto")}
    assert [one[method].method for method in ("naive", "temperature", "blocks")] == list(one)[:3]
    best = min(one[method].held_out_log_loss for method in ("naive", "temperature", "blocks"))
    assert one["auto"].held_out_log_loss == pytest.approx(best, abs=1e-9)
    assert set(one["naive"].weights) == {1.0}
    assert len(set(one["temperature"].weights)) == 1


def test_the_prior_scale_is_that_of_the_lowest_held_out_log_loss():
    rows = drawn(n=60, copies=5, seed=9)
    fits = [fit_block_weights(rows, scale) for scale in WEIGHT_SCALES]
    losses = [fit.combination.held_out_log_loss for fit in fits]
    assert combined(rows, "blocks").held_out_log_loss == pytest.approx(min(losses), abs=1e-6)


def test_held_out_log_loss_is_honest_for_few_rows():
    """With many weights and few rows it is no smaller than the loss on new rows, on average."""
    differences = []
    for seed in range(12):
        rows = drawn(n=240, seed=seed, copies=4)
        first = replace(rows.take(np.arange(40)), row_weights=np.ones(40))
        found = combined(first)
        fresh = found.apply(rows.log_likelihoods[40:], rows.log_prior[40:])
        loss = -fresh[np.arange(200), rows.class_index[40:]].mean()
        differences.append(found.held_out_log_loss - loss)
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) < 5 * error + 0.03


def test_outliers_do_not_flatten_the_weights():
    clean, dirty = drawn(n=2000, seed=10, blocks=8), drawn(n=2000, seed=10, blocks=8, wrong=0.05)
    found = combined(dirty)
    assert found.noise_rate == pytest.approx(0.05, abs=0.02)
    np.testing.assert_allclose(found.weights.mean(), combined(clean).weights.mean(), atol=0.2)
    without = fit_temperature(dirty)
    assert without.combination.weights[0] < 0.8
    assert found.held_out_log_loss < without.combination.held_out_log_loss


def test_no_noise_rate_is_taken_without_need():
    assert combined(drawn(n=500, seed=11)).noise_rate == 0


def test_a_noise_rate_mixes_with_the_uniform_distribution():
    p = np.array([[0.9, 0.1, 0.0]])
    noisy = Combination("naive", [1.0], np.zeros(3), noise_rate=0.3)
    with np.errstate(divide="ignore"):
        mixed = np.exp(noisy.normalize(np.log(p)))
    np.testing.assert_allclose(mixed, 0.7 * p + 0.1)
    assert fit_noise_rate(drawn(), fit_naive(drawn())).combination.noise_rate == 0


@pytest.mark.parametrize("method", ["auto", "naive", "temperature", "blocks"])
def test_without_blocks_or_rows_nothing_is_fitted(method):
    def rows(size, blocks):
        prior, parts = np.zeros((size, 2)), np.zeros((size, 2, blocks))
        return MulticlassLogLikelihood(prior, prior, parts, np.zeros(size, np.int32), np.ones(size))

    empty, none = rows(3, 0), rows(0, 4)
    assert combined(empty, method).weights.shape == (0,)
    assert combined(none, method).weights.tolist() == [1.0] * 4


def test_one_block_has_a_temperature():
    rows = drawn(blocks=1)
    assert combined(rows, "blocks").method == "temperature"


def test_many_rows_are_chosen_from_few_and_fitted_to_all():
    rows = drawn(n=9000, seed=12, copies=2)
    found = combined(rows, "blocks")
    # The maximum from the prior's mean on, of weights that may be below 0.
    fit = fit_block_weights(rows, found.weight_scale).posterior
    fit = replace(fit, prior=replace(weights_prior(3, 8, found.weight_scale), nonnegative=None))
    np.testing.assert_allclose(found.weights, fit.maximize(fit.prior.mean).params[3:], atol=1e-5)
    losses = row_losses(rows, fit.left_out_scores(fit.maximize(fit.prior.mean)))
    loss = np.average(losses, weights=rows.row_weights)
    assert found.held_out_log_loss == pytest.approx(loss)


def test_a_combination_cannot_be_written_to():
    found = Combination.naive(2, 2)
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0] = 2.0


@pytest.mark.parametrize("blocks", [1, 5, 70])
def test_two_classes_by_their_difference_are_two_classes_as_such(blocks):
    rng = np.random.default_rng(blocks)
    n, size = 333, 2 + blocks
    parts = np.ascontiguousarray(rng.normal(size=(n, 2, blocks)))
    base, codes = rng.normal(size=(n, 2)), rng.integers(0, 2, n).astype(np.int32)
    row_weights, params = rng.uniform(0.2, 3.0, n), rng.normal(size=size) / size
    both = MulticlassLogLikelihood(base, base, parts, codes, row_weights)
    binary = by_difference(both)
    wanted, gradient, hessian, _ = both.derivatives(params)
    value, rise, bend, _ = binary.derivatives(params)
    assert value == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(rise, gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(bend, hessian, rtol=1e-10, atol=1e-10)
    lower = np.linalg.cholesky(hessian + np.eye(size))
    scores = base + params[:2] + parts @ params[2:]
    np.testing.assert_allclose(binary.margins(params), scores[:, 1] - scores[:, 0])
    out = both.left_out_scores(params, lower)
    margins = np.diff(binary.left_out_scores(params, lower), axis=1)[:, 0]
    np.testing.assert_allclose(margins, out[:, 1] - out[:, 0])


@pytest.mark.parametrize("method", ["auto", "naive", "temperature", "blocks"])
@pytest.mark.parametrize(("n", "wrong"), [(60, 0.0), (400, 0.1), (4000, 0.0)])
def test_two_classes_by_their_difference_have_the_same_weights(method, n, wrong):
    rows = drawn(n=n, classes=2, copies=2, wrong=wrong, seed=6)
    without = rows.log_prior + np.array([0.1, -0.1])
    rows = replace(rows, log_prior=rows.log_prior + np.array([0.3, -0.2]), left_out_prior=without)
    first, second = combined(rows, method), combined(by_difference(rows), method)
    assert first.method == second.method
    assert first.weight_scale == second.weight_scale
    assert first.noise_rate == pytest.approx(second.noise_rate, rel=1e-6)
    assert first.held_out_log_loss == pytest.approx(second.held_out_log_loss, rel=1e-9)
    np.testing.assert_allclose(first.weights, second.weights, atol=1e-6)
    np.testing.assert_allclose(first.offsets, second.offsets, atol=1e-6)


@pytest.mark.parametrize("method", ["temperature", "blocks"])
def test_the_class_prior_loses_a_left_out_row_once(method):
    """What is reported against refits of prior, temperature or weights, and offsets without a row.

    Priors that lose the row beside offsets that lose it too would report nats too many.
    """
    rng = np.random.default_rng(12)
    n, classes = 120, 6
    codes = rng.integers(0, classes, n).astype(np.int32)
    parts = rng.normal(size=(n, classes, 2)) / 4
    parts[np.arange(n), codes] += 0.2
    ones = np.ones(n)

    def log_shares(totals):
        """Return the log of the shares of classes by Laplace's rule."""
        return np.log((totals + 1) / (totals.sum(axis=-1, keepdims=True) + classes))

    def of(kept):
        totals = np.bincount(codes[kept], minlength=classes)
        whole = log_shares(totals)
        base = np.repeat(whole[None], len(kept), axis=0)
        without = log_shares(totals - np.eye(classes)[codes[kept]])
        rows = parts[kept], codes[kept], ones[kept]
        return whole, MulticlassLogLikelihood(base, without, *rows)

    reported = combined(of(np.arange(n))[1], method).held_out_log_loss
    losses = []
    for i in range(n):
        whole, others = of(np.delete(np.arange(n), i))
        found = combined(others, method)
        losses.append(-found.apply(parts[i : i + 1], whole[None])[0, codes[i]])
    # Weights of blocks have prior scales selected in each refit, of which one step knows nothing.
    assert abs(reported - np.mean(losses)) * n < {"temperature": 0.5, "blocks": 2.5}[method]
    naive = combined(of(np.arange(n))[1], "naive").held_out_log_loss
    assert reported < naive
