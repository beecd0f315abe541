"""A message as a text to classify."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from suffice.text.mail.headers import addresses, clean, decode, header_text, without_addresses
from suffice.text.mail.html_text import hosts_in, text_and_hosts
from suffice.text.mail.part import Part

# Words of two characters or more, as scikit-learn's; but an underscore parts them, so that no
# word of a body can pass for a marked one.
WORD = re.compile(r"[^\W_]{2,}")
PARTED = re.compile(r"[\W_]+")


class Attachment(NamedTuple):
    """The type and file name of an attachment; its content is not read."""

    type: str
    name: str


@dataclass(frozen=True)
class Message:
    """What a message says to a text classifier.

    Parameters
    ----------
    subject, sender : str
        The headers Subject and From, decoded, each on one line.
    body : str
        The text that is shown.
    links : tuple of str
        The hosts that links lead to, each once, in order.
    attachments : tuple of Attachment
        Types and file names.
    source : str
        Where it was found: a path, with "#3" for the third message of an mbox.
    truncated : bool
        Whether a cap left some of it unread.

    Examples
    --------
    >>> message = Message("Big offer!", "Ann <ann@example.org>", "Buy now", ("shop.example",))
    >>> message.words()  # doctest: +NORMALIZE_WHITESPACE
    ['subject:big', 'subject:offer', 'from:ann@example.org', 'from:example.org', 'from:ann',
     'link:shop.example', 'buy', 'now']
    >>> print(message.text)
    subject_big subject_offer from_ann_example_org from_example_org from_ann link_shop_example
    Buy now
    """

    subject: str = ""
    sender: str = ""
    body: str = ""
    links: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    source: str = ""
    truncated: bool = False

    @property
    def text(self) -> str:
        """The message as one text, in which `subject_offer` is one word to any tokeniser."""
        marked = " ".join(f"{mark}_{_one_word(value)}" for mark, value in self._marked())
        return f"{marked}\n{self.body.replace('_', ' ')}"

    def words(self) -> list[str]:
        """Return the words in lower case, those that are not of the body with their mark."""
        marked = [f"{mark}:{value}" for mark, value in self._marked()]
        return [*marked, *WORD.findall(self.body.replace("_", " ").lower())]

    def _marked(self) -> Iterator[tuple[str, str]]:
        for word in WORD.findall(self.subject.lower()):
            yield "subject", word
        sender = self.sender.lower()
        for address, host in addresses(sender):
            yield "from", address
            yield "from", host
        for word in WORD.findall(without_addresses(sender)):
            yield "from", word
        for host in self.links:
            yield "link", host
        for attachment in self.attachments:
            yield "attachment", attachment.type
            if attachment.name:
                yield "attachment", attachment.name.lower()


def _one_word(value: str) -> str:
    return PARTED.sub("_", value).strip("_")


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
