"""Mail leaves on a thread of its own: no answer is slower for an address that exists."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from django.conf import settings
from django.core.mail import EmailMessage

log: Final = logging.getLogger(__name__)
_NOWHERE: Final = "django.core.mail.backends.dummy.EmailBackend"
# One thread keeps the order; what is not sent yet is sent before the process ends.
_post: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")


def can_send() -> bool:
    """Whether this installation sends mail at all."""
    backend: str = settings.EMAIL_BACKEND
    return backend != _NOWHERE


def hand_over(subject: str, body: str, to: str) -> None:
    """Send a message soon; whoever asked does not wait for it and is not told whether it arrived."""
    message = EmailMessage(" ".join(subject.split()), body, to=[to])
    _post.submit(_send, message)


def settled() -> None:
    """Wait until everything that was handed over has been tried."""
    _post.submit(lambda: None).result()


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    # A mail server may fail in any way, and nobody waits for it.
    except Exception as error:
        # Neither the address nor the text belongs into a log.
        log.warning("mail_not_sent", extra={"reason": type(error).__name__})
