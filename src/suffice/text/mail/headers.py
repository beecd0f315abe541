"""Characters out of bytes, whatever charset they claim to be in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header

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
ADDRESS = re.compile(r"[^\s<>()\[\]\",;:@]+@([^\s<>()\[\]\",;:@]+)")


def header_text(value: str) -> str:
    r"""Return the text of a header on one line, its encoded words (RFC 2047) decoded.

    Examples
    --------
    >>> header_text("=?utf-8?Q?Caf=C3?= =?utf-8?Q?=A9?= at\r\n =?iso-8859-1?B?bm/rbA==?=")
    'Café at noël'
    >>> header_text("=?utf-8?B?a?= is no base64")
    '=?utf-8?B?a?= is no base64'
    """
    return " ".join(ENCODED.sub(_decoded, value).split())


def _decoded(encoded: re.Match[str]) -> str:
    try:
        pieces = decode_header(encoded[0])
    except HeaderParseError:
        return encoded[0]
    return "".join(
        piece if isinstance(piece, str) else decode(piece, charset) for piece, charset in pieces
    )


def addresses(sender: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses in a header, and the host of each.

    Names may be made up to look like addresses, so all of them are yielded.

    Examples
    --------
    >>> list(addresses('"info@bank.example" <x7@evil.example>'))
    [('info@bank.example', 'bank.example'), ('x7@evil.example', 'evil.example')]
    """
    for address in ADDRESS.finditer(sender):
        yield address[0], address[1].strip(".")


def without_addresses(sender: str) -> str:
    """Return a header without its addresses: the name.

    Examples
    --------
    >>> without_addresses("Ann Lee <ann@example.org>")
    'Ann Lee < >'
    """
    return ADDRESS.sub(" ", sender)
