"""A message as a text to classify."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from suffice.text.mail.headers import addresses, without_addresses

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
