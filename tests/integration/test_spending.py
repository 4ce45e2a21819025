"""What embedding costs each organization, and one provider's wish that all processes honour."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import OperationalError

from knowledge.calibration.fitting import fit
from knowledge.embedding.metering import metered, spent
from knowledge.embedding.selection import embedder_from_settings
from knowledge.embedding.spaces import ensure_space
from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing.draining import Drain
from knowledge.models import UsageEntry
from knowledge.passages import CHUNKER_VERSION
from knowledge.retrieval.deadline import Deadline
from knowledge.retrieval.preparing import prepare
from tests.embedders import CountingEmbedder
from tests.openai_server import DIMENSIONS, OpenAIServer
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme():
    return tenant("acme")


# A title and a body of each.
TOLD = ("a", "a\nOne sentence of acme.", "b", "b\nAnother sentence of acme.")


class Clock:
    def __init__(self):
        self.now = AT

    def __call__(self):
        return self.now


def usage(of):
    with of.context():
        return list(UsageEntry.objects.values_list("provider", "model", "texts", "tokens", "calls"))


def test_texts_tokens_and_calls_are_counted_for_each_organization(acme):
    globex = tenant("globex")
    acme.item("a", "One sentence of acme.")
    acme.item("b", "Another sentence of acme.")
    globex.item("c", "One sentence of globex.")
    embedder = CountingEmbedder()
    while Drain(embedder, lambda: AT).step():
        pass
    [(provider, model, texts, tokens, calls)] = usage(acme)
    assert (provider, model, texts, calls) == ("tests", "buckets", 4, 1)
    assert tokens == sum(embedder.token_count(TOLD))
    assert [row[2] for row in usage(globex)] == [2]


def test_a_text_that_is_known_costs_nothing_again(acme):
    item = acme.item("a", "One sentence of acme.")
    embedder = CountingEmbedder()
    Drain(embedder, lambda: AT).step()
    before = usage(acme)
    acme.item("copy", "One sentence of acme.", title="a")
    assert item
    Drain(embedder, lambda: AT).step()
    assert usage(acme) == before


def test_what_the_service_counts_is_believed():
    with metered() as meter:
        spent(json.dumps({"data": [], "usage": {"total_tokens": 7}}).encode())
        spent(b"not json")
        spent(json.dumps({"usage": {"total_tokens": "many"}}).encode())
    assert meter.tokens == 7


def test_a_wait_asked_of_one_process_holds_for_all(acme):
    def refuse(_texts):
        raise EmbeddingUnavailable("Slow down.", retry_after=60, status=429)

    acme.item("a", "One sentence of acme.")
    clock = Clock()
    first, other = CountingEmbedder(before=refuse), CountingEmbedder()
    Drain(first, clock).step()
    acme.item("b", "Another sentence of acme.")
    clock.now = AT + timedelta(seconds=30)
    assert Drain(other, clock).step() == 0
    assert other.calls == []
    clock.now = AT + timedelta(seconds=61)
    assert Drain(other, clock).step() > 0


def test_trouble_without_a_wish_to_wait_stays_with_the_process_that_met_it(acme):
    def break_off(_texts):
        raise EmbeddingUnavailable("It broke off.", status=500)

    acme.item("a", "One sentence of acme.")
    Drain(CountingEmbedder(before=break_off), lambda: AT).step()
    acme.item("b", "Another sentence of acme.")
    assert Drain(CountingEmbedder(), lambda: AT).step() == 1


def test_the_status_tells_what_was_spent(acme, settings, capsys):
    settings.EMBEDDING_PRICE = "1000"
    acme.item("a", "One sentence of acme.")
    Drain(CountingEmbedder(), lambda: AT).step()
    call_command("index", "status")
    told = capsys.readouterr().out
    assert "tests buckets: 2 texts" in told
    assert "spent" in told
    call_command("index", "status", "--json")
    assert json.loads(capsys.readouterr().out)["spent"]["acme"][0]["texts"] == 2


def asked_of(server):
    return embedder_from_settings(
        {"model": "billed", "dimensions": DIMENSIONS, "base_url": server.base_url}
    )


def bill(of):
    names = (
        "texts", "tokens", "calls", "failed_calls", "question_calls", "question_tokens",
        "cost_micros",
    )  # fmt: skip
    with of.context():
        return dict(UsageEntry.objects.values(*names).get())


def test_a_question_is_paid_for_once_and_told_apart(acme, settings):
    settings.EMBEDDING_PRICE = "1"
    with OpenAIServer() as server:
        for _ in range(2):
            prepare(
                ["where is my card"], organization_id=acme.organization.pk, code_patterns=(),
                embedder=asked_of(server), deadline=Deadline.after(5.0),
            )  # fmt: skip
    assert bill(acme) == {
        "texts": 1, "tokens": 4, "calls": 1, "failed_calls": 0, "question_calls": 1,
        "question_tokens": 4, "cost_micros": 4,
    }  # fmt: skip


@pytest.mark.parametrize(("trouble", "tokens"), [("broken", 0), ("gapped", 6), ("error_body", 0)])
def test_calls_that_fail_are_counted_with_what_they_cost(acme, trouble, tokens):
    acme.item("a", "One sentence of acme.")
    with OpenAIServer() as server:
        server.behave(trouble)
        Drain(asked_of(server), lambda: AT).step()
    found = bill(acme)
    assert (found["texts"], found["calls"], found["failed_calls"]) == (0, 1, 1)
    assert found["tokens"] == tokens


def test_what_measuring_a_corpus_asks_is_paid_by_its_organization(acme):
    acme.item("a", "One sentence of acme.")
    with OpenAIServer() as server:
        embedder = asked_of(server)
        while Drain(embedder, lambda: AT).step():
            pass
        before = bill(acme)
        space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
        fit(acme.organization.pk, space, embedder, at=AT)
        found = bill(acme)
        assert found["calls"] == server.calls > before["calls"]
    assert found["tokens"] > before["tokens"]


def test_a_bill_that_cannot_be_written_fails_no_question(acme, monkeypatch):
    def gone(*_args):
        raise OperationalError

    monkeypatch.setattr("knowledge.embedding.spending.note_spending", gone)
    with OpenAIServer() as server:
        understood = prepare(
            ["where is my card now"], organization_id=acme.organization.pk, code_patterns=(),
            embedder=asked_of(server), deadline=Deadline.after(5.0),
        )  # fmt: skip
    assert understood.vectors is not None
