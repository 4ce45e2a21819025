"""Issue, rotate, revoke and list the service keys of voice runtimes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.keys import (
    IssuedKey,
    KeySlotsTaken,
    issue_key,
    revoke_key,
    rotate_key,
    signing_secret,
)
from tenants.models import Organization, ServiceKey, ServiceKeyBinding

BY = Actor.process("service_keys")


class Command(BaseCommand):
    """`service_keys issue | rotate | revoke | list | signing`."""

    help = "Service keys of voice runtimes. A token is shown once, when it is made."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what each verb needs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        issue = verbs.add_parser("issue", help="Make a key for one organization or several.")
        issue.add_argument("--organization", action="append", required=True, metavar="SLUG")
        issue.add_argument("--label", default="")
        issue.add_argument("--days", type=int, help="Days until the key ends by itself.")
        rotate = verbs.add_parser("rotate", help="Make the successor of a key.")
        rotate.add_argument("kid")
        rotate.add_argument("--overlap-hours", type=int, default=24)
        verbs.add_parser("revoke", help="End a key at once.").add_argument("kid")
        signing = verbs.add_parser(
            "signing", help="Show with which secret a webhook signs for a key."
        )
        signing.add_argument("kid")
        listing = verbs.add_parser("list", help="Show keys, never their secrets.")
        listing.add_argument("--organization", required=True, metavar="SLUG")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or say in one sentence why not."""
        now = timezone.now()
        try:
            getattr(self, f"_{options['verb']}")(options, now)
        except KeySlotsTaken as error:
            raise CommandError(str(error)) from error

    def _issue(self, options: dict[str, Any], now: datetime) -> None:
        organizations = [_organization(slug) for slug in options["organization"]]
        ends = now + timedelta(days=options["days"]) if options["days"] else None
        issued = issue_key(organizations, label=options["label"], by=BY, at=now, expires_at=ends)
        self._show(issued)

    def _rotate(self, options: dict[str, Any], now: datetime) -> None:
        overlap = timedelta(hours=options["overlap_hours"])
        self._show(rotate_key(_key(options["kid"]), by=BY, at=now, overlap=overlap))

    def _revoke(self, options: dict[str, Any], now: datetime) -> None:
        revoke_key(_key(options["kid"]), by=BY, at=now)
        self.stdout.write(f"{options['kid']} is revoked.")

    def _signing(self, options: dict[str, Any], _now: datetime) -> None:
        self.stdout.write(signing_secret(_key(options["kid"]).kid))

    def _list(self, options: dict[str, Any], now: datetime) -> None:
        organization = _organization(options["organization"])
        with organization_context(organization.pk):
            bindings = list(
                ServiceKeyBinding.objects.filter(organization=organization)
                .select_related("key")
                .order_by("-key__created_at")
            )
        for binding in bindings:
            key = binding.key
            self.stdout.write(f"{key.kid}\t{_state(key, now)}\t{key.label}")

    def _show(self, issued: IssuedKey) -> None:
        self.stderr.write("This token is shown once. Keep it where the worker reads secrets:")
        self.stdout.write(issued.token)


def _state(key: ServiceKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "active"
    word = "expired" if key.expires_at <= now else "active until"
    return f"{word} {key.expires_at:%Y-%m-%d %H:%M}"


def _organization(slug: str) -> Organization:
    organization = Organization.objects.filter(slug=slug).first()
    if organization is None:
        raise CommandError(f"There is no organization {slug}.")
    return organization


def _key(kid: str) -> ServiceKey:
    key = ServiceKey.objects.filter(kid=kid).first()
    if key is None:
        raise CommandError(f"There is no key {kid}.")
    return key
