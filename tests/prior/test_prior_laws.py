"""The laws of design.md for every prior there is, each against something not of our making."""

import copy
import functools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from prior_cases import DRAWS, STANDARD_ERRORS, assert_same, case_of, prior_classes
from suffice.prior import Beta, Dirichlet, NormalInverseGamma, NormalInverseWishart, PointMasses


@st.composite
def drawn_cases(draw, kind):
    """Draw a prior and a non-empty list of its events."""
    case = case_of(kind)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    prior = case.priors(lambda: draw(st.integers(1, 60)) / 11 + 0.1)
    return case, prior, [case.event(rng) for _ in range(draw(st.integers(2, 7)))], rng


def law(check):
    """Run a law over drawn cases of every prior; one without a case fails by name."""

    def run(kind, data):
        check(*data.draw(drawn_cases(kind)))

    run.__name__ = run.__qualname__ = check.__name__
    over_kinds = pytest.mark.parametrize("kind", prior_classes(), ids=lambda kind: kind.__name__)
    return over_kinds(settings(max_examples=30)(given(data=st.data())(run)))


def for_examples(check, which="examples"):
    """Run a check over the examples of every prior; one without a case fails by name."""

    def run(kind):
        case = case_of(kind)
        for prior in getattr(case, which):
            check(case, prior)

    run.__name__ = run.__qualname__ = check.__name__
    return pytest.mark.parametrize("kind", prior_classes(), ids=lambda kind: kind.__name__)(run)


for_peaked = functools.partial(for_examples, which="peaked")


def log_likelihood(case, parameter, events):
    return sum(case.log_likelihood(parameter, x) for x in events)


def random_weights(rng, events):
    return rng.integers(1, 30, len(events)) / 7


# ---- posterior, evidence, predictive


@law
def test_learning_at_once_and_in_two_parts_gives_one_posterior(case, prior, events, rng):
    weights = random_weights(rng, events)
    a, b = case.tally(events[:1], weights[:1]), case.tally(events[1:], weights[1:])
    assert_same(prior.posterior(a + b), prior.posterior(a).posterior(b))
    assert_same(prior.posterior(a + b), prior.posterior(b).posterior(a))


@law
def test_learning_nothing_changes_nothing(case, prior, events, rng):
    nothing = case.tally(events).zero()
    assert np.all(prior.log_evidence(nothing) == 0)
    assert_same(
        prior.posterior(nothing).posterior(case.tally(events)), prior.posterior(case.tally(events))
    )


@law
def test_evidence_is_the_product_of_one_step_predictives_in_any_order(case, prior, events, rng):
    evidence = prior.log_evidence(case.tally(events)).sum()
    for order in (range(len(events)), rng.permutation(len(events))):
        posterior, total = prior, 0.0
        for i in order:
            total += posterior.predictive().log_density(events[i]).sum()
            posterior = posterior.posterior(case.tally([events[i]]))
        assert total == pytest.approx(evidence, rel=1e-9, abs=1e-9)


@law
def test_evidence_of_two_parts_multiplies_for_fractional_weights_too(case, prior, events, rng):
    weights = random_weights(rng, events)
    a, b = case.tally(events[:1], weights[:1]), case.tally(events[1:], weights[1:])
    stepwise = prior.log_evidence(a) + prior.posterior(a).log_evidence(b)
    assert stepwise == pytest.approx(prior.log_evidence(a + b), rel=1e-9, abs=1e-9)


@law
def test_posterior_is_prior_times_likelihood_over_evidence(case, prior, events, rng):
    tally = case.tally(events)
    parameters = prior.posterior(tally).sample(rng, 20)
    joint = prior.log_density(parameters).ravel()
    with np.errstate(divide="ignore"):
        joint = joint + np.ravel(log_likelihood(case, parameters, events))
    after = prior.posterior(tally).log_density(parameters).ravel()
    bayes = joint - prior.log_evidence(tally).sum()
    assert np.array_equal(np.isfinite(after), np.isfinite(bayes))
    seen = np.isfinite(after)
    np.testing.assert_allclose(after[seen], bayes[seen], rtol=1e-8, atol=1e-7)


