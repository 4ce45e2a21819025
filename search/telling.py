"""What was found and why, in words: the same for the page and for the commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from knowledge.models import IndexState
from knowledge.retrieval.types import Allowlist, Answer, Everything, Ranked, Result, Scope
from scopes.asking import Asked
from search.as_agent import Call, Why, places
from search.explaining import Explained, explained
from tenants.isolation import organization_context
from tenants.models import PhoneAgent, Segment

GATES: Final = {
    "lifecycle": gettext_lazy("Published and approved"),
    "dataset": gettext_lazy("In a dataset that voice searches"),
    "deleted": gettext_lazy("Not withdrawn"),
    "visibility": gettext_lazy("Public"),
    "channel": gettext_lazy("Channel"),
    "segment": gettext_lazy("Segment"),
    "jurisdiction": gettext_lazy("Country"),
    "validity": gettext_lazy("Valid at that time"),
    "agent": gettext_lazy("Agent"),
    "allowlist": gettext_lazy("In the agent's scope"),
}


@dataclass(frozen=True)
class Shown:
    """One result with what staff see beside it."""

    result: Result
    ranked: Ranked | None
    reasons: Explained | None = None

    @property
    def places(self) -> str:
        """Return where each leg put it."""
        return places(self.ranked) if self.ranked else ""


@dataclass(frozen=True)
class ToldGate:
    """One gate in words: what the row says, what the call brings."""

    name: str
    passes: bool
    row: str
    call: str


def shown(answer: Answer, queries: int = 1) -> list[Shown]:
    """Return the results with their places in the ranking."""
    by_asset = {one.ranked.asset_id: one for one in explained(answer, queries)}
    return [
        Shown(result, reasons.ranked if reasons else None, reasons)
        for result in answer.results
        for reasons in [by_asset.get(result.asset_id)]
    ]


def told_gates(agent: PhoneAgent, reason: Why, call: Call) -> list[ToldGate]:
    """Return the verdicts in words, with names instead of ids.

    Cost: two statements.
    """
    named = _names(agent)
    brought = _brought(agent, call)
    return [
        ToldGate(
            str(GATES.get(verdict.gate, verdict.gate)),
            verdict.passes,
            "; ".join(
                f"{column}: {_said(value, named)}" for column, value in verdict.because.items()
            ),
            brought.get(verdict.gate, ""),
        )
        for verdict in reason.verdicts
    ]


def index_words(agent: PhoneAgent, reason: Why) -> str:
    """Return what the index holds of a row; the words of a text are searched without it."""
    with organization_context(agent.organization_id):
        state = IndexState.objects.filter(
            organization_id=agent.organization_id, asset_id=reason.target.id
        ).first()
    if state is None or state.applied_generation < state.desired_generation:
        status = state.status if state else "pending"
        told = _("The index is behind (%s): found by its words, not yet by its meaning.")
        return told % _(status)
    return _("The index holds it as it is now.")


def scope_words(scope: Scope) -> str:
    """Return a category's scope in words."""
    if isinstance(scope, Everything):
        return _("all searchable")
    picked = len(scope.ids) + len(scope.directories) + len(scope.folders)
    if scope.is_vacant:
        return _("restricted, nothing left to search")
    return ngettext("restricted to {n} pick", "restricted to {n} picks", picked).format(n=picked)


def script_words() -> dict[str, Any]:
    """Return the sentences that the page's script says."""
    samples = {"zero": 0, "one": 1, "two": 2, "few": 3, "many": 11, "other": 100}
    return {
        "searching": _("Searching …"),
        "failed": _("The search failed. Try again."),
        "away": _("The server did not answer. Try again."),
        "results": {
            name: ngettext("{n} result", "{n} results", sample) for name, sample in samples.items()
        },
    }


def as_json(asked: Asked) -> dict[str, Any]:
    """Return everything that staff may see, as plain values."""
    answer = asked.answer
    return {
        "status": answer.status.value,
        "search": str(asked.search_id),
        "digest": answer.digest,
        "degraded": list(answer.degraded),
        "guidance": answer.guidance,
        "scope": _scopes(asked.allowlist),
        "results": [
            {
                **asdict(one.result),
                "why": asdict(one.ranked) if one.ranked else None,
                "consensus": _consensus(one.reasons),
            }
            for one in shown(answer)
        ],
        "candidates": answer.counts,
        "timings_ms": answer.timings_ms,
        "profile_version": answer.profile_version,
    }


def _consensus(reasons: Explained | None) -> dict[str, int] | None:
    if reasons is None:
        return None
    return {"queries": reasons.queries, "legs": reasons.legs, "of": reasons.possible}


def _scopes(allowlist: Allowlist | None) -> dict[str, str]:
    if allowlist is None:
        return {}
    return {
        "instructions": scope_words(allowlist.instructions),
        "knowledge": scope_words(allowlist.knowledge),
    }


def _names(agent: PhoneAgent) -> Mapping[str, str]:
    with organization_context(agent.organization_id):
        rows: list[Segment | PhoneAgent] = [
            *Segment.objects.filter(organization_id=agent.organization_id),
            *PhoneAgent.objects.filter(organization_id=agent.organization_id),
        ]
        return {str(row.pk): row.slug for row in rows}


def _said(value: str, named: Mapping[str, str]) -> str:
    for key, name in named.items():
        value = value.replace(key, name)
    return value or _("empty")


def _brought(agent: PhoneAgent, call: Call) -> dict[str, str]:
    contact = call.contact
    with organization_context(agent.organization_id):
        places = contact.places.select_related("segment") if contact else ()
        segments = ", ".join(sorted(place.segment.slug for place in places))
    return {
        "channel": call.channel,
        "segment": segments or (_("none") if contact else _("none: the caller is not known")),
        "jurisdiction": call.country or _("unknown"),
        "validity": f"{date_format(call.at, 'DATETIME_FORMAT')} UTC",
        "agent": agent.slug,
    }
