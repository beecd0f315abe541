"""A message out of its bytes."""

from __future__ import annotations

from suffice.errors import InputError
from suffice.text.mail.caps import MAX_BYTES, MAX_DEPTH, MAX_PARTS, Caps
from suffice.text.mail.headers import header_text
from suffice.text.mail.message import Message, contents
from suffice.text.mail.part import root_part

# Editors leave it before the first header.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def parse_message(
    raw: bytes,
    *,
    source: str = "",
    max_bytes: int = MAX_BYTES,
    max_parts: int = MAX_PARTS,
    max_depth: int = MAX_DEPTH,
) -> Message:
    r"""Return the message that bytes hold; nothing in it is executed or fetched.

    Parameters
    ----------
    raw : bytes
        Headers, an empty line, and the body.
    source : str
        Where the bytes are from, for the message to remember.
    max_bytes, max_parts, max_depth : int
        How much is read: bytes, parts, and levels of parts within parts. What is beyond is
        left out, and the message is marked as truncated.

    Examples
    --------
    >>> message = parse_message(b"Subject: =?utf-8?q?Caf=C3=A9?=\n\nSee http://shop.example/7")
    >>> message.subject, message.body, message.links
    ('Café', 'See http://shop.example/7', ('shop.example',))
    """
    return message_of(raw, source, Caps(max_bytes, max_parts, max_depth))


def message_of(raw: bytes, source: str, caps: Caps) -> Message:
    """Return the message that bytes hold, read within caps that are checked."""
    if not isinstance(raw, bytes):
        raise TypeError(f"A message is bytes, not {type(raw).__name__}. Read its file as 'rb'.")
    start = raw[: caps.max_bytes].removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n")
    if not start:
        raise InputError("It is empty. A message has headers, an empty line and a body.")
    try:
        root, parts_left_out = root_part(start, caps)
        said = contents(root)
    except Exception as fault:
        # No list tells what the standard library's parser raises where it should note a defect.
        raise InputError(
            f"It cannot be parsed ({type(fault).__name__}: {fault}). Look at its headers."
        ) from fault
    if not root.keys():
        raise InputError("It has no header. A message begins with lines such as 'Subject: ...'.")
    return Message(
        subject=header_text(root.get("subject", "")),
        sender=header_text(root.get("from", "")),
        body=said.text,
        links=tuple(dict.fromkeys(said.hosts)),
        attachments=tuple(said.attachments),
        source=source,
        truncated=len(raw) > caps.max_bytes or parts_left_out or said.truncated,
    )
