"""What is missing of a tally when rows that were never learned are forgotten, by hand."""

import numpy as np
import pytest

import reference
from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns
from suffice.tally.debt import (
    Shortfall,
    describe_shortfall,
    gross_scale,
    largest_shortfall,
    scale_of_sum,
    select_classes,
    shortfalls,
)
from suffice.tally.held_out import training_tallies, with_weight_of

NAN = np.nan


def missing_most(whole, part):
    return largest_shortfall(whole, part, gross_scale(None, whole, part))


def of_one_class(build, X):
    return reference.stacked([build(np.array(X, dtype=float))])


def test_nothing_is_missing_of_rows_that_were_learned():
    X = [[0.0, 1.0], [2.0, NAN], [1.0, 3.0]]
    for build in (reference.moments, reference.patterns, reference.events):
        assert missing_most(of_one_class(build, X), of_one_class(build, X[1:])) is None


def test_a_class_of_too_few_rows_is_named_before_all_else():
    whole = Groups(["a", "b"], [2.0, 9.0], Counts([[2, 0], [9, 0]]))
    part = Groups(["a", "b"], [3.0, 1.0], Counts([[3, 0], [0, 1]]))
    found = missing_most(whole, part)
    assert (found.kind, found.at, found.held, found.taken) == ("rows", (0,), 2.0, 3.0)


def test_a_class_that_was_never_learned_has_no_rows():
    whole = Groups(["b"], [9.0], Counts([[9, 0]]))
    part = Groups(["a"], [1.0], Counts([[1, 0]]))
    found = missing_most(whole, part)
    assert (found.kind, found.at, found.held, found.taken) == ("rows", (0,), 0.0, 1.0)


def test_a_level_that_was_counted_less_often_is_missing():
    found = missing_most(Counts([[7, 1]]), Counts([[1, 2, 0]]))
    assert (found.kind, found.at, found.held, found.taken) == ("times", (0, 1), 1.0, 2.0)


def test_events_are_missing_by_their_number_or_by_their_rows():
    whole = of_one_class(reference.events, [[1], [2], [3]])
    found = missing_most(whole, of_one_class(reference.events, [[9]]))
    assert (found.kind, found.at, found.held, found.taken) == ("times", (0, 0), 6.0, 9.0)
    found = missing_most(Events([[1.0]], [[9.0]], [[0.0]]), Events([[2.0]], [[3.0]], [[0.0]]))
    assert (found.kind, found.at, found.held, found.taken) == ("seen", (0, 0), 1.0, 2.0)


@pytest.mark.parametrize("build", [reference.moments, reference.full_moments, reference.quartics])
def test_a_sum_of_squares_below_nothing_is_missing(build):
    """Without 5, of 0, 1 and 2 two rows are left: they sum to -2, and their squares to -20."""
    found = missing_most(of_one_class(build, [[0], [1], [2]]), of_one_class(build, [[5]]))
    assert (found.kind, found.at, found.taken) == ("squares", (0, 0), 0.0)
    assert found.held == pytest.approx(-20 - (-2) ** 2 / 2)


def test_rows_of_a_missing_value_pattern_are_missing_by_their_pattern():
    whole = of_one_class(reference.patterns, [[0, 1], [2, 3], [1, 1]])
    found = missing_most(whole, of_one_class(reference.patterns, [[NAN, 1]]))
    assert (found.kind, found.path, found.held, found.taken) == ("pattern", (0,), 0.0, 1.0)


def test_squares_of_a_pattern_are_missing_in_the_column_of_the_whole_row():
    whole = of_one_class(reference.patterns, [[NAN, 0], [NAN, 1], [NAN, 2], [9, 9]])
    found = missing_most(whole, of_one_class(reference.patterns, [[NAN, 5]]))
    assert (found.kind, found.at) == ("squares", (0, 1))
    assert found.held == pytest.approx(-22)


def test_the_path_leads_to_the_block():
    whole, part = Counts([[3, 3]]), Counts([[1, 4]])
    found = missing_most(Blocks((whole, whole)), Blocks((whole, part)))
    assert (found.path, found.at) == ((1,), (0, 1))


