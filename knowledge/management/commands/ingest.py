"""`manage.py ingest`: bring documents in from files, and list what could not be read."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from knowledge.errors import KnowledgeError
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.recording import open_failures
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.running import Import, Progress
from knowledge.ingestion.waiting import wait_or_index
from knowledge.models import ImportRun, Visibility
from tenants.isolation import organization_context
from tenants.models import Organization


class Command(BaseCommand):
    """Bring documents in."""

    help = "Bring documents into a source (or into instructions); the same again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to read, where it belongs, and how."""
        add = parser.add_argument
        add(
            "paths",
            nargs="*",
            metavar="PATH",
            help="Files and folders; .jsonl files hold a row a line.",
        )
        add("--organization", required=True, metavar="SLUG", help="Whose content it is.")
        add("--source", metavar="SLUG", help="The source it belongs to; made if missing.")
        add("--folder", default="", metavar="PATH", help="The folder to file it in.")
        add(
            "--instructions",
            action="store_true",
            help="Bring in instructions instead of knowledge.",
        )
        add("--lang", default="", metavar="CODE", help="The language, where a file does not say.")
        add("--visibility", default="", choices=Visibility.values, help="Who may be told it.")
        add("--prune", action="store_true", help="Delete what is filed there and is here no more.")
        add("--prune-anyway", action="store_true", help="The same, even when it is a great part.")
        add("--wait", action="store_true", help="Return when everything is searchable.")
        add(
            "--failures", action="store_true", help="List what could not be read, and nothing else."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do what was asked."""
        organization = _organization(options["organization"])
        if options["failures"]:
            self._list_failures(organization)
            return
        request = _request(organization, options)
        running = self._import(request)
        self._report(running)
        if options["wait"]:
            self._wait(organization)
        _refuse_total_failure(running)

    def _import(self, request: ImportRequest) -> Import:
        with _bar(unit="B", unit_scale=True) as bar:

            def watch(progress: Progress) -> None:
                bar.total = progress.total_bytes
                bar.set_postfix(progress.counts, refresh=False)
                bar.update(progress.bytes - bar.n)

            try:
                return run_import(request, clock=_now, watch=watch)
            except KnowledgeError as error:
                raise CommandError(str(error)) from error

    def _report(self, running: Import) -> None:
        run, progress = running.run, running.progress
        counts = (
            "created",
            "updated",
            "unchanged",
            "failed",
            *(["pruned"] if running.request.prune else []),
        )
        self.stdout.write(", ".join(f"{getattr(run, name)} {name}" for name in counts))
        if progress.skipped:
            kinds = ", ".join(f".{kind} {count}" for kind, count in progress.skipped.most_common())
            self.stdout.write(f"Skipped files of kinds that hold no text: {kinds}")
        if progress.withheld:
            self.stdout.write(f"{progress.withheld} were deleted by staff and stay deleted.")
        if run.status == ImportRun.Status.CANCELLED:
            self.stdout.write("It was cancelled; the same command goes on where it stopped.")
        if run.failed:
            slug = run.organization.slug
            self.stdout.write(
                f"What failed and why: manage.py ingest --failures --organization {slug}"
            )

    def _list_failures(self, organization: Organization) -> None:
        with organization_context(organization.pk):
            failures = open_failures(organization.pk)
        for failure in failures:
            line = f":{failure.line}" if failure.line else ""
            self.stdout.write(f"{failure.path}{line}\t{failure.code}\t{failure.reason}")
        self.stdout.write(f"{len(failures)} could not be read." if failures else "Nothing failed.")

    def _wait(self, organization: Organization) -> None:
        with _bar(unit=" left", bar_format="{desc}") as bar:

            def watch(left: int) -> None:
                bar.set_description_str(f"{left} not indexed yet")

            wait_or_index(organization.pk, clock=_now, say=self.stdout.write, watch=watch)
        self.stdout.write("Everything is searchable.")


def _bar(**how: Any) -> tqdm[Any]:
    # None: off unless the terminal can show it.
    return tqdm(disable=None, **how)


def _now() -> datetime:
    return datetime.now(tz=UTC)


def _organization(slug: str) -> Organization:
    found = Organization.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no organization {slug}.")
    return found


def _request(organization: Organization, options: dict[str, Any]) -> ImportRequest:
    if not options["paths"]:
        raise CommandError("Name at least one file or folder.")
    if not options["source"] and not options["instructions"]:
        raise CommandError("Name the source it belongs to: --source SLUG.")
    return ImportRequest(
        organization_id=organization.pk,
        # Whole, so that they mean the same when it is done again from elsewhere.
        paths=tuple(map(os.path.abspath, options["paths"])),
        source=options["source"] or "files",
        folder=options["folder"],
        instructions=options["instructions"],
        language=options["lang"],
        visibility=options["visibility"],
        prune=options["prune"] or options["prune_anyway"],
        prune_anyway=options["prune_anyway"],
        is_repeatable=True,
    )


def _refuse_total_failure(running: Import) -> None:
    run = running.run
    if run.failed and not (run.created or run.updated or run.unchanged):
        raise CommandError("Nothing could be read.")
