"""The demo organization loads by the public commands and answers what its specification says."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection
from django.utils import timezone

from config.demo import read_world
from config.demo_vectors import FILE
from knowledge.embedding.spaces import active_space
from knowledge.models import Chunk, Item
from knowledge.retrieval.deadline import Deadline
from scopes.asking import CallerFacts, Question, ask
from tenants.isolation import organization_context
from tenants.models import Contact, Organization, PhoneAgent

pytestmark = pytest.mark.django_db
WORLD = read_world()


class Demo:
    """What was loaded, by the names that the specification uses."""

    def __init__(self, access):
        self.access = access
        self.organization = Organization.objects.get(slug=access["organization"])
        with organization_context(self.organization.pk):
            agents = PhoneAgent.objects.select_related("organization")
            self.agents = {agent.slug: agent for agent in agents}
            self.contacts = {contact.external_id: contact for contact in Contact.objects.all()}
            self.items = {
                (source, external_id): str(pk)
                for pk, source, external_id in Item.objects.values_list(
                    "pk", "source__slug", "external_id"
                )
            }

    def ids(self, references):
        return {self.items[r["source"], r["external_id"]] for r in references}

    def ask(self, question):
        caller = CallerFacts(
            self.contacts.get(question["contact"]), question["channel"], question["country"]
        )
        return ask(
            self.agents[question["agent"]],
            Question(tuple(question["queries"]), limit=10),
            caller,
            at=timezone.now(),
            deadline=Deadline.after(60),
        ).answer


def _clear():
    """Empty every table, as a transactional test does at its end."""
    tables = connection.introspection.django_table_names(only_existing=True)
    with connection.cursor() as cursor:
        for statement in connection.ops.sql_flush(no_style(), tables, allow_cascade=False):
            cursor.execute(statement)


@pytest.fixture(scope="module")
def demo(django_db_setup, django_db_blocker):
    """Load it once for all tests of this module, and clear it away after them."""
    with django_db_blocker.unblock():
        out = io.StringIO()
        call_command("demo", stdout=out)
        yield Demo(json.loads(out.getvalue()))
        _clear()


def test_the_demo_answers_as_its_specification_says(demo):
    wrong = []
    for question in WORLD["questions"]["answered"]:
        answer = demo.ask(question)
        knowledge = [result.id for result in answer.results if result.type == "knowledge"]
        expected = demo.ids([question["expect"]])
        allowed = expected | demo.ids([r for r in question.get("also", []) if "source" in r])
        if not knowledge or knowledge[0] not in allowed or not expected & set(knowledge):
            wrong.append(question["id"])
        assert not demo.ids(question.get("never", [])) & set(knowledge), question["id"]
    assert wrong == []


def test_the_demo_knows_what_it_cannot_answer(demo):
    statuses = {
        question["id"]: demo.ask(question).status.value
        for question in WORLD["questions"]["unanswered"] + WORLD["questions"]["refused"]
    }
    assert statuses == dict.fromkeys(statuses, "no_match")


def test_what_an_agent_may_not_say_is_never_among_its_results(demo):
    for question in WORLD["questions"]["refused"]:
        answer = demo.ask(question)
        assert not demo.ids([question["answered_by"]]) & {r.id for r in answer.results}


def test_the_shipped_vectors_are_those_of_the_texts(demo):
    space = active_space()
    assert space is not None
    with organization_context(demo.organization.pk):
        hashes = set(Chunk.objects.values_list("text_hash", flat=True))
    with np.load(FILE, allow_pickle=False) as shipped:
        assert (str(shipped["space"]), set(shipped["hashes"])) == (space.key, hashes)


def test_loading_again_changes_nothing(demo):
    with organization_context(demo.organization.pk):
        before = set(Item.objects.values_list("pk", "generation", "lock_version"))
    call_command("demo", stdout=io.StringIO())
    with organization_context(demo.organization.pk):
        assert set(Item.objects.values_list("pk", "generation", "lock_version")) == before


REFUND = "How long does a refund of a transfer take?"
FRONT_DESK = {"agent": "front-desk", "contact": None, "channel": "phone", "country": "AE"}


# As a runtime asks: in the caller's words, and in English where that is another language.
@pytest.mark.parametrize(
    "queries",
    [
        ["can I get my money back"],
        ["能退吗", "Can I get a refund?"],
        ["هل يمكنني استرجاع المبلغ", "Can I get my money back?"],
        ["um so I cancelled that transfer and uh I was wondering like can I get my money back"],
    ],
)
def test_the_refund_answer_comes_first_in_every_tongue(demo, queries):
    first = demo.ask(FRONT_DESK | {"queries": queries}).results[0]
    assert (first.type, first.title) == ("golden", REFUND)


def test_who_does_not_want_a_refund_does_not_hear_the_answer_about_it(demo):
    answer = demo.ask(FRONT_DESK | {"queries": ["I do not want a refund"]})
    assert REFUND not in [result.title for result in answer.results]
