"""Saved messages: subject, text, and what is attached as parts of their own."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import partial

from knowledge.ingestion.errors import Malformed, NoText
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.html import markdown_of
from knowledge.ingestion.readers.nesting import Inner
from knowledge.ingestion.readers.parsed import Reading, one_line, parsed, title_from_name


def read_mail(name: str, data: bytes, inner: Inner) -> Iterator[Reading]:
    """Yield the message's own text, then what is attached.

    Raises: Malformed, NoText, TooLarge
    """
    message = message_from_bytes(data, policy=policy.default)
    if not message.keys():
        raise Malformed("It is no message.")
    attached = list(_attachments(message))
    subject = one_line(str(message.get("subject", ""))) or title_from_name(name)
    try:
        yield parsed(subject, _text(message))
    except NoText:
        if not attached:
            raise
    for place, content in attached:
        yield from inner.read(place, partial(bytes, content), folder="")


def _text(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("html", "plain"))
    if part is None:
        raise NoText
    data = part.get_payload(decode=True)
    text = decode(
        data if isinstance(data, bytes) else b"", declared=part.get_content_charset() or ""
    )
    return markdown_of(text) if part.get_content_subtype() == "html" else text


def _attachments(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    for part in message.iter_attachments():
        name, data = part.get_filename(), part.get_payload(decode=True)
        # What is shown inside the text, such as a signature's picture, is no document.
        if name and isinstance(data, bytes) and part.get_content_disposition() != "inline":
            yield name.replace("/", "-"), data
