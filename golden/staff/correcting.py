"""The page on which a correction is written, from a search of a call."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from golden.content import LONGEST_QUESTION
from golden.correcting import Correction, correct
from golden.errors import ContentRefused
from golden.models import LONGEST_ANSWER
from golden.staff.asking import act_of, in_own_organizations, require_role, shown
from knowledge.models import Item, SearchRecord
from tenants.admin_authority import authority_of
from tenants.admin_site import own_transaction
from tenants.models import Role


class CorrectionForm(forms.Form):
    """What was asked, what should have been said, and for whom."""

    question = forms.CharField(
        label=gettext_lazy("Question"), max_length=LONGEST_QUESTION,
        widget=forms.TextInput({"dir": "auto"}),
    )  # fmt: skip
    text = forms.CharField(
        label=gettext_lazy("What should be said"), max_length=LONGEST_ANSWER,
        widget=forms.Textarea({"dir": "auto", "rows": 6}),
    )  # fmt: skip
    for_everyone = forms.BooleanField(
        label=gettext_lazy("For every agent, not only this one"), required=False
    )


@own_transaction
def write_correction(request: HttpRequest, search_id: UUID) -> HttpResponse:
    """Correct what was found in a search of a call."""
    with in_own_organizations(request):
        record = _record(request, search_id)
        require_role(request, Role.AUTHOR, record.organization_id)
        asked = record.queries[0] if record.queries else ""
        form = CorrectionForm(request.POST or None, initial={"question": asked})
        if not form.is_valid():
            return _page(request, record, form)
    told = form.cleaned_data
    agent = None if told["for_everyone"] else record.agent_id
    correction = Correction(told["question"], told["text"], record.pk, agent)
    try:
        correct(record.organization, correction, act_of(request))
    except ContentRefused as refusal:
        for name, reason in refusal.data["fields"].items():
            form.add_error(name if name in form.fields else None, reason)
        with in_own_organizations(request):
            return _page(request, record, form)
    waits = record.organization.approval_required
    done = (
        _("Written down. Somebody else has to approve it.") if waits else _("Searched from now on.")
    )
    messages.success(request, done)
    return HttpResponseRedirect(reverse("admin:golden_queue"))


def _record(request: HttpRequest, search_id: UUID) -> SearchRecord:
    seen = authority_of(request).organizations(Role.VIEWER)
    rows = SearchRecord.objects.select_related("organization", "agent")
    found = rows.filter(pk=search_id, organization_id__in=seen).first()
    if found is None:
        raise Http404
    return found


def _page(request: HttpRequest, record: SearchRecord, form: CorrectionForm) -> HttpResponse:
    found = [result.get("asset") for result in record.results]
    heard = Item.objects.filter(organization_id=record.organization_id, pk__in=filter(None, found))
    context = {"record": record, "form": form, "heard": list(heard)}
    return shown(request, "correct.html", _("Correct what was found"), context)
