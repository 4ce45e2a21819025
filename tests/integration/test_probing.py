from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
from django.db import connection

from knowledge.canaries import CLOSED, OPEN, canaries_shown, plant
from knowledge.models import Instruction, Item, LexicalEntry, Source
from knowledge.retrieval import eligibility, rendering
from knowledge.retrieval.eligibility import GATES, Gate
from scopes import vantages
from scopes.models import AgentScope, CanaryLook
from scopes.probing import look_everywhere
from tests.looking import look_at, looked_at, neighbour, poison
from tests.predicates import without
from tests.world import AT

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return looked_at()


@pytest.fixture
def globex():
    return neighbour()


@contextmanager
def gate_gone(monkeypatch, category, name):
    gates = tuple(
        Gate(gate.name, "true", gate.columns) if gate.name == name else gate
        for gate in GATES[category]
    )
    with monkeypatch.context() as patch:
        patch.setitem(eligibility.GATES, category, gates)
        yield


def test_a_sound_installation_finds_only_what_it_should(acme, globex):
    looks = look_everywhere(AT)
    assert set(looks) == {"acme", "globex"}
    for look in looks.values():
        assert (look.leaks, look.missed) == ([], [])
        assert look.searches > 5


@pytest.mark.parametrize(
    ("category", "gate"),
    [(category, gate.name) for category, gates in GATES.items() for gate in gates],
)
def test_each_gate_that_is_gone_raises_the_alarm(acme, monkeypatch, category, gate):
    with gate_gone(monkeypatch, category, gate):
        look = look_at(acme.organization, at=AT)
    assert any(line.startswith(category) for line in look.leaks)
    assert look_at(acme.organization, at=AT).leaks == []


def test_each_wall_is_tried_apart(acme, monkeypatch):
    monkeypatch.setattr(
        rendering, "eligible_sql", lambda *_: "x.organization_id = %(organization)s"
    )
    leaks = look_at(acme.organization, at=AT).leaks
    assert any("told by an unknown caller" in line for line in leaks)
    assert not any("found by" in line for line in leaks)


def test_a_row_that_was_poisoned_raises_the_alarm(acme):
    look_at(acme.organization, at=AT)
    poison(acme, "knowledge", "pending review", review_status="approved")
    look = look_at(acme.organization, at=AT)
    assert "knowledge pending review: found by an unknown caller" in look.leaks
    with acme.context():
        kept = CanaryLook.objects.get()
    assert kept.leaks == look.leaks
    assert kept.leaked_at == AT


def test_a_row_of_another_organization_raises_the_alarm(acme, globex):
    def everybody(execute, sql, params, many, context):
        wide = without(sql, "x.organization_id = %(organization)s") if "eligible" in sql else sql
        return execute(wide, params, many, context)

    assert look_at(acme.organization, at=AT).leaks == []
    with connection.execute_wrapper(everybody):
        leaks = look_at(acme.organization, at=AT).leaks
    assert any("found by another organization" in line for line in leaks)


def test_an_agent_whose_restriction_is_lost_raises_the_alarm(acme, monkeypatch):
    agent = acme.agent("second")
    acme.source()
    acme.pick(agent, "knowledge", containers=["help"])
    everything = look_at(acme.organization, at=AT)
    assert everything.leaks == []
    monkeypatch.setattr(
        "scopes.vantages.allowlist_for",
        lambda agent, *, at, **_facts: vantages.stranger(agent, at),
    )
    assert any(
        "found by the agent second" in line for line in look_at(acme.organization, at=AT).leaks
    )


def test_a_probe_that_finds_nothing_any_more_says_so(acme, monkeypatch):
    monkeypatch.setattr("scopes.walls.candidates", lambda *_: [])
    look = look_at(acme.organization, at=AT)
    assert look.leaks == []
    assert any("not found by an unknown caller" in line for line in look.missed)


def test_canaries_are_made_once(acme):
    first = plant(acme.organization.pk, [])
    with acme.context(), canaries_shown():
        before = list(LexicalEntry.objects.values_list("pk", flat=True))
    assert plant(acme.organization.pk, []) == first
    with acme.context(), canaries_shown():
        assert list(LexicalEntry.objects.values_list("pk", flat=True)) == before


def test_nobody_who_did_not_ask_sees_a_canary(acme):
    look_at(acme.organization, at=AT)
    with acme.context():
        assert Item.objects.count() == Instruction.objects.count() == Source.objects.count() == 0
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM knowledge_item")
            assert cursor.fetchone() == (0,)


def test_a_canary_keeps_no_segment_from_being_deleted(acme):
    look_at(acme.organization, at=AT)
    with acme.context():
        segment = acme.organization.segment_set.get()
        segment.places.all().delete()
        segment.delete()
    look = look_at(acme.organization, at=AT)
    assert (look.leaks, look.missed) == ([], [])


def test_every_gate_has_a_canary_of_its_own():
    for category, closed in CLOSED.items():
        assert len(closed) - 1 >= len(GATES[category])
        assert OPEN in closed


def test_an_agent_without_a_stored_mode_may_find_nothing(acme):
    with acme.context():
        AgentScope.objects.all().delete()
    assert look_at(acme.organization, at=AT).leaks == []


def test_a_lexical_leg_that_finds_nothing_any_more_says_so(acme, monkeypatch):
    look_at(acme.organization, at=AT)
    monkeypatch.setattr("scopes.walls.WORDS", "zebra")
    look = look_at(acme.organization, at=AT)
    assert look.leaks == []
    assert "knowledge open: not found by an unknown caller" in look.missed


def test_canaries_that_lost_their_words_get_them_back(acme):
    look_at(acme.organization, at=AT)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM knowledge_lexicalentry")
    look = look_at(acme.organization, at=AT)
    assert (look.leaks, look.missed) == ([], [])


@pytest.mark.django_db(transaction=True)
def test_several_who_look_for_the_first_time_at_once_do_not_get_in_each_others_way(acme):
    faults: list[object] = []

    def look():
        try:
            faults.extend(look_at(acme.organization, at=AT).leaks)
        except Exception as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
