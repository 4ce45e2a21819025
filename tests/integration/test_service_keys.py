"""Service keys: shown once, two at a time, over at once when revoked."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tenants.keys import (
    KeyRefused,
    KeySlotsTaken,
    issue_key,
    organizations_of_key,
    revoke_key,
    rotate_key,
    verify_key,
)
from tenants.models import AuditEntry, ServiceKey
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def globex():
    return tenant("globex")


def issue(*tenants, **kwargs):
    organizations = [each.organization for each in tenants]
    return issue_key(organizations, label="worker", by=BY, at=AT, **kwargs)


def verify(token, at=AT):
    return verify_key(token.encode(), at=at)


def test_a_key_speaks_for_its_organizations(acme, globex):
    issued = issue(acme, globex)
    holder = verify(issued.token)
    assert holder.kid == issued.key.kid
    assert sorted(holder.organizations) == sorted([acme.organization.pk, globex.organization.pk])


def test_the_secret_is_not_kept(acme):
    issued = issue(acme)
    secret = issued.token.split(".")[1]
    row = ServiceKey.objects.get(pk=issued.key.pk)
    assert secret.encode() not in bytes(row.secret_sha256)
    assert secret not in repr(issued)


def test_a_third_key_is_refused(acme):
    issue(acme), issue(acme)
    with pytest.raises(KeySlotsTaken):
        issue(acme)


def test_a_refused_key_leaves_nothing_behind(acme, globex):
    issue(globex), issue(globex)
    with pytest.raises(KeySlotsTaken):
        issue(acme, globex)
    assert ServiceKey.objects.count() == 2


def test_a_revoked_key_frees_its_slot(acme):
    first = issue(acme)
    issue(acme)
    revoke_key(first.key, by=BY, at=AT)
    assert verify(issue(acme).token)


def test_an_expired_key_frees_its_slot(acme):
    issue(acme, expires_at=AT), issue(acme)
    assert verify(issue(acme).token)


def test_during_a_rotation_both_keys_work(acme):
    old = issue(acme)
    new = rotate_key(old.key, by=BY, at=AT, overlap=DAY)
    assert verify(old.token)
    assert verify(new.token)
    assert verify(new.token, AT + DAY)
    with pytest.raises(KeyRefused):
        verify(old.token, AT + DAY)


def test_a_rotation_keeps_the_organizations(acme, globex):
    new = rotate_key(issue(acme, globex).key, by=BY, at=AT, overlap=DAY)
    assert organizations_of_key(new.key) == [acme.organization, globex.organization]


def test_a_rotation_never_lengthens_a_life(acme):
    old = issue(acme, expires_at=AT + timedelta(hours=1))
    rotate_key(old.key, by=BY, at=AT, overlap=DAY)
    assert ServiceKey.objects.get(pk=old.key.pk).expires_at == AT + timedelta(hours=1)


def test_every_refusal_is_the_same(acme):
    revoked = issue(acme)
    revoke_key(revoked.key, by=BY, at=AT)
    expired, live = issue(acme, expires_at=AT), issue(acme)
    kid, secret = live.token.split(".")
    tokens = [
        revoked.token, expired.token, f"{kid}.wrong", f"unknown.{secret}", f"{kid}.", f".{secret}",
        kid, "", ".", f"{kid}.ñandú", f"{kid}.\udcff", f"{kid}.\x00", f"{kid}\n.{secret}",
        "x" * 500 + "." + secret, live.token + " ", live.token.upper(),
    ]  # fmt: skip
    refusals = set()
    for token in tokens:
        with pytest.raises(KeyRefused) as refused:
            verify_key(token.encode("utf-8", "surrogateescape"), at=AT)
        refusals.add((type(refused.value), str(refused.value)))
    assert len(refusals) == 1


def test_keys_are_written_into_the_audit_trail(acme):
    issued = issue(acme)
    rotate_key(issued.key, by=BY, at=AT, overlap=DAY)
    revoke_key(issued.key, by=BY, at=AT)
    with acme.context():
        verbs = AuditEntry.objects.filter(subject_id=issued.key.kid).values_list("verb", flat=True)
        assert sorted(verbs) == ["service_key.issue", "service_key.revoke", "service_key.rotate"]
        assert issued.token.split(".")[1] not in str(AuditEntry.objects.values_list("after"))


def run(*words):
    out = StringIO()
    call_command("service_keys", *words, stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def test_the_command_issues_rotates_lists_and_revokes(acme):
    token = run("issue", "--organization", "acme", "--label", "worker")
    kid = verify(token, timezone.now()).kid
    assert verify(run("rotate", kid), timezone.now())
    run("revoke", kid)
    states = [line.split("\t")[1] for line in run("list", "--organization", "acme").splitlines()]
    assert states == ["active", "revoked"]


def test_the_command_says_what_is_wrong_in_a_sentence(acme):
    with pytest.raises(CommandError, match="There is no key"):
        run("revoke", "nobody")
    with pytest.raises(CommandError, match="There is no organization"):
        run("issue", "--organization", "nowhere")
