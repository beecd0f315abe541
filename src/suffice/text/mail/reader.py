"""Messages out of files, mboxes, Maildirs and folders."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.text.mail.message import MAX_BYTES, MAX_DEPTH, MAX_PARTS, Caps, Message, message_of


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


def warn_skipped(broken: Broken) -> None:
    """Warn of a message that was skipped."""
    warn_caller(
        f"{broken.source} was skipped. {broken.reason} Pass on_broken to collect what is skipped.",
        SufficeWarning,
    )


def mail_files(top: Path, on_broken: Callable[[Broken], None]) -> Iterator[Path]:
    """Yield a file itself, or the files in a folder and the folders in it.

    Links in a folder are not followed: they may lead out of it, or round in circles.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("b.eml", "a.eml", ".index"):
    ...         _ = Path(folder, name).write_text("Subject: Hello")
    ...     [file.name for file in mail_files(Path(folder), print)]
    ['a.eml', 'b.eml']
    """
    waiting = [top]
    while waiting:
        path = waiting.pop()
        try:
            if path is not top and path.is_symlink():
                on_broken(Broken(str(path), "It is a symbolic link. Name its target to read it."))
            elif path.is_dir():
                waiting.extend(reversed(_entries(path)))
            elif path.is_file():
                yield path
            else:
                on_broken(Broken(str(path), "It is neither a file nor a folder."))
        except OSError as error:
            on_broken(Broken(str(path), f"It cannot be read ({error.strerror})."))


def _entries(folder: Path) -> list[Path]:
    """Return what to read in a folder: of a Maildir what was delivered, else all but hidden."""
    maildir = [folder / "cur", folder / "new"]
    if all(part.is_dir() for part in maildir):
        return maildir
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


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
    # A line that may begin a message: the next line decides.
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
                _append(message, envelope, max_bytes)
            envelope = b""
        if is_start and after_empty_line and piece.startswith(ENVELOPE):
            envelope, after_empty_line = piece, False
            continue
        after_empty_line = is_start and piece in (b"\n", b"\r\n")
        _append(message, piece[1:] if is_start and ESCAPED.match(piece) else piece, max_bytes)
    _append(message, envelope, max_bytes)
    if message:
        yield bytes(message)


def _append(message: bytearray, piece: bytes, max_bytes: int) -> None:
    message += piece[: max_bytes + 1 - len(message)]


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
    return _messages(top, caps, on_broken or warn_skipped)


def _messages(top: Path, caps: Caps, on_broken: Callable[[Broken], None]) -> Iterator[Message]:
    for path in mail_files(top, on_broken):
        for source, raw in _raw_messages(path, caps, on_broken):
            try:
                message = message_of(raw, source, caps)
            except InputError as error:
                on_broken(Broken(source, str(error)))
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
    except OSError as error:
        on_broken(Broken(str(path), f"It cannot be read ({error.strerror})."))
