"""`manage.py sources`: keep sources fresh, and tell how fresh they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from knowledge.models import Source, SourceSchedule, SyncKind
from knowledge.reserved import refuse_reserved
from knowledge.sources.scheduling import confirm, sync, sync_due
from tenants.auditing import Actor
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import Organization

BY = Actor.process("sources")


class Command(BaseCommand):
    """`sources list | add | sync | due | confirm`."""

    help = "Sources that are kept fresh: list them, add one, look at one now, agree to removals."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what each verb needs."""
        parser.add_argument("verb", choices=["list", "add", "sync", "due", "confirm"])
        parser.add_argument("--organization", metavar="SLUG")
        parser.add_argument("--source", metavar="SLUG")
        parser.add_argument("--kind", choices=SyncKind.values)
        parser.add_argument("--config", default="{}", help='JSON, such as {"start": "https://…"}.')
        parser.add_argument("--every", type=int, default=1440, help="Minutes; 0 for never.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say in one sentence why not."""
        try:
            getattr(self, f"_{options['verb']}")(options)
        except EarmarkError as error:
            raise CommandError(str(error)) from error

    def _due(self, _options: dict[str, Any]) -> None:
        for name in sync_due(clock=_now):
            self.stdout.write(name)

    def _list(self, options: dict[str, Any]) -> None:
        organization = _organization(options)
        with organization_context(organization.pk):
            rows = SourceSchedule.objects.filter(organization=organization)
            for row in rows.select_related("source"):
                self.stdout.write(
                    f"{row.source.slug}\t{row.kind}\t{row.last_outcome}\tlast {row.last_run_at}"
                    f"\tnext {row.next_run_at}\t{row.last_reason}"
                )

    def _add(self, options: dict[str, Any]) -> None:
        organization = _organization(options)
        refuse_reserved(options["source"])
        try:
            config = json.loads(options["config"])
        except ValueError as error:
            raise CommandError("--config is not JSON.") from error
        told = {
            "kind": options["kind"],
            "config": config,
            "every_minutes": options["every"],
            "next_run_at": _now(),
        }
        with organization_context(organization.pk):
            slug = options["source"]
            source, _ = Source.objects.get_or_create(
                organization=organization, slug=slug, defaults={"name": slug, "kind": "site"}
            )
            SourceSchedule.objects.update_or_create(
                organization=organization, source=source, defaults=told
            )
        self.stdout.write(f"{slug} is looked at from now on.")

    def _sync(self, options: dict[str, Any]) -> None:
        schedule = _schedule(options)
        look = sync(schedule.organization_id, schedule.pk, clock=_now)
        counts = ", ".join(f"{count} {name}" for name, count in look.changes.items() if count)
        self.stdout.write(f"{look.outcome}: {counts or 'nothing new'} {look.reason}".strip())
        if look.outcome == SourceSchedule.Outcome.FAILED:
            raise CommandError(look.reason)

    def _confirm(self, options: dict[str, Any]) -> None:
        schedule = _schedule(options)
        with organization_context(schedule.organization_id):
            count = confirm(schedule, by=BY, at=_now())
        self.stdout.write(f"{count} removals are agreed to; the source is looked at again.")


def _organization(options: dict[str, Any]) -> Organization:
    found = Organization.objects.filter(slug=options["organization"]).first()
    if found is None:
        raise CommandError("Say with --organization whose sources you mean.")
    return found


def _schedule(options: dict[str, Any]) -> SourceSchedule:
    organization = _organization(options)
    with organization_context(organization.pk):
        rows = SourceSchedule.objects.filter(organization=organization)
        found = rows.filter(source__slug=options["source"]).select_related("source").first()
    if found is None:
        raise CommandError("Say with --source which scheduled source you mean.")
    return found


def _now() -> datetime:
    return datetime.now(tz=UTC)
