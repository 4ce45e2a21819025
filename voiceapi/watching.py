"""What the database knows of the whole installation's health, as gauges without names."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import Error as DatabaseTrouble
from django.db.models import Count, F, Min, Q
from prometheus_client import CollectorRegistry, Gauge

from knowledge.models import IndexState
from scopes.models import CanaryLook
from tenants.isolation import organization_context
from tenants.models import Organization

GAUGES: Final = {
    "earmark_canary_leaks": "Canaries that were found from where nobody may find one.",
    "earmark_canary_missed": "Canaries that the probe should have found and did not.",
    "earmark_canary_look_age_seconds": "Seconds since the look that is longest ago.",
    "earmark_canary_lexical_searches": "Places from which the newest looks asked by words.",
    "earmark_canary_dense_searches": "Places from which the newest looks asked by vectors.",
    "earmark_canary_not_probed": "Organizations whose newest look could not ask both legs.",
    "earmark_index_pending": "Changes that the index has not taken up.",
    "earmark_index_failed": "Changes that the index gave up.",
    "earmark_index_oldest_pending_seconds": "Seconds since the oldest change that waits.",
}
# The metrics hold a connection of the callers' meanwhile.
_PATIENCE: Final = {"statement_timeout": "5s"}
log = logging.getLogger(__name__)


def gauges(*, at: datetime) -> CollectorRegistry:
    """Return them as a registry of their own; an empty one while the database is away.

    Cost: three statements over the looks, and the index states that are behind, of all organizations.
    """
    shown = CollectorRegistry()
    try:
        values = _values(at)
    except DatabaseTrouble as trouble:
        log.warning("gauges_not_read", extra={"failure": type(trouble).__name__})
        return shown
    for name, meaning in GAUGES.items():
        Gauge(name, meaning, registry=shown).set(values[name])
    return shown


def _values(at: datetime) -> dict[str, float]:
    everybody = Organization.objects.values_list("pk", flat=True)
    with organization_context(*everybody, settings=_PATIENCE):
        looks = list(CanaryLook.objects.all())
        failed = IndexState.objects.filter(status=IndexState.Status.FAILED)
        waiting = IndexState.objects.filter(
            ~Q(status=IndexState.Status.FAILED), applied_generation__lt=F("desired_generation")
        )
        # Each by an index of its own: what is live is most of the table, and in neither.
        behind = waiting.aggregate(pending=Count("pk"), oldest=Min("desired_at"))
        given_up = failed.count()
    return {
        **_of_looks(looks, at),
        "earmark_index_pending": behind["pending"],
        "earmark_index_failed": given_up,
        "earmark_index_oldest_pending_seconds": _age(behind["oldest"], at),
    }


def _of_looks(looks: Sequence[CanaryLook], at: datetime) -> dict[str, float]:
    oldest = min((look.at for look in looks), default=None)
    return {
        "earmark_canary_leaks": sum(len(look.leaks) for look in looks),
        "earmark_canary_missed": sum(len(look.missed) for look in looks),
        "earmark_canary_look_age_seconds": _age(oldest, at),
        "earmark_canary_lexical_searches": sum(look.lexical_searches for look in looks),
        "earmark_canary_dense_searches": sum(
            look.dense_searches for look in looks if look.is_whole
        ),
        "earmark_canary_not_probed": sum(not look.is_whole for look in looks),
    }


def _age(when: datetime | None, at: datetime) -> float:
    return 0.0 if when is None else max(0.0, (at - when).total_seconds())
