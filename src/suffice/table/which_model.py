"""Which classifier suits the rows of a source."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from suffice.errors import InputError
from suffice.sources import open_source
from suffice.table.classifier import GenerativeClassifier
from suffice.table.structure.families import TEXTS


def classifier_for(
    source: Any,
    target: str,
    *,
    families: Mapping[Any, Any] | None = None,
    text: Collection[str] = (),
    ignore: Collection[str] = (),
    weight: str | None = None,
) -> Any:
    """Return a classifier for the rows of a source, not fitted.

    It is a TextClassifier where one column is left beside the target and has texts, and a
    GenerativeClassifier otherwise.

    Parameters
    ----------
    source, target, ignore, weight : as in `fit_from`
    families : mapping as GenerativeClassifier takes it, optional
    text : names of columns that have texts

    Examples
    --------
    >>> import pyarrow as pa
    >>> mails = pa.table({"mail": ["cheap pills", "see you at lunch"], "kind": ["spam", "ham"]})
    >>> type(classifier_for(mails, "kind", text=["mail"])).__name__
    'TextClassifier'
    """
    given = {**(families or {}), **dict.fromkeys(text, "text")}
    with open_source(source) as rows:
        named = [name for key in given for name in (key if isinstance(key, tuple) else (key,))]
        rows.check_columns([target, *ignore, *named, *([] if weight is None else [weight])])
        names = [name for name in rows.column_names if name not in {target, weight, *ignore}]
        source_name = rows.name
    if not names:
        raise InputError(
            f"{source_name} has no column beside the target. Give columns to learn from."
        )
    twice = [name for name in named if name not in names]
    if twice:
        raise InputError(
            f"Column {twice[0]!r} has a family, and is the target, the weight or ignored. Name it "
            "once."
        )
    table = GenerativeClassifier(families=given or "auto")
    if len(names) > 1 or (families and not text):
        return table
    found = given.get(names[0])
    if found is None:
        plan = table.plan(source, target, ignore=ignore, weight=weight)
        found = plan.blocks[0]["family"] if plan.blocks else None
    if found not in TEXTS:
        return table
    from suffice.text import TextClassifier

    return TextClassifier()
