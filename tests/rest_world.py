"""Everything that the REST API tells of, in one organization and once more in its rival.

Made through the API itself. What belongs to the rival says "ostrich"; nobody of acme may read that word,
nor any id of the rival's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings

from knowledge.ingestion.uploads import HandedIn, hand_in
from tenants.models import Organization, Role, User
from tests.people import Program, program
from tests.world import AT, BY, Tenant, tenant

DOCUMENT: Final = json.loads(
    (settings.BASE_DIR / "contracts" / "api-v1" / "openapi.json").read_text("utf-8")
)
BASE: Final = "/api/v1/"
METHODS: Final = ("get", "post", "put", "patch", "delete")
CANARY: Final = "ostrich"


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Return path, method and description of every operation."""
    return [
        (path, method, methods[method])
        for path, methods in sorted(DOCUMENT["paths"].items())
        for method in METHODS
        if method in methods
    ]


@dataclass
class Office:
    """One organization: a person with every role, their program, and an id of each kind."""

    of: Tenant
    caller: Program
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def person(self) -> User:
        return User.objects.get(username=f"chief-of-{self.of.organization.slug}")

    @property
    def everybody(self) -> list[int]:
        """The organizations that there are."""
        return list(Organization.objects.values_list("pk", flat=True))

    def made(self, path: str, body: Any, **headers: str) -> Any:
        answer = self.caller.post(path, body, **headers)
        assert answer.status_code in {200, 201, 202}, (path, answer.content)
        return answer

    def keep(self, kind: str, path: str, body: Any) -> Any:
        answer = self.made(path, body)
        self.ids[kind] = answer.json()["id"]
        return answer

    def address(self, path: str) -> str:
        """Return the address of a path of the document, with this organization's own ids in it."""
        kind = path.removeprefix(BASE).partition("/")[0]
        return path.replace("{id}", self.ids.get(kind, "")).replace("{root}", "knowledge")

    def tag(self, address: str) -> str:
        """Return the ETag that a change of this address takes."""
        rest = address.removeprefix(BASE).split("/")
        depth = 4 if rest[0] == "agents" else 3 if rest[2:] and rest[0] == "sources" else 2
        if rest[0] == "sources" and rest[2:]:
            rest[2] = "schedule"
        answer = self.caller.get("/".join(rest[:depth]))
        assert answer.status_code == 200, (rest, answer.content)
        tag: str = answer["ETag"]
        return tag


def office(slug: str, word: str) -> Office:
    """Make an organization with one of everything; each text of it holds the word."""
    of = tenant(slug)
    caller = program(of, f"chief-of-{slug}", *(role.value for role in Role))
    made = Office(of, caller)
    made.ids["agents"] = str(of.agent(f"{word}-desk").pk)
    of.segment(f"{word}-gold")
    made.keep("sources", "sources", {"slug": "help", "name": f"The {word} help"})
    made.keep("directories", "directories", {"path": f"{word}/calls"})
    made.keep("instructions", "instructions", {
        "external_id": f"{word}-1", "title": f"The {word}", "body": f"Greet the {word}.",
    })  # fmt: skip
    for number in range(3):
        made.keep("items", "items", {
            "source": "help", "external_id": f"{word}-{number}", "folder": f"{word}/birds",
            "title": f"The {word} {number}", "body": f"Number {number} is a {word}.",
        })  # fmt: skip
    _schedule(made, word)
    _golden(made, word)
    made.keep("jobs", "jobs", {"action": "publish", "folder": f"help/{word}"})
    with of.context():
        files = [HandedIn(f"{word}.md", f"# The {word}\n\nAbout it.".encode())]
        made.ids["imports"] = str(hand_in(of.source(), word, files, by=BY, at=AT).pk)
    return made


def _schedule(made: Office, word: str) -> None:
    config = {"start": f"https://{word}.example/desk/"}
    said = {"kind": "site", "config": config, "every_minutes": 60, "is_active": False}
    made.made(f"sources/{made.ids['sources']}/schedule", said)


def _golden(made: Office, word: str) -> None:
    begun = made.keep("golden-answers", "golden-answers", {
        "question": f"Where is the {word}?", "answer": f"The {word} is upstairs.",
    })  # fmt: skip
    path = f"golden-answers/{made.ids['golden-answers']}"
    made.made(f"{path}/override", {"reason": "It is right."}, If_Match=begun["ETag"])


def offices() -> tuple[Office, Office]:
    """Return acme, and globex beside it."""
    return office("acme", "pelican"), office("globex", CANARY)
