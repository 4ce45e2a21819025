"""Whatever stands in the index, the live truth row decides what is served."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db import connection

from knowledge.models import Item, LexicalEntry
from knowledge.retrieval.candidates import Probe, candidate_sql
from knowledge.retrieval.eligibility import parameters
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.policy import RetrievalPolicy
from scopes.resolution import allowlist_for
from tests.planting import asked, direction, plant_items, plant_vectors
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db
LENIENT = RetrievalPolicy(relevance_floor=0.0)


@pytest.fixture
def acme():
    acme = tenant("acme")
    acme.source()
    return acme


@pytest.fixture
def clerk(acme):
    return acme.agent("clerk")


def search(acme, agent, text="pelican", vector=None, **caller):
    with acme.context():
        allowlist = allowlist_for(
            agent,
            **({"contact": None, "channel": "phone", "country": "AE", "at": AT} | caller),
        )
        question = asked(acme.organization.pk, text, direction(1) if vector is None else vector)
        return retrieve(question, allowlist, limit=5, policy=LENIENT)


def ids(answer):
    return [result.id for result in answer.results]


def served(acme, agent, pk):
    return str(pk) in ids(search(acme, agent))


def planted(acme, name="Pelican", **content):
    pk = acme.item(name, f"The {name} is pink.", **content)
    with acme.context():
        plant_vectors(acme.organization.pk, {pk: direction(1)})
    return pk


def test_a_live_row_is_served(acme, clerk):
    assert served(acme, clerk, planted(acme))


@pytest.mark.parametrize(
    "columns",
    [
        {"review_status": "pending"},
        {"parse_status": "failed"},
        {"dataset": "conversations"},
        {"kind": "golden", "published_version": None},
        {"visibility": "internal"},
        {"valid_until": AT},
        {"valid_from": AT + timedelta(seconds=1)},
        {"channel_restricted": True, "channels": ["chat"]},
        {"channel_restricted": True, "channels": []},
        {"segment_restricted": True, "segments": [uuid.UUID(int=7)]},
        {"segment_restricted": True, "segments": []},
        {"jurisdiction_restricted": True, "jurisdictions": ["DE"]},
        {"agent_restricted": True, "agents": [uuid.UUID(int=7)]},
        {"deleted_at": AT},
        {"generation": 7},
    ],
    ids=str,
)
def test_a_row_that_a_gate_closes_is_not_served_though_the_index_holds_it(acme, clerk, columns):
    pk = planted(acme)
    acme.change_item(pk, **columns)
    assert not served(acme, clerk, pk)


def test_an_unknown_country_never_opens_a_jurisdiction(acme, clerk):
    pk = planted(acme)
    acme.change_item(pk, jurisdiction_restricted=True, jurisdictions=["AE"])
    assert ids(search(acme, clerk, country=None)) == []


def test_a_vector_without_a_truth_row_is_not_served(acme, clerk):
    with acme.context():
        plant_vectors(acme.organization.pk, {uuid.uuid4(): direction(1)})
    assert ids(search(acme, clerk)) == []


def test_a_row_of_another_organization_is_not_served_even_when_the_index_lies(acme, clerk):
    globex = tenant("globex")
    theirs = globex.item("Pelican", "The pelican is grey.")
    with acme.context():
        plant_vectors(acme.organization.pk, {theirs: direction(1)})
        LexicalEntry.objects.filter(asset_id=theirs).update(organization=acme.organization)
    assert ids(search(acme, clerk)) == []


def test_an_item_deleted_while_nothing_drains_is_gone_from_the_next_search(acme, clerk):
    pk = planted(acme)
    before = served(acme, clerk, pk)
    acme.change_item(pk, deleted_at=AT)
    assert (before, served(acme, clerk, pk)) == (True, False)


def test_a_new_item_is_found_by_its_words_before_it_has_a_vector(acme, clerk):
    pk = acme.item("Ibis", "The ibis is blue.")
    assert ids(search(acme, clerk, text="ibis", vector=direction(2))) == [str(pk)]


@pytest.fixture
def crowded(acme, clerk):
    """Twenty items in scope; filler outside it that is nearer to the query than any of them."""
    inside = {
        acme.item(f"Heron {n}", f"Heron number {n} stands still.", folder="inside"): direction(
            1, away=0.2 + n / 50
        )
        for n in range(20)
    }
    with acme.context():
        plant_vectors(acme.organization.pk, inside)
    acme.pick(clerk, "knowledge", containers=["help/inside"])
    return clerk


def fill(acme, count):
    with acme.context():
        filler = plant_items(acme, "help/outside", count)
        plant_vectors(acme.organization.pk, {pk: direction(1, away=0.01) for pk in filler})
    return filler


def test_nearer_filler_outside_the_scope_changes_nothing(acme, crowded):
    before = search(acme, crowded)
    fill(acme, 50_000)
    after = search(acme, crowded)
    assert (before.digest, len(before.results)) == (after.digest, 5)


def test_mass_deletion_without_vacuum_and_stale_statistics_change_nothing(acme, crowded):
    before = search(acme, crowded)
    filler = fill(acme, 5_000)
    with acme.context():
        Item.objects.filter(pk__in=filler[::2]).delete()
    assert search(acme, crowded).digest == before.digest


def test_a_restriction_never_adds_to_what_is_found(acme, clerk):
    inside, outside = planted(acme, "Pelican", folder="a"), planted(acme, "Pelican 2", folder="b")
    everything = set(ids(search(acme, clerk)))
    acme.pick(clerk, "knowledge", containers=["help/a"])
    assert (everything, set(ids(search(acme, clerk)))) == (
        {str(inside), str(outside)},
        {str(inside)},
    )


def test_the_scope_is_part_of_the_scan_and_not_a_filter_after_the_limit(acme, crowded):
    with acme.context():
        allowlist = allowlist_for(crowded, contact=None, channel="phone", country=None, at=AT)
        question = asked(acme.organization.pk, "heron", direction(1))
        probe = Probe(question.queries, question.vectors, 1, depth=5, lexical_rows=100)
        sql = candidate_sql("knowledge", probe, allowlist)
    eligible, limits = sql.index("folder_key"), sql.index("LIMIT")
    assert eligible < limits
    assert "LIMIT" not in sql[:limits]
    assert parameters(allowlist)["folders"] == ["help/inside"]


def test_the_vector_scan_reads_the_covering_index_only(acme, crowded):
    fill(acme, 3_000)
    with acme.context(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT v.embedding <#> '[1,1,1,1,1,1,1,1]'::halfvec FROM knowledge_vector v"
            " WHERE v.organization_id = %s AND v.space_id = 1 AND v.asset_id = %s AND v.generation = 1",
            [acme.organization.pk, uuid.uuid4()],
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Only Scan using knowledge_vector_search" in plan
