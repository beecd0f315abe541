"""The files of mail in a folder, in the order of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from suffice.text.mail.broken import Broken


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
                waiting.extend(reversed(_inside(path)))
            elif path.is_file():
                yield path
            else:
                on_broken(Broken(str(path), "It is neither a file nor a folder."))
        except OSError as fault:
            on_broken(Broken(str(path), f"It cannot be read ({fault.strerror})."))


def _inside(folder: Path) -> list[Path]:
    """Return what to read in a folder: of a Maildir what was delivered, else all but hidden."""
    maildir = [folder / "cur", folder / "new"]
    if all(part.is_dir() for part in maildir):
        return maildir
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
