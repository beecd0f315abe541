"""The hosts that links lead to. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urlsplit

from suffice.text.mail.caps import MAX_LINK
from suffice.text.mail.headers import clean

IN_TEXT = re.compile(
    rf"""(?:https?://|(?<![\w.@/])www\.)[^\s<>"']{{1,{MAX_LINK}}}""", re.IGNORECASE
)
SLASHES = re.compile(r"^([a-z]*:)?/{2,}", re.IGNORECASE)
HOST = re.compile(r"[\w.:-]+")
# The longest name that a host can have.
LONGEST_HOST = 253


def host_of(link: str) -> str | None:
    r"""Return the host that a browser would ask, or None for a link to no host.

    Examples
    --------
    >>> host_of("http://bank.example@evil.example:80/login"), host_of("mailto:ann@example.org?cc=b")
    ('evil.example', 'example.org')
    >>> host_of("HTTPS:\\\\%65vil.example\\@bank.example"), host_of("//XN--bcher-kva.example/")
    ('evil.example', 'xn--bcher-kva.example')
    >>> host_of("cid:logo"), host_of("page.html"), host_of("http://[::")
    (None, None, None)
    """
    # Browsers take a backslash for a slash, and any number of slashes for two.
    plain = SLASHES.sub(r"\1//", link[:MAX_LINK].strip().replace("\\", "/"))
    try:
        parts = urlsplit(plain)
        if parts.scheme == "mailto":
            _, at, host = parts.path.rpartition("@")
            host = host if at else ""
        else:
            host = (parts.hostname or "") if parts.scheme in ("", "ftp", "http", "https") else ""
    except ValueError:
        return None
    found = HOST.match(unquote(host).lower())
    name = found[0].strip(".") if found else ""
    return name if 0 < len(name) <= LONGEST_HOST else None


def hosts_in(text: str) -> Iterator[str]:
    """Yield the hosts of links written out in a text.

    Examples
    --------
    >>> list(hosts_in("See www.example.org, or (https://shop.example/a?b)."))
    ['www.example.org', 'shop.example']
    """
    for link in IN_TEXT.finditer(text):
        host = host_of(link[0] if "://" in link[0][:8] else f"http://{link[0]}")
        if host is not None:
            yield host


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
