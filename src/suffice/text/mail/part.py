"""The parts of a message as the standard library's parser finds them, within caps."""

from __future__ import annotations

from dataclasses import dataclass
from email.feedparser import BytesFeedParser
from email.message import Message as StandardMessage
from email.policy import Compat32
from typing import Any, cast

from suffice.text.mail.caps import MAX_HEADER, Caps
from suffice.text.mail.headers import decode

# What a part is taken for that lies too deep to be opened.
SEALED = "application/octet-stream"


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
        return SEALED if self.sealed else super().get_content_type()

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
    def sealed(self) -> bool:
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
