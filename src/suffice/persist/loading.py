"""Loading: from a document and its tensors to a model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.persist.checks import WholeFileError, entries, refusals, refuse
from suffice.persist.file_format import Path, open_checked, strict_json, tensors_of
from suffice.persist.provenance import Provenance, check_document, provenance_of
from suffice.persist.saving import class_of
from suffice.persist.values import (
    KINDS,
    NUMBER_TYPES,
    OTHERS,
    PLAIN,
    Census,
    Node,
    Tensors,
    array_of,
    construct,
    many_of,
    normal_of,
)
from suffice.tally import Blocks, Patterns
from suffice.threads import one_blas_thread

# What values of settings were named in older files.
OLDER_VALUES = {("GenerativeClassifier", "combine", "corrected"): "residual"}
# Keys of a dict that may have the hash of another, as -1 has that of -2, and "" that of 0.
MAX_CLASHES = 8
FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class Decoder:
    """Makes values of nodes of JSON and of tensors, each of which is used once.

    Examples
    --------
    >>> Decoder({}).value({"is": "tuple", "items": [1, {"is": "float", "text": "inf"}]})
    (1, inf)
    """

    def __init__(self, tensors: Tensors, *, trust_patterns: bool = False) -> None:
        self._tensors = tensors
        self._trust_patterns = trust_patterns
        self._census = Census()
        self._readers: dict[str, Callable[[Node], Any]] = {
            **dict.fromkeys(("array", *OTHERS), lambda node: array_of(node, self._take)),
            **dict.fromkeys((*KINDS, "MultivariateNormal"), self._fields),
            "float": self._float,
            "scalar": self._scalar,
            "tuple": lambda node: tuple(self._items(node)),
            "dict": self._dict,
            "many": lambda node: many_of(node, self._take),
            "number type": self._number_type,
            "Blocks": self._blocks,
            "Patterns": self._patterns,
            "model": self._model,
        }

    def model(self, name: Any, settings: Any, state: Any) -> Any:
        """Return the model of a class, with its settings checked and its state restored."""
        cls = class_of(name)
        self._census.models += 1
        self._census.check()
        given, learned = self.named(settings), self.named(state)
        unknown = given.keys() - set(cls._get_param_names())
        if unknown:
            refuse(f"{name} has no parameter {sorted(unknown)[0][:80]!r}.")
        for key, value in given.items():
            if isinstance(value, str):
                given[key] = OLDER_VALUES.get((name, key, value), value)
        model = cls(**given)
        model._validate_params()
        self._check_patterns(model)
        unknown = learned.keys() - set(cls._saved)
        if unknown:
            refuse(f"{name} learns nothing named {sorted(unknown)[0][:80]!r}.")
        if learned:
            if cls._saved[0] not in learned:
                refuse(f"A {name} without {cls._saved[0]!r} has learned nothing.")
            model._check_saved(learned)
            model._restore(learned)
        return model

    def _check_patterns(self, model: Any) -> None:
        """Refuse regular expressions that the caller does not trust, before one is compiled."""
        patterns = model._patterns()
        if patterns and not self._trust_patterns:
            raise WholeFileError(
                f"Its {type(model).__name__} cuts documents with the regular expression "
                f"{patterns[0]!r:.80}, and such a one may take years on a document. If you trust "
                "where the file comes from: load(path, trust_patterns=True)."
            )

    def finish(self) -> None:
        """Refuse tensors that nothing uses."""
        if self._tensors:
            refuse(f"Its tensor {min(self._tensors)[:80]!r} belongs to nothing.")

    def value(self, node: Any) -> Any:
        """Return the value that a node describes."""
        if type(node) in (*PLAIN, float):
            return node
        if type(node) is list:
            return [self.value(item) for item in node]
        reader = self._readers.get(str(node.get("is")))
        if reader is None:
            refuse(f"It holds {node.get('is')!r:.80}, which is nothing that is known.")
        return reader(node)

    def _take(self, name: Any) -> NDArray[Any]:
        if type(name) is not str or name not in self._tensors:
            refuse(f"Its tensor {name!r:.80} is missing, or used twice.")
        return self._tensors.pop(name)

    def named(self, nodes: Any) -> dict[str, Any]:
        """Return values by name."""
        if type(nodes) is not dict:
            refuse(
                f"It has something of type {type(nodes).__name__} where names and values are due."
            )
        return {name: self.value(node) for name, node in nodes.items()}

    def _fields(self, node: Node) -> Any:
        name, nodes = entries(node, "is", "fields", what="A value")
        self._census.values += 1
        self._census.check()
        fields = self.named(nodes)
        for value in fields.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # nothing else uses it, so it need not be copied
        return normal_of(fields) if name == "MultivariateNormal" else construct(name, fields)

    def _float(self, node: Node) -> float:
        _, text = entries(node, "is", "text", what="A number")
        if type(text) is not str or text not in FLOATS:
            refuse(f"A number is {text!r:.80}.")
        return FLOATS[text]

    def _scalar(self, node: Node) -> Any:
        _, inner = entries(node, "is", "array", what="A scalar")
        array = self.value(inner)
        if not isinstance(array, np.ndarray) or array.ndim:
            refuse("A scalar is no array without axes.")
        return array[()]

    def _items(self, node: Node) -> list[Any]:
        _, items = entries(node, "is", "items", what="A collection")
        if type(items) is not list:
            refuse(f"A collection has items of type {type(items).__name__}.")
        return [self.value(item) for item in items]

    def _dict(self, node: Node) -> dict[Any, Any]:
        items = self._items(node)
        # Counted by their hashes, since making a dict of keys of one hash takes quadratic time.
        if len({hash(key) for key, _ in items}) < len(items) - MAX_CLASHES:
            refuse("A dict has keys that are there twice, or have one hash.")
        found = dict(items)
        if len(found) < len(items):
            refuse("A dict has a key twice.")
        return found

    def _number_type(self, node: Node) -> Any:
        _, name = entries(node, "is", "name", what="A type of numbers")
        if type(name) is not str or name not in NUMBER_TYPES:
            refuse(f"A type of numbers is {name!r:.80}.")
        return NUMBER_TYPES[name]

    def _blocks(self, node: Node) -> Any:
        return Blocks(tuple(self.value(entries(node, "is", "parts", what="Blocks")[1])))

    def _patterns(self, node: Node) -> Any:
        _, inner, parts = entries(node, "is", "seen", "parts", what="Patterns")
        seen, tallies = self.value(inner), self.value(parts)
        if getattr(seen, "dtype", None) != np.bool_ or seen.ndim != 2:
            refuse("Missing-value patterns are no table of truth values.")
        keys = [tuple(np.flatnonzero(row).tolist()) for row in seen]
        if len(set(keys)) < len(keys) or () in keys:
            refuse("A missing-value pattern is there twice, or has no values at all.")
        return Patterns(seen.shape[1], dict(zip(keys, tallies, strict=True)))

    def _model(self, node: Node) -> Any:
        _, inner = entries(node, "is", "holds", what="A model within a model")
        return self.model(*entries(inner, "model", "settings", "state", what="A model"))


def read_document(path: Path) -> tuple[dict[str, Any], Tensors]:
    """Return the document of a file and its tensors, the checksum checked."""
    with open_checked(path) as (file, header):
        document = check_document(strict_json(header.document.encode(), "Its document"))
        tensors = dict(tensors_of(file, header))
    provenance_of(document)
    return document, tensors


@one_blas_thread
def load(path: Path, *, trust_patterns: bool = False) -> Any:
    """Return the model that was saved in a file: it answers, learns, forgets and merges as before.

    Nothing in a file is run. A file that is cut off, changed, or made to do harm gets a
    ModelFileError; warnings that the model gave when it learned are not given again.

    Parameters
    ----------
    path : str or PathLike
    trust_patterns : bool, default=False
        Whether a `token_pattern` of the file's own may be used. It is a regular expression, which
        may be made to take years on a short document; without trust such a file is refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import suffice
    >>> rows, labels = [[1.0], [2.0], [7.0], [8.0]], ["low", "low", "high", "high"]
    >>> model = suffice.GaussianNB().fit(rows, labels)
    >>> with TemporaryDirectory() as folder:
    ...     _ = model.save(f"{folder}/model.suffice")
    ...     again = suffice.load(f"{folder}/model.suffice")
    >>> again.predict([[6.0]])
    array(['high'], dtype='<U4')
    """
    with refusals(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document, tensors = read_document(path)
        decoder = Decoder(tensors, trust_patterns=trust_patterns)
        model = decoder.model(*(document[name] for name in ("model", "settings", "state")))
        decoder.finish()
        if not document["state"]:
            refuse("Its model has learned nothing.")
        return model


def describe(path: Path) -> Provenance:
    """Return the record in a file, whose checksum is checked, without making the model.

    Parameters
    ----------
    path : str or PathLike
    """
    with refusals(path), open_checked(path) as (file, header):
        document = check_document(strict_json(header.document.encode(), "Its document"))
        for _ in tensors_of(file, header):
            pass  # one tensor at a time, for the checksum
        return provenance_of(document)