@law
def test_several_entries_at_once_are_as_each_alone(case, prior, events, rng):
    others = [case.tally(events[:1]), case.tally(events[1:]), case.tally(events)]
    together = reference.stacked(others)
    after, evidence = prior.posterior(together), prior.log_evidence(together)
    for i, tally in enumerate(others):
        alone = prior.posterior(tally)
        assert evidence[i] == pytest.approx(prior.log_evidence(tally), rel=1e-12, abs=1e-12)
        x = events[0]
        mine = alone.predictive().log_density(x)
        assert after.predictive().log_density(x)[i] == pytest.approx(mine, rel=1e-9)
        for ends, mine in zip(parts(after.interval(0.9)), parts(alone.interval(0.9)), strict=True):
            np.testing.assert_allclose(ends[i], mine, rtol=1e-9)


def parts(value):
    """Return the arrays of nested tuples, one after the other."""
    if not isinstance(value, tuple):
        return [value]
    return [array for inner in value for array in parts(inner)]


@pytest.mark.slow
@for_examples
def test_densities_integrate_to_one(case, prior):
    for distribution in (prior, prior.posterior(case.tally(case.events))):
        measure = case.measure(distribution)
        value, error = measure.integral(distribution.log_density(measure.parameters))
        assert error < 0.06
        assert value == pytest.approx(1.0, abs=max(error, 1e-6))


@for_examples
def test_evidence_is_the_integral_of_the_likelihood(case, prior):
    measure = case.measure(prior.posterior(case.tally(case.events)))
    with np.errstate(divide="ignore"):
        joint = log_likelihood(case, measure.parameters, case.events)
    value, error = measure.integral(prior.log_density(measure.parameters) + joint)
    evidence = np.exp(prior.log_evidence(case.tally(case.events)).sum())
    assert error < 0.06 * evidence
    assert value == pytest.approx(evidence, abs=max(error, 1e-6 * evidence))


@for_examples
def test_predictive_is_the_likelihood_averaged_over_the_posterior(case, prior):
    posterior = prior.posterior(case.tally(case.events))
    measure = case.measure(posterior)
    log_density = posterior.log_density(measure.parameters)
    for x in case.events:
        with np.errstate(divide="ignore"):
            likelihood = case.log_likelihood(measure.parameters, x)
        value, error = measure.integral(log_density + likelihood)
        predicted = np.exp(posterior.predictive().log_density(x)).sum()
        assert value == pytest.approx(predicted, abs=max(error, 1e-6 * predicted))


# ---- mean, mode, intervals, samples of the parameter


@for_examples
def test_mean_is_the_integral_of_the_parameter(case, prior):
    distribution = prior.posterior(case.tally(case.events))
    measure = case.measure(distribution)
    log_density = distribution.log_density(measure.parameters)
    for mean, parameter in zip(parts(distribution.mean()), parts(measure.parameters), strict=True):
        for at in np.ndindex(parameter.shape[log_density.ndim :]):
            value, error = measure.integral(log_density, parameter[(..., *at)])
            expected = mean[at] if at else mean.item()
            assert value == pytest.approx(expected, abs=max(error, 1e-4 * np.abs(mean).max()))


@for_peaked
def test_no_parameter_near_or_far_is_denser_than_the_mode(case, prior):
    rng = np.random.default_rng(5)
    mode = prior.mode()
    top = prior.log_density(mode)
    assert np.all(prior.log_density(prior.sample(rng, 2000)) <= top)
    for step in (1e-2, 1e-3):
        for _ in range(60):
            nearby = moved(rng, prior, mode, step)
            assert np.all(prior.log_density(nearby) <= top)


