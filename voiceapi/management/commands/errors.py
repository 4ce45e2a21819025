"""Write docs/errors.md, or check that it lists every code."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from voiceapi.catalogue import is_current, write


class Command(BaseCommand):
    """`errors --write` and `errors --check`."""

    help = "Write the list of error codes in docs/errors.md, or check that it is complete."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take one of the two."""
        wanted = parser.add_mutually_exclusive_group(required=True)
        wanted.add_argument("--write", action="store_true")
        wanted.add_argument("--check", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say why not."""
        if options["write"]:
            write()
        elif not is_current():
            raise CommandError("docs/errors.md is out of date: run `manage.py errors --write`.")
