"""A message out of its bytes, as a text to classify."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.feedparser import BytesFeedParser
from email.message import Message as StandardMessage
from email.policy import Compat32
from typing import Any, NamedTuple, cast

from suffice.errors import InputError
from suffice.text.mail.decoding import (
    clean,
    decode,
    header_text,
    hosts_in,
    text_and_hosts,
)

MAX_BYTES = 1_000_000
MAX_PARTS = 200
# Forwarded twice, text and pictures come to a depth of 9 or so.
MAX_DEPTH = 12
# The standard library's parser opens parts within parts by recursion, and holds each line against
# the boundaries of all parts it is in.
DEEPEST = 50
# The longest line that mail may have is 998; names of files, and encoded words, run over lines.
# Time to read the parameters of a header grows with the square of its length.
MAX_HEADER = 2_000


@dataclass(frozen=True)
class Caps:
    """The largest size, number of parts and depth of nesting that are read of one message.

    Examples
    --------
    >>> Caps(max_bytes=0)
    Traceback (most recent call last):
        ...
    suffice.errors.InputError: max_bytes is 0. Give a whole number of 1 or more.
    """

    max_bytes: int = MAX_BYTES
    max_parts: int = MAX_PARTS
    max_depth: int = MAX_DEPTH

    def __post_init__(self) -> None:
        for name, cap in vars(self).items():
            if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1:
                raise InputError(f"{name} is {cap!r}. Give a whole number of 1 or more.")
        if self.max_depth > DEEPEST:
            raise InputError(
                f"max_depth is {self.max_depth}. Give {DEEPEST} or less: no mail nests deeper."
            )


# Words of two characters or more, as scikit-learn's; but an underscore parts them, so that no
# word of a body can pass for a marked one.
WORD = re.compile(r"[^\W_]{2,}")
BETWEEN_WORDS = re.compile(r"[\W_]+")
ADDRESS = re.compile(r"[^\s<>()\[\]\",;:@]+@([^\s<>()\[\]\",;:@]+)")


class Attachment(NamedTuple):
    """The type and file name of an attachment; its content is not read."""

    type: str
    name: str


@dataclass(frozen=True)
class Message:
    """A message as a text classifier takes it.

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
        marked = [
            f"{mark}_{BETWEEN_WORDS.sub('_', word).strip('_')}" for mark, word in self._marked()
        ]
        return f"{' '.join(marked)}\n{self.body.replace('_', ' ')}"

    def words(self) -> list[str]:
        """Return the words in lower case, those that are not of the body with their mark."""
        marked = [f"{mark}:{word}" for mark, word in self._marked()]
        return [*marked, *WORD.findall(self.body.replace("_", " ").lower())]

    def _marked(self) -> Iterator[tuple[str, str]]:
        """Yield the words that are not of the body, each after its mark."""
        for word in WORD.findall(self.subject.lower()):
            yield "subject", word
        sender = self.sender.lower()
        # Names may be made up to look like addresses, so all of them are taken.
        for address in ADDRESS.finditer(sender):
            yield "from", address[0]
            yield "from", address[1].strip(".")
        for word in WORD.findall(ADDRESS.sub(" ", sender)):
            yield "from", word
        for host in self.links:
            yield "link", host
        for attachment in self.attachments:
            yield "attachment", attachment.type
            if attachment.name:
                yield "attachment", attachment.name.lower()


# What a part is taken for that lies too deep to be opened.
OPAQUE = "application/octet-stream"


class TooManyPartsError(Exception):
    """A message has more parts than are read; what was found so far is kept."""


def root_part(raw: bytes, caps: Caps) -> tuple[Part, bool]:
    r"""Return the part that is the whole message, and whether parts of it were left out.

    Examples
    --------
    >>> root, truncated = root_part(b"Subject: Hello\n\nHow are you?", Caps())
    >>> root["subject"], root.get_payload(), truncated
    ('Hello', 'How are you?', False)
    """
    opened = Opened(caps)
    roots: list[Part] = []

    def new_part(policy: Any) -> Part:
        part = Part(opened, policy)
        opened.parts += 1
        if opened.parts == 1:
            roots.append(part)
        return part

    parser = BytesFeedParser(policy=MailPolicy(message_factory=new_part))
    truncated = False
    try:
        parser.feed(raw)
        parser.close()
    except TooManyPartsError:
        truncated = True
    # Taken off the list, or the message and its factory would hold each other in memory.
    return roots.pop(), truncated


