"""What a class has to say to be saved: the names of what it learned."""

from __future__ import annotations

import errno
import os
from datetime import datetime
from typing import Any, ClassVar

import suffice
from suffice.errors import ModelFileError, SaveError
from suffice.persist.container import write
from suffice.persist.encoder import Encoder
from suffice.persist.provenance import FORMAT_VERSION, provenance_node
from suffice.persist.refusal import refuse
from suffice.persist.strict_json import plain_json
from suffice.threads import one_blas_thread

# What helps against what the system says when a file cannot be written.
ELSEWHERE = "save it elsewhere"
ROOM = f"make room there or {ELSEWHERE}"
PERMISSION = "save it to a folder that you may write to"
CURES = {
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EFBIG: f"raise the limit on the size of files (ulimit -f) or {ELSEWHERE}",
    errno.EACCES: PERMISSION,
    errno.EPERM: PERMISSION,
    errno.EROFS: PERMISSION,
}


class Savable:
    """A model that can be written to a file: `save`, and `suffice.load` to have it back.

    A public class of this library takes part by naming in `_saved` the attributes that hold what
    it learned, the one that no fitted model lacks first; they are saved where they are there,
    beside the parameters. Attributes may be numbers, text, arrays, lists, tuples, dicts, tallies,
    priors, calibrations and other models. That is all, unless attributes are better computed from
    others than saved: then `_restore` sets what was saved and computes the rest. `_check_saved`
    refuses (with any error) what does not fit together, such as shapes that compiled loops will
    trust: a hostile file may give any value under any name. It is asked before saving, too.

    Examples
    --------
    >>> import tempfile
    >>> from suffice import GaussianNB, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/ab.safetensors"
    ...     GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"]).save(path)
    ...     model = load(path)
    >>> model.predict([[4.0]])
    array(['b'], dtype='<U1')
    """

    _saved: ClassVar[tuple[str, ...]] = ()

    @one_blas_thread
    def save(
        self,
        path: str | os.PathLike[str],
        *,
        source: str | None = None,
        when: datetime | None = None,
    ) -> None:
        """Write the model to a file, from which `suffice.load` makes it again, bit for bit.

        There is the old file or the whole new one at any time, whatever interrupts the writing.
        What the system does not let us write (a full disk, a folder of others) is a SaveError.

        Parameters
        ----------
        path : str or PathLike
        source : str, optional
            Where the rows came from, for the record.
        when : datetime with a time zone, optional
            The time of the record; now if not given. The rest of the file depends on nothing but
            the model.
        """
        write_model(self, path, None, source=source, when=when)

    def _saved_state(self) -> dict[str, Any]:
        """Return what was learned, by name, as far as it is there."""
        return {name: vars(self)[name] for name in type(self)._saved if name in vars(self)}

    def _check_saved(self, state: dict[str, Any]) -> None:
        """Refuse what does not go together, or with the settings, before it is used."""

    def _restore(self, state: dict[str, Any]) -> None:
        """Take what was saved as all that was learned."""
        vars(self).update(state)

    def _patterns(self) -> tuple[str, ...]:
        """Return the regular expressions among the settings that documents are searched with.

        A file may give any, and one that was made for it takes years on a short document: they are
        refused unless whoever loads the file trusts them. Those that our own loops follow are none.
        """
        return ()

    def _rows_learned(self) -> float | None:
        """Return the weight of all rows that were learned, if it is known."""
        return None


def write_model(
    model: Any,
    path: str | os.PathLike[str],
    state: dict[str, Any] | None,
    *,
    source: str | None,
    when: datetime | None,
) -> None:
    """Write a model to a file, with another state than its own if one is given."""
    owner = type(model)
    if not is_ours(owner):
        raise ModelFileError(
            f"Cannot save this {owner.__name__}: it is no public class of suffice, so no file "
            "can name it. Save the model of suffice that it is made of."
        )
    if not _has_learned(model):
        raise ModelFileError(
            f"Cannot save this {owner.__name__}: it has learned nothing yet. Fit it first."
        )
    encoder = Encoder()
    node = encoder.model(model, state=state)
    document = {
        "format": FORMAT_VERSION,
        "provenance": provenance_node(model._rows_learned(), source, when),
        **node,
    }
    try:
        encoder.census.check()
        write(path, plain_json(document), encoder.tensors)
    except ModelFileError as error:
        raise ModelFileError(
            f"Cannot save this {owner.__name__}: {error} Give arrays for long lists, "
            "or learn fewer columns or missing-value patterns; nothing was written."
        ) from error
    except FileNotFoundError as error:
        # The folder is not there; the temporary file in it is no concern of the caller's.
        raise FileNotFoundError(error.errno, error.strerror, os.fspath(path)) from None
    except OSError as error:
        fact, where = error.strerror or str(error), os.fspath(path)
        text = (
            f"Cannot save this {owner.__name__} to {where!r}: {fact}; "
            f"{CURES.get(error.errno or 0, ELSEWHERE)} (what was there before is as it was)."
        )
        raise SaveError(error.errno, text, where) from error


def _has_learned(model: Any) -> bool:
    """Say whether there is anything to save."""
    is_fitted = getattr(model, "__sklearn_is_fitted__", None)
    return type(model)._saved[0] in vars(model) if is_fitted is None else bool(is_fitted())


def is_savable(cls: Any) -> bool:
    """Say whether a class has what `Savable` has, as its own or inherited."""
    return isinstance(cls, type) and hasattr(cls, "_saved") and hasattr(cls, "_restore")


def is_ours(cls: type) -> bool:
    """Say whether a class is public in this library, so that a file may name it."""
    return cls.__name__ in suffice.__all__ and getattr(suffice, cls.__name__) is cls


def class_of(name: Any) -> Any:
    """Return the class that a file names: a public one of this library that can be saved."""
    if type(name) is str and name in suffice.__all__ and name[:1].isupper():
        cls = getattr(suffice, name)
        if is_savable(cls):
            return cls
    refuse(f"It names {name!r:.80}, which is no model of suffice {suffice.__version__}.")
