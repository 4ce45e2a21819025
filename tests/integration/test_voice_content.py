"""How much a runtime is given to say, and what its model is told to do with it (docs/voice-api.md)."""

from __future__ import annotations

import pytest

from golden.acting import Act
from golden.content import Content
from golden.drafting import create_answer
from golden.publishing import override_publish
from knowledge.retrieval.grounding import WEAK
from knowledge.retrieval.siblings import ASK_WHICH
from tests.embedders import CountingEmbedder
from tests.voice import runtime
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db
EACH, ALL = 1_200, 5_000


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


class Desk:
    """An organization, its agent that may say everything, and its caller."""

    def __init__(self):
        self.tenant = tenant("acme")
        self.agent = self.tenant.agent()
        self.voice = runtime(self.tenant.organization)
        self.session = self.voice.session(self.agent)

    def ask(self, *queries, **body):
        answer = self.voice.search(self.agent, self.session, *queries, **body)
        assert answer.json()["status"] == "ok", answer.content
        return answer.json()

    def publish(self, question, answer):
        act = Act(BY, AT, "Now.")
        made = create_answer(self.tenant.organization, Content(question, answer), act)
        override_publish(self.tenant.organization.pk, made.pk, act)


@pytest.fixture
def desk():
    return Desk()


def long_text(number):
    return " ".join(f"Pelican rule {number} says {n} things." for n in range(200, 260))


def test_what_a_runtime_is_given_is_bounded_by_result_and_in_all(desk):
    texts = {f"Pelican rule {number}": long_text(number) for number in range(8)}
    for name, text in texts.items():
        desk.tenant.instruction(name, text)
    results = desk.ask("pelican rule", limit=10)["results"]
    lengths = [len(result["content"]) for result in results]
    assert len(results) > 4
    assert EACH - 40 < max(lengths) <= EACH
    assert ALL - EACH // 10 - 40 < sum(lengths) <= ALL
    for result in results:
        assert texts[result["title"]].startswith(result["content"])
        assert result["content"].endswith("things.")


def test_a_golden_answer_is_heard_whole_or_not_at_all(desk):
    answers = [f"{long_text(number)[: EACH - 10]} and over." for number in range(5)]
    for number, answer in enumerate(answers):
        desk.publish(f"Pelican rule {number}", answer)
    heard = [result["content"] for result in desk.ask("pelican rule", limit=10)["results"]]
    assert len(heard) == ALL // EACH
    assert set(heard) < set(answers)


def test_a_sure_match_comes_without_guidance(desk):
    desk.tenant.item("Opening hours", "The pelican lounge opens at seven.")
    assert desk.ask("pelican lounge opens")["guidance"] is None


def test_a_weak_match_tells_the_model_to_hedge_or_ask(desk):
    desk.tenant.item("Opening hours", "The pelican lounge opens at seven.")
    assert desk.ask("pelican lounge opens monday evening")["guidance"] == WEAK


def test_a_tie_tells_the_model_to_ask_which(desk):
    for card in ("Voyager", "Nomad"):
        desk.tenant.item(f"Fees of the {card} card", f"A {card} card costs forty dirhams in fees.")
    assert desk.ask("card fees")["guidance"] == ASK_WHICH


def test_a_caller_who_said_which_is_not_asked_again(desk):
    for card in ("Voyager", "Nomad"):
        desk.tenant.item(f"Fees of the {card} card", f"A {card} card costs forty dirhams in fees.")
    said = {"utterance": "I have a nomad"}
    assert desk.ask("card fees", turn_context=said)["guidance"] is None
