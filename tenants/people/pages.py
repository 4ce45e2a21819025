"""The pages of an organization's people: who is in it, who is invited, and what they may do."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template import loader
from django.urls import reverse
from django.utils.translation import gettext as _

from tenants.admin_authority import actor_of, at_of, organizations_seen
from tenants.admin_lists import CappedPaginator
from tenants.admin_site import own_transaction
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import Invitation, Membership, Organization, Role, User
from tenants.people import mailing
from tenants.people.asking import member_named, organization_chosen, organization_named, shown
from tenants.people.attempts import INVITATIONS, spend
from tenants.people.errors import ConfirmationMissing, TooManyAttempts
from tenants.people.forms import InviteForm, RolesForm
from tenants.people.inviting import IssuedInvitation, invite, invite_again, is_open, take_back
from tenants.people.members import refuse_unseen, remove, seen_roles, set_roles

PER_PAGE: Final = 50
MOST_INVITATIONS: Final = 50


def list_people(request: HttpRequest) -> HttpResponse:
    """Show the members of one organization, and its invitations."""
    organization = organization_chosen(request)
    everybody = User.objects.filter(memberships__organization=organization).distinct()
    page = CappedPaginator(everybody.order_by("username"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    people = list(page.object_list)
    roles = _roles_of(organization, people)
    context = {
        "organization": organization,
        "organizations": organizations_seen(request, Role.ADMIN),
        "people": [(person, roles[person.pk]) for person in people],
        "page": page,
        "invitations": _invitations(request, organization),
    }
    return shown(request, "list.html", _("People of %s") % organization.name, context)


def _roles_of(organization: Organization, people: list[User]) -> dict[int, list[str]]:
    rows = Membership.objects.filter(organization=organization, user__in=people)
    held: dict[int, list[str]] = {person.pk: [] for person in people}
    for row in rows:
        held[row.user_id].append(row.get_role_display())
    return {pk: sorted(names) for pk, names in held.items()}


def _invitations(request: HttpRequest, organization: Organization) -> list[tuple[Invitation, str]]:
    rows = Invitation.objects.filter(organization=organization)
    rows = rows.select_related("invited_by", "accepted_by")
    return [(row, _state(row, request)) for row in rows[:MOST_INVITATIONS]]


def _state(row: Invitation, request: HttpRequest) -> str:
    if row.accepted_at is not None:
        return "used"
    if row.revoked_at is not None:
        return "taken_back"
    return "open" if is_open(row, at_of(request)) else "ended"


@own_transaction
def invite_person(request: HttpRequest, slug: str) -> HttpResponse:
    """Invite somebody; the answer shows the link, and nothing can show it again."""
    organization = organization_named(request, slug)
    form = InviteForm(request.POST or None)
    if not form.is_valid():
        return _invite_page(request, organization, form)
    told = form.cleaned_data
    try:
        spend(INVITATIONS, str(request.user.pk), at=at_of(request))
    except TooManyAttempts as refusal:
        form.add_error(None, _(str(refusal)))
        return _invite_page(request, organization, form, status=429)
    issued = invite(
        organization, told["email"], told["role"], by=actor_of(request), at=at_of(request)
    )
    return _link_page(request, organization, issued)


def _invite_page(
    request: HttpRequest, organization: Organization, form: InviteForm, *, status: int = 200
) -> HttpResponse:
    context = {"organization": organization, "form": form, "can_send": mailing.can_send()}
    title = _("Invite somebody to %s") % organization.name
    return shown(request, "invite.html", title, context, status=status)


def _link_page(
    request: HttpRequest, organization: Organization, issued: IssuedInvitation
) -> HttpResponse:
    link = request.build_absolute_uri(reverse("join", args=[issued.token]))
    context: dict[str, Any] = {"organization": organization, "row": issued.row, "link": link}
    if mailing.can_send():
        # The subject is one line and names nothing that a stranger chose.
        body = loader.render_to_string("people/invitation_mail.txt", context)
        mailing.hand_over(_("You are invited to Earmark"), body, issued.row.email)
    context["can_send"] = mailing.can_send()
    return shown(request, "link.html", _("The invitation is ready"), context)


@own_transaction
def press_invitation(
    request: HttpRequest, slug: str, invitation_id: UUID, name: str
) -> HttpResponse:
    """Send an invitation again, or take it back."""
    organization = organization_named(request, slug)
    if name not in {"again", "take-back"}:
        raise Http404
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    act: dict[str, Any] = {"by": actor_of(request), "at": at_of(request)}
    try:
        if name == "again":
            spend(INVITATIONS, str(request.user.pk), at=at_of(request))
            issued = invite_again(organization.pk, invitation_id, **act)
            return _link_page(request, organization, issued)
        take_back(organization.pk, invitation_id, **act)
        messages.success(request, _("Taken back. Its link works no longer."))
    except Invitation.DoesNotExist:
        raise Http404 from None
    except EarmarkError as refusal:
        messages.error(request, _(str(refusal)))
    return _to_list(organization)


@own_transaction
def change_person(request: HttpRequest, slug: str, person_id: int) -> HttpResponse:
    """Show what a member may do here, and change it."""
    organization = organization_named(request, slug)
    person, held = member_named(organization, person_id)
    form = RolesForm(
        request.POST or None,
        initial={"roles": sorted(held), "seen": seen_roles(held)},
        is_oneself=person.pk == request.user.pk,
    )
    if form.is_valid() and _set_roles(request, organization, person, form):
        messages.success(request, _("Saved. It holds from their next page on."))
        return _to_list(organization)
    context = {"organization": organization, "person": person, "form": form}
    title = _("%(person)s in %(organization)s") % {
        "person": person.get_username(), "organization": organization.name,
    }  # fmt: skip
    return shown(request, "person.html", title, context)


def _set_roles(
    request: HttpRequest, organization: Organization, person: User, form: RolesForm
) -> bool:
    told = form.cleaned_data
    confirmed, by, at = bool(told.get("confirmed")), actor_of(request), at_of(request)
    try:
        with organization_context(organization.pk):
            refuse_unseen(organization.pk, person.pk, told["seen"])
            set_roles(organization.pk, person.pk, told["roles"], confirmed=confirmed, by=by, at=at)
    except ConfirmationMissing as refusal:
        form.add_error("confirmed", _(str(refusal)))
    except EarmarkError as refusal:
        form.add_error(None, _(str(refusal)))
    return not form.errors


@own_transaction
def remove_person(request: HttpRequest, slug: str, person_id: int) -> HttpResponse:
    """Ask whether a member is to go, and let them go."""
    organization = organization_named(request, slug)
    person, _held = member_named(organization, person_id)
    is_oneself = person.pk == request.user.pk
    refusal = ""
    if request.method == "POST":
        confirmed = request.POST.get("confirmed") == "on"
        by, at = actor_of(request), at_of(request)
        try:
            remove(organization.pk, person.pk, confirmed=confirmed, by=by, at=at)
        except EarmarkError as error:
            refusal = _(str(error))
        else:
            messages.success(request, _("Removed. It holds from their next page on."))
            return redirect("admin:index") if is_oneself else _to_list(organization)
    context = {
        "organization": organization,
        "person": person,
        "is_oneself": is_oneself,
        "refusal": refusal,
    }
    return shown(request, "remove.html", _("Remove %s") % person.get_username(), context)


def _to_list(organization: Organization) -> HttpResponse:
    return redirect(f"{reverse('admin:people')}?organization={organization.slug}")
