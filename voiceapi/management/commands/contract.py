"""Write the published contracts, release them, or check that code, files, versions and changelog agree."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tenants.errors import EarmarkError
from voiceapi.publishing import check, release, write


class Command(BaseCommand):
    """`contract --write`, `contract --check` and `contract --release`."""

    help = "Write contracts/voice-v*/openapi.json from the code, check that they agree, or release."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take one of the three; amending is for versions that are not released."""
        wanted = parser.add_mutually_exclusive_group(required=True)
        wanted.add_argument("--write", action="store_true")
        wanted.add_argument("--check", action="store_true")
        wanted.add_argument("--release", action="store_true", help="Let no served version change.")
        parser.add_argument("--amend", action="store_true", help="Let a version's wire change.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say in one sentence why not."""
        try:
            if options["write"]:
                write(amend=options["amend"])
            elif options["release"]:
                release()
            else:
                check()
        except EarmarkError as error:
            raise CommandError(str(error)) from error
