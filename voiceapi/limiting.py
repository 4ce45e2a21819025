"""How often a key, an organization and a session may ask; decided by the database, for all processes.

Each has one instant: until when what it has spent is paid for. A request moves it on by one step; it
may lie a quarter of a minute ahead, and a request that would take it further is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.db import connection

from tenants.keys import KeyHolder
from tenants.models import PhoneAgent
from voiceapi.errors import RateLimited

AHEAD_S: Final = 15.0
# From the narrowest to the widest: what a session is refused costs its organization nothing. The same
# order everywhere is also why two requests never wait for each other crosswise.
KINDS: Final = ("session", "organization", "key")
_SPEND: Final = """
{kind} AS (
  INSERT INTO voiceapi_allowance AS a (kind, name, spent_until)
  SELECT '{kind}', %({kind})s, statement_timestamp() + %({kind}_step)s {after}
  ON CONFLICT (kind, name) DO UPDATE
    SET spent_until = greatest(a.spent_until, statement_timestamp()) + %({kind}_step)s
    WHERE greatest(a.spent_until, statement_timestamp()) + %({kind}_step)s
       <= statement_timestamp() + %(ahead)s
  RETURNING 1)"""
_PASSED: Final = "WHERE EXISTS (SELECT 1 FROM {kind})"
_TOLD: Final = "EXISTS (SELECT 1 FROM {kind})"
_WAIT: Final = """
SELECT extract(epoch FROM spent_until - clock_timestamp()) + %s::float8
  FROM voiceapi_allowance WHERE kind = %s AND name = %s
"""
_FORGET: Final = "DELETE FROM voiceapi_allowance WHERE spent_until < now() - interval '1 hour'"


def spenders(holder: KeyHolder, agent: PhoneAgent) -> dict[str, str]:
    """Return who asks: the key, and the organization of the agent."""
    return {"key": holder.kid, "organization": str(agent.organization_id)}


def spend(names: Mapping[str, str]) -> None:
    """Take one request from what each of these may make, or from none that is wider than the full one.

    Shape:  kind -> name
    Raises: RateLimited
    Cost:   one statement, which waits for no disk; with every limit off, none
    """
    limited = tuple(kind for kind in KINDS if kind in names and settings.VOICE_RATES[kind])
    if not limited:
        return
    ahead = timedelta(seconds=AHEAD_S)
    parameters: dict[str, Any] = {"ahead": ahead}
    for kind in limited:
        parameters |= {kind: names[kind], f"{kind}_step": _step(kind)}
    with connection.cursor() as cursor:
        cursor.execute(_statement(limited), parameters)
        passed: tuple[bool, ...] = cursor.fetchone()
    for kind, fits in zip(limited, passed, strict=True):
        if not fits:
            raise _refusal(kind, names[kind])


def forget_idle() -> int:
    """Drop what has been paid for long ago.

    Cost: one statement
    """
    with connection.cursor() as cursor:
        cursor.execute(_FORGET)
        return int(cursor.rowcount)


@lru_cache(maxsize=8)
def _statement(kinds: tuple[str, ...]) -> str:
    steps = [
        _SPEND.format(kind=kind, after=_PASSED.format(kind=kinds[number - 1]) if number else "")
        for number, kind in enumerate(kinds)
    ]
    told = ", ".join(_TOLD.format(kind=kind) for kind in kinds)
    return f"WITH {', '.join(steps)} SELECT {told}"


def _step(kind: str) -> timedelta:
    # A rate so low that one step is longer than the lead would never let anything through.
    return timedelta(seconds=min(AHEAD_S, 60 / settings.VOICE_RATES[kind]))


def _refusal(kind: str, name: str) -> RateLimited:
    with connection.cursor() as cursor:
        beyond = (_step(kind) - timedelta(seconds=AHEAD_S)).total_seconds()
        cursor.execute(_WAIT, [beyond, kind, name])
        row = cursor.fetchone()
    seconds = max(1, math.ceil(row[0])) if row else 1
    return RateLimited(
        fields={kind: [f"At most {settings.VOICE_RATES[kind]} a minute."]}, wait=seconds
    )