def moved(rng, prior, mode, step):
    """Return a valid parameter a step away from the mode."""
    if isinstance(prior, NormalInverseGamma):
        return mode.mean + step * rng.normal(), mode.variance * np.exp(step * rng.normal())
    if isinstance(prior, NormalInverseWishart):
        d = mode.mean.shape[-1]
        turn = np.eye(d) + step * rng.normal(size=(d, d))
        return mode.mean + step * rng.normal(size=d), turn @ mode.covariance @ turn.T
    if isinstance(prior, Dirichlet):
        near = np.abs(mode + step * rng.normal(size=mode.shape))
        return near / near.sum()
    return mode + step * rng.normal()


@for_examples
def test_parameters_drawn_follow_the_density(case, prior):
    rng = np.random.default_rng(11)
    distribution = prior.posterior(case.tally(case.events))
    drawn = distribution.sample(rng, DRAWS)
    measure = case.measure(distribution)
    log_density = distribution.log_density(measure.parameters)
    for sampled, exact in zip(case.features(drawn), case.features(measure.parameters), strict=True):
        value, error = measure.integral(log_density, exact)
        noise = STANDARD_ERRORS * sampled.std() / np.sqrt(sampled.size)
        assert sampled.mean() == pytest.approx(value, abs=noise + error)


@for_examples
def test_intervals_leave_out_the_tails_they_say(case, prior):
    rng = np.random.default_rng(12)
    distribution = prior.posterior(case.tally(case.events))
    drawn, level = distribution.sample(rng, DRAWS), 0.8
    found = distribution.interval(level)
    if isinstance(distribution, NormalInverseWishart):
        drawn = drawn.mean, np.diagonal(drawn.covariance, axis1=-2, axis2=-1)
    if not isinstance(drawn, tuple):
        drawn, found = (drawn,), (found,)
    noise = STANDARD_ERRORS * np.sqrt(0.1 * 0.9 / DRAWS)
    for values, (lower, upper) in zip(drawn, found, strict=True):
        below, above = (values < lower).mean(axis=0), (values > upper).mean(axis=0)
        if isinstance(
            distribution, PointMasses
        ):  # probability comes in lumps: no more than the tails is out
            assert below <= 0.1 + noise
            assert above <= 0.1 + noise
            within = np.mean((values > lower) & (values < upper))
            assert within <= level + noise  # and no narrower one would do
        else:
            assert below == pytest.approx(np.full(below.shape, 0.1), abs=noise)
            assert above == pytest.approx(np.full(above.shape, 0.1), abs=noise)


@for_examples
def test_shapes_of_samples_put_their_size_first(case, prior):
    rng = np.random.default_rng(0)
    tally = reference.stacked([case.tally(case.events), case.tally(case.events[:1])])
    distribution = prior.posterior(tally)
    one = distribution.sample(rng)
    for size, lead in ((None, ()), (3, (3,)), ((3, 4), (3, 4))):
        many = distribution.sample(rng, size)
        for got, single in zip(parts(many), parts(one), strict=True):
            assert got.shape == (*lead, *single.shape)
        assert distribution.log_density(many).shape == (*lead, *distribution.log_density(one).shape)
        x = distribution.predictive().sample(rng, size)
        assert x.shape == (*lead, *distribution.predictive().sample(rng).shape)
        assert distribution.predictive().log_density(x).shape[: len(lead)] == lead


@for_examples
def test_priors_and_predictives_do_not_change(case, prior):
    distribution = prior.posterior(case.tally(case.events))
    for value in (prior, distribution, distribution.predictive()):
        for made in (value, pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            for name, array in vars(made).items():
                np.testing.assert_array_equal(array, vars(value)[name])
                if isinstance(array, np.ndarray):
                    assert not array.flags.writeable
                with pytest.raises(AttributeError, match="cannot assign"):
                    setattr(made, name, array)
    assert pickle.loads(pickle.dumps(distribution)) == distribution
    assert distribution != prior
    assert distribution != "a prior"


def test_fields_given_are_copied():
    mine = np.array([1.0, 2.0])
    prior = Beta(mine, 1.0)
    mine[0] = 50.0
    assert prior.successes[0] == 1.0
