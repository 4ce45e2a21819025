"""What embedding cost on the latest days; and a provider's wish to be left alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from knowledge.embedding.protocol import SpaceSpec
from knowledge.models import ProviderPause, UsageEntry
from tenants.isolation import organization_context

# The later of two wishes counts, whoever writes last.
_PAUSE: Final = """
INSERT INTO knowledge_providerpause AS p (provider, until) VALUES (%s, %s)
ON CONFLICT (provider) DO UPDATE SET until = greatest(p.until, excluded.until)
"""


def spending(organization_id: int, *, days: int = 1) -> list[dict[str, Any]]:
    """Return what was spent on the latest days, newest first."""
    with organization_context(organization_id):
        rows = UsageEntry.objects.filter(organization_id=organization_id)
        newest = rows.values_list("day", flat=True).order_by("-day").first()
        if newest is None:
            return []
        recent = rows.filter(day__gt=newest - timedelta(days=days)).order_by("-day", "model")
        names = (
            "day", "provider", "model", "texts", "tokens", "calls", "failed_calls",
            "question_calls", "question_tokens", "cost_micros",
        )  # fmt: skip
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
