"""What the person behind a request may do, read once for each request from their memberships."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from tenants.access import roles_by_organization
from tenants.auditing import Actor
from tenants.models import Organization, User


@dataclass(frozen=True)
class Authority:
    """Roles by organization; what it allows always depends on whose row it is about."""

    roles: Mapping[int, frozenset[str]]
    is_operator: bool

    def organizations(self, role: str) -> list[int]:
        """Return the ids of the organizations in which the person has a role."""
        return sorted(number for number, roles in self.roles.items() if role in roles)

    def has(self, role: str, organization_id: int) -> bool:
        """Whether the person has a role in an organization."""
        return role in self.roles.get(organization_id, ())

    def has_somewhere(self, role: str) -> bool:
        """Whether the person has a role in any organization."""
        return any(role in roles for roles in self.roles.values())


def authority_of(request: HttpRequest) -> Authority:
    """Return what this request may do.

    Cost: one statement for each request, however often it is asked.
    """
    known: Authority | None = getattr(request, "_authority", None)
    if known is None:
        user: Any = request.user
        known = Authority(roles_by_organization(user), bool(user.is_active and user.is_superuser))
        request._authority = known  # type: ignore[attr-defined]
    return known


def organizations_seen(request: HttpRequest, role: str) -> list[Organization]:
    """Return the organizations in which the person has a role, in their usual order."""
    return list(Organization.objects.filter(pk__in=authority_of(request).organizations(role)))


def actor_of(request: HttpRequest) -> Actor:
    """Return who acts, for the audit trail."""
    user = request.user
    assert isinstance(user, User)
    return Actor.person(user)


def at_of(request: HttpRequest) -> datetime:
    """Return the instant of a request; everything it changes carries the same one."""
    known: datetime | None = getattr(request, "_at", None)
    if known is None:
        known = timezone.now()  # noqa: TID251 - the door
        request._at = known  # type: ignore[attr-defined]
    return known
