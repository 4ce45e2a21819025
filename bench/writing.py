"""Somebody who publishes answers and imports documents: `python -m bench.writing ORGANIZATION`, until stopped."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - Django comes first

from golden import drafting, publishing  # noqa: E402
from golden.acting import Act  # noqa: E402
from golden.content import Content  # noqa: E402
from golden.models import GoldenAnswer  # noqa: E402
from tenants.auditing import Actor  # noqa: E402
from tenants.isolation import organization_context  # noqa: E402
from tenants.models import Membership, Organization, User  # noqa: E402

PUBLISHES_EVERY_S: Final = 2.0
PUBLISHES_TO_AN_IMPORT: Final = 10
DOCUMENTS: Final = 10
_CONTENT: Final = Content(question="When does the soak end?", answer="When its time is up.")


def main() -> None:
    """Publish a new wording every two seconds; every tenth time, import the same documents changed."""
    organization = Organization.objects.get(slug=sys.argv[1])
    act = _act(organization)
    golden = drafting.create_answer(organization, _CONTENT, act())
    turn = 0
    while True:
        turn += 1
        _publish(
            organization.pk, golden.pk, f"When its time is up, it was said {turn} times.", act()
        )
        if turn % PUBLISHES_TO_AN_IMPORT == 0:
            _import(organization.slug, turn)
        time.sleep(PUBLISHES_EVERY_S)


class _act:  # noqa: N801 - called as what it makes
    def __init__(self, organization: Organization) -> None:
        user, _ = User.objects.get_or_create(username="soak", defaults={"is_staff": True})
        Membership.objects.get_or_create(
            user=user, organization=organization, defaults={"role": "publisher"}
        )
        self._by = Actor.person(user)

    def __call__(self) -> Act:
        return Act(self._by, datetime.now(UTC), reason="The soak publishes.")  # noqa: TID251


def _publish(organization: int, pk: UUID, answer: str, act: Act) -> None:
    with organization_context(organization):
        version = GoldenAnswer.objects.get(pk=pk).lock_version
    draft = replace(_CONTENT, answer=answer)
    drafting.save_draft(organization, pk, draft, act, lock_version=version)
    publishing.override_publish(organization, pk, act)


def _import(slug: str, turn: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(DOCUMENTS):
            text = f"# Soaked document {number}\n\n" + f"In turn {turn} it says word{turn}. " * 40
            (Path(folder) / f"document-{number}.md").write_text(text, "utf-8")
        call_command("ingest", folder, organization=slug, source="soak", verbosity=0)


if __name__ == "__main__":
    main()
