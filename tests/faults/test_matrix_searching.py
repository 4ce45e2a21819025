"""Faults F4, F9, F11 and F12 of the matrix (docs/reliability.md) while callers search.

Nothing is brought into the index meanwhile, so the way of indexing cannot matter.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import (
    DatabaseError,
    OperationalError,
    close_old_connections,
    connection,
    connections,
)

from knowledge.models import Item
from tenants.isolation import organization_context
from tests.faults.tenants import ASKED

owner = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
DEADLINE_S = 5.5


@pytest.fixture
def tenants(tenants):
    tenants.plant_first()
    return tenants


@contextmanager
def in_a_thread(work) -> Iterator[threading.Thread]:
    """Work beside the block, on connections of its own; what it raises is raised at the end."""
    raised: list[BaseException] = []

    def run():
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    yield thread
    thread.join(60)
    for error in raised:
        raise error


@contextmanager
def holding(alias: str, statement: str) -> Iterator[None]:
    """Hold what a statement takes, in a transaction on another connection, while the block runs."""
    taken, let_go = threading.Event(), threading.Event()

    def hold():
        made = connections[alias]
        made.set_autocommit(False)
        with made.cursor() as cursor:
            cursor.execute(statement)
            taken.set()
            let_go.wait(60)
        made.rollback()

    with in_a_thread(hold):
        assert taken.wait(30)
        try:
            yield
        finally:
            let_go.set()


def timed(ask):
    began = time.monotonic()
    answer = ask()
    return answer, time.monotonic() - began


@owner
@pytest.mark.parametrize(
    ("table", "status"),
    [
        ("knowledge_item", "timeout"),
        ("knowledge_lexicalentry", "timeout"),
        ("scopes_agentscope", "timeout"),
        ("voiceapi_voicesession", "unavailable"),
        ("knowledge_searchrecord", "ok"),
    ],
)
def test_f4_a_table_that_is_locked_costs_a_search_no_more_than_its_deadline(
    tenants, figures, table, status
):
    one, *_ = tenants.others
    assert one.ask()["status"] == "ok"
    with holding("owner", f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"):
        answer, took = timed(lambda: one.ask(**{"X-Deadline-Ms": "2500"}))
    figures(f"F4, {table} locked", answered_after_s=round(took, 2), **tenants.account())
    assert answer["status"] == status
    assert took < 2.5


@owner
def test_f4_whoever_asks_whether_the_server_is_ready_is_told_soon(tenants):
    one, *_ = tenants.others
    with holding("owner", "LOCK TABLE knowledge_embeddingspace IN ACCESS EXCLUSIVE MODE"):
        answer, took = timed(lambda: one.voice.get("/ready"))
    assert answer.json()["error"]["fields"].keys() == {"database"}
    assert took < DEADLINE_S


@owner
@pytest.mark.parametrize("table", ["tenants_servicekey", "voiceapi_allowance"])
def test_f4_what_every_request_reads_first_costs_no_more_than_the_longest_deadline(
    tenants, figures, table
):
    one, *_ = tenants.others
    one.ask()
    with holding("owner", f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"):
        answer, took = timed(one.ask)
    figures(f"F4, {table} locked", answered_after_s=round(took, 2), **tenants.account())
    assert answer.get("status") != "ok"
    assert took < DEADLINE_S


@owner
@pytest.mark.parametrize("table", ["tenants_servicekey", "voiceapi_allowance"])
def test_f4_what_every_request_reads_first_costs_little_more_than_the_time_that_was_given(
    tenants, table
):
    one, *_ = tenants.others
    one.ask()
    with holding("owner", f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"):
        answer, took = timed(lambda: one.ask(**{"X-Deadline-Ms": "1500"}))
    close_old_connections()
    assert answer.get("status") != "ok"
    assert took < 4
    assert one.ask()["status"] == "ok"


# What a bug, a stale worker or half a restore would leave: rows of others, and one's own that are kept back,
# each with the words and the vector of the best answer there is.
ROWS = """
SELECT x.id, x.generation, x.category FROM (
  SELECT id, organization_id, generation, 'knowledge' AS category,
         deleted_at IS NOT NULL OR review_status <> 'approved' OR visibility <> 'public' AS is_kept_back
    FROM knowledge_item
   UNION ALL
  SELECT id, organization_id, generation, 'instruction', deleted_at IS NOT NULL OR status <> 'published'
    FROM knowledge_instruction) x
 WHERE x.organization_id <> %(organization)s OR x.is_kept_back
"""
WORDS = f"""
INSERT INTO knowledge_lexicalentry (organization_id, category, asset_id, position, generation, start, "end",
                                    section, language, tokens)
