"""`manage.py organization`: take an organization out completely, bring one in, or remove one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.utils import timezone

from config.moving.carrying import bring_in, export
from config.moving.removing import OWNER, remove
from knowledge.embedding.selection import current_embedder
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.reconciling import reconcile
from knowledge.passages import CHUNKER_VERSION
from tenants.errors import EarmarkError
from tenants.models import Organization


class Command(BaseCommand):
    """`organization export | import | remove`."""

    help = "Take an organization out with all of its history, bring one in, or remove one."

    def add_arguments(self, parser: CommandParser) -> None:
        """One subcommand for each."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        out = verbs.add_parser("export", help="Write everything of an organization into one file.")
        out.add_argument("organization", metavar="SLUG")
        out.add_argument("file", type=Path)
        bring = verbs.add_parser("import", help="Make the organization that a file holds.")
        bring.add_argument("file", type=Path)
        bring.add_argument("--slug", help="Another name for it here.")
        gone = verbs.add_parser("remove", help="Delete an organization and its history.")
        gone.add_argument("organization", metavar="SLUG")
        gone.add_argument("--confirm", required=True, metavar="SLUG", help="The same name again.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say why not."""
        try:
            getattr(self, f"_{options['verb']}")(options)
        except EarmarkError as error:
            raise CommandError(str(error)) from error

    def _export(self, options: dict[str, Any]) -> None:
        _find(options["organization"])
        listed = export(options["organization"], options["file"], self._tell(options))
        rows = sum(table["rows"] for table in listed["tables"].values())
        self.stdout.write(
            f"{rows} rows and {len(listed['people'])} people are in {options['file']}."
        )

    def _import(self, options: dict[str, Any]) -> None:
        made = bring_in(options["file"], slug=options["slug"], tell=self._tell(options))
        space = ensure_space(current_embedder().space, chunker_version=CHUNKER_VERSION)
        differences = reconcile(made.pk, space=space, at=timezone.now())
        self.stdout.write(
            f"{made.slug} is here. {differences.missing} documents wait for the index."
            " Service keys, API tokens and passwords did not come along: issue new ones."
        )

    def _remove(self, options: dict[str, Any]) -> None:
        if options["confirm"] != options["organization"]:
            raise CommandError("--confirm does not name the same organization.")
        if OWNER not in connections:
            raise CommandError("Removing runs as the owner of the tables: set DATABASE_OWNER_URL.")
        rows = remove(_find(options["organization"]), self._tell(options))
        self.stdout.write(f"{options['organization']} is gone: {rows} rows deleted.")

    def _tell(self, options: dict[str, Any]) -> Any:
        return self.stdout.write if options["verbosity"] > 1 else lambda _line: None


def _find(slug: str) -> Organization:
    found = Organization.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no organization {slug}.")
    return found
