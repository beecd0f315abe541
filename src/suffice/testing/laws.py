"""How a law is stated and tested, and what is said when it does not hold."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import kolmogorov, softmax

from suffice.errors import SufficeError

Floats = NDArray[np.float64]
# An average of draws that is further from what is due than so many standard errors is wrong: of
# averages that are right, one in two million is.
STANDARD_ERRORS = 5.0
# The probability that a Kolmogorov-Smirnov test takes right draws for wrong ones.
FALSE_ALARM = 1e-6
# Nodes of Gauss and Legendre between two quantiles.
NODES = 48


@dataclass(frozen=True)
class Laws:
    """What is checked, and with which random numbers.

    Parameters
    ----------
    subject : str
        The name of the class.
    seed, size : int

    Examples
    --------
    >>> Laws("Heap", seed=0, size=3).hold("zero", False, "a + zero is not a.")
    Traceback (most recent call last):
        ...
    AssertionError: Heap breaks the law of zero: a + zero is not a. (seed=0, size=3)
    """

    subject: str
    seed: int
    size: int

    def hold(self, law: str, holds: Any, sentence: str) -> None:
        """Raise an AssertionError that names the law unless it holds."""
        if not holds:
            raise AssertionError(self._sentence(law, sentence))

    def _sentence(self, law: str, sentence: str) -> str:
        sentence = f"{self.subject} breaks the law of {law}: {sentence}"
        return f"{sentence} (seed={self.seed}, size={self.size})"

    def equal(
        self,
        law: str,
        found: ArrayLike,
        due: ArrayLike,
        sentence: str,
        relative: float = 1e-8,
        absolute: float = 1e-8,
    ) -> None:
        """Compare numbers (...), and name the first that differ."""
        a, b = (np.asarray(part, dtype=np.float64) for part in (found, due))
        shapes = f"{sentence} The shapes are {a.shape} and {b.shape}."
        self.hold(law, a.shape == b.shape, shapes)
        near = np.isclose(a, b, rtol=relative, atol=absolute, equal_nan=False)
        if not np.all(near):
            at = tuple(int(i) for i in np.argwhere(~near)[0])
            place = f" at {list(at)}" if at else ""
            self.hold(law, False, f"{sentence} It is {a[at]:.10g} and not {b[at]:.10g}{place}.")

    def average(self, law: str, terms: Floats, due: float, sentence: str) -> None:
        """Compare the average of draws (n,) with what is due, by its standard error."""
        error = float(terms.std() / np.sqrt(len(terms)))
        found = float(terms.mean())
        near = abs(found - due) <= STANDARD_ERRORS * error + 1e-9 * max(abs(due), 1.0)
        sentence = f"{sentence} It is {found:.6g} and not {due:.6g}, with a standard error of"
        self.hold(law, near, f"{sentence} {error:.2g}.")

    def distributed(
        self, law: str, drawn: Floats, points: Floats, chances: Floats, sentence: str
    ) -> None:
        """Compare draws (n,) with probabilities at increasing points (m,): Kolmogorov-Smirnov."""
        total = np.cumsum(chances)
        # The probability of a point is half below it; its size is what the sum does not resolve.
        at = np.interp(np.sort(drawn), points, total - chances / 2)
        ranks = (np.arange(len(drawn)) + 0.5) / len(drawn)
        distance = float(np.abs(at - ranks).max())
        slack = float(chances.max()) + 0.5 / len(drawn)
        p_value = float(kolmogorov(np.sqrt(len(drawn)) * max(distance - slack, 0.0)))
        sentence = f"{sentence} The Kolmogorov-Smirnov distance of {len(drawn)} draws is"
        self.hold(law, p_value > FALSE_ALARM, f"{sentence} {distance:.3g}.")

    def frequencies(self, law: str, times: Floats, chances: Floats, sentence: str) -> None:
        """Compare how often values were drawn, (m,), with their probabilities, (m,)."""
        draws = float(times.sum())
        share = chances / chances.sum()
        errors = np.sqrt(draws * share * (1 - share))
        # Three draws more are no wonder where none is expected.
        odd = np.abs(times - draws * share) > STANDARD_ERRORS * errors + 3.0
        if np.any(odd):
            at = int(np.argmax(odd))
            sentence = f"{sentence} Value number {at} came {times[at]:g} times in {draws:g} draws,"
            self.hold(law, False, f"{sentence} and its probability is {share[at]:.4g}.")

    def refuse(
        self, law: str, error: type[Exception], act: Callable[[], Any], sentence: str
    ) -> None:
        """Expect an error of some kind, and no other."""
        try:
            act()
        except error:
            return
        except Exception as other:
            sentence = f"{sentence} It raises {type(other).__name__} and not {error.__name__}."
            raise AssertionError(self._sentence(law, sentence)) from other
        self.hold(law, False, sentence)

    @contextmanager
    def named(self, law: str) -> Iterator[None]:
        """Give an error that breaks off what should be possible the name of a law."""
        try:
            yield
        except SufficeError as error:
            sentence = f"it raises {type(error).__name__}: {error}"
            raise AssertionError(self._sentence(law, sentence)) from error

    def pickle(self, value: Any) -> Any:
        """Return a value that was pickled and unpickled."""
        try:
            return pickle.loads(pickle.dumps(value))  # noqa: S301
        except Exception as error:
            sentence = f"it cannot be pickled: {error}."
            raise AssertionError(self._sentence("pickling", sentence)) from error

    def immutable(self, value: Any) -> None:
        """Check that no array or field of a value can be changed, copies and pickles included."""
        copies = [value, self.pickle(value), copy.deepcopy(value)]
        for one in copies:
            for array in arrays_of(one):
                sentence = f"an array of shape {array.shape} can be written to."
                self.hold("immutability", not array.flags.writeable, sentence)
            for name in vars(one):
                sentence = f"the field {name!r} can be set."
                self.refuse(
                    "immutability",
                    AttributeError,
                    lambda one=one, name=name: setattr(one, name, None),  # type: ignore[misc]
                    sentence,
                )
        self.hold("pickling", copies[1] == value, "a pickle is not the same value.")
        self.hold("pickling", copies[2] == value, "a copy is not the same value.")


def arrays_of(value: Any) -> Iterator[NDArray[Any]]:
    """Yield every array that a value holds, however deep.

    Examples
    --------
    >>> [array.shape for array in arrays_of({"a": (np.zeros(2), [np.zeros((1, 3))])})]
    [(2,), (1, 3)]
    """
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from arrays_of(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from arrays_of(inner)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        for inner in vars(value).values():
            yield from arrays_of(inner)


def line_points(drawn: ArrayLike, reach: float = 36.0, points: int = 4001) -> tuple[Floats, Floats]:
    """Return points all over the line, denser where draws (n,) are, and their weights, (m,).

    They are x = a + b sinh(t) at equal steps of t: tails as heavy as those of Cauchy's distribution
    lose nothing.

    Examples
    --------
    >>> points, weights = line_points([-1.0, 0.0, 1.0])
    >>> round(float(weights @ (1 / (np.pi * (1 + points**2)))), 9)
    1.0
    """
    low, centre, high = np.quantile(np.asarray(drawn, dtype=np.float64), [0.25, 0.5, 0.75])
    scale = (high - low) / 2 or 1.0
    t = np.linspace(-reach, reach, points)
    return centre + scale * np.sinh(t), scale * np.cosh(t) * (t[1] - t[0])


def panel_points(breaks: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    """Return the points of Gauss and Legendre between each two breaks, and their weights, (m,).

    Examples
    --------
    >>> points, weights = panel_points([0.0, 0.5, 2.0])
    >>> round(float(weights @ points**2), 9)  # 8 / 3
    2.666666667
    """
    edges = np.unique(np.asarray(breaks, dtype=np.float64))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half, middle = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
    return np.ravel(middle + half * nodes), np.ravel(half * weights)


def check_calibration(laws: Laws, scores: Floats, codes: NDArray[Any]) -> None:
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
