"""Pages of the corrections that were written: which there are, and what is decided about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from golden.acting import Act
from golden.correcting import (
    approve_correction,
    reject_correction,
    restore_correction,
    withdraw_correction,
)
from golden.errors import GoldenError
from golden.staff.asking import (
    act_of,
    in_own_organizations,
    organization_of,
    require_role,
    roles_of,
    shown,
)
from golden.staff.forms import ConfirmForm
from knowledge.models import Item, ItemKind, ReviewStatus
from knowledge.shelving.errors import RestoreTooLate
from tenants.admin_authority import authority_of
from tenants.admin_lists import CappedPaginator
from tenants.admin_site import own_transaction
from tenants.models import Role

PER_PAGE: Final = 50
_THERE: Final = Q(deleted_at=None)
STATES: Final[dict[str, tuple[Any, Q]]] = {
    "waiting": (
        gettext_lazy("Waiting for approval"),
        _THERE & Q(review_status=ReviewStatus.PENDING),
    ),
    "used": (gettext_lazy("In use"), _THERE & Q(review_status=ReviewStatus.APPROVED)),
    "declined": (gettext_lazy("Declined"), _THERE & Q(review_status=ReviewStatus.REJECTED)),
    "withdrawn": (gettext_lazy("Withdrawn"), ~_THERE),
}


@dataclass(frozen=True)
class Verb:
    """What may be decided about a correction: by whom, in which states, and what it changes."""

    label: Any
    title: Any
    consequence: Any
    role: str
    states: frozenset[str]
    carry_out: Callable[[int, UUID, Act], None]
    needs_reason: bool = False


VERBS: Final = {
    "approve": Verb(
        gettext_lazy("Approve"), gettext_lazy("Approve a correction"),
        gettext_lazy("From the next search on, callers who ask this can hear it."),
        Role.APPROVER, frozenset({"waiting"}), approve_correction,
    ),
    "reject": Verb(
        gettext_lazy("Decline"), gettext_lazy("Decline a correction"),
        gettext_lazy("Nothing changes for callers. The author sees your reason."),
        Role.APPROVER, frozenset({"waiting"}), reject_correction, needs_reason=True,
    ),
    "withdraw": Verb(
        gettext_lazy("Withdraw"), gettext_lazy("Withdraw a correction"),
        gettext_lazy("From the next search on, no caller hears it."),
        Role.PUBLISHER, frozenset({"waiting", "used", "declined"}), withdraw_correction,
    ),
    "restore": Verb(
        gettext_lazy("Restore"), gettext_lazy("Restore a correction"),
        gettext_lazy("It comes back as it was written, and waits for approval where one is needed."),
        Role.PUBLISHER, frozenset({"withdrawn"}), restore_correction,
    ),
}  # fmt: skip


def state_of(item: Item) -> str:
    """Return where a correction stands."""
    if item.deleted_at is not None:
        return "withdrawn"
    standing = {ReviewStatus.APPROVED: "used", ReviewStatus.REJECTED: "declined"}
    return standing.get(ReviewStatus(item.review_status), "waiting")


def offered(item: Item, roles: frozenset[str]) -> list[tuple[str, Any]]:
    """Return the verbs, with their labels, that these roles may use on a correction."""
    state = state_of(item)
    return [
        (name, verb.label)
        for name, verb in VERBS.items()
        if verb.role in roles and state in verb.states
    ]


def list_corrections(request: HttpRequest) -> HttpResponse:
    """Show the corrections of an organization by where they stand, the newest first."""
    organization = organization_of(request)
    wanted = request.GET.get("state", "")
    wanted = wanted if wanted in STATES else "used"
    rows = _corrections(organization.pk).filter(STATES[wanted][1]).order_by("-updated_at", "id")
    page = CappedPaginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    roles = roles_of(request, organization.pk)
    context = {
        "organization": organization,
        "page": page,
        "rows": [(item, offered(item, roles)) for item in page.object_list],
        "states": [(name, label) for name, (label, _rows) in STATES.items()],
        "wanted": wanted,
    }
    return shown(request, "corrections.html", _("Corrections"), context)


def waiting_corrections(organization_id: int, roles: frozenset[str]) -> list[Any]:
    """Return what waits for approval, the oldest first, each with the verbs that are offered."""
    rows = _corrections(organization_id).filter(STATES["waiting"][1])
    listed = rows.order_by("created_at", "id")[:PER_PAGE]
    return [(item, offered(item, roles)) for item in listed]


def _corrections(organization_id: int) -> QuerySet[Item]:
    rows = Item.objects.select_related("uploader").defer("metadata")
    return rows.filter(organization_id=organization_id, kind=ItemKind.CORRECTION)


@own_transaction
def decide_correction(request: HttpRequest, item_id: UUID, name: str) -> HttpResponse:
    """Approve, decline, withdraw or restore a correction."""
    if name not in VERBS:
        raise Http404
    verb = VERBS[name]
    with in_own_organizations(request):
        item = _item(request, item_id)
        require_role(request, verb.role, item.organization_id)
        initial = {"lock_version": item.lock_version}
        form = ConfirmForm(request.POST or None, initial=initial, needs_reason=verb.needs_reason)
        if not form.is_valid():
            return _decision(request, item, form, name)
    told = form.cleaned_data
    try:
        verb.carry_out(
            item.organization_id, item.pk, act_of(request, told["reason"], told["lock_version"])
        )
    except (GoldenError, RestoreTooLate) as refusal:
        with in_own_organizations(request):
            again = _item(request, item_id)
            fresh = ConfirmForm(initial={"lock_version": again.lock_version})
            return _decision(request, again, fresh, name, _(str(refusal)))
    messages.success(request, _("Decided."))
    return HttpResponseRedirect(reverse("admin:golden_queue"))


def _item(request: HttpRequest, item_id: UUID) -> Item:
    seen = authority_of(request).organizations(Role.VIEWER)
    rows = Item.objects.filter(organization_id__in=seen, kind=ItemKind.CORRECTION)
    found = rows.filter(pk=item_id).first()
    if found is None:
        raise Http404
    return found


def _decision(
    request: HttpRequest, item: Item, form: ConfirmForm, name: str, refusal: str = ""
) -> HttpResponse:
    context: dict[str, Any] = {"item": item, "form": form, "verb": VERBS[name], "refusal": refusal}
    status = 409 if refusal else 200
    return shown(request, "correction.html", str(VERBS[name].title), context, status=status)
