"""`manage.py rehearse_restore`: whether a backup becomes this installation again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from config.rehearsing import rehearse
from tenants.errors import EarmarkError


class Command(BaseCommand):
    """`rehearse_restore FILE [--exact]`."""

    help = (
        "Restore a backup into a database of its own beside this one, compare the two, look for"
        " leaks, and drop it again. Give PGHOST, PGUSER and PGPASSWORD of a superuser."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file that pg_dump wrote."""
        parser.add_argument("file", type=Path, help="What pg_dump --format=custom wrote.")
        parser.add_argument(
            "--exact", action="store_true", help="Fail when a row has come or gone since."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Rehearse, print figures, and fail on any fault."""
        database = connection.settings_dict["NAME"]
        try:
            done = rehearse(options["file"], database=database, at=timezone.now())
        except EarmarkError as error:
            raise CommandError(str(error)) from error
        size = options["file"].stat().st_size / 1e6
        self.stdout.write(
            f"{size:.1f} MB became {sum(done.rows.values())} rows in {len(done.rows)} tables"
            f" in {done.seconds:.1f} s."
        )
        for name, more in done.changed.items():
            if more:
                self.stdout.write(f"  {name}: {more:+d} since the backup")
        for fault in done.faults:
            self.stdout.write(f"  {fault}")
        if done.faults or (options["exact"] and any(done.changed.values())):
            raise CommandError("The backup is not this installation.")
        self.stdout.write("Policies, keys, indexes and triggers are the same; nothing leaks.")
