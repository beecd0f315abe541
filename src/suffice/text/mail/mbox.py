"""The messages of an mbox, one at a time.

Not by the standard library's `mailbox.mbox`: it opens the file for writing, and reads all of it
to find where messages begin before it returns the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

# What an mbox begins with, and each message in it.
ENVELOPE = b"From "
ESCAPED = re.compile(rb">+From ")
HEADER = re.compile(rb"(?:[!-9;-~]+[ \t]*:|>From )")
# Longer lines are read in pieces, so that no line fills the memory.
LONGEST_PIECE = 1 << 16


def mbox_messages(file: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    r"""Yield each message of an mbox, at most `max_bytes` + 1 of its bytes.

    A message begins at a line "From ..." that comes first or after an empty line, and before
    a header. Where a body has such a line, mail programs write ">From ...".

    Examples
    --------
    >>> from io import BytesIO
    >>> file = BytesIO(b"From a\nTo: b\n\nHi.\n>From me.\n\nFrom c\nTo: d\n\nFrom\n")
    >>> list(mbox_messages(file, 100))
    [b'To: b\n\nHi.\nFrom me.\n\n', b'To: d\n\nFrom\n']
    """
    message = bytearray()
    # A line that may begin a message: the next line tells.
    envelope = b""
    begins_line = after_empty_line = True
    while piece := file.readline(LONGEST_PIECE):
        is_start, begins_line = begins_line, piece.endswith(b"\n")
        if envelope:
            if is_start and HEADER.match(piece):
                if message:
                    yield bytes(message)
                message.clear()
            else:
                _keep(message, envelope, max_bytes)
            envelope = b""
        if is_start and after_empty_line and piece.startswith(ENVELOPE):
            envelope, after_empty_line = piece, False
            continue
        after_empty_line = is_start and piece in (b"\n", b"\r\n")
        _keep(message, piece[1:] if is_start and ESCAPED.match(piece) else piece, max_bytes)
    _keep(message, envelope, max_bytes)
    if message:
        yield bytes(message)


def _keep(message: bytearray, piece: bytes, max_bytes: int) -> None:
    message += piece[: max_bytes + 1 - len(message)]
