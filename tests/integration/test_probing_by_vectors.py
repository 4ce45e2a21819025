"""The probe for canaries asks the dense leg too, with vectors that are stored and never bought."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection

from knowledge.canaries import OPEN, canaries_shown, canary_id, plant, uproot
from knowledge.canary_vectors import direction, searched_vector
from knowledge.embedding.protocol import SpaceSpec
from knowledge.embedding.spaces import columns_of, space_key
from knowledge.indexing.reconciling import reconcile
from knowledge.models import Chunk, Document, EmbeddingSpace, SpaceGap, Vector
from knowledge.passages import CHUNKER_VERSION
from knowledge.retrieval.candidates import _scored
from knowledge.retrieval.eligibility import GATES
from knowledge.spaces.creating import start_filling
from knowledge.spaces.dropping import drop_batches, start_dropping
from knowledge.spaces.progress import progress
from knowledge.spaces.switching import switch
from knowledge.tables.canaries import FIRST, LAST
from knowledge.text.keys import token_keys
from knowledge.text.tokens import query_tokens, tokenise
from scopes.models import CanaryLook, Unasked
from scopes.walls import UNSAID
from tests.embedders import CountingEmbedder
from tests.looking import in_use, look_at, looked_at, neighbour
from tests.world import AT, BY

pytestmark = pytest.mark.django_db
ELIGIBLE = "WITH eligible AS MATERIALIZED (\n"
READING = "SELECT v.* FROM eligible e CROSS JOIN LATERAL"


def another(status: str) -> EmbeddingSpace:
    """A space of other dimensions; nobody is asked for its vectors here."""
    spec = SpaceSpec("openai", "others", 32)
    return EmbeddingSpace.objects.create(
        key=space_key(spec, CHUNKER_VERSION),
        status=status,
        base_url="http://127.0.0.1:9/v1",
        **columns_of(spec, CHUNKER_VERSION),
    )


@pytest.fixture
def acme():
    return looked_at()


@pytest.fixture
def globex():
    return neighbour()


@pytest.fixture
def space():
    return in_use()


@contextmanager
def dense_leg_reads(rows):
    """Let the dense leg of every search, and it alone, read other rows than the eligible ones."""

    def changed(execute, sql, params, many, context):
        if isinstance(sql, str) and READING in sql:
            eligible = sql.removeprefix(ELIGIBLE).partition("),\nsize AS")[0]
            assert ELIGIBLE + eligible + "),\nsize AS" in sql
            sql = sql.replace(READING, READING.replace("eligible", f"({rows(eligible)})"))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(changed):
        yield


def gates():
    return [
        pytest.param(category, gate, id=f"{category} {gate.name}")
        for category, found in GATES.items()
        for gate in found
    ]


def vectors_of_canaries(**narrowed):
    return Vector.objects.filter(asset_id__range=(FIRST, LAST), **narrowed)


def planted(acme):
    segments = acme.organization.segment_set.values_list("pk", flat=True)
    return plant(acme.organization.pk, list(segments))


def test_the_statement_that_these_tests_change_is_the_one_of_every_search():
    assert READING in _scored(range(1))


def test_a_sound_installation_is_quiet_and_was_asked_by_both_legs(acme, globex, space):
    look = look_at(acme.organization, at=AT)
    assert look.faults == []
    assert look.dense_searches == look.lexical_searches > 5
    with acme.context():
        kept = CanaryLook.objects.get()
    assert kept.is_whole
    assert kept.dense_searches == look.dense_searches


@pytest.mark.parametrize(("category", "gate"), gates())
def test_a_gate_that_is_gone_from_the_dense_leg_alone_raises_the_alarm(acme, space, category, gate):
    def ungated(eligible):
        return eligible.replace(f"({gate.sql})", "(true)")

    with dense_leg_reads(ungated):
        leaks = look_at(acme.organization, at=AT).leaks
    assert any(line.startswith(category) for line in leaks)
    assert all(line.endswith(", by vectors") for line in leaks)
    assert look_at(acme.organization, at=AT).faults == []


def test_a_scope_that_is_gone_from_the_dense_leg_alone_raises_the_alarm(acme, space):
    agent = acme.agent("second")
    acme.source()
    acme.pick(agent, "knowledge", containers=["help"])

    def everything(eligible):
        if "unnest(" not in eligible:
            return eligible
        within = eligible.partition("LATERAL (\n ")[2].partition("\n   AND x.id = wanted.id")[0]
        assert within.startswith("SELECT x.id")
        return within

    with dense_leg_reads(everything):
        leaks = look_at(acme.organization, at=AT).leaks
    assert "knowledge open: found by the agent second, by vectors" in leaks
    assert "knowledge open: found by a selection of nothing, by vectors" in leaks
    assert all(line.endswith(", by vectors") for line in leaks)


def test_vectors_of_another_organization_raise_the_alarm(acme, globex, space):
    def everybody(eligible):
        return eligible.replace("x.organization_id = %(organization)s", "true")

    def wide(execute, sql, params, many, context):
        reads = isinstance(sql, str) and "scored AS" in sql
        own = "WHERE v.organization_id = %(organization)s"
        theirs = "WHERE x.organization_id = %(organization)s AND x.id = p.asset_id"
        if reads:
            assert own in sql
            assert theirs in sql
            sql = sql.replace(own, "WHERE true").replace(theirs, "WHERE x.id = p.asset_id")
        return execute(sql, params, many, context)

    with dense_leg_reads(everybody), connection.execute_wrapper(wide):
        leaks = look_at(acme.organization, at=AT).leaks
    assert any("found by another organization, by vectors" in line for line in leaks)


def test_a_dense_leg_that_finds_nothing_any_more_says_so(acme, space):
    with dense_leg_reads(lambda eligible: f"SELECT * FROM ({eligible}) n WHERE false"):
        look = look_at(acme.organization, at=AT)
    assert look.leaks == []
    assert f"knowledge {OPEN}: not found by an unknown caller, by vectors" in look.missed
    assert all(line.endswith(", by vectors") for line in look.missed)


def test_before_anything_was_indexed_the_dense_leg_is_not_probed(acme):
    look = look_at(acme.organization, at=AT)
    assert (look.leaks, look.missed) == ([], [])
    assert look.unasked == Unasked.NO_SPACE
    assert look.dense_searches == 0
    with acme.context():
        assert not CanaryLook.objects.get().is_whole


def test_without_its_vectors_the_dense_leg_is_not_probed(acme, space, monkeypatch):
    assert look_at(acme.organization, at=AT).faults == []
    vectors_of_canaries().delete()
    monkeypatch.setattr("scopes.probing.plant_vectors", lambda *_, **__: None)
    look = look_at(acme.organization, at=AT + timedelta(minutes=1))
    assert look.unasked == Unasked.NO_VECTORS
    assert look.dense_searches == 0
    assert look.lexical_searches > 5
    with acme.context():
        kept = CanaryLook.objects.get()
    assert (kept.is_whole, kept.dense_at) == (False, AT)


def test_one_canary_without_its_vector_is_enough_not_to_pass(acme, space, monkeypatch):
    look_at(acme.organization, at=AT)
    bare = canary_id(acme.organization.pk, "knowledge", "internal")
    vectors_of_canaries(asset_id=bare).delete()
    monkeypatch.setattr("scopes.probing.plant_vectors", lambda *_, **__: None)
    look = look_at(acme.organization, at=AT)
    assert (look.leaks, look.missed) == ([], [])
    assert look.unasked == Unasked.NO_VECTORS


def test_what_is_missing_is_planted_by_the_next_look(acme, space):
    look_at(acme.organization, at=AT)
    vectors_of_canaries().delete()
    assert look_at(acme.organization, at=AT).faults == []


def test_nothing_is_planted_twice(acme, space):
    look_at(acme.organization, at=AT)
    before = sorted(vectors_of_canaries().values_list("pk", flat=True))
    look_at(acme.organization, at=AT)
    assert sorted(vectors_of_canaries().values_list("pk", flat=True)) == before


def test_the_look_after_a_switch_asks_in_the_other_space(acme, space):
    other = another("filling")
    look_at(acme.organization, at=AT)
    switch(other, by=BY, at=AT)
    with acme.context():
        found = searched_vector(acme.organization.pk, planted(acme))
    assert found is not None
    assert found.vector is not None
    assert (found.space_id, found.lacking) == (other.pk, frozenset())
    assert np.allclose(found.vector, direction(acme.organization.pk, other), atol=1e-2)
    assert look_at(acme.organization, at=AT).faults == []


def test_a_switch_to_a_space_that_came_up_since_the_look_leaves_nothing_unprobed(acme, space):
    look_at(acme.organization, at=AT)
    other = another("filling")
    switch(other, by=BY, at=AT)
    look = look_at(acme.organization, at=AT)
    assert look.faults == []
    assert look.dense_searches == look.lexical_searches


def test_canaries_are_nothing_that_a_space_lacks_or_holds(acme, space):
    acme.item("Hours", "We open at seven.")
    look_at(acme.organization, at=AT)
    other = another("created")
    assert start_filling(other, by=BY, at=AT) == 0
    assert not SpaceGap.objects.exists()
    (mine,) = progress(other, [acme.organization])
    assert (mine.assets, mine.missing) == (0, 0)


def test_a_space_is_dropped_with_the_vectors_of_canaries(acme, space):
    other = another("filling")
    look_at(acme.organization, at=AT)
    assert vectors_of_canaries(space=other).exists()
    drop_batches(start_dropping(other, by=BY, at=AT))
    assert not EmbeddingSpace.objects.filter(pk=other.pk).exists()
    assert look_at(acme.organization, at=AT).faults == []


def test_an_installation_that_has_indexed_nothing_may_still_turn_to_another_model(acme, space):
    look_at(acme.organization, at=AT)
    turned = in_use(CountingEmbedder("another"))
    assert turned.status == "active"
    assert not vectors_of_canaries(space=space).exists()
    assert look_at(acme.organization, at=AT).faults == []


def test_reconciling_leaves_canaries_alone(acme, space):
    acme.item("Hours", "We open at seven.")
    look_at(acme.organization, at=AT)
    before = vectors_of_canaries().count()
    found = reconcile(acme.organization.pk, space=space, at=AT)
    assert (found.surplus, found.orphans, found.gaps) == (0, 0, 0)
    assert vectors_of_canaries().count() == before > 0


def test_nobody_who_did_not_ask_sees_what_is_derived_of_a_canary(acme, space):
    look_at(acme.organization, at=AT)
    with acme.context():
        assert Document.objects.count() == Chunk.objects.count() == 0
        with canaries_shown():
            assert Document.objects.count() == Chunk.objects.count() > 0


def test_canaries_that_are_made_anew_get_their_vectors_anew(acme, space):
    look_at(acme.organization, at=AT)
    uproot(acme.organization.pk)
    assert not vectors_of_canaries().exists()
    assert look_at(acme.organization, at=AT).faults == []


def test_a_canary_of_a_segment_that_is_gone_leaves_no_vector_behind(acme, space):
    look_at(acme.organization, at=AT)
    with acme.context():
        segment = acme.organization.segment_set.get()
        kept_for = canary_id(acme.organization.pk, "knowledge", f"segment {segment.pk}")
        segment.places.all().delete()
        segment.delete()
    assert vectors_of_canaries(asset_id=kept_for).exists()
    assert look_at(acme.organization, at=AT).faults == []
    assert not vectors_of_canaries(asset_id=kept_for).exists()


def test_the_word_that_is_asked_beside_the_vector_is_in_no_canary(acme, space):
    number = acme.organization.pk
    look_at(acme.organization, at=AT)
    asked = set(token_keys(number, query_tokens(UNSAID, None)))
    assert asked
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT unnest(tokens) FROM knowledge_lexicalentry WHERE organization_id = %s",
            [number],
        )
        said = {token for (token,) in cursor.fetchall()}
    assert said >= set(token_keys(number, tokenise("ochre canary", "en")))
    assert not asked & said
