"""Whether draws of classes agree with the scores of the classes."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from suffice.testing.laws import Floats, Laws

# Rows that are drawn of each class.
DRAWS = 2000


def check_calibration(laws: Laws, scores: Floats, codes: Floats) -> None:
    """Compare the classes that rows were drawn of, (n,), with their probabilities by scores (n, C).

    Of rows drawn of all classes alike, the probability of a class is on average its share, among
    rows of any one score too.

    Examples
    --------
    >>> codes = np.arange(2000) % 2
    >>> check_calibration(Laws("Coin", 0, 0), np.zeros((2000, 2)), codes)
    """
    sentence = "a row that a class was drawn of has no probability in it."
    own = scores[np.arange(len(codes)), codes.astype(np.intp)]
    laws.hold("sampling", np.all(own > -np.inf), sentence)
    chances = softmax(scores, axis=1)
    for number in range(scores.shape[1]):
        away = (codes == number) - chances[:, number]
        sentence = f"of rows drawn of all classes alike, class {number} has another share than"
        laws.average("sampling", away, 0.0, f"{sentence} its probability.")
        laws.average("sampling", away * chances[:, number], 0.0, f"{sentence} its probability.")
