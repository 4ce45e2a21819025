"""Take away a second factor that somebody has lost."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tenants.admin_second_factor import reset
from tenants.models import User


class Command(BaseCommand):
    """`second_factor reset USERNAME`."""

    help = "Take away the second factor of a person who has lost it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Ask for the person."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("reset").add_argument("username")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it; every session of the person ends with it."""
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is nobody called {options['username']}.")
        reset(user)
        self.stdout.write(f"{user.username} signs in with the password alone.")
