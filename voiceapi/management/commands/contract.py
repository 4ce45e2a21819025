"""Write the published contract, or check that code, file and version agree."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from voiceapi.publishing import ContractStale, WireChanged, check, write


class Command(BaseCommand):
    """`contract --write` and `contract --check`."""

    help = "Write contracts/voice-v1/openapi.json from the code, or check that they agree."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take one of the two; amending is for a version that nobody speaks yet."""
        wanted = parser.add_mutually_exclusive_group(required=True)
        wanted.add_argument("--write", action="store_true")
        wanted.add_argument("--check", action="store_true")
        parser.add_argument("--amend", action="store_true", help="Let this version's wire change.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say in one sentence why not."""
        try:
            if options["write"]:
                write(amend=options["amend"])
            else:
                check()
        except (ContractStale, WireChanged) as error:
            raise CommandError(str(error)) from error
