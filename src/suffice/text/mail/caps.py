"""How much of a message is read."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.errors import InputError

MAX_BYTES = 1_000_000
MAX_PARTS = 200
# Forwarded twice, text and pictures come to a depth of 9 or so.
MAX_DEPTH = 12
# The standard library's parser opens parts within parts by recursion, and holds each line against
# the boundaries of all parts it is in.
DEEPEST = 50
# The longest line that mail may have is 998; names of files, and encoded words, run over lines.
# Time to read the parameters of a header grows with the square of its length.
MAX_HEADER = 2_000
# Addresses of pages that are longer serve to track; the host stands at their beginning.
MAX_LINK = 2_000


@dataclass(frozen=True)
class Caps:
    """The largest size, number of parts and depth of nesting that are read of one message.

    Examples
    --------
    >>> Caps(max_bytes=0)
    Traceback (most recent call last):
        ...
    suffice.errors.InputError: max_bytes is 0. Give a whole number of 1 or more.
    """

    max_bytes: int = MAX_BYTES
    max_parts: int = MAX_PARTS
    max_depth: int = MAX_DEPTH

    def __post_init__(self) -> None:
        for name, cap in vars(self).items():
            if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1:
                raise InputError(f"{name} is {cap!r}. Give a whole number of 1 or more.")
        if self.max_depth > DEEPEST:
            raise InputError(
                f"max_depth is {self.max_depth}. Give {DEEPEST} or less: no mail nests deeper."
            )
