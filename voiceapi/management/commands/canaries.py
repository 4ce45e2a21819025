"""`manage.py canaries`: look for leaks now, and say what was found."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from knowledge.canaries import uproot
from scopes.looks import Look
from scopes.probing import look_at, look_everywhere
from tenants.models import Organization
from tenants.rounds import outcome_of


class Command(BaseCommand):
    """`canaries [--organization SLUG] [--anew]`."""

    help = (
        "Search for canaries from where nobody may find one. Ends with 1 when one was found, or"
        " when not everything could be asked."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Say where."""
        parser.add_argument("--organization", metavar="SLUG", help="Only this one.")
        parser.add_argument("--anew", action="store_true", help="Make the canaries again first.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Look, tell, and fail on a leak."""
        chosen = _chosen(options["organization"])
        for organization in chosen if options["anew"] else ():
            uproot(organization.pk)
        looks, trouble = outcome_of(
            lambda: (
                self._looks(chosen) if options["organization"] else look_everywhere(timezone.now())
            )
        )
        for slug, look in looks.items():
            self.stdout.write(
                f"{slug}: {look.searches} places looked from, by words from {look.lexical_searches},"
                f" by vectors from {look.dense_searches}; {len(look.leaks)} leaks,"
                f" {len(look.missed)} missed"
            )
            for line in look.faults:
                self.stdout.write(f"  {line}")
        if any(look.leaks or look.missed for look in looks.values()):
            raise CommandError("Something was found that must not be, or not found that should be.")
        if trouble is not None:
            raise CommandError(str(trouble)) from trouble
        if any(look.unasked for look in looks.values()):
            raise CommandError("Not everything could be asked, so nothing is proved.")

    def _looks(self, chosen: list[Organization]) -> dict[str, Look]:
        looked = {o.slug: look_at(o, at=timezone.now()) for o in chosen}
        return {slug: look for slug, look in looked.items() if look is not None}


def _chosen(slug: str | None) -> list[Organization]:
    organizations = Organization.objects.all()
    found = list(organizations if slug is None else organizations.filter(slug=slug))
    if not found and slug is not None:
        raise CommandError(f"There is no organization {slug}.")
    return found
