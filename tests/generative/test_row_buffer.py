"""Rows that wait: none is lost or counted twice, whatever interrupts and whoever reads."""

import sys
import threading

import numpy as np
import pytest

from fitted_values import PassThrough, files_of
from interruptions import count_lines, interrupt_at
from suffice import GaussianNB, TextClassifier
from suffice.generative import classifier, row_buffer
from suffice.generative.row_buffer import RowBuffer

ROWS = [{"a": float(k), "b": float(k % 3)} for k in range(40)]
Y = [k % 2 for k in range(40)]
TEXTS = [f"word{k % 5} and word{k % 3}" for k in range(40)]


@pytest.fixture
def model():
    """Return a model for which ten of 20 rows wait."""
    found = GaussianNB().partial_fit(ROWS[:10], Y[:10])
    for x, y in zip(ROWS[10:20], Y[10:20], strict=True):
        found.learn_one(x, y)
    assert isinstance(vars(found)["_fitted"], RowBuffer)
    return found


@pytest.fixture
def no_blas(monkeypatch):
    """Let nothing be inside `one_blas_thread`, which must not be left half entered."""
    for module in (classifier, row_buffer):
        monkeypatch.setattr(module, "one_blas_thread", PassThrough())


def waiting(model):
    """Return how many rows wait, counted or not, and how many of them are counted."""
    buffer = vars(model)["_fitted"]
    return len(buffer._rows), buffer._counted.rows


def test_rows_wait_until_the_model_is_read(model):
    assert waiting(model) == (10, 0)
    assert model.class_count_.tolist() == [10, 10]
    assert waiting(model) == (10, 10)
    model.learn_one(ROWS[20], Y[20])
    assert waiting(model) == (11, 10)
    assert model.class_count_.tolist() == [11, 10]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ({"a": float("inf"), "b": 1.0}, 0),
        ({"a": 1.0}, 0),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, 0),
        ({"a": "one", "b": 1.0}, 0),
        ({"a": 1.0, "b": 1.0}, "zero"),
        ({"a": 1.0, "b": 1.0}, None),
        ({"a": 1.0, "b": 1.0}, [0, 1]),
    ],
)
def test_a_bad_row_is_refused_at_once_and_changes_nothing(model, x, y):
    buffer = vars(model)["_fitted"]
    with pytest.raises(ValueError, match=r"."):
        model.learn_one(x, y)
    assert vars(model)["_fitted"] is buffer
    assert waiting(model)[0] == 10
    assert model.class_count_.tolist() == [10, 10]


def test_a_new_class_is_learned_at_once_and_rows_wait_again(model):
    model.learn_one(ROWS[20], 7)
    assert model.new_classes_.tolist() == [7]
    model.learn_one(ROWS[21], 7)
    assert waiting(model) == (1, 0)
    assert model.new_classes_.tolist() == []
    assert model.class_count_.tolist() == [10, 10, 2]


def test_a_forgotten_row_does_not_stay_in_memory(model):
    model.forget_one(ROWS[19], Y[19])
    assert not isinstance(vars(model)["_fitted"], RowBuffer)


FILES = files_of("generative", "naive_bayes", "estimators", "count", "tally", "families", "data")


@pytest.mark.usefixtures("no_blas")
def test_counting_that_is_interrupted_loses_no_row_and_counts_none_twice(model):
    def read():
        vars(model)["_fitted"]._counted = counted
        return model.theta_

    counted = vars(model)["_fitted"]._counted
    expected, lines = read(), count_lines(read, FILES)
    assert lines > 100
    for at in range(1, lines + 1, 7):
        assert interrupt_at(read, FILES, KeyboardInterrupt(), at)
        assert waiting(model)[0] == 10
        assert model.class_count_.tolist() == [10, 10]
        np.testing.assert_array_equal(model.theta_, expected)


@pytest.mark.usefixtures("no_blas")
@pytest.mark.parametrize("y", [0, 7], ids=["plain", "new class"])
def test_learning_that_is_interrupted_learns_a_row_once_or_not_at_all(model, y):
    rows, at = 20, 1
    while interrupt_at(lambda: model.learn_one(ROWS[20], y), FILES, KeyboardInterrupt(), at):
        now = model.class_count_.sum()
        assert now in (rows, rows + 1)
        rows, at = now, at + (1 if y == 0 else 29)
    assert model.class_count_.sum() == rows + 1


