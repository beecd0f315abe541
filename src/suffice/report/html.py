"""Markup that cannot hold an unescaped value: elements are made by `element` alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

# Elements without content.
VOID = frozenset({"br", "hr", "input", "meta"})
# Control characters, halves of characters, and marks that turn the direction of what follows.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
)


class Html(str):
    """Text that is markup; any other text is escaped where it becomes a part of markup.

    >>> element("td", "<script>"), element("td", element("b", "a & b"))
    ('<td>&lt;script&gt;</td>', '<td><b>a &amp; b</b></td>')
    """

    __slots__ = ()


def markup(content: Any) -> Html:
    """Return a value as markup: `Html` as it is, what is iterable part by part, others escaped.

    None and False are nothing.
    """
    if isinstance(content, Html):
        return content
    if content is None or content is False:
        return Html("")
    if not isinstance(content, str) and isinstance(content, Iterable):
        return Html("".join(markup(part) for part in content))
    return Html(escape(_visible(str(content))))


def element(name: str, /, *content: Any, **attributes: Any) -> Html:
    """Return an element; an attribute `class_` is class, `data_at` is data-at.

    An attribute that is None or False is left out, and True is one without a value.

    >>> element("input", type="text", value='"', required=True, list=None)
    '<input type="text" value="&quot;" required>'
    """
    written = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        shown = "" if value is True else f'="{escape(_visible(str(value)))}"'
        written.append(attribute + shown)
    opening = f"<{' '.join(written)}>"
    return Html(opening if name in VOID else f"{opening}{markup(content)}</{name}>")


def _visible(text: str) -> str:
    """Return text without characters that no page may hold."""
    return HIDDEN.sub("\ufffd", text)


def fill(template: str, **parts: Html) -> str:
    """Return a template with each `{{name}}` replaced by markup; other text is refused.

    >>> fill("<p>{{name}}</p>", name=markup("a<b"))
    '<p>a&lt;b</p>'
    """
    pieces = template.split("{{")
    found = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        part = parts[name]
        if not isinstance(part, Html):
            raise TypeError(f"{name} is a {type(part).__name__}. Make it markup first.")
        found += [part, rest]
    return "".join(found)
