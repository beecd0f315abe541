"""What could not be read, and why."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.errors import SufficeWarning, warn_caller


@dataclass(frozen=True)
class Broken:
    """A message, file or folder that was skipped.

    Parameters
    ----------
    source : str
        Its path, with "#3" for the third message of an mbox.
    reason : str
        What is wrong with it: a sentence.

    Examples
    --------
    >>> print(Broken("spam/7.eml", "It is empty."))
    spam/7.eml: It is empty.
    """

    source: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


def warn_of(broken: Broken) -> None:
    """Warn of a message that was skipped."""
    warn_caller(
        f"{broken.source} was skipped. {broken.reason} Pass on_broken to collect what is skipped.",
        SufficeWarning,
    )
