"""Folders of a hundred thousand items: no statement reads the table through, and no page asks more of them.

How long they take beside one another, `make bench ONLY=folders` says.
"""

from __future__ import annotations

import re

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from knowledge.places import Cursor
from tests.planting import plant_items
from tests.scope_pages import desk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True, databases=["default", "owner"]),
]
LAST = Cursor(backward=True).text()
PAGES = (("", ""), ("help", ""), ("help/large", ""), ("help/large", LAST), ("help/small", ""))


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


def plan_of(made, sql):
    with made.acme.context(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE) {sql}")
        return "\n".join(row[0] for row in cursor.fetchall())


def test_no_page_of_a_hundred_thousand_items_reads_the_table_through(large):
    for place, at in PAGES:
        with CaptureQueriesContext(connection) as caught:
            answer = large.folder(place, cursor=at)
        assert answer.content.count(b'<li class="row"') <= 51
        for query in caught.captured_queries:
            if "knowledge_item" not in query["sql"]:
                continue
            plan = plan_of(large, query["sql"])
            assert "Seq Scan on knowledge_item" not in plan, plan
            removed = re.findall(r"Rows Removed by Filter: (\d+)", plan)
            assert sum(map(int, removed)) < 1_000, plan


def test_a_large_folder_is_asked_for_in_as_many_statements_as_a_small_one(large):
    asked = {}
    for place, at in (("help/small", ""), ("help/large", ""), ("help/large", LAST)):
        with CaptureQueriesContext(connection) as caught:
            assert large.folder(place, cursor=at).status_code == 200
        asked[place, at] = len(caught)
    assert max(asked.values()) == asked["help/small", ""], asked
