"""HTML stripped to its text and the hosts it links to.

Not by the standard library's `html.parser`: it fails on `<![`, and 80 kB of `<a "` take it ten
seconds, four times that for twice the length. Every pattern here matches wherever it begins, to the
end if need be, and gives nothing back, so time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from suffice.text.mail.charsets import clean
from suffice.text.mail.links import host_of, hosts_in

MARKUP = re.compile(
    r"""
    <!--(?:-?>|.*?(?:--!?>|\Z))                      # a comment
    | <(?:[!?]|/(?![a-zA-Z]))[^>]*+(?:>|\Z)          # a declaration, an instruction, nonsense
    | <(?P<end>/?)(?P<tag>[a-zA-Z][^\s/>]*+)         # a tag
      (?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+)(?:>|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
ATTRIBUTE = re.compile(
    r"""([^\s/>=]++)\s*+(?:=\s*+(?:"([^"]*+)|'([^']*+)|([^\s>"']*+)))?+""", re.VERBOSE
)
LINKING = ("action", "background", "href", "src")

# Tags that part words. All others, unknown ones too, stand within a line: Vi<b>ag</b>ra is a word.
PARTING = re.compile(
    r"""
    address|article|aside|blockquote|body|br|button|caption|center|dd|details|dialog|dir|div|dl|dt
    |fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|img
    |input|legend|li|main|menu|nav|ol|optgroup|option|p|pre|section|select|summary|table|tbody|td
    |template|textarea|tfoot|th|thead|title|tr|ul
    """,
    re.VERBOSE,
)
# What stands between these tags is not shown. They, and nothing to be read, make up a head.
UNSHOWN = {
    tag: re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE)
    for tag in ("script", "style", "template", "title")
}
# Python reads whole numbers of 4,300 digits at most; no character has a number of a tenth of that.
LONG_NUMBER = re.compile(r"&\#(?:[0-9]{400,}|[xX][0-9a-fA-F]{400,});?")


def text_and_hosts(html: str) -> tuple[str, list[str]]:
    """Return the text on one line, and the hosts of links in attributes and in the text.

    Examples
    --------
    >>> text_and_hosts('<p>Che<b>ap</b></p>ads&excl;<script>run()</script> <a href=//shop.example>')
    ('Cheap ads!', ['shop.example'])
    """
    pieces: list[str] = []
    hosts: list[str] = []
    at = 0
    while (mark := MARKUP.search(html, at)) is not None:
        pieces.append(_characters(html[at : mark.start()]))
        at = mark.end()
        tag = (mark["tag"] or "").lower()
        if PARTING.fullmatch(tag):
            pieces.append(" ")
        if tag and not mark["end"]:
            hosts.extend(_linked(mark["attributes"]))
            if tag in UNSHOWN:
                end = UNSHOWN[tag].search(html, at)
                at = end.start() if end else len(html)
    pieces.append(_characters(html[at:]))
    text = " ".join(clean("".join(pieces)).split())
    return text, [*hosts, *hosts_in(text)]


def _characters(text: str) -> str:
    return unescape(LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text


def _linked(attributes: str) -> Iterator[str]:
    for attribute in ATTRIBUTE.finditer(attributes):
        if attribute[1].lower() in LINKING:
            host = host_of(_characters(attribute[2] or attribute[3] or attribute[4] or ""))
            if host is not None:
                yield host
