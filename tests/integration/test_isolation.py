"""Organizations are kept apart by the database itself."""

from __future__ import annotations

import uuid
from datetime import datetime

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from knowledge.models import Item, Source
from tenants.isolation import OrganizationSwitchRefused, organization_context
from tenants.models import AuditEntry, Organization

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return Organization.objects.create(slug="acme", name="Acme")


@pytest.fixture
def globex():
    return Organization.objects.create(slug="globex", name="Globex")


def _source(organization):
    with organization_context(organization.pk):
        return Source.objects.create(organization=organization, slug="help", name="Help")


def _check_constraints():
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_the_application_role_is_neither_superuser_nor_owner():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper OR rolbypassrls, pg_get_userbyid(c.relowner) = current_user"
            " FROM pg_roles, pg_class c WHERE rolname = current_user AND c.relname = 'knowledge_item'"
        )
        assert cursor.fetchone() == (False, False)


def test_without_a_context_no_tenant_row_is_there(acme):
    _source(acme)
    assert not Source.objects.exists()


def test_a_context_shows_its_own_organization_only(acme, globex):
    _source(acme)
    _source(globex)
    with organization_context(acme.pk):
        assert [source.organization_id for source in Source.objects.all()] == [acme.pk]


def test_a_row_for_another_organization_is_refused(acme, globex):
    with organization_context(acme.pk), pytest.raises(DatabaseError), transaction.atomic():
        Source.objects.create(organization=globex, slug="help", name="Help")


def test_a_reference_into_another_organization_is_refused(acme, globex):
    theirs = _source(globex)
    with organization_context(acme.pk), transaction.atomic():
        Item.objects.create(
            organization=acme,
            source=theirs,
            external_id="a",
            title="A",
            body="A",
            folder_key="help",
        )
        with pytest.raises(IntegrityError), transaction.atomic():
            _check_constraints()
        transaction.set_rollback(True)


def test_a_context_cannot_turn_to_another_organization(acme, globex):
    with (
        organization_context(acme.pk),
        pytest.raises(OrganizationSwitchRefused),
        organization_context(globex.pk),
    ):
        pass


def test_after_a_context_nothing_is_visible(acme):
    _source(acme)
    with organization_context(acme.pk):
        assert Source.objects.count() == 1
    assert Source.objects.count() == 0


def test_the_audit_trail_cannot_be_changed(acme, at: datetime):
    with organization_context(acme.pk):
        entry = AuditEntry.objects.create(
            organization=acme,
            at=at,
            actor_label="test",
            verb="made",
            subject_type="x",
            subject_id=str(uuid.uuid4()),
        )
        with pytest.raises(DatabaseError), transaction.atomic():
            AuditEntry.objects.filter(pk=entry.pk).update(verb="unmade")
