"""Lists of a hundred thousand rows: few statements, and none of them reads a table through."""

from __future__ import annotations

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from knowledge.models import SearchRecord
from tests.staff import browser, person
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
ROWS = 100_000
BIG = ("knowledge_item", "tenants_contact", "knowledge_searchrecord")
# Copies of a row that the product wrote, each with an id, a name and an instant of its own.
COPIES = """
INSERT INTO {table} SELECT r.* FROM {table} t, generate_series(1, %s) AS n,
  LATERAL jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), {own})) r WHERE t.id = %s"""


def copy(table, row_id, own):
    with connection.cursor() as cursor:
        cursor.execute(COPIES.format(table=table, own=own), [ROWS, row_id])


@pytest.fixture
def crowd():
    acme = tenant("acme")
    agent, contact = acme.agent(), acme.contact("crm-0")
    acme.item("Pelican lounge", "It opens at seven.")
    article = acme.item("Article", "Text.", folder="bulk")
    with acme.context():
        record = SearchRecord.objects.create(
            organization=acme.organization, agent=agent, at=AT, status="ok", queries=["hours"],
            instruction_mode="all", knowledge_mode="all",
        )  # fmt: skip
        at = "'{}', now() - n * interval '1 s'"
        copy("tenants_contact", contact.pk, "'external_id', 'crm-' || n")
        copy("knowledge_searchrecord", record.pk, at.format("at"))
        copy(
            "knowledge_item",
            article,
            "'external_id', 'bulk-' || n, 'title', 'Article ' || n,"
            f" 'folder_key', 'help/bulk/' || n %% 100, {at.format('updated_at')}",
        )
    with connections["owner"].cursor() as cursor:
        for table in BIG:
            cursor.execute(f"ANALYZE {table}")
    return acme, browser(person("viewer", (acme.organization, "viewer")))


def read_through(acme, statements):
    """The big tables that a statement reads from end to end, as the planner says."""
    found = []
    for statement in statements:
        if not statement["sql"].startswith("SELECT"):
            continue
        with acme.context(), connection.cursor() as cursor:
            cursor.execute("EXPLAIN " + statement["sql"])
            plan = [line for (line,) in cursor.fetchall()]
        found += [line.strip() for line in plan if any(f"Seq Scan on {big}" in line for big in BIG)]
    return found


def test_long_lists_take_few_statements_and_read_no_table_through(crowd):
    acme, client = crowd
    wrong = []
    for address, most in (
        ("/admin/knowledge/item/", 16),
        ("/admin/knowledge/item/?p=150", 16),
        ("/admin/knowledge/item/?folder=help/bulk/7", 16),
        ("/admin/knowledge/item/?review_status__exact=pending", 16),
        ("/admin/knowledge/item/?q=pelican", 20),
        ("/admin/knowledge/item/?index=failed", 16),
        ("/admin/knowledge/item/?withdrawn=yes", 16),
        ("/admin/tenants/contact/", 16),
        ("/admin/tenants/contact/?q=crm-77777", 18),
        ("/admin/knowledge/searchrecord/", 16),
        ("/admin/knowledge/searchrecord/?status=timeout", 16),
        ("/admin/knowledge/searchrecord/?door=mcp", 16),
    ):
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address)
        plans = read_through(acme, captured.captured_queries)
        if page.status_code != 200 or len(captured) > most or plans:
            wrong.append((address, page.status_code, len(captured), plans))
    assert not wrong, wrong
    assert "The first 10,000 of more" in client.get("/admin/knowledge/item/").content.decode()
