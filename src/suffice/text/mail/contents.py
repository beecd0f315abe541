"""What the parts of a message have to say: text, link hosts and attachments."""

from __future__ import annotations

from dataclasses import dataclass, field

from suffice.text.mail.charsets import clean, decode
from suffice.text.mail.headers import header_text
from suffice.text.mail.html_text import text_and_hosts
from suffice.text.mail.links import hosts_in
from suffice.text.mail.message import WORD, Attachment
from suffice.text.mail.part import Part


@dataclass
class Contents:
    """The text, link hosts and attachments of a part and all parts in it."""

    text: str = ""
    hosts: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    truncated: bool = False


def contents(part: Part) -> Contents:
    r"""Return what a part says, with all parts in it.

    Examples
    --------
    >>> from suffice.text.mail.caps import Caps
    >>> from suffice.text.mail.part import root_part
    >>> contents(root_part(b"Content-Type: text/html\n\n<p>Hello", Caps())[0]).text
    'Hello'
    """
    kind = part.get_content_type()
    attached = part.get_content_disposition() == "attachment"
    inside = part.inside()
    if kind == "message/rfc822" and inside and not attached:
        forwarded = contents(inside[0])
        subject = header_text(inside[0].get("subject", ""))
        forwarded.text = f"{subject}\n{forwarded.text}".strip()
        return forwarded
    if kind.startswith("multipart/") and inside:
        return _together([contents(each) for each in inside], kind == "multipart/alternative")
    # A multipart without parts has lost its boundary; its reader sees the source.
    if kind == "text/html" and not attached:
        return Contents(*text_and_hosts(_characters(part)))
    if (kind == "text/plain" or kind.startswith("multipart/")) and not attached:
        text = _characters(part).replace("\r\n", "\n").strip()
        return Contents(text, list(hosts_in(text)))
    return Contents(attachments=[Attachment(kind, _name(part))], truncated=part.sealed)


def _together(pieces: list[Contents], alternative: bool) -> Contents:
    texts = [piece.text for piece in pieces]
    if alternative:
        # The last one is the one that is shown (RFC 2046, section 5.1.4). What is hidden behind it
        # has no say, or padding there would drown the message; its links have.
        texts = [text for text in texts if WORD.search(text)][-1:]
    return Contents(
        "\n".join(filter(None, texts)),
        [host for piece in pieces for host in piece.hosts],
        [attachment for piece in pieces for attachment in piece.attachments],
        any(piece.truncated for piece in pieces),
    )


def _name(part: Part) -> str:
    try:
        return clean(header_text(part.get_filename("")))
    except ValueError:
        # A name in a charset that is none.
        return ""


def _characters(part: Part) -> str:
    raw = part.get_payload(decode=True)
    return decode(raw if isinstance(raw, bytes) else b"", part.get_content_charset())
