"""Several at once: a link lets one in, and two admins cannot remove each other."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from tenants.auditing import Actor
from tenants.errors import EarmarkError
from tenants.models import Membership, Role, User
from tenants.people.inviting import invite
from tenants.people.members import remove
from tests.integration.test_api_repeating import at_once
from tests.staff import person
from tests.world import tenant

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_link_that_four_use_at_once_lets_one_in():
    organization = tenant("acme").organization
    boss = person("boss", (organization, Role.ADMIN))
    at = datetime.now(tz=UTC)
    token = invite(
        organization, "nora@example.com", Role.EDITOR, by=Actor.person(boss), at=at
    ).token
    names = iter(["nora", "nina", "nele", "noor"])

    def follow():
        password = "a quite long sentence"
        sent = {"username": next(names), "password1": password, "password2": password}
        return Client().post(f"/people/join/{token}/", sent).status_code

    assert sorted(at_once(4, follow)) == [302, 404, 404, 404]
    assert Membership.objects.filter(organization=organization).count() == 2
    assert User.objects.filter(email="nora@example.com").count() == 1


def test_two_admins_who_remove_each_other_leave_one():
    organization = tenant("acme").organization
    people = [person(name, (organization, Role.ADMIN)) for name in ("ada", "bob")]
    pairs = iter([(people[0], people[1]), (people[1], people[0])])

    def act():
        who, whom = next(pairs)
        try:
            remove(organization.pk, whom.pk, by=Actor.person(who), at=datetime.now(tz=UTC))
        except EarmarkError as refusal:
            return refusal.code
        return "removed"

    assert sorted(at_once(2, act)) == ["last_admin", "removed"]
    assert Membership.objects.filter(organization=organization, role=Role.ADMIN).count() == 1
