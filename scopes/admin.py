"""Phone agents with their scopes in the admin; a scope is changed in the selector, not here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.urls import URLPattern, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.admin_places import restricted_by
from scopes.models import AgentScope, DirectoryPick, FolderPick, InstructionPick, ItemPick, Mode
from scopes.resolution import allowlist_for
from scopes.selecting import create_scopes
from scopes.selector import reach
from scopes.selector.addresses import selector_urls
from tenants.admin_actions import Button, ButtonAdmin
from tenants.admin_authority import at_of, organizations_seen
from tenants.admin_base import ReadOnlyAdmin
from tenants.admin_site import Notice, our_site
from tenants.models import PhoneAgent, Role

_MOST_LOOKED_AT = 50
_LOST_INSTRUCTIONS = _(
    "%(organization)s: %(agent)s is restricted to instructions that are no longer there"
)
_LOST_ITEMS = _("%(organization)s: %(agent)s is restricted to items that are no longer there")
_CATEGORIES = 2


def _lacks_scopes(agent: PhoneAgent) -> bool:
    return AgentScope.objects.filter(agent=agent).count() < _CATEGORIES


@admin.register(PhoneAgent)
class PhoneAgentAdmin(ButtonAdmin):
    """The agents that answer calls."""

    subject = "agent"
    list_display = ("name", "slug", "language", "is_active")
    search_fields = ("name", "slug")
    ordering = ("slug", "id")
    fields: ClassVar[Any] = (
        "organization", "slug", "name", "language", "base_instructions", "fallback", "is_active",
    )  # fmt: skip
    buttons: ClassVar[Sequence[Button]] = (
        Button("make_scopes", _("Make the missing scopes"), Role.ADMIN, _lacks_scopes),
    )

    def get_urls(self) -> list[URLPattern]:
        """Return the selector's addresses, then the others."""
        return [*selector_urls(our_site()), *super().get_urls()]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep the name that voice runtimes use."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "slug"] if obj is not None else fields

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001
        """Make a new agent's scopes with it: without them nothing is searchable."""
        super().save_model(request, obj, form, change)
        if not change:
            create_scopes(obj)

    def make_scopes(self, request: HttpRequest, agent: PhoneAgent) -> str:
        """Make what an agent that was not made here lacks."""
        create_scopes(agent)
        self.note(request, agent, "make_scopes")
        return gettext(
            "The agent has its scopes. They search everything until something is picked."
        )

    def links(self, obj: PhoneAgent) -> list[tuple[str, str]]:
        """Return the pages about an agent."""
        return [
            (gettext("Search as this agent"), reverse("admin:search_as_agent", args=[obj.pk])),
            (gettext("Scope"), reverse("admin:tenants_phoneagent_scope", args=[obj.pk])),
        ]

    def refusals(self, obj: PhoneAgent) -> Sequence[str]:
        """Return what is restricted to it: without the agent nobody could say that."""
        return restricted_by("agents", obj)


@admin.register(AgentScope)
class AgentScopeAdmin(ReadOnlyAdmin):
    """The stored mode of each category of each agent."""

    list_display = ("agent", "category", "mode", "picks", "changed_at", "changed_by")
    list_select_related = ("agent", "changed_by")
    ordering = ("agent__slug", "category")
    fields: ClassVar[Any] = (
        "organization", "agent", "category", "mode", "picks", "version", "changed_at", "changed_by",
    )  # fmt: skip

    @admin.display(description=_("picks"))
    def picks(self, scope: AgentScope) -> int:
        """Return how many picks restrict it."""
        return sum(
            model._default_manager.filter(agent_id=scope.agent_id).count()
            for model in _PICKS[scope.category]
        )


_PICKS: dict[str, tuple[type[Any], ...]] = {
    "instruction": (InstructionPick, DirectoryPick),
    "knowledge": (ItemPick, FolderPick),
}


class PickAdmin(ReadOnlyAdmin):
    """What was picked for an agent."""

    list_select_related = ("agent",)
    ordering = ("agent__slug", "id")
    target: ClassVar[str]

    def get_list_display(self, request: HttpRequest) -> Any:
        """Return the agent and what was picked."""
        return ("agent", self.target)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the same with the organization."""
        return ("organization", "agent", self.target)


@admin.register(InstructionPick)
class InstructionPickAdmin(PickAdmin):
    """Picked instructions."""

    target = "instruction"


@admin.register(DirectoryPick)
class DirectoryPickAdmin(PickAdmin):
    """Picked directories."""

    target = "directory"


@admin.register(ItemPick)
class ItemPickAdmin(PickAdmin):
    """Picked items."""

    target = "item"


@admin.register(FolderPick)
class FolderPickAdmin(PickAdmin):
    """Picked folders."""

    target = "folder_key"


def attention(request: HttpRequest) -> list[Notice]:
    """Return agents that are restricted to what is no longer there.

    Cost: six statements for each restricted agent, fifty agents at most.
    """
    seen = [organization.pk for organization in organizations_seen(request, Role.VIEWER)]
    restricted = AgentScope.objects.filter(organization_id__in=seen, mode=Mode.SELECTED)
    agents = PhoneAgent.objects.filter(
        organization_id__in=seen, pk__in=restricted.values("agent_id"), is_active=True
    )
    return [
        notice
        for agent in agents.select_related("organization")[:_MOST_LOOKED_AT]
        for notice in _vacant(request, agent)
    ]


def _vacant(request: HttpRequest, agent: PhoneAgent) -> list[Notice]:
    scope = allowlist_for(agent, contact=None, channel="", country=None, at=at_of(request))
    url = reverse("admin:tenants_phoneagent_scope", args=[agent.pk])
    return [
        Notice(str(sentence) % {"organization": agent.organization, "agent": agent}, url)
        for sentence, limit in (
            (_LOST_INSTRUCTIONS, scope.instructions),
            (_LOST_ITEMS, scope.knowledge),
        )
        if getattr(limit, "is_vacant", False)
    ]


our_site().add_watch(attention)
our_site().add_page("knowledge/<uuid:item_id>/who-finds/", reach.item_page, "who_finds_item")
our_site().add_page(
    "instructions/<uuid:instruction_id>/who-finds/",
    reach.instruction_page,
    "who_finds_instruction",
)
