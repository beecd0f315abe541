"""Text out of bytes, headers and HTML, and the hosts that links lead to. Nothing is fetched."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from html import unescape
from urllib.parse import unquote, urlsplit

# Senders name the small charset and use the large one, as browsers know.
SUPERSETS = {
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
}
# Codecs that Python has for other things than mail: some take quadratic time, some always fail.
NOT_CHARSETS = {
    *("idna", "mbcs", "oem", "punycode", "undefined"),
    *("raw-unicode-escape", "unicode-escape"),
}
# What bytes without a charset are, where they are not UTF-8. It is latin-1 and a few signs more.
LAST_RESORT = "cp1252"

# Signs without width, which cut a word for a machine and not for the eye.
INVISIBLE = re.compile("[\x00\u00ad\u200b-\u200d\u2060\ufeff]")
SURROGATES = re.compile("[\ud800-\udfff]")


def decode(raw: bytes, charset: str | None = None) -> str:
    r"""Return the text of bytes: by their charset, else as UTF-8, else as best can be.

    Examples
    --------
    >>> decode(b"caf\xe9", "iso-8859-1"), decode(b"caf\xc3\xa9", "us-ascii")
    ('café', 'café')
    >>> decode(b"caf\xe9", "x-unknown"), decode(b"caf+AOk-", "unicode-1-1-utf-7")
    ('café', 'café')
    """
    codec = codec_of(charset)
    try:
        return clean(raw.decode(codec or "utf-8"))
    except UnicodeError:
        pass
    try:
        text, used = codecs.utf_8_decode(raw, "strict", False)
    except UnicodeError:
        pass
    else:
        # A cap may have cut the last character in two; that is no sign of another charset.
        if used == len(raw) or not text.isascii():
            return clean(text)
    known = LAST_RESORT if codec in (None, "ascii") else codec
    return clean(raw.decode(known or LAST_RESORT, "replace"))


def codec_of(charset: str | None) -> str | None:
    """Return Python's name for a charset, or None if it knows none.

    Examples
    --------
    >>> codec_of("Latin-1"), codec_of("x-unknown"), codec_of("unicode_escape")
    ('cp1252', None, None)
    """
    if not charset:
        return None
    try:
        # Not every codec is one of characters: "zip" is one too, and decodes to bytes.
        "".encode(charset)
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return None
    return None if name in NOT_CHARSETS else SUPERSETS.get(name, name)


def clean(text: str) -> str:
    r"""Return the text without invisible signs, and with no half of a surrogate pair.

    Examples
    --------
    >>> clean("chea\u200bp"), clean("\ud800") == "\ufffd"
    ('cheap', True)
    """
    return SURROGATES.sub("\ufffd", INVISIBLE.sub("", text))


_WORD = r"=\?[^?\s]+\?[bBqQ]\?[^?]*\?="
# Words that stand together are decoded together: senders cut characters in two.
ENCODED = re.compile(rf"{_WORD}(?:\s*{_WORD})*")


def header_text(value: str) -> str:
    r"""Return the text of a header on one line, its encoded words (RFC 2047) decoded.

    Examples
    --------
    >>> header_text("=?utf-8?Q?Caf=C3?= =?utf-8?Q?=A9?= at\r\n =?iso-8859-1?B?bm/rbA==?=")
    'Café at noël'
    >>> header_text("=?utf-8?B?a?= is no base64")
    '=?utf-8?B?a?= is no base64'
    """
    return " ".join(ENCODED.sub(_decode_words, value).split())


def _decode_words(encoded: re.Match[str]) -> str:
    try:
        pieces = decode_header(encoded[0])
    except HeaderParseError:
        return encoded[0]
    return "".join(
        piece if isinstance(piece, str) else decode(piece, charset) for piece, charset in pieces
    )


# Addresses of pages that are longer serve to track; the host stands at their beginning.
MAX_LINK = 2_000
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
LINK_ATTRIBUTES = ("action", "background", "href", "src")

# Tags that separate words. All others, unknown ones too, stand within a word: Vi<b>ag</b>ra.
SEPARATING = re.compile(
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
        pieces.append(_unescape(html[at : mark.start()]))
        at = mark.end()
        tag = (mark["tag"] or "").lower()
        if SEPARATING.fullmatch(tag):
            pieces.append(" ")
        if tag and not mark["end"]:
            hosts.extend(_link_hosts(mark["attributes"]))
            if tag in UNSHOWN:
                end = UNSHOWN[tag].search(html, at)
                at = end.start() if end else len(html)
    pieces.append(_unescape(html[at:]))
    text = " ".join(clean("".join(pieces)).split())
    return text, [*hosts, *hosts_in(text)]


def _unescape(text: str) -> str:
    return unescape(LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text


def _link_hosts(attributes: str) -> Iterator[str]:
    for attribute in ATTRIBUTE.finditer(attributes):
        if attribute[1].lower() in LINK_ATTRIBUTES:
            host = host_of(_unescape(attribute[2] or attribute[3] or attribute[4] or ""))
            if host is not None:
                yield host
