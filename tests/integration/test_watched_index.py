"""Whoever reads the metrics reads what is behind, not the whole index."""

from __future__ import annotations

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from knowledge.models import IndexState
from tests.world import AT, tenant
from voiceapi.watching import gauges

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
ROWS = 20_000
COPIES = """
INSERT INTO knowledge_indexstate SELECT r.* FROM knowledge_indexstate t, generate_series(1, %s) AS n,
  LATERAL jsonb_populate_record(t, jsonb_build_object(
    'id', md5(n::text)::uuid, 'asset_id', md5(n::text)::uuid)) r
"""


def state(organization, status, *, applied):
    IndexState.objects.create(
        organization=organization, category="knowledge", status=status, desired_generation=2,
        applied_generation=applied, desired_at=AT, next_attempt_at=AT,
    )  # fmt: skip


@pytest.fixture
def acme():
    made = tenant("acme")
    with made.context():
        state(made.organization, "live", applied=2)
        with connection.cursor() as cursor:
            cursor.execute(COPIES, [ROWS])
        state(made.organization, "pending", applied=1)
        state(made.organization, "retrying", applied=1)
        state(made.organization, "failed", applied=1)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE knowledge_indexstate")
    return made


def test_the_metrics_count_what_is_behind_without_reading_what_is_not(acme):
    with CaptureQueriesContext(connection) as captured:
        shown = gauges(at=AT)
    assert shown.get_sample_value("earmark_index_pending") == 2
    assert shown.get_sample_value("earmark_index_failed") == 1
    asked = [q["sql"] for q in captured.captured_queries if "knowledge_indexstate" in q["sql"]]
    assert asked
    with acme.context(), connection.cursor() as cursor:
        for sql in asked:
            cursor.execute("EXPLAIN " + sql)
            plan = "\n".join(line for (line,) in cursor.fetchall())
            assert "knowledge_state_due" in plan or "knowledge_state_status" in plan, plan
