"""Mail as text to classify: messages out of files, mailboxes and folders."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.text.mail.labelled import is_mail, mail_table
    from suffice.text.mail.message import Attachment, Message, parse_message
    from suffice.text.mail.reader import Broken, read_mail

__all__ = [
    "Attachment",
    "Broken",
    "Message",
    "is_mail",
    "mail_table",
    "parse_message",
    "read_mail",
]

# One message is parsed without what reads tables.
_HOME = {
    "Attachment": "message",
    "Broken": "reader",
    "Message": "message",
    "is_mail": "labelled",
    "mail_table": "labelled",
    "parse_message": "message",
    "read_mail": "reader",
}
__getattr__ = load_at_first_use(__name__, _HOME)
