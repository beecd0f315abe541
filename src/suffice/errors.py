"""What can go wrong, and what we warn of: the fact with the value, then the cure."""

import re
import sys
import warnings
from types import FrameType

# What stands between a scheme and a host in an address may be a password.
CREDENTIALS = re.compile(r"//\S*@|(password|pwd|token|secret)\s*=\s*\S+", re.IGNORECASE)


class SufficeError(Exception):
    """The parent of every error this package raises on purpose."""


class DebtError(SufficeError, ValueError):
    """More was to be subtracted from a tally than it holds; nothing was changed."""


class ShapeError(SufficeError, ValueError):
    """Arrays, tallies or priors that do not fit together."""


class InputError(SufficeError, ValueError):
    """Rows, labels or weights that cannot be learned from; nothing was changed."""


class PriorError(SufficeError, ValueError):
    """A prior that has no such density, mode or evidence."""


class CovarianceError(SufficeError, ValueError):
    """A matrix that is no covariance, or a covariance that has no such density."""


class MergeError(SufficeError, ValueError):
    """Two models that did not learn the same kind of tally."""


class ModelFileError(SufficeError, ValueError):
    """A file that holds no model, or not all of it; or a model that no file can hold."""


class SourceError(SufficeError, ValueError):
    """Rows that could not be read from a file or a database; nothing was changed."""


class SaveError(SufficeError, OSError):
    """A file that the system did not let us write; what was there before is as it was.

    `errno` and `filename` are the system's, as in any OSError.
    """

    def __str__(self) -> str:
        return str(self.strerror)


class MissingPackageError(SufficeError, ImportError):
    """A package that only this call needs is not installed; the text names it."""


class SufficeWarning(UserWarning):
    """The parent of every warning this package gives on purpose."""


class PrecisionWarning(SufficeWarning):
    """Digits were lost; the text says how many and how to get them back."""


class OneClassWarning(SufficeWarning):
    """A classifier that has seen one class only answers it always."""


class MissingRowsWarning(SufficeWarning):
    """Incomplete rows that a regression left out; the text says how many."""


class ImpossibleRowWarning(SufficeWarning):
    """A row that no class can have produced; its answer is the class prior."""


class StaleCalibrationWarning(SufficeWarning):
    """Probabilities are calibrated on rows that are no longer all that was learned."""


class ConvergenceWarning(SufficeWarning):
    """An iteration stopped at its limit; the text says how far it was."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line, outside this package, from which the package was called."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("suffice."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def without_credentials(text: object) -> str:
    """Return a text, an address or an error of a driver, without what may be a password in it.

    >>> without_credentials("cannot connect to postgresql://ada:secret@host/db password=secret")
    'cannot connect to postgresql://host/db '
    """
    return CREDENTIALS.sub(lambda found: "//" if found[0].startswith("//") else "", str(text))
