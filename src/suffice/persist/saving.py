"""Saving: from a model to a document and its tensors."""

from __future__ import annotations

import errno
import math
import os
from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

import numpy as np

import suffice
from suffice.errors import ModelFileError, SaveError
from suffice.persist.checks import refuse
from suffice.persist.file_format import plain_json, write
from suffice.persist.provenance import FORMAT_VERSION, provenance_node
from suffice.persist.values import (
    KINDS,
    NUMBER_TYPES,
    PLAIN,
    Census,
    Node,
    Tensors,
    array_node,
    check_prior,
    kind_of,
    many_node,
    normal_fields,
)
from suffice.tally import Blocks, Patterns
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

    A public class of this library takes part by naming in `_saved` what it learned, the one that
    no fitted model lacks first. `_saved_state` returns them, as far as they are there, to be saved
    beside the parameters: numbers, text, arrays, lists, tuples, dicts, tallies, priors,
    calibrations and other models. `_restore` takes what was saved. `_check_saved`
    refuses (with any error) what does not fit together, such as shapes that compiled loops will
    trust: a hostile file may give any value under any name. It runs before saving, too.

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
        """Write the model to a file, from which `suffice.load` restores it, bit for bit.

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

    @abstractmethod
    def _saved_state(self) -> dict[str, Any]:
        """Return what was learned, by the names of `_saved`, as far as it is there."""

    def _check_saved(self, state: dict[str, Any]) -> None:
        """Refuse what does not go together, or with the settings, before it is used."""

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None:
        """Take what was saved as all that was learned."""

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
    columns: Mapping[str, str] | None = None,
) -> None:
    """Write a model to a file, with another state than its own if one is given."""
    name = type(model).__name__
    if not is_ours(type(model)):
        raise ModelFileError(
            f"Cannot save this {name}: it is no public class of suffice, so no file "
            "can name it. Save the model of suffice that it is made of."
        )
    if not _has_learned(model):
        raise ModelFileError(f"Cannot save this {name}: it has learned nothing yet. Fit it first.")
    encoder = Encoder()
    node = encoder.model(model, state=state)
    document = {
        "format": FORMAT_VERSION,
        "provenance": provenance_node(model._rows_learned(), source, when, columns),
        **node,
    }
    try:
        encoder.census.check()
        write(path, plain_json(document), encoder.tensors)
    except ModelFileError as error:
        raise ModelFileError(
            f"Cannot save this {name}: {error} Give arrays for long lists, "
            "or learn fewer columns or missing-value patterns; nothing was written."
        ) from error
    except FileNotFoundError as error:
        # The folder is not there; the temporary file in it is no concern of the caller's.
        raise FileNotFoundError(error.errno, error.strerror, os.fspath(path)) from None
    except OSError as error:
        fact, where = error.strerror or str(error), os.fspath(path)
        text = (
            f"Cannot save this {name} to {where!r}: {fact}; "
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


class Encoder:
    """Writes values into nodes of JSON, and their arrays into `tensors`.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.node((1, np.inf), "pair")
    {'is': 'tuple', 'items': [1, {'is': 'float', 'text': 'inf'}]}
    """

    def __init__(self) -> None:
        self.tensors: Tensors = {}
        self.census = Census()

    def model(self, model: Savable, path: str = "", state: dict[str, Any] | None = None) -> Node:
        """Return the class, the settings and the state of a model, its own if none is given."""
        self.census.models += 1
        settings: dict[str, Any] = model.get_params(deep=False)  # type: ignore[attr-defined]
        class_name = type(model).__name__
        given = {
            name: self._part(value, f"{path}settings.{name}", class_name, f"parameter {name!r}")
            for name, value in sorted(settings.items())
        }
        state = _check_state(model, state)
        return {
            "model": class_name,
            "settings": given,
            "state": {
                name: self._part(value, f"{path}{name}", class_name, f"{name!r} that it learned")
                for name, value in state.items()
            },
        }

    def _part(self, value: Any, path: str, class_name: str, what: str) -> Any:
        try:
            return self.node(value, path)
        except _NoValueError as error:
            raise ModelFileError(
                f"Cannot save this {class_name}: the {what} holds what no file can hold ({error}). "
                "Use numbers, text, arrays of them, or priors of this library; nothing was written."
            ) from None

    def node(self, value: Any, path: str) -> Any:
        """Return the node of one value, with its arrays named by `path`."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"is": "float", "text": repr(value)}
        if kind is np.ndarray:
            return self._array(value, path)
        if isinstance(value, np.generic):
            return {"is": "scalar", "array": self._array(np.asarray(value), path)}
        if kind is list:
            return [self.node(item, f"{path}.{at}") for at, item in enumerate(value)]
        if kind is tuple:
            return {"is": "tuple", "items": self.node(list(value), path)}
        if kind is dict:
            return {"is": "dict", "items": self.node([list(pair) for pair in value.items()], path)}
        return self._thing(value, path)

    def _array(self, array: Any, path: str) -> Node:
        node = array_node(array, path, self.tensors)
        if node is None:
            raise _NoValueError(f"array of {array.dtype}")
        return node

    def _thing(self, value: Any, path: str) -> Node:
        """Return the node of a value of a class that is on the list."""
        name = kind_of(value)
        if name is not None:
            fields = {field: getattr(value, field) for field in KINDS[name].fields}
            try:
                check_prior(name, fields)
            except ModelFileError as error:
                raise _NoValueError(str(error)) from None
            return self._fields(name, fields, path)
        for name, number_type in NUMBER_TYPES.items():
            if value is number_type:
                return {"is": "number type", "name": name}
        home, name = type(value).__module__, type(value).__name__
        if isinstance(value, Blocks):
            return {"is": name, "parts": self._parts(value.parts, f"{path}.parts")}
        if isinstance(value, Patterns):
            seen = np.zeros((len(value.parts), value.features), np.bool_)
            for row, pattern in zip(seen, value.parts, strict=True):
                row[list(pattern)] = True
            patterns = self._array(seen, f"{path}.seen")
            parts = self._parts(list(value.parts.values()), f"{path}.parts")
            return {"is": name, "seen": patterns, "parts": parts}
        if home.startswith("suffice.gaussian") and name == "MultivariateNormal":
            return self._fields(name, normal_fields(value), path)
        if is_savable(type(value)) and is_ours(type(value)):
            return {"is": "model", "holds": self.model(value, f"{path}.")}
        raise _NoValueError(name)

    def _fields(self, name: str, fields: dict[str, Any], path: str) -> Node:
        self.census.values += 1
        nodes = {field: self.node(value, f"{path}.{field}") for field, value in fields.items()}
        return {"is": name, "fields": nodes}

    def _parts(self, parts: Any, path: str) -> Any:
        node = many_node(parts, path, self.tensors)
        return self.node(list(parts), path) if node is None else node


def _check_state(model: Savable, given: dict[str, Any] | None) -> dict[str, Any]:
    """Return what a model learned, if a file with it could be loaded."""
    state = model._saved_state() if given is None else given
    if state:
        try:
            model._check_saved(state)
        except Exception as error:
            raise ModelFileError(
                f"Cannot save this {type(model).__name__}: what it learned does not go with its "
                f"settings ({error}). Fit it again with them; nothing was written."
            ) from error
    return state


class _NoValueError(Exception):
    """A value that no file can hold; the text is its kind."""
