"""Explanations add up, whatever the number of classes and the order of the pieces."""

import json

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib import pyplot
from rich.console import Console
from scipy.special import softmax

from suffice.errors import InputError, ShapeError
from suffice.scoring.explanation import Explanation, attribute_log_odds, log_odds

matplotlib.use("Agg")

SCORES = st.floats(-30.0, 30.0)


def mixed(scores, noise_rate):
    return (1 - noise_rate) * softmax(scores, axis=-1) + noise_rate / scores.shape[-1]


@pytest.mark.slow
@given(
    base=arrays(float, 4, elements=SCORES),
    parts=arrays(float, (3, 4), elements=SCORES),
    noise_rate=st.sampled_from([0.0, 1e-3, 0.2]),
    others=st.sampled_from([[1], [1, 2, 3], [2, 3]]),
)
def test_contributions_add_up_to_the_change_of_the_log_odds(base, parts, noise_rate, others):
    others = np.array(others)
    shares = attribute_log_odds(base, parts, 0, others, noise_rate)
    before = log_odds(base, 0, others, noise_rate)
    after = log_odds(base + parts.sum(axis=0), 0, others, noise_rate)
    assert shares.sum() == pytest.approx(after - before, abs=1e-8)


@pytest.mark.parametrize("noise_rate", [0.0, 0.1])
def test_log_odds_are_those_of_the_probabilities(noise_rate):
    scores = np.array([0.3, -1.0, 2.0, 0.1])
    p = mixed(scores, noise_rate)
    assert log_odds(scores, 2, np.array([0, 1, 3]), noise_rate) == pytest.approx(
        np.log(p[2] / (1 - p[2]))
    )
    assert log_odds(scores, 2, np.array([1]), noise_rate) == pytest.approx(np.log(p[2] / p[1]))


def test_scores_in_the_thousands_still_add_up():
    rng = np.random.default_rng(0)
    base, parts = rng.normal(size=5), rng.normal(scale=3000.0, size=(40, 5))
    others = np.array([0, 1, 3, 4])
    shares = attribute_log_odds(base, parts, 2, others)
    change = log_odds(base + parts.sum(axis=0), 2, others) - log_odds(base, 2, others)
    assert shares.sum() == pytest.approx(change, rel=1e-9)


@pytest.mark.parametrize("noise_rate", [0.0, 0.01])
@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
def test_contributions_add_up_where_the_odds_change_within_a_millionth_of_the_path(
    size, noise_rate
):
    rng = np.random.default_rng(0)
    others = np.array([1, 2, 3])
    for _ in range(20):
        base, parts = rng.normal(size=4), size * rng.normal(size=(2, 4))
        shares = attribute_log_odds(base, parts, 0, others, noise_rate)
        before = log_odds(base, 0, others, noise_rate)
        after = log_odds(base + parts.sum(axis=0), 0, others, noise_rate)
        assert shares.sum() == pytest.approx(after - before, abs=1e-11 * size)


def test_contributions_do_not_depend_on_the_order_of_the_pieces():
    rng = np.random.default_rng(1)
    base, parts, others = rng.normal(size=3), rng.normal(size=(6, 3)), np.array([0, 2])
    forth = attribute_log_odds(base, parts, 1, others, 0.05)
    back = attribute_log_odds(base, parts[::-1], 1, others, 0.05)
    np.testing.assert_allclose(forth, back[::-1], rtol=1e-10)


