"""Delete calls and searches that were kept long enough, or those of one contact."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import Contact, Organization
from tenants.rounds import outcome_of
from voiceapi.retention import Forgotten, forget_contact, forget_old

BY = Actor.process("retention")


class Command(BaseCommand):
    """`retention run | contact`."""

    help = "Delete calls and searches: those kept long enough, or those of one contact."

    def add_arguments(self, parser: CommandParser) -> None:
        """One subcommand for each."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("run", help="Delete what every organization has kept long enough.")
        contact = verbs.add_parser("contact", help="Delete every call of one contact.")
        contact.add_argument("contact", help="The contact's external id.")
        contact.add_argument("--organization", required=True, metavar="SLUG")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it and say how much it was."""
        getattr(self, f"_{options['verb']}")(options, timezone.now())

    def _run(self, _options: dict[str, Any], now: datetime) -> None:
        done, trouble = outcome_of(lambda: forget_old(now))
        for slug, forgotten in done.items():
            self._tell(slug, forgotten)
        if trouble is not None:
            raise CommandError(str(trouble)) from trouble

    def _contact(self, options: dict[str, Any], now: datetime) -> None:
        contact = _find(options["organization"], options["contact"])
        self._tell(options["contact"], forget_contact(contact, by=BY, at=now))

    def _tell(self, whose: str, forgotten: Forgotten) -> None:
        self.stdout.write(
            f"{whose}: {forgotten.searches} searches and {forgotten.sessions} calls deleted"
        )


def _find(slug: str, external_id: str) -> Contact:
    organization = Organization.objects.filter(slug=slug).first()
    if organization is None:
        raise CommandError(f"There is no organization {slug}.")
    with organization_context(organization.pk):
        contact = Contact.objects.filter(organization=organization, external_id=external_id).first()
    if contact is None:
        raise CommandError(f"There is no contact {external_id}.")
    return contact
