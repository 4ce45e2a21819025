"""Searches that are rare are found among many without reading the others."""

from __future__ import annotations

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from knowledge.models import SearchRecord
from tests.staff import browser, person
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
ROWS = 30_000
COPIES = """
INSERT INTO knowledge_searchrecord SELECT r.* FROM knowledge_searchrecord t, generate_series(1, %s) AS n,
  LATERAL jsonb_populate_record(t, jsonb_build_object(
    'id', gen_random_uuid(), 'at', now() - n * interval '1 s')) r
"""


@pytest.fixture
def acme():
    made = tenant("acme")
    with made.context():
        SearchRecord.objects.create(
            organization=made.organization, agent=made.agent(), at=AT, status="ok", queries=["hours"],
            instruction_mode="all", knowledge_mode="all",
        )  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute(COPIES, [ROWS])
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE knowledge_searchrecord")
    return made


@pytest.mark.parametrize(
    ("asked", "index"),
    [("status=timeout", "knowledge_record_status"), ("door=mcp", "knowledge_record_door")],
)
def test_a_list_of_what_is_rare_reads_what_is_rare_alone(acme, asked, index):
    client = browser(person("viewer", (acme.organization, "viewer")))
    with CaptureQueriesContext(connection) as captured:
        assert client.get(f"/admin/knowledge/searchrecord/?{asked}").status_code == 200
    lists = [one["sql"] for one in captured.captured_queries if "ORDER BY" in one["sql"]]
    lists = [sql for sql in lists if 'FROM "knowledge_searchrecord"' in sql]
    with acme.context(), connection.cursor() as cursor:
        for sql in lists:
            cursor.execute("EXPLAIN " + sql)
            plan = "\n".join(line for (line,) in cursor.fetchall())
            assert index in plan, plan
    assert lists
