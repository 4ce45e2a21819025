"""What a scope reaches by key is what it says row by row."""

import random
from dataclasses import replace

import pytest
from django.db import connection, connections

from knowledge.retrieval.eligibility import eligible_rows, eligible_sql, parameters
from knowledge.retrieval.types import Selection
from scopes.resolution import allowlist_for
from tenants.isolation import organization_context
from tenants.prepared import placed_by_number, rows_of
from tests.planting import plant_items
from tests.world import AT, tenant

# "-" sorts before "/", and "0" right behind it; \x01 is the lowest character that a text may hold.
FOLDERS = [
    "billing",
    "billing-old",
    "billing/refunds",
    "billing/refunds/late",
    "billing0",
    "bill",
    "",
]


@pytest.fixture
def acme(transactional_db):
    acme = tenant("acme")
    acme.source()
    return acme


@pytest.fixture
def placed(acme):
    return {
        acme.item(f"{folder} {n}", f"In {folder}.", folder=folder): folder
        for folder in FOLDERS
        for n in range(2)
    }


def selections(items):
    chance = random.Random(7)
    for _ in range(25):
        folders = chance.sample(FOLDERS, chance.randint(0, 3))
        yield Selection(
            ids=frozenset(chance.sample(items, chance.randint(0, 4))),
            folders=frozenset(f"help/{folder}".rstrip("/") for folder in folders),
        )


def test_rows_reached_by_key_are_the_rows_that_pass_every_gate(acme, placed):
    agent = acme.agent("clerk")
    with acme.context():
        allowlist = allowlist_for(agent, contact=None, channel="phone", country=None, at=AT)
        for selection in selections(sorted(placed)):
            asked = replace(allowlist, knowledge=selection)
            values = parameters(asked)
            where = eligible_sql("knowledge", asked)
            passing = rows_of(
                f"SELECT x.id, x.generation FROM knowledge_item x WHERE {where}", values
            )
            reached = rows_of(eligible_rows("knowledge", asked), values)
            assert len(reached) == len(set(reached))
            assert set(reached) == set(passing)


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_places_are_read_by_their_own_index_though_organizations_look_small(acme):
    agent = acme.agent("clerk")
    with acme.context():
        plant_items(acme, "help/inside", 600)
    acme.pick(agent, "knowledge", containers=["help/inside"])
    for number in range(30):
        small = tenant(f"small-{number}")
        small.source()
        with small.context():
            plant_items(small, "help", 2)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE knowledge_item")
    with organization_context(acme.organization.pk, snapshot=True):
        allowlist = allowlist_for(agent, contact=None, channel="phone", country=None, at=AT)
        statement, _names = placed_by_number(eligible_rows("knowledge", allowlist))
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN (GENERIC_PLAN) " + statement.decode())
            plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Scan using knowledge_item_listing" in plan
    assert "Seq Scan on knowledge_item" not in plan
