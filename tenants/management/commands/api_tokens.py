"""Issue, revoke and list the tokens of people's programs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import ApiToken, Organization, User
from tenants.tokens import TokenForStranger, issue_token, revoke_token

BY = Actor.process("api_tokens")


class Command(BaseCommand):
    """`api_tokens issue | revoke | list`."""

    help = "Tokens for the REST API. A token acts for one person in one organization; it is shown once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what each verb needs."""
        parser.add_argument("verb", choices=["issue", "revoke", "list"])
        parser.add_argument("--organization", required=True, metavar="SLUG")
        parser.add_argument("--person", metavar="USERNAME", help="Whom the token acts for.")
        parser.add_argument("--label", default="", help="Where it will be used.")
        parser.add_argument("--days", type=int, help="Days until the token ends by itself.")
        parser.add_argument("--kid", help="The part of the token before the dot, to revoke it.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say in one sentence why not."""
        organization = Organization.objects.filter(slug=options["organization"]).first()
        if organization is None:
            raise CommandError(f"There is no organization {options['organization']}.")
        getattr(self, f"_{options['verb']}")(organization, options, timezone.now())

    def _issue(self, organization: Organization, options: dict[str, Any], now: datetime) -> None:
        user = User.objects.filter(username=options["person"]).first()
        if user is None:
            raise CommandError("Say with --person whom the token acts for.")
        ends = now + timedelta(days=options["days"]) if options["days"] else None
        label = options["label"]
        try:
            issued = issue_token(organization, user, label=label, by=BY, at=now, expires_at=ends)
        except TokenForStranger as error:
            raise CommandError(str(error)) from error
        self.stderr.write("This token is shown once. Keep it where the program reads secrets:")
        self.stdout.write(issued.token)

    def _revoke(self, organization: Organization, options: dict[str, Any], now: datetime) -> None:
        with organization_context(organization.pk):
            found = ApiToken.objects.filter(organization=organization, kid=options["kid"]).first()
        if found is None:
            raise CommandError("Say with --kid which token of the organization is to end.")
        revoke_token(organization.pk, found.pk, by=BY, at=now)
        self.stdout.write(f"{found.kid} is revoked.")

    def _list(self, organization: Organization, _options: dict[str, Any], now: datetime) -> None:
        with organization_context(organization.pk):
            rows = list(ApiToken.objects.filter(organization=organization).select_related("user"))
        for row in rows:
            self.stdout.write(f"{row.kid}\t{_state(row, now)}\t{row.user}\t{row.label}")


def _state(row: ApiToken, now: datetime) -> str:
    if row.revoked_at is not None:
        return "revoked"
    if row.expires_at is None:
        return "active"
    word = "expired" if row.expires_at <= now else "active until"
    return f"{word} {row.expires_at:%Y-%m-%d %H:%M}"
