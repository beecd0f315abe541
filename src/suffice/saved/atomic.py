"""Writing a file so that there is the old one or the new one, and never half of either."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a temporary file beside `path`, which takes its place if all goes well.

    What was written is on the disk before it gets its name. A new file has the permissions of
    any new file, one that replaces another those of the other. Where `path` is a symbolic link,
    what it leads to is replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replaced(f"{folder}/notes.txt") as temporary, open(temporary, "w") as file:
    ...         written = file.write("all of it")
    ...     os.listdir(folder)
    ['notes.txt']
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".suffice-{secrets.token_hex(8)}.tmp")
    mode = _mode_of_a_new(temporary)
    try:
        with suppress(FileNotFoundError):
            mode = os.stat(target).st_mode & 0o7777
        yield temporary
        with open(temporary, "rb+") as file:
            os.chmod(temporary, mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    _keep_names(folder)


def _mode_of_a_new(path: str) -> int:
    """Make an empty file, and return the permissions that it got."""
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "wb") as file:
        return os.fstat(file.fileno()).st_mode & 0o7777


def _keep_names(folder: str) -> None:
    """Have the folder's names on the disk too."""
    with suppress(PermissionError):  # of systems that do not open folders
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
