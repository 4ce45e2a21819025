"""Whose mailbox an account names. Whoever invites writes an address; only its owner can show that it is theirs.

An account is taken for its owner's once a new password came by mail, or the provider of single sign-on
has said whose it is. What was set before then may be somebody else's, who held the invitation's link.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from tenants.access import roles_by_organization
from tenants.admin_second_factor import reset as without_second_factor
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import User

log = logging.getLogger(__name__)


def same_mailbox(one: str, other: str) -> bool:
    """Whether only the case of letters differs."""
    # Databases compare upper case, where a dotless i is an i and a long s is an s; folded, as Django
    # compares, a long s still is one. So both cases have to agree.
    return one.lower() == other.lower() and one.upper() == other.upper()


def naming(mailbox: str, people: Iterable[User]) -> list[User]:
    """Return those of these people whose accounts name the mailbox."""
    return [user for user in people if same_mailbox(user.email, mailbox)]


def owners(mailbox: str) -> list[User]:
    """Return who can be meant by a mailbox: those who have shown it, or else those who name it.

    Cost: one statement.
    """
    people = User.objects.filter(email__iexact=mailbox, is_active=True, is_staff=True)
    named = naming(mailbox, people)
    return [user for user in named if is_proven(user)] or named


def is_proven(user: User) -> bool:
    """Whether the mailbox that the account names today was shown to be this person's."""
    return bool(user.email) and user.proven_email == user.email


@transaction.atomic
def hand_to_owner(user: User, *, at: datetime) -> User:
    """Let whoever has just shown the mailbox have the account; the first time, alone.

    Password, second factor and sessions of before end. Who never had a password gets none by this.
    """
    row = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_proven(row):
        return row
    before = {"password": row.has_usable_password(), "second_factor": row.has_second_factor}
    without_second_factor(row)
    if row.has_usable_password():
        # One that nobody knows: with none at all, Django would send no new one by mail.
        row.set_password(secrets.token_urlsafe(32))
    row.proven_email = user.email
    # Together: whoever writes the whole of an older row over it takes the proof back as well.
    row.save(update_fields=["password", "proven_email"])
    _note(row, before, at=at)
    return row


def _note(user: User, before: dict[str, bool], *, at: datetime) -> None:
    log.info("first_sign_on", extra={"person": user.pk})
    after = dict.fromkeys(before, False)
    change = Change("person.first_sign_on", "person", str(user.pk), before, after)
    for organization_id in roles_by_organization(user):
        with organization_context(organization_id):
            note(organization_id, change, by=Actor.person(user), at=at)