SELECT %(organization)s, x.category, x.id, 1000, x.generation, 0, 10, '', best.language, best.tokens
  FROM ({ROWS}) x CROSS JOIN (
    SELECT l.language, l.tokens FROM knowledge_lexicalentry l JOIN knowledge_item i ON i.id = l.asset_id
     WHERE l.organization_id = %(organization)s AND i.external_id = 'Opening hours' LIMIT 1) best
"""
VECTORS = f"""
INSERT INTO knowledge_vector (organization_id, space_id, asset_id, generation, position, chunk_id, embedding)
SELECT %(organization)s, best.space_id, x.id, x.generation, 1000, gen_random_uuid(), best.embedding
  FROM ({ROWS}) x CROSS JOIN (
    SELECT v.space_id, v.embedding FROM knowledge_vector v JOIN knowledge_item i ON i.id = v.asset_id
     WHERE v.organization_id = %(organization)s AND i.external_id = 'Opening hours' AND v.position = 0 LIMIT 1) best
"""
UPROOTED = """
DELETE FROM knowledge_vector WHERE position = 1000;
DELETE FROM knowledge_lexicalentry WHERE position = 1000
"""


def plant(holder, everybody) -> int:
    """Put into an organization's index what it must not tell; return how many rows."""
    planted = 0
    with organization_context(*everybody), connection.cursor() as cursor:
        # No constraint of the database stands in the way of what is planted.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in (WORDS, VECTORS):
            cursor.execute(statement, {"organization": holder.organization_id})
            planted += cursor.rowcount
        cursor.execute("SET LOCAL session_replication_role = origin")
    return planted


def test_f9_what_is_planted_in_an_index_is_told_to_nobody(tenants, figures):
    everybody = [one.organization_id for one in tenants]
    planted = [plant(one, everybody) for one in tenants]
    heard = [one.ask(*asked) for one in tenants for asked in (ASKED, ["pelican lounge for sale"])]
    told = tenants.leaks()
    with connection.cursor() as cursor:
        cursor.execute(UPROOTED)
    figures("F9, rows planted in the index", planted=sum(planted), **tenants.account())
    assert told == []
    assert {answer["status"] for answer in heard} == {"ok"}
    assert min(planted) > 10


@pytest.mark.parametrize("end", ["an error", "a cancelled statement", "nothing"])
def test_f11_a_connection_that_served_one_organization_shows_the_next_nothing(
    tenants, end, figures
):
    one, other = tenants.others

    def use():
        with organization_context(one.organization_id), connection.cursor() as cursor:
            assert Item.objects.exists()
            if end == "an error":
                cursor.execute("SELECT 1 / 0")
            if end == "a cancelled statement":
                cursor.execute("SET LOCAL statement_timeout = '20ms'")
                cursor.execute("SELECT pg_sleep(5)")

    one.ask()
    same = connection.connection
    if end == "nothing":
        use()
    else:
        with pytest.raises(DatabaseError):
            use()
    assert connection.connection is same
    assert not Item.objects.exists()
    with organization_context(other.organization_id):
        assert {item.organization_id for item in Item.objects.all()} == {other.organization_id}
    figures(f"F11, a connection after {end}", **tenants.account())


@owner
def test_f12_a_migration_that_cannot_have_its_lock_gives_up_before_searches_do(tenants, figures):
    """A long reader keeps the table; the migration behind it would block everybody behind itself."""
    one, *_ = tenants.others
    one.ask()
    alter = "ALTER TABLE knowledge_item ADD COLUMN later text"
    gave_up: list[float] = []

    def migrate():
        began = time.monotonic()
        with pytest.raises(OperationalError), connections["owner"].cursor() as cursor:
            cursor.execute(alter)
        gave_up.append(time.monotonic() - began)

    slowest = 0.0
    with holding("default", "SELECT count(*) FROM knowledge_item"), in_a_thread(migrate) as thread:
        while thread.is_alive():
            answer, took = timed(one.ask)
            assert answer["status"] == "ok"
            slowest = max(slowest, took)
    with connections["owner"].cursor() as cursor:
        cursor.execute(alter)
        try:
            assert one.ask()["status"] == "ok"
        finally:
            cursor.execute("ALTER TABLE knowledge_item DROP COLUMN later")
    figures(
        "F12, a migration behind a long reader", gave_up_after_s=round(gave_up[0], 2),
        slowest_search_s=round(slowest, 2), **tenants.account(),
    )  # fmt: skip
    assert slowest < DEADLINE_S
