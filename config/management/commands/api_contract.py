"""Write the OpenAPI document of the people's API, or check that it is what the code says."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.api_schema import document, schema_file, written


class Command(BaseCommand):
    """`api_contract --write | --check`."""

    help = "The OpenAPI document of the REST API in contracts/api-v1/openapi.json."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do."""
        doing = parser.add_mutually_exclusive_group(required=True)
        doing.add_argument("--write", action="store_true")
        doing.add_argument("--check", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Write or compare."""
        text = written(document())
        if options["write"]:
            schema_file().parent.mkdir(parents=True, exist_ok=True)
            schema_file().write_text(text, "utf-8")
        elif not schema_file().exists() or schema_file().read_text("utf-8") != text:
            raise CommandError("contracts/api-v1/openapi.json is stale: run api_contract --write.")
