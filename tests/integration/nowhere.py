"""A mail server that is not there."""

from __future__ import annotations

from django.core.mail.backends.base import BaseEmailBackend


class EmailBackend(BaseEmailBackend):
    def send_messages(self, email_messages):
        raise ConnectionRefusedError(f"{len(email_messages)} not sent")