@dataclass
class Opened:
    """How many parts were found so far, and how many may be."""

    caps: Caps
    parts: int = 0


class Part(StandardMessage):
    """A part that knows how deep it lies, and is not opened beyond the cap."""

    def __init__(self, opened: Opened, policy: Any) -> None:
        super().__init__(policy)
        self.opened = opened
        self.depth = 1

    def attach(self, payload: Any) -> None:
        """Add a part to this one; the parser calls it before it reads the part."""
        payload.depth = self.depth + 1
        super().attach(payload)
        if self.opened.parts > self.opened.caps.max_parts:
            payload.set_payload("")
            raise TooManyPartsError

    def get_content_type(self) -> str:
        """Return the type, by which the parser decides whether to look for parts inside."""
        return OPAQUE if self.is_too_deep else super().get_content_type()

    def inside(self) -> list[Part]:
        """Return the parts in this one."""
        return cast("list[Part]", self.get_payload()) if self.is_multipart() else []

    def get_param(
        self, param: str, failobj: Any = None, header: str = "content-type", unquote: bool = True
    ) -> Any:
        """Return a parameter of a header, or `failobj` if its pieces do not fit together."""
        try:
            return super().get_param(param, failobj, header, unquote)
        except TypeError:
            # The standard library sorts pieces (RFC 2231) that have numbers with some without.
            return failobj

    @property
    def is_too_deep(self) -> bool:
        """Whether there may be parts inside, and this one lies too deep to look."""
        at_the_bottom = self.depth >= self.opened.caps.max_depth
        return at_the_bottom and super().get_content_type().startswith(("message/", "multipart/"))


class MailPolicy(Compat32):
    """Headers of limited length, with characters in place of bytes above 127."""

    message_factory: Any = None

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return the name and value of a header, given its lines."""
        name, value = super().header_source_parse(sourcelines)
        return name, decode(value[:MAX_HEADER].encode("ascii", "surrogateescape")).strip()


@dataclass
class Contents:
    """The text, link hosts and attachments of a part and all parts in it."""

    text: str = ""
    hosts: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    truncated: bool = False


def contents(part: Part) -> Contents:
    r"""Return the text, link hosts and attachments of a part and all parts in it.

    Examples
    --------
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
        return _combine([contents(each) for each in inside], kind == "multipart/alternative")
    # A multipart without parts has lost its boundary; its reader sees the source.
    if kind == "text/html" and not attached:
        return Contents(*text_and_hosts(_payload_text(part)))
    if (kind == "text/plain" or kind.startswith("multipart/")) and not attached:
        text = _payload_text(part).replace("\r\n", "\n").strip()
        return Contents(text, list(hosts_in(text)))
    return Contents(attachments=[Attachment(kind, _file_name(part))], truncated=part.is_too_deep)


def _combine(pieces: list[Contents], alternative: bool) -> Contents:
    """Return what the parts of a multipart say together."""
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


def _file_name(part: Part) -> str:
    try:
        return clean(header_text(part.get_filename("")))
    except ValueError:
        # A name in a charset that is none.
        return ""


def _payload_text(part: Part) -> str:
    raw = part.get_payload(decode=True)
    return decode(raw if isinstance(raw, bytes) else b"", part.get_content_charset())


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
        found = contents(root)
    except Exception as error:
        # The standard library does not document what its parser raises for a defect.
        raise InputError(
            f"It cannot be parsed ({type(error).__name__}: {error}). Look at its headers."
        ) from error
    if not root.keys():
        raise InputError("It has no header. A message begins with lines such as 'Subject: ...'.")
    return Message(
        subject=header_text(root.get("subject", "")),
        sender=header_text(root.get("from", "")),
        body=found.text,
        links=tuple(dict.fromkeys(found.hosts)),
        attachments=tuple(found.attachments),
        source=source,
        truncated=len(raw) > caps.max_bytes or parts_left_out or found.truncated,
    )
