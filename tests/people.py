"""People of two organizations and their programs, as the REST API meets them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from tenants.models import Membership, Role, User
from tenants.tokens import issue_token
from tests.world import AT, BY, Tenant, tenant


@dataclass
class Program:
    """A program with one person's token."""

    token: str = field(repr=False)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kwargs: dict[str, Any] = {"headers": {"Authorization": f"Bearer {self.token}", **named}}
        if body is not None:
            raw = body if isinstance(body, bytes) else json.dumps(body)
            kwargs |= {"data": raw, "content_type": "application/json"}
        return Client().generic(method, f"/api/v1/{path}", **kwargs)

    def get(self, path: str, **headers: str) -> Any:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("POST", path, body, **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        return self.call("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.call("DELETE", path, **headers)


@dataclass
class Offices:
    """Acme with an editor and a viewer, globex with an editor."""

    acme: Tenant
    globex: Tenant
    editor: Program
    viewer: Program
    rival: Program


def member(of: Tenant, name: str, *roles: str) -> User:
    user = User.objects.create_user(name, password="a long enough word")
    for role in roles:
        Membership.objects.create(user=user, organization=of.organization, role=role)
    return user


def program(of: Tenant, name: str, *roles: str) -> Program:
    user = member(of, name, *roles)
    return Program(issue_token(of.organization, user, label="tests", by=BY, at=AT).token)


def offices() -> Offices:
    acme, globex = tenant("acme"), tenant("globex")
    return Offices(
        acme,
        globex,
        program(acme, "erin", Role.EDITOR),
        program(acme, "vera", Role.VIEWER),
        program(globex, "rick", Role.EDITOR),
    )
