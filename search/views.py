"""The page "Search as this agent": a GET form that works without a script and can be shared."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from scopes.asking import Asked
from search.as_agent import USUAL_CHANNEL, USUAL_LIMIT, Call, Target, search_as, targets, why
from search.asking_agent import agent_asked
from search.forms import AsAgentForm
from search.telling import index_words, scope_words, script_words, shown, told_gates
from tenants.admin_authority import at_of
from tenants.admin_site import our_site, own_transaction
from tenants.models import PhoneAgent


@own_transaction
def search_as_agent(request: HttpRequest, agent_id: UUID) -> HttpResponse:
    """Show what a caller would hear now, and why.

    No transaction is open while the embedding is awaited, as at the voice door.
    """
    agent = agent_asked(request, agent_id)
    form = AsAgentForm(agent, _asked(request) if request.GET else None)
    found = _outcome(request, agent, form) if form.is_valid() else {}
    template = "search/results.html" if _is_fragment(request) else "search/as_agent.html"
    context = {
        **our_site().each_context(request),
        "title": _("Search as %s") % agent.name,
        "agent": agent,
        "form": form,
        "words": script_words(),
        **found,
    }
    return TemplateResponse(request, template, context)


def _asked(request: HttpRequest) -> QueryDict:
    """Return the address's question; what a link leaves out is shown as it is understood."""
    asked = request.GET.copy()
    asked.setdefault("channel", USUAL_CHANNEL)
    asked.setdefault("limit", str(USUAL_LIMIT))
    return asked


def _is_fragment(request: HttpRequest) -> bool:
    return bool(getattr(request, "htmx", False))


def _outcome(request: HttpRequest, agent: PhoneAgent, form: AsAgentForm) -> dict[str, Any]:
    call = form.call(at_of(request))
    limit = form.cleaned_data["limit"] or USUAL_LIMIT
    asked = search_as(agent, form.queries, call, limit=limit) if form.queries else None
    found: dict[str, Any] = {"call": call, "asked": asked}
    if asked is not None:
        found |= {
            "answer": asked.answer,
            "shown": shown(asked.answer, len(form.queries)),
            **_scope(asked),
        }
    if form.cleaned_data["why"]:
        found |= _reason(agent, form, call, asked)
    return found


def _scope(asked: Asked) -> dict[str, str]:
    if asked.allowlist is None:
        return {}
    return {
        "instruction_scope": scope_words(asked.allowlist.instructions),
        "knowledge_scope": scope_words(asked.allowlist.knowledge),
    }


def _reason(
    agent: PhoneAgent, form: AsAgentForm, call: Call, asked: Asked | None
) -> dict[str, Any]:
    text = form.cleaned_data["why"].strip()
    meant = targets(agent, text)
    named = [one for one in meant if text in {str(one.id), one.external_id, one.title}]
    chosen = named if len(named) == 1 else meant
    if len(chosen) != 1:
        return {"choices": [(one, _address(form, one)) for one in chosen], "why_text": text}
    reason = why(agent, chosen[0], call, asked)
    return {
        "reason": reason,
        "gates": told_gates(agent, reason, call),
        "index_words": index_words(agent, reason),
    }


def _address(form: AsAgentForm, target: Target) -> str:
    asked = QueryDict(mutable=True)
    asked.update({name: form.data.get(name, "") for name in form.fields})
    asked["why"] = str(target.id)
    return f"?{asked.urlencode()}"
