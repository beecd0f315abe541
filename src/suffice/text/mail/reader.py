"""Messages out of files, mailboxes and folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from suffice.errors import InputError
from suffice.text.mail.broken import Broken, warn_of
from suffice.text.mail.caps import MAX_BYTES, MAX_DEPTH, MAX_PARTS, Caps
from suffice.text.mail.folder import mail_files
from suffice.text.mail.mbox import ENVELOPE, mbox_messages
from suffice.text.mail.message import Message
from suffice.text.mail.parser import message_of


def read_mail(
    path: str | os.PathLike[str],
    *,
    max_bytes: int = MAX_BYTES,
    max_parts: int = MAX_PARTS,
    max_depth: int = MAX_DEPTH,
    on_broken: Callable[[Broken], None] | None = None,
) -> Iterator[Message]:
    r"""Return the messages at a path, one at a time; files are only ever read.

    Parameters
    ----------
    path : str or path
        A message, an mbox (it begins with "From "), a Maildir, or a folder of any of these.
    max_bytes, max_parts, max_depth : int
        How much is read of a message, as in `parse_message`.
    on_broken : callable, optional
        Called with each `Broken` that is skipped; by default a warning is given for each.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1.eml").write_bytes(b"Subject: Big offer\n\nBuy now")
    ...     _ = Path(folder, "2.eml").write_bytes(b"")
    ...     skipped = []
    ...     documents = [message.text for message in read_mail(folder, on_broken=skipped.append)]
    >>> documents
    ['subject_big subject_offer\nBuy now']
    >>> skipped[0].reason
    'It is empty. A message has headers, an empty line and a body.'
    """
    caps = Caps(max_bytes, max_parts, max_depth)
    top = Path(path)
    if not top.exists():
        raise InputError(
            f"There is nothing at '{top}'. Name a message, an mbox, a Maildir or a folder of them."
        )
    return _messages(top, caps, on_broken or warn_of)


def _messages(top: Path, caps: Caps, on_broken: Callable[[Broken], None]) -> Iterator[Message]:
    for path in mail_files(top, on_broken):
        for source, raw in _raw_messages(path, caps, on_broken):
            try:
                message = message_of(raw, source, caps)
            except InputError as fault:
                on_broken(Broken(source, str(fault)))
            else:
                yield message


def _raw_messages(
    path: Path, caps: Caps, on_broken: Callable[[Broken], None]
) -> Iterator[tuple[str, bytes]]:
    try:
        with path.open("rb") as file:
            start = file.peek(len(ENVELOPE))
            if start.startswith(ENVELOPE):
                for number, raw in enumerate(mbox_messages(file, caps.max_bytes), start=1):
                    yield f"{path}#{number}", raw
            else:
                yield str(path), file.read(caps.max_bytes + 1)
    except OSError as fault:
        on_broken(Broken(str(path), f"It cannot be read ({fault.strerror})."))
