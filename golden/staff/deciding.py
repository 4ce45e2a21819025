"""Confirm pages: each says what will change, for whom, and then does exactly that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from golden.acting import draft_content
from golden.content import Content, content_of
from golden.errors import GoldenError, RoleMissing
from golden.finding import title_of
from golden.keeping import Care
from golden.models import AnswerVersion, GoldenAnswer, PublishRequest
from golden.publishing import last_live, once_live
from golden.speaking import seconds
from golden.staff.asking import act_of, find_answer, in_own_organizations, require_role, shown
from golden.staff.checking import opened
from golden.staff.forms import CareForm, ConfirmForm, ScheduleForm
from golden.staff.verbs import VERBS, Verb, carry_out, consequence
from golden.telling import audience, compared, names_in, seconds_label
from tenants.admin_site import own_transaction


class Decision:
    """One verb about to be used on one answer, with what it is about."""

    def __init__(self, request: HttpRequest, golden_id: UUID, verb: Verb) -> None:
        self.request, self.verb = request, verb
        self.golden: GoldenAnswer = find_answer(request, golden_id)
        self.live = self.golden.published_version
        self.draft = draft_content(self.golden)
        self.open: PublishRequest | None = (
            self.golden.requests.filter(status="open").select_related("version").first()
        )
        self.version = self._version()

    def _version(self) -> AnswerVersion | None:
        if self.verb.name != "roll-back":
            return None
        number = self.request.GET.get("version", "")
        if not number.isascii() or not number.isdigit() or len(number) > 9:
            raise Http404
        found = once_live(self.golden).filter(number=int(number)).first()
        if found is None:
            raise Http404
        return found

    @property
    def becomes(self) -> Content | None:
        """What would be live afterwards; None where that is nothing."""
        live = content_of(self.live) if self.live else None
        last = last_live(self.golden) if self.verb.name == "restore" else None
        return {
            "approve": content_of(self.open.version) if self.open else None,
            "reject": content_of(self.open.version) if self.open else None,
            "request": self.draft,
            "override": self.draft,
            "schedule": self.draft or live,
            "roll-back": content_of(self.version) if self.version else None,
            "restore": self.draft or (content_of(last) if last else None),
            "archive": None,
            "discard": live,
        }.get(self.verb.name, live)

    @property
    def was(self) -> Content | None:
        """What stands there now: the draft for what is about the draft, else what is live."""
        if self.verb.name in {"discard", "restore"}:
            return self.draft
        return content_of(self.live) if self.live else None

    def form(self, data: Any = None) -> ConfirmForm:
        """Return the form of the page."""
        initial: dict[str, Any] = {
            "lock_version": self.golden.lock_version,
            "seen": self.request.GET.get("seen", ""),
        }
        needs_reason = self.verb.needs_reason
        if self.verb.name == "assign":
            care = {"owner": self.golden.owner_id, "review_days": self.golden.review_days}
            return CareForm(self.golden.organization_id, data, initial=initial | care)
        if self.verb.name == "schedule":
            content = self.becomes
            if content is None:
                # Withdrawn, and no draft: there is nothing that could hold for a time.
                raise Http404
            valid = {name: getattr(content, name) for name in ("valid_from", "valid_until")}
            return ScheduleForm(data, initial=initial | valid)
        return ConfirmForm(data, initial=initial, needs_reason=needs_reason)

    def given(self, form: ConfirmForm) -> dict[str, Any]:
        """Return what the verb needs beside the answer."""
        told = form.cleaned_data
        given: dict[str, Any] = {}
        if self.open is not None:
            given["request"] = self.open.pk
        if self.version is not None:
            given["version"] = self.version.pk
        if isinstance(form, CareForm):
            owner = told["owner"]
            given["care"] = Care(owner.pk if owner else None, told["review_days"])
        if isinstance(form, ScheduleForm) and self.becomes:
            given["content"] = replace(
                self.becomes, valid_from=told["valid_from"], valid_until=told["valid_until"]
            )
        return given

    def page(self, form: ConfirmForm, refusal: str = "", *, status: int = 200) -> HttpResponse:
        """Return the page that asks."""
        names = names_in(self.golden.organization_id)
        content = self.becomes
        context = {
            "golden": self.golden,
            "verb": self.verb,
            "form": form,
            "refusal": refusal,
            "consequence": consequence(self.verb.name, self.golden),
            "audience": audience(content, names) if content else [],
            "seconds": seconds_label(seconds(content.answer, content.language)) if content else "",
            "differences": compared(self.was, content, names),
        }
        title = f"{self.verb.label}: {title_of(self.golden)}"
        return shown(self.request, "confirm.html", title, context, status=status)


@own_transaction
def decide(request: HttpRequest, golden_id: UUID, name: str) -> HttpResponse:
    """Ask on a GET; use the verb on a POST, in its own transaction."""
    if name not in VERBS:
        raise Http404
    with in_own_organizations(request):
        decision = Decision(request, golden_id, VERBS[name])
        require_role(request, decision.verb.role, decision.golden.organization_id)
        form = decision.form(request.POST if request.method == "POST" else None)
        if request.method != "POST" or not form.is_valid():
            return decision.page(form)
        given = decision.given(form)
    return _carried_out(decision, form, given)


def _carried_out(decision: Decision, form: ConfirmForm, given: dict[str, Any]) -> HttpResponse:
    request, verb, golden = decision.request, decision.verb, decision.golden
    told = form.cleaned_data
    act = act_of(request, told["reason"], told["lock_version"], opened(told["seen"], golden))
    try:
        if verb.name in {"approve", "reject"} and "request" not in given:
            return _refused(decision, _("Nothing waits for approval any more."))
        carry_out(verb.name, golden, act, given)
    except RoleMissing as lost:
        raise PermissionDenied from lost
    except GoldenError as refusal:
        return _refused(decision, _sentence(refusal))
    messages.success(request, str(verb.done))
    if verb.name == "schedule":
        return HttpResponseRedirect(reverse("admin:golden_decide", args=[golden.pk, "request"]))
    return HttpResponseRedirect(reverse("admin:golden_answer", args=[golden.pk]))


def _sentence(refusal: GoldenError) -> str:
    fields = refusal.data.get("fields", {})
    return " ".join([_(str(refusal)), *fields.values()])


def _refused(decision: Decision, sentence: str) -> HttpResponse:
    """Show the page again as things stand now: nothing has changed."""
    with in_own_organizations(decision.request):
        again = Decision(decision.request, decision.golden.pk, decision.verb)
        return again.page(again.form(), sentence, status=409)
