"""The knowledge browser over a hundred thousand items: no statement reads the table through."""

from __future__ import annotations

import re

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from knowledge.browser.asking import Asked, matches, matching
from knowledge.places import Cursor
from tests.planting import plant_items
from tests.scope_pages import desk
from tests.world import AT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True, databases=["default", "owner"]),
]
LAST = Cursor(backward=True).text()
PAGES: tuple[dict[str, str], ...] = (
    {}, {"place": "help"}, {"place": "help/large"}, {"place": "help/large", "cursor": LAST},
    {"place": "help/small"}, {"deleted": "yes"},
)  # fmt: skip


@pytest.fixture
def large():
    made = desk()
    made.acme.source()
    with made.acme.context():
        plant_items(made.acme, "help/large", 100_000)
        plant_items(made.acme, "help/small", 50)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE knowledge_item")
    return made


def test_no_page_of_a_hundred_thousand_items_reads_the_table_through(large):
    for asked in PAGES:
        with CaptureQueriesContext(connection) as caught:
            answer = large.admin.get("/admin/browse/acme/", asked)
        assert answer.status_code == 200
        assert answer.content.count(b'<li class="browse__row"') <= 51
        for query in caught.captured_queries:
            if "knowledge_item" in query["sql"]:
                refuse_a_long_read(large, query["sql"])


def refuse_a_long_read(large, sql):
    with large.acme.context(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE) {sql}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Seq Scan on knowledge_item" not in plan, plan
    removed = re.findall(r"Rows Removed by Filter: (\d+)", plan)
    assert sum(map(int, removed)) < 1_000, plan


def test_what_matches_is_paged_from_where_the_last_page_ended(large):
    asked = Asked(place="help/large", language="en")
    with large.acme.context():
        rows = matching(large.acme.organization.pk, asked, at=AT)
        first = matches(rows, asked, "")
        assert first.count == 1_001
        second = matches(rows, asked, first.next)
        assert second.rows[0].title > first.rows[-1].title
        back = matches(rows, asked, second.previous)
    assert [row.pk for row in back.rows] == [row.pk for row in first.rows]
