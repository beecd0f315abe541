"""Model files that change: one writer at a time, the previous file kept whole, undone once."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

from suffice.errors import InputError, SaveError
from suffice.persist.file_format import replace_file
from suffice.persist.loading import describe, load
from suffice.persist.saving import write_model

# What is added to the name of a model file to name its copy from before the last change.
PREVIOUS = ".previous"
# Seconds that a writer waits for another, and between two looks.
WAIT, PAUSE = 30.0, 0.02
# Between where the first rows came from, and the last, in the record of a file.
THEN = "; last from "

WINDOWS = os.name == "nt"
Path = str | os.PathLike[str]


def previous_path(path: Path) -> str:
    """Return where the file from before the last change is kept."""
    return os.path.realpath(path) + PREVIOUS


def change_model(
    path: Path, change: Any, *, source: str | None = None, final: bool = False, wait: float = WAIT
) -> Any:
    """Load a model, let `change` change it, and save it in its place; return it.

    There is the old file or the whole new one at any time. No second writer comes between: it
    waits, and changes what the first has saved. If `change` raises, nothing is changed.

    Parameters
    ----------
    path : of the model file
    change : function of the model, whose result, if it has one, is saved in its place
    source : where its new rows come from, for the record
    final : whether what is there now must not come back
        The file from before is then deleted, with what an earlier change has kept. Otherwise it is
        kept beside the new one, for `undo`.
    wait : seconds to wait for another writer

    Examples
    --------
    >>> import tempfile
    >>> from suffice import GaussianNB
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/model.suffice"
    ...     GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(path)
    ...     model = change_model(path, lambda model: model.partial_fit([[3.0]], ["b"]))
    ...     undo(path)
    ...     load(path).class_count_.tolist()
    [1.0, 1.0]
    """
    target = os.path.realpath(path)
    with locked(target, wait):
        record, model = describe(target), load(target)
        found = change(model)
        model = model if found is None else found
        first = (record.source or "").split(THEN)[0]
        told = source if not first else first if source is None else f"{first}{THEN}{source}"
        kept = previous_path(target)
        if final:
            with suppress(FileNotFoundError):
                os.unlink(kept)
        else:
            _copy(target, kept)
        save_model(model, target, source=told, columns=record.columns, rows=record.keeps_rows)
    return model


def save_model(
    model: Any,
    path: Path,
    *,
    source: str | None = None,
    columns: Mapping[str, str] | None = None,
    rows: bool = False,
) -> None:
    """Save a model with the names of the columns that it learned from, for those who go on with it.

    Parameters
    ----------
    model : that was fitted
    path, source, rows : as in `model.save`
    columns : mapping from "target", "weight" and "text" to names of columns, optional
    """
    state = model._saved_state()
    if rows:
        state["rows"] = model._rows_to_save(model._fitted)
    write_model(model, path, state, source=source, when=None, columns=columns)


def undo(path: Path, *, wait: float = WAIT) -> None:
    """Put the file from before the last change back, byte for byte. This can be done once.

    Parameters
    ----------
    path : of the model file
    wait : seconds to wait for another writer
    """
    os.stat(path)  # a name that is not there is reported as it was given
    target = os.path.realpath(path)
    with locked(target, wait):
        try:
            os.replace(previous_path(target), target)
        except FileNotFoundError:
            raise InputError(
                f"There is nothing to undo for {os.fspath(path)!r}. 'update' and 'merge' keep the "
                "file from before for one undo; 'forget' is final and deletes it."
            ) from None


def _copy(path: str, to: str) -> None:
    """Copy a file, so that all of it is there under the new name, or nothing."""

    def fill(file: Any) -> None:
        with open(path, "rb") as source:
            shutil.copyfileobj(source, file)

    try:
        replace_file(to, fill)
    except OSError as error:
        text = f"Cannot keep a copy of {path!r}: {error.strerror}; nothing was changed. Make room."
        raise SaveError(error.errno, text, to) from error
    shutil.copymode(path, to)


# One writer at a time.


@contextmanager
def locked(path: str, wait: float = WAIT) -> Iterator[None]:
    """Keep other writers out of a file that is replaced, as long as this goes on.

    The lock is on the file itself and ends with the process, however that ends. A writer that has
    waited may hold the lock of a file that was replaced meanwhile, and then asks again.
    """
    end = time.monotonic() + wait
    while True:
        # Held until the lock is given back. Windows does not replace a file that is open.
        file = open(f"{path}.lock", "ab") if WINDOWS else open(path, "rb")  # noqa: SIM115
        try:
            if _try_lock(file):
                if WINDOWS or _is_still(path, file):
                    yield
                    return
                continue
        finally:
            file.close()
        if time.monotonic() > end:
            raise SaveError(
                None,
                f"Another process is changing {path!r}. Wait until it is done, and run this again; "
                "nothing was changed.",
                path,
            )
        time.sleep(PAUSE)


def _is_still(path: str, file: IO[bytes]) -> bool:
    """Say whether an open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed, if no other process has."""
    try:
        if WINDOWS:
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True
