"""Texts, tokens, calls and cost by organization, day and model; and a provider's wish to be left alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import connection

from knowledge.embedding.protocol import SpaceSpec
from knowledge.models import ProviderPause, UsageEntry
from tenants.isolation import organization_context

_ADD: Final = """
INSERT INTO knowledge_usageentry AS u
  (id, organization_id, day, provider, model, texts, tokens, calls, cost_micros)
VALUES (gen_random_uuid(), %(organization)s, (now() AT TIME ZONE 'utc')::date, %(provider)s, %(model)s,
        %(texts)s, %(tokens)s, %(calls)s, %(cost)s)
ON CONFLICT (organization_id, day, provider, model) DO UPDATE SET
  texts = u.texts + excluded.texts, tokens = u.tokens + excluded.tokens,
  calls = u.calls + excluded.calls, cost_micros = u.cost_micros + excluded.cost_micros
"""
# The later of two wishes counts, whoever writes last.
_PAUSE: Final = """
INSERT INTO knowledge_providerpause AS p (provider, until) VALUES (%s, %s)
ON CONFLICT (provider) DO UPDATE SET until = greatest(p.until, excluded.until)
"""


@dataclass(frozen=True)
class Spent:
    """What one call cost."""

    texts: int
    tokens: int
    calls: int = 1


def note_spending(organization_id: int, space: SpaceSpec, spent: Spent) -> None:
    """Add to what the organization has spent today.

    Cost: one statement in a transaction of its own.
    """
    values: dict[str, Any] = {
        "organization": organization_id, "provider": space.provider, "model": space.model,
        "texts": spent.texts, "tokens": spent.tokens, "calls": spent.calls,
        "cost": cost_micros(spent.tokens) if space.provider != "local" else 0,
    }  # fmt: skip
    with organization_context(organization_id), connection.cursor() as cursor:
        cursor.execute(_ADD, values)


def cost_micros(tokens: int) -> int:
    """Return what tokens cost, in millionths of the currency of EARMARK_EMBEDDING_PRICE."""
    return int(Decimal(tokens) * Decimal(settings.EMBEDDING_PRICE))


def spending(organization_id: int, *, days: int = 1) -> list[dict[str, Any]]:
    """Return what was spent on the latest days, newest first."""
    with organization_context(organization_id):
        rows = UsageEntry.objects.filter(organization_id=organization_id)
        newest = rows.values_list("day", flat=True).order_by("-day").first()
        if newest is None:
            return []
        recent = rows.filter(day__gt=newest - timedelta(days=days)).order_by("-day", "model")
        names = ("day", "provider", "model", "texts", "tokens", "calls", "cost_micros")
        return [{**row, "day": str(row["day"])} for row in recent.values(*names)]


def leave_alone(space: SpaceSpec, *, until: datetime) -> None:
    """Have every process leave a provider alone until then."""
    with connection.cursor() as cursor:
        cursor.execute(_PAUSE, [_name(space), until])


def is_left_alone(space: SpaceSpec, *, at: datetime) -> bool:
    """Whether some process was told to leave the provider alone.

    Cost: one statement.
    """
    return ProviderPause.objects.filter(provider=_name(space), until__gt=at).exists()


def _name(space: SpaceSpec) -> str:
    return f"{space.provider}:{space.model}"[:400]
