"""`manage.py index`: work the queue, tell how far it is, compare both sides, try again."""

from __future__ import annotations

import json
import signal
from argparse import ArgumentParser
from datetime import UTC, datetime
from threading import Event
from types import FrameType
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from knowledge.calibration.refitting import refit_all_due
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.draining import Chore, Drain
from knowledge.indexing.filling import Filler
from knowledge.indexing.reconciling import reconcile_all
from knowledge.indexing.spending import spending
from knowledge.indexing.state import retry_failed
from knowledge.indexing.status import Backlog, backlogs
from knowledge.ingestion.uploads import import_waiting
from knowledge.models import EmbeddingSpace
from knowledge.passages import CHUNKER_VERSION
from knowledge.shelving.working import work_waiting
from knowledge.sources.scheduling import sync_due
from knowledge.spaces.tending import tend_spaces
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import Organization
from tenants.rounds import outcome_of

RECONCILE_EVERY_S: Final = 600.0
REFIT_EVERY_S: Final = 5.0
SPACES_EVERY_S: Final = 1.0
UPLOADS_EVERY_S: Final = 1.0
SOURCES_EVERY_S: Final = 15.0
BULK_EVERY_S: Final = 1.0


class Command(BaseCommand):
    """Keep the index what the truth rows say."""

    help = "Work the index queue, tell how far it is, compare it with the content, try again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One subcommand for each thing to do."""
        commands = parser.add_subparsers(dest="what", required=True)
        commands.add_parser("drain", help="Index what is due until told to stop.")
        status = commands.add_parser("status", help="How far the index is behind.")
        status.add_argument("--json", action="store_true", help="As JSON.")
        commands.add_parser("reconcile", help="Compare content and index, and repair.")
        retry = commands.add_parser("retry", help="Try again what failed.")
        retry.add_argument("--organization", help="Slug; without it, every organization.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do what was asked."""
        try:
            getattr(self, f"_{options['what']}")(options)
        except EarmarkError as error:
            raise CommandError(str(error)) from error

    def _drain(self, _options: dict[str, Any]) -> None:
        embedder, stop, filler = current_embedder(), Event(), Filler(_now)

        def goes_on() -> bool:
            return not stop.is_set()

        chores = (
            Chore("reconcile", RECONCILE_EVERY_S, lambda at: reconcile_all(space=_space(), at=at)),
            Chore("refit", REFIT_EVERY_S, lambda at: refit_all_due(current_embedder(), at=at)),
            Chore("spaces", SPACES_EVERY_S, lambda _at: tend_spaces(filler, goes_on)),
            Chore("uploads", UPLOADS_EVERY_S, lambda _at: import_waiting(clock=_now)),
            Chore("bulk", BULK_EVERY_S, lambda _at: work_waiting(clock=_now)),
            Chore("sources", SOURCES_EVERY_S, lambda _at: sync_due(clock=_now)),
            *_chores_of_others(),
        )
        drain = Drain(embedder, _now, chores, stop, current_embedder)

        def end(_number: int, _frame: FrameType | None) -> None:
            drain.stop.set()

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        drain.run()

    def _status(self, options: dict[str, Any]) -> None:
        found = backlogs(at=_now())
        if options["json"]:
            self.stdout.write(json.dumps(_summary(found), indent=2))
            return
        for backlog in found:
            self.stdout.write(_sentence(backlog))
            for spent in _spent(backlog):
                self.stdout.write(f"  {_spent_sentence(spent)}")

    def _reconcile(self, _options: dict[str, Any]) -> None:
        done, trouble = outcome_of(lambda: reconcile_all(space=_space(), at=_now()))
        for slug, differences in done.items():
            self.stdout.write(json.dumps({"organization": slug, **differences.as_dict()}))
        if trouble is not None:
            raise trouble

    def _retry(self, options: dict[str, Any]) -> None:
        for organization in _organizations(options["organization"]):
            with organization_context(organization.pk):
                count = retry_failed(organization.pk, at=_now())
            self.stdout.write(f"{organization.slug}: {count} tried again")


def _chores_of_others() -> list[Chore]:
    return [
        Chore(name, every_s, import_string(path))
        for name, (path, every_s) in settings.DRAIN_CHORES.items()
    ]


def _now() -> datetime:
    return datetime.now(tz=UTC)


def _space() -> EmbeddingSpace:
    return ensure_space(current_embedder().space, chunker_version=CHUNKER_VERSION)


def _organizations(slug: str | None) -> list[Organization]:
    if slug is None:
        return list(Organization.objects.all())
    found = list(Organization.objects.filter(slug=slug))
    if not found:
        raise CommandError(f"There is no organization {slug}.")
    return found


def _summary(found: list[Backlog]) -> dict[str, Any]:
    ages = [backlog.oldest_pending_s for backlog in found if backlog.oldest_pending_s is not None]
    return {
        "pending": sum(backlog.pending for backlog in found),
        "retrying": sum(backlog.retrying for backlog in found),
        "failed": sum(backlog.failed for backlog in found),
        "oldest_pending_s": max(ages, default=None),
        "organizations": [backlog.as_dict() for backlog in found],
        "spent": {backlog.organization: _spent(backlog) for backlog in found},
    }


def _sentence(backlog: Backlog) -> str:
    age = "" if backlog.oldest_pending_s is None else f", oldest {backlog.oldest_pending_s:.0f} s"
    return (
        f"{backlog.organization}: {backlog.live} of {backlog.assets} indexed,"
        f" {backlog.pending} pending{age}, {backlog.retrying} retrying, {backlog.failed} failed"
    )


def _spent(backlog: Backlog) -> list[dict[str, Any]]:
    return spending(Organization.objects.get(slug=backlog.organization).pk)


def _spent_sentence(spent: dict[str, Any]) -> str:
    cost = f", {spent['cost_micros'] / 1e6:.4f} spent" if spent["cost_micros"] else ""
    return (
        f"{spent['day']} {spent['provider']} {spent['model']}: {spent['texts']} texts,"
        f" {spent['tokens']} tokens, {spent['calls']} calls ({spent['failed_calls']} failed,"
        f" {spent['question_calls']} for questions){cost}"
    )
