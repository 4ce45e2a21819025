"""Django's migrate, as the role that owns the tables."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections


class Command(DjangoMigrate):
    """Migrates on the alias `owner`, whose lock_timeout keeps it from blocking a live server."""

    def add_arguments(self, parser: CommandParser) -> None:
        """As Django's, with another default database."""
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuse any other alias: it would record migrations that never ran."""
        if options["database"] != "owner" or "owner" not in connections:
            raise CommandError("Migrations run as the owner of the tables: set DATABASE_OWNER_URL.")
        super().handle(*args, **options)
