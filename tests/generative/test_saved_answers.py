"""Held-out answers of a file: those of earlier versions load, impossible ones are refused."""

import numpy as np
import pytest

from suffice import ModelFileError
from suffice.generative.persistence import answers_of

CLASSES = np.array(["a", "b"])
LOG_PROBA = np.log([[0.9, 0.1], [0.2, 0.8]])
SAVED = (LOG_PROBA, np.array([0, 1]), np.ones(2))


def test_answers_without_those_before_calibration_load():
    assert answers_of(SAVED, CLASSES).uncalibrated is None


def test_answers_from_before_calibration_load():
    np.testing.assert_array_equal(answers_of((*SAVED, LOG_PROBA), CLASSES).uncalibrated, LOG_PROBA)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (LOG_PROBA[:1], "have the shape"),
        (np.zeros((2, 3)), "have the shape"),
        (np.full((2, 2), 0.5), "above 1"),
        (np.full((2, 2), np.nan), "NaN"),
        ("none", "not an array of numbers"),
    ],
)
def test_impossible_answers_from_before_calibration_are_refused(before, message):
    with pytest.raises(ModelFileError, match=message):
        answers_of((*SAVED, before), CLASSES)


def test_answers_of_other_parts_are_refused():
    with pytest.raises(ModelFileError, match="not probabilities, labels and weights"):
        answers_of((*SAVED, LOG_PROBA, LOG_PROBA), CLASSES)
