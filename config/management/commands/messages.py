"""Gather every sentence that people see and compile its translations, or say what is missing."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.catalogue.files import LANGUAGES, catalogue_of, follow, write
from config.catalogue.judging import complaints
from config.catalogue.sources import everything_said


class Command(BaseCommand):
    """`messages --write | --check`."""

    help = "The catalogues in locale/: gathered, compiled and checked without gettext's programs."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do."""
        doing = parser.add_mutually_exclusive_group(required=True)
        doing.add_argument("--write", action="store_true")
        doing.add_argument("--check", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Write both files of every language, then say what a translator has yet to do."""
        if options["write"]:
            said = everything_said()
            for language in LANGUAGES:
                write(language, follow(catalogue_of(language), said))
        found = complaints()
        for line in found:
            self.stdout.write(line)
        if found and options["check"]:
            raise CommandError(f"{len(found)} to mend: see locale/, then run make messages.")
