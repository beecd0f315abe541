"""Learning curves of two classifiers: splits, growth, crossings, defaults, pictures."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from scipy import sparse, stats
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Perceptron
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB as ScikitGaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import CategoricalNB, GaussianDiscriminant, GaussianNB, MultinomialNB
from suffice.errors import InputError, ShapeError
from suffice.lab.compare import (
    Comparison,
    compare,
    crossing_size,
    draw_means,
    find_crossing,
)
from suffice.lab.learning_curves import (
    Candidate,
    choose_candidates,
    default_sizes,
    draw_split,
    learning_curves,
)
from suffice.linear_model import LogisticRegression

mpl.use("Agg")

SIZES = (6, 12, 30, 60)


@pytest.fixture(autouse=True)
def figures_closed():
    yield
    pyplot.close("all")


def two_classes(rows=120, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(rows) % 3 == 0, "rare", "usual")
    return rng.normal(size=(rows, columns)) + 1.2 * (y == "rare")[:, None], y


def three_levels(rows=120, columns=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    return (y[:, None] + rng.integers(0, 3, (rows, columns))) % 4, y


def splits_of(y, count=3, share=0.3):
    codes = np.unique(y, return_inverse=True)[1]
    return [draw_split(codes, share, rng) for rng in np.random.default_rng(7).spawn(count)]


def refitted_scores(model, X, y, split, size):
    """Fit to the first rows from scratch, and score by scikit-learn."""
    rows = split.order[:size]
    model.fit(X[rows], y[rows])
    error = np.mean(model.predict(X[split.test]) != y[split.test])
    probabilities = model.predict_proba(X[split.test])
    return error, log_loss(y[split.test], probabilities, labels=model.classes_)


@pytest.mark.parametrize(
    ("data", "model"),
    [
        (two_classes, GaussianNB(tie="class")),
        (two_classes, GaussianDiscriminant("tied", estimate="map")),
        (three_levels, CategoricalNB(min_categories=4)),
    ],
    ids=["gaussian", "discriminant", "categorical"],
)
def test_an_incremental_model_scores_as_one_fitted_to_the_first_rows_from_scratch(data, model):
    X, y = data()
    splits = splits_of(y)
    curves = list(learning_curves([Candidate(model, X, incremental=True)], y, SIZES, splits))
    for split, (((errors, losses),)) in zip(splits, curves, strict=True):
        for at, size in enumerate(SIZES):
            error, _ = refitted_scores(model, X, y, split, size)
            assert errors[at] == error
            # scikit-learn's log-loss cuts probabilities off below 1e-16.
            truth = np.searchsorted(model.classes_, y[split.test])
            logs = model.predict_log_proba(X[split.test])
            loss = -sum(row[code] for row, code in zip(logs, truth, strict=True)) / len(truth)
            assert losses[at] == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize("data", [two_classes, three_levels])
def test_a_warm_started_logistic_regression_scores_as_one_fitted_from_scratch(data):
    X, y = data()
    splits = splits_of(y)
    model = LogisticRegression(C=100.0)
    curves = list(learning_curves([Candidate(model, X, incremental=False)], y, SIZES, splits))
    for split, (((errors, losses),)) in zip(splits, curves, strict=True):
        for at, size in enumerate(SIZES):
            error, loss = refitted_scores(model, X, y, split, size)
            assert errors[at] == error
            assert losses[at] == pytest.approx(loss, abs=1e-5)


def test_a_growing_model_counts_only_the_rows_that_are_new():
    X, y = two_classes()
    counted = []

    class Watched(GaussianNB):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            counted.append(len(X))
            return super().partial_fit(X, y, classes, sample_weight)

    list(
        learning_curves(
            [Candidate(Watched(tie="class"), X, incremental=True)], y, SIZES, splits_of(y, 1)
        )
    )
    assert counted == [6, 6, 18, 30]


@given(
    counts=st.lists(st.integers(1, 12), min_size=2, max_size=5),
    share=st.floats(0.1, 0.8),
    seed=st.integers(0, 99),
)
def test_a_split_uses_every_row_once_and_shows_every_class_first(counts, share, seed):
    codes = np.repeat(np.arange(len(counts)), counts)
    split = draw_split(codes, share, np.random.default_rng(seed))
    assert sorted([*split.order, *split.test]) == list(range(len(codes)))
    assert sorted(codes[split.order[: len(counts)]]) == list(range(len(counts)))
    tested = np.bincount(codes[split.test], minlength=len(counts))
    assert np.all(np.abs(tested - share * np.array(counts)) <= 1)


def test_first_rows_are_a_plain_draw_where_that_has_all_classes():
    codes = np.repeat([0, 1], [60, 60])
    firsts = [draw_split(codes, 0.5, rng).order[:20] for rng in np.random.default_rng(1).spawn(800)]
    # 20 of 30 and 30 left: a hypergeometric number of rows of the second class.
    of_second = np.array([codes[first].sum() for first in firsts])
    variance = 20 * 0.25 * (60 - 20) / (60 - 1)
    assert abs(of_second.mean() - 10) < 5 * np.sqrt(variance / 800)
    assert abs(of_second.var() / variance - 1) < 5 * np.sqrt(2 / 800)


def test_default_sizes_hold_the_doublings_of_ten():
    assert set(default_sizes(2, 400)) >= {10, 20, 40, 80, 160, 320, 400}
    assert default_sizes(8, 100)[0] == 10
    assert default_sizes(2, 3) == [3]


def test_the_same_seed_gives_the_same_comparison_and_another_seed_another():
    X, y = two_classes()
    options = {"sizes": SIZES, "repeats": 4, "progress": False}
    first, second = (compare(X=X, y=y, random_state=3, **options) for _ in range(2))
    np.testing.assert_array_equal(first.errors, second.errors)
    np.testing.assert_array_equal(first.log_losses, second.log_losses)
    other = compare(X=X, y=y, random_state=4, **options)
    assert np.any(first.errors != other.errors)


def test_means_and_standard_errors_are_those_of_the_repeats():
    X, y = two_classes()
    result = compare(X=X, y=y, sizes=SIZES, repeats=6, random_state=0, progress=False)
    assert result.errors.shape == result.log_losses.shape == (2, 6, 4)
    assert not result.errors.flags.writeable
    by_hand = [sum(column) / 6 for column in result.errors[0].T.tolist()]
    np.testing.assert_allclose(result.mean()[0], by_hand)
    expected = pd.DataFrame(result.log_losses[1]).sem()
    np.testing.assert_allclose(result.standard_error("log_loss")[1], expected)
    columns = result.to_dict()
    assert columns["sizes"] == list(SIZES)
    np.testing.assert_allclose(columns["LogisticRegression"]["error"], result.mean()[1])
    lines = str(result).splitlines()
    assert len(lines) == 2 + len(SIZES) + 1
    assert f"{result.mean()[0, 0]:.3f} ± {result.standard_error()[0, 0]:.3f}" in lines[2]


def test_numbers_meet_gaussian_naive_bayes_with_one_variance_a_column():
    X, _ = two_classes()
    first, second = choose_candidates(None, None, 1000 * X + 5)
    assert isinstance(first.model, GaussianNB)
    assert first.model.tie == "class"
    assert isinstance(second.model, LogisticRegression)
    assert first.X is second.X
    np.testing.assert_allclose(first.X.std(axis=0), 1)


@pytest.mark.parametrize("form", ["integers", "words", "pandas", "polars", "arrow", "categories"])
def test_levels_meet_categorical_naive_bayes_and_indicators(form):
    X, _ = three_levels()
    words = np.array(["d", "c", "b", "a"])[3 - X]
    frame = {f"c{j}": words[:, j] for j in range(5)}
    forms = {
        "integers": lambda: X,
        "words": lambda: words,
        "pandas": lambda: pd.DataFrame(frame),
        "polars": lambda: pl.DataFrame(frame),
        "arrow": lambda: pa.table(frame),
        "categories": lambda: pd.DataFrame(frame).astype("category"),
    }
    first, second = choose_candidates(None, None, forms[form]())
    assert isinstance(first.model, CategoricalNB)
    np.testing.assert_array_equal(first.X, X)
    indicators = (X[:, :, None] == np.arange(4)).reshape(len(X), -1)
    np.testing.assert_array_equal(second.X, indicators)


def test_whole_numbers_beside_fractions_are_numbers():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 1.5, 0.0, 2.0]})
    assert isinstance(choose_candidates(None, None, frame)[0].model, GaussianNB)


def test_models_that_are_given_take_the_rows_as_they_are():
    X, y = two_classes()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    first, second = choose_candidates(GaussianDiscriminant("full"), pipeline, X)
    assert first.X is X
    assert second.X is X
    assert first.incremental
    assert not second.incremental
    forest = RandomForestClassifier(5, random_state=0)
    result = compare(GaussianDiscriminant("full"), forest, X, y, SIZES, 2, progress=False)
    assert result.names == ("GaussianDiscriminant", "RandomForestClassifier")
    assert np.isinf(result.log_losses[1]).any()  # trees may be certain, and wrong
    assert not result.crossing("log_loss").crosses
    assert "inf" in str(result)
    assert second.name == "LogisticRegression"


def test_counts_given_with_their_model_are_numbers_to_the_logistic_regression():
    X, y = three_levels()
    first, second = choose_candidates(MultinomialNB(), None, X)
    assert first.X is X
    assert second.X.shape == X.shape
    sparse_side = choose_candidates(MultinomialNB(), LogisticRegression(), sparse.csr_matrix(X))[0]
    result = compare(
        MultinomialNB(), LogisticRegression(), sparse_side.X, y, SIZES, 2, progress=False
    )
    assert np.isfinite(result.log_losses).all()


def test_gaussian_discriminants_can_be_asked_for_by_name():
    X, y = two_classes()
    result = compare("discriminant", X=X, y=y, sizes=SIZES, repeats=2, progress=False)
    assert result.names == ("GaussianDiscriminant", "LogisticRegression")


def test_two_models_of_one_class_are_told_apart():
    X, y = two_classes()
    result = compare(GaussianNB(), GaussianNB(), X, y, SIZES, 2, progress=False)
    assert result.names == ("GaussianNB, generative", "GaussianNB, discriminative")
    np.testing.assert_array_equal(result.errors[0], result.errors[1])


def test_a_classifier_that_changes_the_classes_is_refused():
    class Renaming(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, np.char.upper(y.astype(str)), sample_weight)

    X, y = two_classes()
    with pytest.raises(InputError, match=r"Renaming that learned \['rare', 'usual'\] knows"):
        compare(None, Renaming(), X, y, SIZES, 1, progress=False)


def test_progress_is_shown_on_standard_error_under_its_name(capsys):
    X, y = two_classes()
    compare(X=X, y=y, sizes=[10], repeats=2, progress="two classes")
    shown = capsys.readouterr()
    assert "two classes" in shown.err
    assert not shown.out
    compare(X=X, y=y, sizes=[10], repeats=2, progress=False)
    assert not capsys.readouterr().err


def test_curves_cross_where_a_straight_line_in_log_m_says():
    sizes = np.array([10.0, 100.0, 1000.0])
    assert crossing_size(sizes, np.array([-1.0, -1.0, 1.0])) == pytest.approx(10**2.5)
    assert crossing_size(sizes, np.array([-3.0, 1.0, 1.0])) == pytest.approx(10**1.75)
    assert crossing_size(sizes, np.array([-3.0, 0.0, 1.0])) == pytest.approx(100)


@pytest.mark.parametrize(
    "differences",
    [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [2.0, -1.0, 1.0], [-1.0, 1.0, 0.0]],
    ids=["always behind", "always ahead", "the other way", "behind as often", "equal at the end"],
)
def test_curves_that_are_not_overtaken_do_not_cross(differences):
    assert np.isnan(crossing_size(np.array([10.0, 20.0, 40.0]), np.array(differences)))


def test_a_crossing_found_anew_after_a_wiggle_is_the_last_one():
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    found = crossing_size(sizes, np.array([-5.0, 1.0, -1.0, 1.0, 1.0]))
    assert found == pytest.approx(4 * np.sqrt(2))


@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=6))
def test_crossings_are_those_of_the_definition_tried_size_by_size(curves):
    sizes = np.array([5.0, 10.0, 20.0, 40.0, 80.0])
    for curve, found in zip(curves, crossing_size(sizes, np.array(curves, float)), strict=True):
        crosses = any(
            curve[at - 1] <= 0
            and sum(d < 0 for d in curve[:at]) > sum(d > 0 for d in curve[:at])
            and all(d > 0 for d in curve[at:])
            for at in range(1, 5)
        )
        assert np.isfinite(found) == crosses


def test_certainty_of_many_repeats_is_that_of_the_bootstrap():
    rng = np.random.default_rng(0)
    sizes = np.array([10.0, 20.0, 40.0])
    scores = np.zeros((2, 30, 3))
    scores[0] = np.array([-1.0, -1.0, 0.1]) + 0.5 * rng.standard_normal((30, 3))
    found = find_crossing(sizes, scores, 4000, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    drawn = [scores[0][rng.integers(0, 30, 30)].mean(axis=0) for _ in range(4000)]
    share = np.mean([mean[2] > 0 for mean in drawn])
    assert found.certainty == pytest.approx(share, abs=0.03)
    assert found.generative_first == 1
    assert found.between == (20, 40)
    assert found.interval[0] <= found.size <= found.interval[1]
    assert f"at m = {found.size:.0f}, between 20 and 40" in str(found)


def test_curves_that_never_cross_say_so():
    scores = np.zeros((2, 5, 3))
    scores[0] = 1.0
    found = find_crossing(np.array([10.0, 20.0, 40.0]), scores, 50, np.random.default_rng(0))
    assert not found.crosses
    assert found.certainty == 0
    assert np.isnan(found.interval).all()
    assert "do not cross" in str(found)
    with pytest.raises(ShapeError, match=r"shape \(2, 5, 3\) for 2 sizes"):
        find_crossing(np.array([10.0, 20.0]), scores, 50, np.random.default_rng(0))


@pytest.mark.parametrize("repeats", [3, 5, 10])
def test_draws_at_a_size_are_students_t_about_the_mean(repeats):
    differences = np.random.default_rng(0).normal(0.3, 1.0, (repeats, 2))
    drawn = draw_means(differences, 200_000, np.random.default_rng(1))
    error = differences.std(axis=0, ddof=1) / np.sqrt(repeats)
    for at in (0, 1):
        posterior = stats.t(repeats - 1, differences[:, at].mean(), error[at])
        shares = [0.025, 0.25, 0.5, 0.75, 0.975]
        assert np.mean(drawn[:, at, None] < posterior.ppf(shares), axis=0) == pytest.approx(
            shares, abs=0.005
        )
    if repeats > 3:
        wanted = np.corrcoef(differences.T)[0, 1]
        ranked = stats.spearmanr(drawn[:, 0], drawn[:, 1]).statistic
        assert np.sign(ranked) == np.sign(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [3, 5, 10])
def test_few_repeats_of_curves_at_the_brink_are_certain_no_more_often_than_stated(repeats):
    # Whether the generative model is ahead at first is undecided: in truth both are equal there.
    rng = np.random.default_rng(repeats)
    sizes = np.array([10.0, 20.0])
    certain, by_bootstrap, trials = 0, 0, 2000
    for _ in range(trials):
        differences = np.column_stack(
            [rng.normal(0.0, 1.0, repeats), rng.normal(50.0, 1.0, repeats)]
        )
        scores = np.stack([differences, np.zeros_like(differences)])
        certain += find_crossing(sizes, scores, 400, rng).certainty >= 0.95
        times = rng.multinomial(repeats, np.full(repeats, 1 / repeats), 400)
        by_bootstrap += np.mean(times @ differences[:, 0] < 0) >= 0.95
    assert certain / trials == pytest.approx(0.05, abs=0.02)
    assert by_bootstrap > 1.3 * certain


@pytest.mark.slow
def test_certainties_are_frequencies_of_crossing_among_curves_of_all_kinds():
    rng = np.random.default_rng(1)
    sizes = np.array([10.0, 20.0, 40.0, 80.0])
    found, truth = [], []
    for _ in range(1500):
        # Smooth curves around 0 and correlated splits, as of nested training rows.
        slope, level = rng.normal(0, 0.5, 2)
        mean = level + slope * np.array([-1.5, -0.5, 0.5, 1.5])
        noise = rng.standard_normal((6, 5)) @ np.tril(np.ones((5, 5)))[:, 1:] / 2
        scores = np.stack([mean + noise, np.zeros((6, 4))])
        found.append(find_crossing(sizes, scores, 200, rng).certainty)
        truth.append(np.isfinite(crossing_size(sizes, mean)))
    found, truth = np.array(found), np.array(truth)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
        mine = (found >= low) & (found < high)
        assert mine.sum() > 30
        assert found[mine].mean() == pytest.approx(truth[mine].mean(), abs=0.13)


def test_one_repeat_says_nothing_of_certainty():
    found = made_up(1).crossing()
    assert np.isnan(found.certainty)
    assert "one repeat does not tell" in str(found)


def test_a_third_curve_has_the_parameters_integrated_out():
    X, y = load_iris(return_X_y=True)
    settings = {"sizes": [6, 60], "repeats": 4, "random_state": 0, "progress": False}
    result = compare(X=X, y=y, integrated=True, **settings)
    assert result.names == ("GaussianNB", "LogisticRegression", "GaussianNB, integrated")
    two = compare(X=X, y=y, **settings)
    assert np.array_equal(result.errors[:2], two.errors)
    assert result.mean("log_loss")[2, 0] < result.mean("log_loss")[0, 0]
    assert result.crossing() == two.crossing()
    assert str(result).count("integrated") == 2
    with pytest.raises(InputError, match="integrated out already"):
        compare(GaussianNB(estimate="predictive"), X=X, y=y, integrated=True, **settings)
    with pytest.raises(InputError, match="no parameter estimate"):
        compare(ScikitGaussianNB(), X=X, y=y, integrated=True, **settings)


def test_losses_of_millions_leave_the_picture_readable():
    losses = np.array([[[1e8, 3.0, 0.6, 0.5]] * 3, [[0.9, 0.8, 0.5, 0.4]] * 3])
    losses[:, 1:] *= 1.01
    result = Comparison(("left", "right"), np.array([10, 20, 40, 80]), losses / 1e9, losses)
    ax = result.plot(score="log_loss")
    assert ax.get_ylim()[1] < 3
    beyond = [line for line in ax.lines if line.get_marker() == "^" and line.get_ydata().size]
    assert [line.get_xdata().size for line in beyond] == [2]
    far = Comparison(("left", "right"), result.sizes, losses / 1e9, losses**8)
    assert far.plot(score="log_loss").get_yscale() == "log"


def made_up(repeats=8):
    rng = np.random.default_rng(0)
    sizes = np.array([10, 20, 40, 80])
    curves = np.array([[0.3, 0.2, 0.18, 0.18], [0.4, 0.3, 0.15, 0.1]])
    errors = curves[:, None, :] + 0.01 * rng.standard_normal((2, repeats, 4))
    return Comparison(("left", "right"), sizes, errors, 100 * errors**4)


@pytest.mark.parametrize(("score", "label"), [("error", "error"), ("log_loss", "log-loss")])
def test_the_picture_shows_both_curves_and_where_they_cross(score, label):
    result = made_up()
    ax = result.plot(score=score)
    assert ax.get_ylabel() == label
    for which, bars in enumerate(ax.containers):
        wanted = result.mean(score)[which]
        shown = wanted < (2.1 if score == "log_loss" else 1.0)
        np.testing.assert_allclose(bars[0].get_ydata(), np.where(shown, wanted, np.nan))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[:3] == ["left", "right", f"cross at m = {result.crossing(score).size:.0f}"]
    assert names[3:] == (["above 2.1"] if score == "log_loss" else [])
    assert ax.get_title(loc="left").startswith("right overtakes left at m = ")
    assert ax.get_yscale() == "linear"
    own = pyplot.subplots()[1]
    assert result.plot(ax=own) is own


def test_a_single_repeat_has_no_standard_error_and_is_drawn_without_bars():
    result = made_up(repeats=1)
    assert np.isnan(result.standard_error()).all()
    assert len(result.plot().containers) == 2


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"X": None}, "X or y is missing"),
        ({"y": None}, "X or y is missing"),
        ({"repeats": 0}, "repeats=0"),
        ({"y": ["a"] * 120}, "All rows are of class 'a'"),
        ({"test_size": 0.0}, "test_size=0.0 of 120 rows"),
        ({"test_size": 500}, "test_size=500 of 120 rows"),
        ({"test_size": 0.001}, "leaves no row to test on"),
        ({"sizes": [20, 10]}, "do not ascend"),
        ({"sizes": []}, "do not ascend"),
        ({"sizes": [1, 10]}, "not all between 2"),
        ({"sizes": [10, 1000]}, "not all between 2, a row a class, and 84"),
        ({"generative": "bayes"}, "generative='bayes' is none of 'naive_bayes'"),
        ({"discriminative": Perceptron()}, "Perceptron has no predict_proba"),
        ({"X": np.full((120, 2), np.nan)}, "120 rows of X have missing values"),
        ({"X": sparse.eye(120).tocsr()}, "X is sparse"),
        ({"X": sparse.eye(120).tocsr(), "generative": GaussianNB()}, "default models standardise"),
        (
            {"X": pd.DataFrame({"a": np.ones(120), "b": ["x"] * 120})},
            "numbers .column 'a'. and levels .column 'b'.",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_cure(change, match):
    X, y = two_classes()
    with pytest.raises(InputError, match=match):
        compare(**{"X": X, "y": y, "repeats": 2, "progress": False, **change})


def test_an_unknown_score_is_refused():
    with pytest.raises(InputError, match="score='accuracy' is none of 'error', 'log_loss'"):
        made_up().mean("accuracy")
