"""What tests of the scope page share: people, a small corpus with depth, and requests to its parts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.test import Client

from scopes.models import AgentScope
from scopes.selecting import explicit_picks
from scopes.selector.deltas import keys_of
from tenants.models import PhoneAgent, Role
from tests.staff import browser, person
from tests.world import Tenant, tenant


@dataclass
class Desk:
    """An organization with an agent, its admin, a viewer, and a neighbour."""

    acme: Tenant
    agent: PhoneAgent
    admin: Client
    second: Client
    viewer: Client
    rival: Client

    @property
    def url(self) -> str:
        return f"/admin/tenants/phoneagent/{self.agent.pk}/scope/"

    def version(self, category: str = "knowledge") -> int:
        with self.acme.context():
            return AgentScope.objects.get(agent=self.agent, category=category).version

    def mode(self, category: str = "knowledge") -> str:
        with self.acme.context():
            return AgentScope.objects.get(agent=self.agent, category=category).mode

    def picked(self, category: str = "knowledge") -> set[str]:
        with self.acme.context():
            return set(keys_of(explicit_picks(self.agent, category)))

    def folder(self, place: str = "", *, root: str = "knowledge", cursor: str = "") -> Any:
        asked = {"root": root, "place": place, "cursor": cursor}
        return self.admin.get(f"{self.url}folder/", asked)

    def save(self, *, add=(), remove=(), clear=False, who: Client | None = None, **sent) -> Any:
        root = sent.pop("root", "knowledge")
        told = {"add": list(add), "remove": list(remove), "clear": clear}
        sent.setdefault("version", self.version(root))
        body = {"root": root, "delta": json.dumps(told), **sent}
        headers = {"HX-Request": "true"}
        return (who or self.admin).post(f"{self.url}save/", body, headers=headers)


def desk() -> Desk:
    acme, globex = tenant("acme"), tenant("globex")
    mine = acme.organization
    return Desk(
        acme=acme,
        agent=acme.agent("front-desk"),
        admin=browser(person("ada", (mine, Role.ADMIN))),
        second=browser(person("bob", (mine, Role.ADMIN))),
        viewer=browser(person("vera", (mine, Role.VIEWER))),
        rival=browser(person("rita", (globex.organization, Role.ADMIN))),
    )
