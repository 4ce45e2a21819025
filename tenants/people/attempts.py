"""How often somebody may try something; decided by the database, for all processes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from tenants.people.errors import TooManyAttempts

# One statement decides and pays: what is refused costs nothing, so that waiting always helps.
_SPEND: Final = """
INSERT INTO tenants_attempt AS a (name, paid_until) VALUES (%(name)s, %(at)s + %(step)s)
ON CONFLICT (name) DO UPDATE SET paid_until = greatest(a.paid_until, %(at)s) + %(step)s
  WHERE greatest(a.paid_until, %(at)s) + %(step)s <= %(at)s + %(ahead)s
RETURNING 1
"""
_FORGET: Final = "DELETE FROM tenants_attempt WHERE paid_until < %(at)s"


@dataclass(frozen=True)
class Allowance:
    """So many tries at once; afterwards one for each step that passes."""

    kind: str
    step: timedelta
    at_once: int


LINKS_OPENED: Final = Allowance("link", timedelta(seconds=20), 60)
RESETS_ASKED: Final = Allowance("reset-from", timedelta(minutes=3), 20)
RESETS_SENT: Final = Allowance("reset-to", timedelta(minutes=15), 4)
INVITATIONS: Final = Allowance("invite", timedelta(minutes=1), 60)


def spend(allowance: Allowance, whose: str, *, at: datetime) -> None:
    """Take one try of an address, a mailbox or a person; the name of it is kept as a hash only.

    Raises: TooManyAttempts
    Cost:   two short statements.
    """
    values: dict[str, Any] = {
        "name": hashlib.sha256(f"{allowance.kind}\n{whose}".encode()).hexdigest(),
        "at": at,
        "step": allowance.step,
        "ahead": allowance.step * allowance.at_once,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, values)
        cursor.execute(_SPEND, values)
        if cursor.fetchone() is None:
            raise TooManyAttempts
