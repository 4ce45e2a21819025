"""Selections follow folders: what knowledge asks of scopes when a folder gets another key."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import F, Max, Q, QuerySet

from knowledge.folders import prefix_range
from knowledge.models import Category
from scopes.models import AgentScope, FolderPick, ItemPick
from scopes.selecting import SELECT, explicit_picks, told_of
from tenants.auditing import Actor, Change, note
from tenants.locking import lock_organization
from tenants.models import AuditEntry, PhoneAgent


class FolderPicks:
    """The folders and items that agents have selected. Expects the organization's context."""

    def within(self, organization_id: int, key: str) -> set[str]:
        """Return the selected folders that are this one or lie below it."""
        return set(_within(organization_id, key).values_list("folder_key", flat=True))

    def agents(self, organization_id: int, key: str) -> list[str]:
        """Return the names of the agents that have this folder or one below it selected."""
        names = _within(organization_id, key).values_list("agent__name", flat=True)
        return sorted(set(names))

    def hold(self, organization_id: int) -> datetime | None:
        """Let nobody select knowledge until the transaction ends; return when somebody last did.

        Whoever is in the middle of it is waited for.
        """
        lock_organization(organization_id)
        # A process of the release before locks the scope that it writes, and nothing else.
        _locked(_scopes(organization_id))
        changes = AuditEntry.objects.filter(
            organization_id=organization_id, subject_type="agent", verb=SELECT
        )
        newest: datetime | None = changes.aggregate(newest=Max("at"))["newest"]
        return newest

    def carry(
        self, organization_id: int, moves: dict[str, str], *, by: Actor, at: datetime
    ) -> None:
        """Let selections follow folders to their new keys, which nobody has selected. Expects `hold`.

        Every scope gets a new version: a page that shows the old key is told so when it saves.
        """
        _scopes(organization_id).update(version=F("version") + 1, moved_version=F("version") + 1)
        picks = FolderPick.objects.filter(organization_id=organization_id)
        ids = set(picks.filter(folder_key__in=list(moves)).values_list("agent_id", flat=True))
        agents = PhoneAgent.objects.filter(organization_id=organization_id, pk__in=ids)
        for agent in agents.order_by("pk"):
            _carry(agent, moves, by=by, at=at)

    def removing(self, organization_id: int, items: Collection[UUID]) -> None:
        """Give scopes that have these items selected a new version, before the selections go.

        Whoever takes a tick away on a page that shows them would else take away the last one, and
        open the scope.
        """
        picks = ItemPick.objects.filter(organization_id=organization_id, item_id__in=list(items))
        agents = set(picks.values_list("agent_id", flat=True))
        scopes = _scopes(organization_id).filter(agent_id__in=agents)
        _locked(scopes)
        scopes.update(version=F("version") + 1)


def _scopes(organization_id: int) -> QuerySet[AgentScope]:
    return AgentScope.objects.filter(organization_id=organization_id, category=Category.KNOWLEDGE)


def _locked(scopes: QuerySet[AgentScope]) -> None:
    list(scopes.order_by("pk").select_for_update(of=("self",), no_key=True))


def _within(organization_id: int, key: str) -> QuerySet[FolderPick]:
    low, high = prefix_range(key)
    inside = Q(folder_key=key) | Q(folder_key__gte=low, folder_key__lt=high)
    return FolderPick.objects.filter(inside, organization_id=organization_id)


def _carry(agent: PhoneAgent, moves: dict[str, str], *, by: Actor, at: datetime) -> None:
    before = explicit_picks(agent, Category.KNOWLEDGE)
    for pick in FolderPick.objects.filter(
        organization_id=agent.organization_id, agent=agent, folder_key__in=list(moves)
    ):
        pick.folder_key = moves[pick.folder_key]
        pick.save(update_fields=["folder_key"])
    _scopes(agent.organization_id).filter(agent=agent).update(changed_at=at, changed_by=by.user_id)
    change = Change(
        SELECT,
        "agent",
        str(agent.pk),
        told_of(Category.KNOWLEDGE, before),
        told_of(Category.KNOWLEDGE, explicit_picks(agent, Category.KNOWLEDGE)),
        "A folder was moved.",
    )
    note(agent.organization_id, change, by=by, at=at)
