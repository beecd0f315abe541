"""All or nothing: an estimator is never left half changed."""

from __future__ import annotations

from typing import Any


class all_or_nothing:  # noqa: N801 - it reads as the statement that it is
    """Put every attribute back as it was if anything goes wrong.

    A class and no generator: a generator that an interruption leaves behind would put the
    attributes back whenever it is collected, long after others have been learned.

    Examples
    --------
    >>> class Words:
    ...     pass
    >>> words = Words()
    >>> words.terms = ["ham", "spam"]
    >>> try:
    ...     with all_or_nothing(words):
    ...         words.terms = []
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     words.terms
    ['ham', 'spam']
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def __enter__(self) -> None:
        self._before = dict(self._estimator.__dict__)

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None:
            # In one step: another thread finds the one state or the other.
            self._estimator.__dict__ = self._before
