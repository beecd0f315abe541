"""Where a saved model comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import suffice
from suffice.errors import InputError
from suffice.persist.checks import WholeFileError, entries, refuse

FORMAT_VERSION = 1
# What columns of a source may be, other than features.
ROLES = ("target", "weight", "text")
DOCUMENT = ("format", "provenance", "model", "settings", "state")


@dataclass(frozen=True)
class Provenance:
    """What a file says of the model in it.

    Parameters
    ----------
    model : str
        Its class.
    version : str
        Of the package that saved it.
    when : datetime
        When that was, in UTC.
    rows : float, optional
        Weight of the rows that it had learned.
    source : str, optional
        Where they came from, as `save` was given it.
    columns : mapping
        The columns of a source that the model learned from and are no features: which is the
        "target", which the "weight", and which has the "text" of a TextClassifier.
    keeps_rows : bool
        Whether the file has raw rows.
    """

    model: str
    version: str
    when: datetime
    rows: float | None
    source: str | None
    columns: Mapping[str, str] = field(default_factory=dict)
    keeps_rows: bool = False


def provenance_node(
    rows: float | None,
    source: str | None,
    when: datetime | None,
    columns: Mapping[str, str] | None = None,
) -> Any:
    """Return the record that is saved.

    Examples
    --------
    >>> provenance_node(150.0, "iris", datetime(2020, 1, 31, tzinfo=UTC))["when"]
    '2020-01-31T00:00:00+00:00'
    """
    if source is not None and not isinstance(source, str):
        raise TypeError(f"source is a {type(source).__name__}. Name the source in a str.")
    moment = datetime.now(UTC) if when is None else when
    if moment.tzinfo is None:
        raise InputError(f"when={when!r} has no time zone. Give one: datetime.now(UTC), say.")
    return {
        "version": suffice.__version__,
        "when": moment.astimezone(UTC).isoformat(timespec="seconds"),
        "rows": rows,
        "source": None if source is None else str(source),
        **({"columns": dict(columns)} if columns else {}),
    }


def check_document(document: Any) -> dict[str, Any]:
    """Return a document of a format that is known, or say which formats are."""
    version = document.get("format") if type(document) is dict else None
    if type(version) is int and version > FORMAT_VERSION:
        raise WholeFileError(
            f"It is of format {version}, and suffice {suffice.__version__} reads format "
            f"{FORMAT_VERSION}. Upgrade suffice to load it."
        )
    if type(version) is not int or version < 1:
        refuse(f"It has the format {version!r:.80}, which never was one.")
    entries(document, *DOCUMENT, what="Its document")
    return dict(document)


def provenance_of(document: dict[str, Any]) -> Provenance:
    """Return the record of a document."""
    names = ("version", "when", "rows", "source")
    record = document["provenance"]
    columns = record.get("columns") if type(record) is dict else None
    if columns is not None:
        record = {name: value for name, value in record.items() if name != "columns"}
        _check_columns(columns)
    version, when, rows, source = entries(record, *names, what="Its provenance")
    texts = all(type(text) is str for text in (document["model"], version, when))
    if not texts or type(rows) not in (float, type(None)) or type(source) not in (str, type(None)):
        refuse("Its provenance has entries of other types.")
    keeps_rows = type(document["state"]) is dict and "rows" in document["state"]
    moment = datetime.fromisoformat(when)
    return Provenance(document["model"], version, moment, rows, source, columns or {}, keeps_rows)


def _check_columns(columns: Any) -> None:
    """Refuse names of columns that are none."""
    if type(columns) is not dict or not columns.keys() <= set(ROLES):
        refuse("Its provenance has columns of other roles.")
    if not all(type(name) is str for name in columns.values()):
        refuse("Its provenance has columns of other types.")
