"""Lists of a hundred thousand rows: few statements, and none of them reads a table through."""

from __future__ import annotations

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from tests.staff import browser, person
from tests.world import tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
ROWS = 100_000
BIG = ("knowledge_item", "tenants_contact", "knowledge_searchrecord")
ITEMS = """
INSERT INTO knowledge_item (id, organization_id, source_id, external_id, kind, dataset, review_status,
  parse_status, title, body, phrasings, url, folder_key, source_tag, metadata, agent_restricted, agents,
  domain, entity_type, entity_key, corpus_digest, language, visibility, channel_restricted, channels,
  segment_restricted, segments, jurisdiction_restricted, jurisdictions, generation, content_hash,
  lock_version, created_at, updated_at)
SELECT gen_random_uuid(), %s, %s, 'bulk-' || n, 'knowledge', 'default-kb', 'approved', 'parsed',
  'Article ' || n, 'Text.', '{}', '', 'help/bulk/' || n %% 100, '', '{}', false, '{}', '', '', '', '',
  'en', 'public', false, '{}', false, '{}', false, '{}', 1, '', 1, now(), now() - n * interval '1 s'
  FROM generate_series(1, %s) AS n"""
CONTACTS = """
INSERT INTO tenants_contact (id, organization_id, external_id, name, country)
SELECT gen_random_uuid(), %s, 'crm-' || n, 'Person ' || n, 'AE' FROM generate_series(1, %s) AS n"""
RECORDS = """
INSERT INTO knowledge_searchrecord (id, organization_id, at, door, status, degraded, queries,
  instruction_mode, knowledge_mode, candidates, results, timings_ms, digest, speculative, adopted)
SELECT gen_random_uuid(), %s, now() - n * interval '1 s', 'voice', 'ok', '{}', '["hours"]', 'all',
  'all', '{}', '[]', '{}', '', false, false FROM generate_series(1, %s) AS n"""


@pytest.fixture
def crowd():
    acme = tenant("acme")
    organization, source = acme.organization, acme.source()
    acme.item("Pelican lounge", "It opens at seven.")
    with acme.context(), connection.cursor() as cursor:
        cursor.execute(ITEMS, [organization.pk, source.pk, ROWS])
        cursor.execute(CONTACTS, [organization.pk, ROWS])
        cursor.execute(RECORDS, [organization.pk, ROWS])
    with connections["owner"].cursor() as cursor:
        for table in BIG:
            cursor.execute(f"ANALYZE {table}")
    return acme, browser(person("viewer", (organization, "viewer")))


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
    ):
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address)
        plans = read_through(acme, captured.captured_queries)
        if page.status_code != 200 or len(captured) > most or plans:
            wrong.append((address, page.status_code, len(captured), plans))
    assert not wrong, wrong
    assert "The first 10000 of more" in client.get("/admin/knowledge/item/").content.decode()
