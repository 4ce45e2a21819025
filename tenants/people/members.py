"""The verbs on members: their roles and their going. An organization never loses its last admin."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.locking import lock_organization
from tenants.models import Membership, Role, User
from tenants.people.errors import ConfirmationMissing, LastAdmin, NotAMember, RolesChanged


def roles_held(organization_id: int, user_id: int) -> frozenset[str]:
    """Return the roles that a person was given in an organization."""
    rows = Membership.objects.filter(organization_id=organization_id, user_id=user_id)
    return frozenset(rows.values_list("role", flat=True))


def is_last_admin(organization_id: int, user_id: int) -> bool:
    """Whether nobody else who can sign in administers the organization."""
    admins = Membership.objects.filter(
        organization_id=organization_id, role=Role.ADMIN, user__is_active=True
    )
    ids = set(admins.values_list("user_id", flat=True))
    return ids == {user_id}


def set_roles(
    organization_id: int,
    user_id: int,
    roles: Iterable[str],
    *,
    by: Actor,
    at: datetime,
    confirmed: bool = False,
) -> None:
    """Make these the roles of a member, from the next request on; with none they are removed.

    Raises: NotAMember, LastAdmin, ConfirmationMissing when one's own administration goes unconfirmed
    """
    wanted = frozenset(Role(role).value for role in roles)
    with organization_context(organization_id):
        # Two admins who remove each other meet here, and the second is the last one.
        lock_organization(organization_id)
        held = roles_held(organization_id, user_id)
        if not held:
            raise NotAMember
        if wanted == held:
            return
        if Role.ADMIN in held - wanted:
            _let_admin_go(organization_id, user_id, by=by, confirmed=confirmed)
        _write(organization_id, user_id, held, wanted)
        _note(organization_id, user_id, held, wanted, by=by, at=at)


def seen_roles(held: Iterable[str]) -> str:
    """Return what a page has to show again to change the roles of a member."""
    return " ".join(sorted(held))


def refuse_unseen(organization_id: int, user_id: int, seen: str) -> None:
    """Let the roles of a member stand still, and refuse when they are not those that were seen.

    A role that was taken away meanwhile would come back with the others. Expects the context.
    Raises: RolesChanged
    """
    lock_organization(organization_id)
    if seen_roles(roles_held(organization_id, user_id)) != seen:
        raise RolesChanged


def remove(
    organization_id: int, user_id: int, *, by: Actor, at: datetime, confirmed: bool = False
) -> None:
    """Take a person out of an organization; the account and other organizations stay.

    Raises: NotAMember, LastAdmin, ConfirmationMissing for oneself
    """
    if by.user_id == user_id and not confirmed:
        raise ConfirmationMissing
    set_roles(organization_id, user_id, (), by=by, at=at, confirmed=confirmed)


def _let_admin_go(organization_id: int, user_id: int, *, by: Actor, confirmed: bool) -> None:
    if is_last_admin(organization_id, user_id):
        raise LastAdmin
    if by.user_id == user_id and not confirmed:
        raise ConfirmationMissing


def _write(
    organization_id: int, user_id: int, held: frozenset[str], wanted: frozenset[str]
) -> None:
    rows = Membership.objects.filter(organization_id=organization_id, user_id=user_id)
    rows.filter(role__in=held - wanted).delete()
    Membership.objects.bulk_create(
        Membership(organization_id=organization_id, user_id=user_id, role=role)
        for role in sorted(wanted - held)
    )


def _note(
    organization_id: int,
    user_id: int,
    held: frozenset[str],
    wanted: frozenset[str],
    *,
    by: Actor,
    at: datetime,
) -> None:
    name = User.objects.get(pk=user_id).get_username()
    before = {"person": name, "roles": sorted(held)}
    after = {"person": name, "roles": sorted(wanted)}
    verb = "people.roles" if wanted else "people.remove"
    note(organization_id, Change(verb, "person", str(user_id), before, after), by=by, at=at)
