"""Write the instructions of an organization as Markdown files, or bring such files in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from knowledge.api.instruction_files import exported, imported
from knowledge.api.keeping import Hand
from knowledge.api.names import Names
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import Organization

BY = Actor.process("instructions")


class Command(BaseCommand):
    """`instructions export | import`."""

    help = "Instructions as Markdown with front matter: out and in again, exactly."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the direction, the organization and the folder."""
        parser.add_argument("verb", choices=["export", "import"])
        parser.add_argument("folder", type=Path)
        parser.add_argument("--organization", required=True, metavar="SLUG")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it; a file that is refused is named with its reason."""
        organization = Organization.objects.filter(slug=options["organization"]).first()
        if organization is None:
            raise CommandError(f"There is no organization {options['organization']}.")
        if options["verb"] == "export":
            self._export(organization.pk, options["folder"])
        else:
            self._import(organization.pk, options["folder"])

    def _export(self, organization_id: int, folder: Path) -> None:
        count = 0
        with organization_context(organization_id):
            for path, text in exported(organization_id):
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text.encode())
                count += 1
        self.stdout.write(f"{count} instructions are in {folder}.")

    def _import(self, organization_id: int, folder: Path) -> None:
        counts: Counter[str] = Counter()
        with organization_context(organization_id):
            hand = Hand(Names(organization_id), BY, timezone.now())
            for told in imported(hand, _files(folder)):
                counts[told.outcome] += 1
                if told.reason:
                    self.stderr.write(f"{told.path}: {told.reason}")
        self.stdout.write(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
        if counts["refused"]:
            raise CommandError(f"{counts['refused']} files were refused.")


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.md")):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes().decode(errors="replace")