def test_what_is_no_tally_is_missing_nothing_that_could_be_named():
    with pytest.raises(TypeError, match="A list is no tally of rows"):
        shortfalls([], [], [])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rows", "Class 'ham' has 1 rows, and 2 are to be forgotten: those rows"),
        ("pattern", "There are 1 rows without 'age' in class 'ham', and 2 are to be forgotten"),
        ("seen", "Column 'age' was seen in 1 rows in class 'ham', and 2 are to be forgotten"),
        ("times", "Column 'age' was counted 1 times in class 'ham', and 2 are to be forgotten"),
        ("squares", "Column 'age' would be left with a sum of squares of 1 in class 'ham': those"),
    ],
)
def test_a_shortfall_is_described_by_what_is_missing(kind, text):
    found = Shortfall(kind, (), (0, 0), 1.0, 2.0, 0.5)
    words = describe_shortfall(found, "column 'age'", "ham", "without 'age'")
    assert words.startswith(text)
    assert words.endswith("nothing was changed.")


def test_without_classes_no_class_is_named():
    words = describe_shortfall(Shortfall("seen", (), (0,), 1.0, 2.0, 0.5), "column 'age'")
    assert words.startswith("Column 'age' was seen in 1 rows, and 2")


def test_the_scale_of_a_sum_is_that_of_parts_about_origins_far_away():
    far = Moments([1.0], [0.0], [1e6], [1e12])
    near = Moments([1.0], [1e6], [0.0], [0.0])
    total = near + far
    assert scale_of_sum(None, total, near) is None
    gross = scale_of_sum(None, total, near, far)
    assert gross.sum_xx.tolist() == [2.0**40]  # the power of two above 1e12
    larger = Moments([1.0], [0.0], [4e6], [16e12])
    assert scale_of_sum(gross, total, larger).sum_xx.tolist() == [2.0**44]


def test_the_gross_scale_of_some_classes_has_no_others():
    gross = Groups(["a", "b"], [4.0, 8.0], Counts([[4, 0], [8, 8]]))
    assert select_classes(gross, np.array(["a", "b"])) is gross
    some = select_classes(gross, np.array(["b", "c"]))
    assert some.classes.tolist() == ["b"]
    assert some["b"] == Counts([8, 8])


def test_training_rows_of_patterns_are_as_heavy_as_all_rows_and_have_their_own_means():
    whole = of_one_class(reference.patterns, [[0, 1], [2, 3], [1, NAN], [5, 5]])
    part = of_one_class(reference.patterns, [[0, 1], [1, NAN]])
    scaled = with_weight_of(part, whole)
    assert isinstance(scaled, Patterns)
    assert sum(float(one.weight[0]) for one in scaled.parts.values()) == 4.0
    for pattern, one in scaled.parts.items():
        np.testing.assert_allclose(one.mean(), part.parts[pattern].mean())
        np.testing.assert_allclose(one.weight, 2 * part.parts[pattern].weight)


def test_training_moments_are_as_heavy_as_all_rows_in_every_column():
    whole = of_one_class(reference.moments, [[0, 1], [2, NAN], [4, 5]])
    part = of_one_class(reference.moments, [[0, 1], [2, NAN]])
    scaled = with_weight_of(part, whole)
    np.testing.assert_array_equal(scaled.weight, whole.weight)
    np.testing.assert_allclose(scaled.mean(), part.mean())
    np.testing.assert_allclose(scaled.variance(), part.variance())


def test_training_moments_of_some_folds_are_those_of_the_other_rows():
    """One class, two folds; the folds are a part of all rows, so they are subtracted."""
    X = np.array([[0.1, 1.0], [2.0, 3.0], [4.0, 8.0]])
    whole = of_one_class(reference.moments, X)
    folds = reference.stacked([reference.moments(X[:1]), reference.moments(X[1:2])])
    found = training_tallies(folds, whole, 2, complete=False)
    due = reference.stacked([reference.moments(X[1:]), reference.moments(X[[0, 2]])])
    assert found.allclose(due)


def test_of_rows_that_are_all_held_out_not_even_rounding_is_left():
    X = np.array([[0.1], [0.2], [0.7]])
    whole = of_one_class(reference.moments, X)
    folds = reference.stacked([reference.moments(X[::-1])])
    found = training_tallies(folds, whole, 1, complete=False)
    assert [found.weight.item(), found.sum_x.item(), found.sum_xx.item()] == [0.0, 0.0, 0.0]
