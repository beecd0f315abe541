"""Messages as a table: each with its text, and the folder or mbox it is in, which is its label."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from suffice.errors import InputError
from suffice.sources.files import FORMATS, ending
from suffice.text.mail.reader import ENVELOPE, HEADER, Broken, read_mail

# The columns of the table.
LABEL, SOURCE, TEXT = "folder", "source", "text"
# Files that are looked at to see what a folder holds.
MAX_LOOKED_AT = 100


def is_mail(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is a message, an mbox, a Maildir or a folder of them, and no table.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1.eml").write_text("Subject: Hello")
    ...     _ = Path(folder, "2.csv").write_text("size,kind")
    ...     is_mail(f"{folder}/1.eml"), is_mail(f"{folder}/2.csv"), is_mail(folder)
    (True, False, False)
    """
    top = Path(path)
    if top.is_file():
        return _begins_like_mail(top)
    if not top.is_dir():
        return False
    seen = False
    for number, file in enumerate(one for one in top.rglob("*") if one.is_file()):
        if ending(file.name) in FORMATS:
            return False
        seen = seen or (not file.name.startswith(".") and _begins_like_mail(file))
        if seen and number >= MAX_LOOKED_AT:
            break
    return seen


def _begins_like_mail(file: Path) -> bool:
    if ending(file.name) in FORMATS:
        return False
    try:
        with file.open("rb") as opened:
            start = opened.read(1000)
    except OSError:
        return False
    return start.startswith(ENVELOPE) or HEADER.match(start) is not None


def mail_table(
    path: str | os.PathLike[str], *, on_broken: Callable[[Broken], None] | None = None
) -> Any:
    r"""Return the messages at a path as a pyarrow.Table with columns `folder`, `source`, `text`.

    The folder of a message, which is its label, is the entry of `path` that it is in: the name of
    a folder (a Maildir, or one of files), or that of an mbox without its ending. Messages that are
    in `path` itself have the name of `path`.

    Parameters
    ----------
    path : a folder of folders or mboxes by label; or one Maildir, mbox, folder or message
    on_broken : as in `read_mail`

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for label, word in (("spam", "Offer"), ("ham", "Lunch")):
    ...         Path(folder, label).mkdir()
    ...         _ = Path(folder, label, "1.eml").write_text(f"Subject: {word}")
    ...     mail_table(folder).select(["folder", "text"]).to_pylist()
    [{'folder': 'ham', 'text': 'subject_lunch\n'}, {'folder': 'spam', 'text': 'subject_offer\n'}]
    """
    import pyarrow as pa

    top = Path(path)
    cells: dict[str, list[str]] = {LABEL: [], SOURCE: [], TEXT: []}
    for part in _parts(top):
        label = part.stem if part.is_file() and part.suffix == ".mbox" else part.name
        for message in read_mail(part, on_broken=on_broken):
            cells[LABEL].append(label)
            cells[SOURCE].append(message.source)
            cells[TEXT].append(message.text)
    if not cells[TEXT]:
        raise InputError(
            f"There is no message at '{top}'. Name a message, an mbox, a Maildir, or a folder with "
            "a sub-folder for each label."
        )
    return pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()})


def _parts(top: Path) -> list[Path]:
    """Return what has a label of its own: folders and mboxes in a folder, or the path itself."""
    if not top.is_dir() or (top / "cur").is_dir():
        return [top]
    inside = sorted(one for one in top.iterdir() if not one.name.startswith("."))
    if all(one.is_dir() or one.suffix == ".mbox" for one in inside):
        return inside
    return [top]
