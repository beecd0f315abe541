"""From a model to a document and its tensors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ModelFileError
from suffice.persist.arrays import Node, Tensors, array_node, many_node
from suffice.persist.kinds import KINDS, Census, check_prior, kind_of, normal_fields

if TYPE_CHECKING:
    from suffice.persist.savable import Savable

# The types of numbers that a model may remember having been given.
NUMBER_TYPES = {
    "float32": np.float32,
    "float64": np.float64,
    "int32": np.int32,
    "int64": np.int64,
}
PLAIN = (type(None), bool, int, str)


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
        owner = type(model).__name__
        given = {
            name: self._part(value, f"{path}settings.{name}", owner, f"parameter {name!r}")
            for name, value in sorted(settings.items())
        }
        state = _check_state(model, state)
        return {
            "model": owner,
            "settings": given,
            "state": {
                name: self._part(value, f"{path}{name}", owner, f"{name!r} that it learned")
                for name, value in state.items()
            },
        }

    def _part(self, value: Any, path: str, owner: str, what: str) -> Any:
        try:
            return self.node(value, path)
        except _NoValueError as error:
            raise ModelFileError(
                f"Cannot save this {owner}: the {what} holds what no file can hold ({error}). Use "
                "numbers, text, arrays of them, or priors of this library; nothing was written."
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
        from suffice.persist.savable import is_ours, is_savable

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
        if home.startswith("suffice.tally") and name == "Blocks":
            return {"is": name, "parts": self._parts(value.parts, f"{path}.parts")}
        if home.startswith("suffice.tally") and name == "Patterns":
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
