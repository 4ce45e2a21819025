"""A voice runtime for tests: a service key, a client, and short ways to say things."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.test import Client
from django.utils import timezone
from psycopg.pq import TransactionStatus

from tenants.keys import issue_key
from tenants.models import Organization, PhoneAgent
from tests.world import BY

BASE = "/internal/voice/v1"


@dataclass
class Runtime:
    """Speaks for the organizations of its key."""

    token: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def post(self, path: str, body: Any, **headers: str | None):
        given: dict[str, Any] = {
            "Authorization": f"Bearer {self.token}",
            "X-Earmark-Contract": "1",
            **headers,
        }
        raw = body if isinstance(body, bytes) else json.dumps(body)
        answer = self.client.post(
            f"{BASE}{path}",
            raw,
            content_type=given.pop("Content-Type", "application/json"),
            headers={name: value for name, value in given.items() if value is not None},
        )
        give_the_test_its_time_back()
        return answer

    def get(self, path: str, **headers: str):
        return self.client.get(f"{BASE}{path}", headers=headers)

    def open(self, agent: PhoneAgent, **body: Any):
        return self.post("/sessions", names(agent) | body)

    def session(self, agent: PhoneAgent, **body: Any) -> str:
        answer = self.open(agent, **body)
        assert answer.status_code == 201, answer.content
        session: str = answer.json()["session"]
        return session

    def search(self, agent: PhoneAgent, session: str, *queries: str, **body: Any):
        headers = {name: body.pop(name) for name in list(body) if name.startswith("X-")}
        sent = names(agent) | {"queries": list(queries)} | body
        return self.post(f"/sessions/{session}/tools/knowledge-search", sent, **headers)


def give_the_test_its_time_back() -> None:
    """What a search may take of its deadline ends with its transaction; in most tests that is the test's own."""
    raw = connection.connection
    if raw is not None and raw.info.transaction_status == TransactionStatus.INTRANS:
        raw.execute("SET LOCAL statement_timeout = '30s'")


def names(agent: PhoneAgent) -> dict[str, str]:
    return {"organization": agent.organization.slug, "agent": agent.slug}


def runtime(*organizations: Organization) -> Runtime:
    issued = issue_key(organizations, label="tests", by=BY, at=timezone.now())
    return Runtime(issued.token)


def exhaust(kind: str, name: str, *, ahead_s: float = 24.5) -> None:
    """Let a key, an organization or a session have spent more than it may."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO voiceapi_allowance VALUES (%s, %s, clock_timestamp() + %s * interval '1 s')"
            " ON CONFLICT (kind, name) DO UPDATE SET spent_until = excluded.spent_until",
            [kind, name, ahead_s],
        )