def test_two_equal_pieces_contribute_the_same_and_one_of_zeros_nothing():
    base = np.log([0.2, 0.3, 0.5])
    parts = np.array([[1.0, -2.0, 0.5], [1.0, -2.0, 0.5], [7.0, 7.0, 7.0]])
    shares = attribute_log_odds(base, parts, 0, np.array([1, 2]))
    assert shares[0] == shares[1]
    assert shares[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("noise_rate", [0.0, 0.1])
def test_contributions_are_the_mean_gradients_along_the_path(noise_rate):
    """Each piece's share by finite differences of the log-odds at many points of the way."""
    rng = np.random.default_rng(2)
    base, parts, others = rng.normal(size=3), rng.normal(size=(4, 3)), np.array([1, 2])
    total, steps, h = parts.sum(axis=0), 2000, 1e-5
    at = (np.arange(steps) + 0.5) / steps
    way = (base + at[:, None] * total)[:, None]

    def odds(scores):
        p = mixed(scores, noise_rate)[..., 0]
        return np.log(p / (1 - p))

    slopes = (odds(way + h * parts) - odds(way - h * parts)) / (2 * h)
    np.testing.assert_allclose(
        attribute_log_odds(base, parts, 0, others, noise_rate), slopes.mean(axis=0), atol=1e-6
    )


def test_of_two_classes_contributions_are_plain_differences():
    parts = np.random.default_rng(3).normal(size=(5, 2))
    shares = attribute_log_odds(np.zeros(2), parts, 1, np.array([0]))
    np.testing.assert_array_equal(shares, parts[:, 1] - parts[:, 0])


def test_impossible_classes_are_refused():
    with pytest.raises(InputError, match="are not all finite, so their log-odds have no parts"):
        attribute_log_odds(np.array([0.0, -np.inf]), np.zeros((1, 2)), 0, np.array([1]))


REASONS = Explanation.of(
    np.str_("spam"), None, ["a", "b", "c"], ["a = 1", "b x2", "c"], [0.5, -2.0, 0.0], -1.0
)


def test_base_is_what_the_pieces_do_not_add_up_to():
    assert REASONS.base == pytest.approx(0.5)
    assert REASONS.base + REASONS.contributions.sum() == REASONS.log_odds
    assert REASONS.probability == pytest.approx(1 / (1 + np.e))


def test_an_explanation_is_plain_values_with_the_largest_contribution_first():
    found = json.loads(json.dumps(REASONS.to_dict()))
    assert [piece["name"] for piece in found["pieces"]] == ["b", "a", "c"]
    assert found["target"] == "spam"
    assert found["against"] is None
    assert sum(piece["contribution"] for piece in found["pieces"]) + found["base"] == -1.0


def test_an_explanation_prints_its_pieces_and_their_amounts():
    text = str(REASONS)
    assert text.splitlines()[0] == "spam against the rest: log-odds -1.000, probability 0.2689"
    assert text.splitlines()[1].split() == ["b", "x2", "-2.000", "-" * 20]
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(REASONS)
    printed = console.export_text()
    assert "a = 1" in printed
    assert "+0.500" in printed
    console.file.close()


def test_pieces_beyond_those_shown_are_summed_up():
    many = Explanation.of("x", "y", *[[f"w{i}" for i in range(50)]] * 2, np.full(50, 0.1), 5.5)
    names, amounts = many.lines()
    assert names[-2:] == ["(30 others)", "(before)"]
    assert sum(amounts) == pytest.approx(5.5)
    assert str(many).startswith("x against y: ")


def test_pieces_and_contributions_of_different_numbers_are_refused():
    with pytest.raises(ShapeError, match="2 names, 1 values and contributions of shape"):
        Explanation.of("x", None, ["a", "b"], ["a"], [1.0, 2.0], 0.0)
    with pytest.raises(InputError, match="Contributions or log-odds are not finite"):
        Explanation.of("x", None, ["a"], ["a"], [np.inf], 0.0)


def test_a_picture_has_a_bar_for_every_piece_and_one_for_what_was_before():
    axes = REASONS.plot()
    assert len(axes.patches) == 4
    assert axes.get_title(loc="left") == REASONS.title
    assert next(label.get_text() for label in axes.get_yticklabels()) == "b x2"
    pyplot.close(axes.figure)
    figure, given_axes = pyplot.subplots()
    assert REASONS.plot(given_axes) is given_axes
    pyplot.close(figure)


def test_an_explanation_without_pieces_can_be_printed_and_drawn():
    silent = Explanation.of("x", None, ["a"], ["a"], [0.0], 0.0)
    assert "+0.000" in str(silent)
    pyplot.close(silent.plot().figure)
