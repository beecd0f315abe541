"""The words of headers: encoded words, and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header

from suffice.text.mail.charsets import decode

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

    Names may be made up to look like addresses, so all are taken and none is believed.

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