def test_readers_see_whole_states_while_a_thread_learns():
    model = GaussianNB(var_smoothing=1.0).partial_fit([{"a": 0.0}, {"a": 1.0}], [0, 1])
    done, errors = threading.Event(), []

    def write():
        try:
            # Row k is the number k: the tally of n rows is known.
            for k in range(1, 3001):
                model.learn_one({"a": float(k)}, 0)
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    def read():
        try:
            before = 0
            while not done.is_set():
                fitted = model.tally_
                n = int(fitted.weights[0]) - 1
                mean = fitted.parts.mean()[0, 0]
                assert mean == pytest.approx(n / 2, abs=1e-9)
                assert n >= before
                before = n
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        workers = [threading.Thread(target=act) for act in (write, read, read)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    assert model.class_count_.tolist() == [3001, 1]
    assert model.theta_[0, 0] == pytest.approx(1500.0)


def asked(model):
    """Return how many rows those who ask for probabilities have had counted or added."""
    return vars(model)["_fitted"]._asked.rows


def test_a_question_after_each_row_adds_it_to_the_tally_and_counts_nothing(model):
    model.predict_proba_one(ROWS[0])
    assert waiting(model) == (10, 10)
    for at in range(20, 30):
        model.learn_one(ROWS[at], Y[at]).predict_proba_one(ROWS[0])
        assert waiting(model) == (at - 9, 10)
        assert asked(model) == at - 9
    expected = GaussianNB().fit(ROWS[:30], Y[:30])
    found = list(model.predict_proba_one(ROWS[0]).values())
    np.testing.assert_allclose(found, expected.predict_proba(ROWS[:1])[0], rtol=1e-12)
    assert waiting(model)[1] == 10
    np.testing.assert_allclose(model.theta_, expected.theta_, rtol=1e-12)
    assert waiting(model) == (20, 20)


def test_many_rows_between_questions_are_counted_together(model):
    model.predict_proba_one(ROWS[0])
    for at in range(20, 40):
        model.learn_one(ROWS[at], Y[at])
    model.predict_proba_one(ROWS[0])
    assert waiting(model) == (30, 30)


@pytest.mark.usefixtures("no_blas")
def test_a_question_that_is_interrupted_loses_no_row_and_adds_none_twice(model):
    model.predict_proba_one(ROWS[0])
    model.learn_one(ROWS[20], Y[20]).learn_one(ROWS[21], Y[21])
    buffer = vars(model)["_fitted"]
    counted, before = buffer._counted, buffer._asked

    def ask():
        buffer._counted, buffer._asked = counted, before
        return list(model.predict_proba_one({"a": 3.0, "b": None}).values())

    expected, lines = ask(), count_lines(ask, FILES)
    assert lines > 50
    for at in range(1, lines + 1, 3):
        assert interrupt_at(ask, FILES, KeyboardInterrupt(), at)
        assert waiting(model)[0] == 12
        assert list(model.predict_proba_one({"a": 3.0, "b": None}).values()) == expected
    assert model.class_count_.tolist() == [11, 11]


def test_who_asks_while_a_thread_learns_is_answered_by_some_rows_so_far():
    model = GaussianNB(var_smoothing=1.0).partial_fit([{"a": 0.0}, {"a": 1.0}], [0, 1])
    done, errors = threading.Event(), []

    def write():
        try:
            for k in range(1, 2001):
                model.learn_one({"a": float(k)}, 0)
                model.predict_proba_one({"a": None})
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    def ask():
        try:
            before = 0.0
            while not done.is_set():
                # A row without cells has the shares of the classes, n and 1 of n + 1.
                share = model.predict_proba_one({"a": None})
                rows = share[0] / share[1]
                assert rows == pytest.approx(round(rows), rel=1e-9)
                assert rows >= before * (1.0 - 1e-9)
                before = rows
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        workers = [threading.Thread(target=act) for act in (write, ask, ask)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    assert model.class_count_.tolist() == [2001, 1]
    assert model.theta_[0, 0] == pytest.approx(1000.0)


def test_a_row_that_arrives_while_others_are_counted_waits_for_the_next_reader(model):
    buffer, counted = vars(model)["_fitted"], []

    def learn(fitted, cells, codes):
        counted.append(len(cells))
        if len(counted) == 1:
            model.learn_one(ROWS[20], Y[20])
        return model._learn_waiting(fitted, cells, codes)

    assert buffer.count(learn).tally.weights.sum() == 20
    assert buffer.count(learn).tally.weights.sum() == 21
    assert counted == [10, 1]


def test_documents_wait():
    model = TextClassifier(calibrate=None).partial_fit(TEXTS[:10], Y[:10])
    for x, y in zip(TEXTS[10:], Y[10:], strict=True):
        model.learn_one(x, y)
    assert waiting(model) == (30, 0)
    assert model.class_count_.tolist() == [20, 20]
