"""The page "Who can find this?" of an item or an instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.folders import leaf
from knowledge.models import Instruction, Item
from knowledge.retrieval.types import CategoryName
from scopes.reaching import Callers, Reach, callers_of, who_finds
from tenants.admin_authority import at_of, authority_of
from tenants.admin_site import our_site
from tenants.models import PhoneAgent, Role

GATES: Final[dict[str, Any]] = {
    "lifecycle": gettext_lazy("It is not published or approved, or could not be read."),
    "dataset": gettext_lazy("It is in a dataset that voice never searches."),
    "deleted": gettext_lazy("It is deleted."),
    "visibility": gettext_lazy("It is for internal use."),
    "validity": gettext_lazy("It is not valid now."),
    "agent": gettext_lazy("It is kept for other agents."),
    "allowlist": gettext_lazy("It is outside the agent's scope."),
}


@dataclass(frozen=True)
class ReachLine:
    """One agent in words."""

    agent: PhoneAgent
    finds: bool
    reasons: list[str]


def item_page(request: HttpRequest, item_id: UUID) -> HttpResponse:
    """Show who finds an item."""
    return _page(request, "knowledge", Item, item_id)


def instruction_page(request: HttpRequest, instruction_id: UUID) -> HttpResponse:
    """Show who finds an instruction."""
    return _page(request, "instruction", Instruction, instruction_id)


def _page(
    request: HttpRequest, category: CategoryName, model: type[Item | Instruction], pk: UUID
) -> HttpResponse:
    seen = authority_of(request).organizations(Role.VIEWER)
    row = model._default_manager.filter(pk=pk, organization_id__in=seen).first()
    if row is None:
        raise Http404
    callers = callers_of(row)
    name = "item" if category == "knowledge" else "instruction"
    context = {
        **our_site().each_context(request),
        "title": _("Who can find this?"),
        "row": row,
        "list_url": f"admin:knowledge_{name}_changelist",
        "row_url": f"admin:knowledge_{name}_change",
        "plural": model._meta.verbose_name_plural,
        "callers": _caller_words(callers),
        "lines": [_line(reach, callers) for reach in who_finds(category, row, at=at_of(request))],
    }
    return render(request, "scopes/who_finds.html", context)


def _caller_words(callers: Callers) -> list[str]:
    told = (
        (_("Only callers in these segments: {names}"), callers.segments),
        (_("Only on these channels: {names}"), callers.channels),
        (_("Only for these countries: {names}"), callers.jurisdictions),
    )
    return [
        text.format(names=", ".join(names) if names else _("none, so nobody finds it"))
        for text, names in told
        if names is not None
    ]


def _line(reach: Reach, callers: Callers) -> ReachLine:
    reasons = [str(GATES.get(gate, gate)) for gate in reach.kept_out_by]
    if callers.are_none:
        reasons.append(_("It is kept for nobody."))
    if not reasons:
        return ReachLine(reach.agent, finds=True, reasons=[_way(reach)])
    return ReachLine(reach.agent, finds=False, reasons=reasons)


def _way(reach: Reach) -> str:
    if reach.way == "all":
        return _("Everything of this kind is searchable for this agent.")
    if reach.way == "row":
        return _("It is selected itself.")
    return _("Included by folder {name}").format(name=leaf(reach.through))
