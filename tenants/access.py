"""What a person may do, from their memberships and from nothing remembered elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenants.models import Membership, Organization, Role, User

# A role includes what the roles behind it may do.
INCLUDES: dict[str, frozenset[str]] = {
    Role.VIEWER: frozenset(),
    Role.EDITOR: frozenset({Role.VIEWER}),
    Role.AUTHOR: frozenset({Role.VIEWER}),
    Role.APPROVER: frozenset({Role.VIEWER}),
    Role.PUBLISHER: frozenset({Role.VIEWER, Role.AUTHOR}),
    Role.ADMIN: frozenset(set(Role.values) - {Role.ADMIN}),
}


def roles_in(user: Any, organization_id: int) -> frozenset[str]:
    """Return every role a person has in an organization, included ones too; operators have all."""
    if not isinstance(user, User) or not user.is_active:
        return frozenset()
    if user.is_superuser:
        return frozenset(Role.values)
    held = Membership.objects.filter(
        user=user, organization_id=organization_id, organization__is_active=True
    ).values_list("role", flat=True)
    return _with_included(held)


def may(user: Any, role: str, organization_id: int) -> bool:
    """Whether a person has a role in an organization."""
    return role in roles_in(user, organization_id)


def organizations_of(user: Any, role: str = Role.VIEWER) -> list[int]:
    """Return the ids of the organizations in which a person has a role.

    Cost: one statement.
    """
    if not isinstance(user, User) or not user.is_active:
        return []
    if user.is_superuser:
        return list(Organization.objects.order_by("id").values_list("id", flat=True))
    granting = [held for held in Role.values if role in _with_included([held])]
    members = Membership.objects.filter(user=user, role__in=granting, organization__is_active=True)
    return sorted(set(members.values_list("organization_id", flat=True)))


def roles_by_organization(user: Any) -> dict[int, frozenset[str]]:
    """Return every role a person has, included ones too, by organization.

    Cost: one statement.
    """
    if not isinstance(user, User) or not user.is_active:
        return {}
    if user.is_superuser:
        return dict.fromkeys(organizations_of(user), frozenset(Role.values))
    held: dict[int, set[str]] = {}
    members = Membership.objects.filter(user=user, organization__is_active=True)
    for organization_id, role in members.values_list("organization_id", "role"):
        held.setdefault(organization_id, set()).add(role)
    return {number: _with_included(roles) for number, roles in held.items()}


def _with_included(held: Iterable[str]) -> frozenset[str]:
    roles = set(held)
    return frozenset(roles.union(*(INCLUDES[role] for role in roles)))
