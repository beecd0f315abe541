"""Writing a file so that there is the old one or the new one, and never half of either."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO


def replace_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Write a temporary file beside `path`, which takes its place if all goes well.

    What was written is on the disk before it gets its name. A new file has the permissions of
    any new file, one that replaces another those of the other. Where `path` is a symbolic link,
    what it leads to is replaced. Whatever is raised on the way, the temporary file is removed.

    Parameters
    ----------
    path : str or PathLike
    write : callable that is given the open file

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(f"{folder}/notes.txt", lambda file: print(file.write(b"all of it")))
    ...     os.listdir(folder)
    9
    ['notes.txt']
    """
    target = os.path.realpath(path)
    mode = _mode_of(target)
    folder = os.path.dirname(target)
    # Named before there is such a file, so that nothing can come between it and its removal. (A
    # context manager would leave it to the garbage collector if interrupted at the wrong moment.)
    temporary = os.path.join(folder, f".suffice-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb+") as file:
            write(file)
            file.flush()
            if mode is not None:
                os.chmod(temporary, mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):  # there is none yet, or it has its name already
            os.unlink(temporary)
        raise
    _keep_names(folder)


def _mode_of(target: str) -> int | None:
    """Return the permissions of the file that is to be replaced, or None if there is none."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):  # renaming a file to the name of a device would remove the device
        raise OSError(errno.EINVAL, "It is there, and no regular file")
    return stat.S_IMODE(mode)


def _keep_names(folder: str) -> None:
    """Have the folder's names on the disk too, on systems that can do so."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
