"""Keys that point at a row of their own organization, and let go of it when it is deleted by whatever means."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from knowledge.models import BulkJob, ImportRun, SourceSchedule
from tests.every_table import furnished

pytestmark = pytest.mark.django_db

# What points, by which constraint, and a row of somebody else that it could point at.
POINTERS = {
    ("voicesession", "contact"): ("voiceapi_session_contact", lambda it: it.contact("theirs")),
    ("searchrecord", "agent"): ("knowledge_record_agent", lambda it: it.agent("theirs")),
    ("sourcepage", "schedule"): ("knowledge_page_schedule", lambda it: schedule(it)),
    ("sourceschedule", "last_run"): ("knowledge_schedule_run", lambda it: run(it)),
    ("bulkjob", "undoes"): ("knowledge_job_undoes", lambda it: job(it)),
}
LET_GO = [pointer for pointer in POINTERS if pointer != ("sourcepage", "schedule")]


def schedule(tenant):
    with tenant.context():
        return SourceSchedule.objects.create(
            organization=tenant.organization, source=tenant.source("other"), kind="site"
        )


def run(tenant):
    with tenant.context():
        return ImportRun.objects.create(organization=tenant.organization, label="theirs")


def job(tenant):
    with tenant.context():
        return BulkJob.objects.create(organization=tenant.organization, label="theirs")


def point(row, field, target):
    type(row).objects.filter(pk=row.pk).update(**{field: target})
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def delete_by_sql(target):
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {target._meta.db_table} WHERE id = %s", [target.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.fixture
def office():
    return furnished()


@pytest.mark.parametrize(("name", "field"), POINTERS)
def test_a_pointer_into_another_organization_is_refused(office, name, field):
    constraint, make = POINTERS[name, field]
    theirs = make(office.globex)
    with (
        office.acme.context(),
        pytest.raises(IntegrityError, match=constraint),
        transaction.atomic(),
    ):
        point(office.rows[name], field, theirs)


@pytest.mark.parametrize(("name", "field"), LET_GO)
def test_a_row_lets_go_of_what_is_deleted_and_stays_in_its_organization(office, name, field):
    row = office.rows[name]
    target = POINTERS[name, field][1](office.acme)
    with office.acme.context():
        point(row, field, target)
        delete_by_sql(target)
        row.refresh_from_db()
    assert getattr(row, f"{field}_id") is None
    assert row.organization_id == office.acme.organization.pk


def test_a_page_goes_with_its_schedule(office):
    page = office.rows["sourcepage"]
    with office.acme.context():
        delete_by_sql(office.rows["sourceschedule"])
        assert not type(page).objects.filter(pk=page.pk).exists()
