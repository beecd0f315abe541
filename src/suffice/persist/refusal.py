"""Refusing a file: what is wrong with it, in one kind of error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from suffice.errors import ModelFileError

CURE = "Fetch the file again from where it is whole, or save the model again."


def refuse(fact: str) -> NoReturn:
    """Say what is wrong with a file; whoever knows its name adds it."""
    raise ModelFileError(fact)


@contextmanager
def refusals(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever a file makes us stumble over into one error with the file's name.

    What the system says of a file (that there is none, that it may not be read) stays as it is,
    and so does a library that cannot be imported.
    """
    name = os.fspath(path)
    try:
        yield
    except (OSError, ImportError):
        raise
    except WholeFileError as error:
        raise ModelFileError(f"Cannot load {name!r}: {error}") from error
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {name!r}: {error} {CURE}") from error
    except Exception as error:  # values that pass for ones, until a tally or a model reads them
        shown = f"{type(error).__name__}: {error}"
        raise ModelFileError(
            f"Cannot load {name!r}: what it holds is no model ({shown[:300]}). {CURE}"
        ) from error


class WholeFileError(ModelFileError):
    """A file that is whole, and refused for another reason: its text has a cure of its own."""


def entries(node: Any, *names: str, what: str) -> list[Any]:
    """Return the values of a JSON object that has just these keys.

    Examples
    --------
    >>> entries({"b": 2, "a": 1}, "a", "b", what="A thing")
    [1, 2]
    """
    if type(node) is not dict or node.keys() != set(names):
        shown = sorted(node)[:8] if type(node) is dict else type(node).__name__
        refuse(f"{what} should have the entries {sorted(names)}, but has {shown}.")
    return [node[name] for name in names]
