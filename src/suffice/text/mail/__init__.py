"""Mail as text to classify: messages out of files, mailboxes and folders."""

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
