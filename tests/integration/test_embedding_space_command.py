from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from config.private import ROOT
from knowledge.embedding.selection import (
    current_embedder,
    forget_active_space,
    remembered_space,
)
from knowledge.models import EmbeddingSpace, SearchRecord
from search.management import spaces
from tests.openai_server import OpenAIServer
from tests.spaces import index_everything, model, now, searched, wanted, word_vectors
from tests.world import tenant

pytestmark = pytest.mark.django_db
GUIDE = ROOT / "docs" / "embedding.md"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(word_vectors) as server:
        yield server


@pytest.fixture
def acme(server, settings):
    settings.EARMARK_EMBEDDING = wanted(server.base_url)
    acme = tenant("acme")
    agent = acme.agent()
    for word in ("pelican", "flamingo", "ostrich"):
        acme.item(f"Ticket {word}", f"A {word} ticket costs ten dirhams.")
    index_everything()
    with acme.context():
        for query in (
            "what does a flamingo ticket cost",
            "ostrich ticket",
            "opening hours of mars",
        ):
            SearchRecord.objects.create(
                organization=acme.organization, agent=agent, at=now(), status="ok", queries=[query],
                instruction_mode="all", knowledge_mode="all",
            )  # fmt: skip
    return acme


def run(*words: str) -> str:
    output = StringIO()
    call_command("embedding-space", *words, stdout=output)
    return output.getvalue()


def commands_of_the_guide() -> list[list[str]]:
    """Return the words of every command that the guide has people type, in its order."""
    lines = GUIDE.read_text("utf-8").splitlines()
    typed = [line for line in lines if line.startswith("python manage.py embedding-space ")]
    return [shlex.split(line.replace("text-embedding-3-small", model(512)))[3:] for line in typed]


def test_the_commands_of_the_guide_change_the_model_and_take_it_back(acme, monkeypatch):
    monkeypatch.setattr("knowledge.spaces.dropping.SEARCHES_END", now() - now())
    told = {words[0]: run(*words) for words in commands_of_the_guide()}
    assert set(told) == {"create", "fill", "compare", "switch", "list", "rollback", "drop"}
    assert "3 rows to fill" in told["fill"]
    assert "3 of 3 rows filled" in told["fill"]
    assert "acme: measured" in told["fill"]
    assert told["compare"].startswith("3 questions: ")
    assert "words-512:512" in told["switch"]
    assert "(kept): 3 of 3 rows filled" in told["list"]
    assert "6 vectors deleted" in told["drop"]
    assert [space.dimensions for space in EmbeddingSpace.objects.all()] == [384]
    assert searched().dimensions == 384


def test_a_comparison_tells_what_changes(acme):
    run("create", "--model", model(16), "--dimensions", "16")
    run("fill", "openai:words-16")
    told = json.loads(run("compare", "openai:words-16", "--json"))
    assert told["questions"] == 3
    assert 0 <= told["overlap_at_5"] <= 1
    assert {"no_match", "degraded", "embed_ms", "search_ms"} < set(told["now"])
    assert SearchRecord.objects.count() == 0  # outside any context there is none to be seen
    with acme.context():
        assert SearchRecord.objects.count() == 3


def test_progress_is_listed_by_organization(acme):
    run("create", "--model", model(16), "--dimensions", "16")
    found = json.loads(run("list", "--json"))
    told = [(one["status"], one["organizations"][0]["missing"]) for one in found]
    assert told == [("active", 0), ("created", 3)]


def test_variables_that_name_another_model_change_nothing_and_are_told(acme, server, settings):
    settings.EARMARK_EMBEDDING = wanted(server.base_url, 512)
    forget_active_space()
    assert current_embedder().space.dimensions == 384
    assert "The variables name words-512 with 512 dimensions" in run("list")


def test_a_space_that_cannot_be_read_keeps_the_last_one_in_use(acme, monkeypatch):
    remembered = remembered_space()

    def fail():
        raise OperationalError

    monkeypatch.setattr("knowledge.embedding.selection.filled_spaces", fail)
    monkeypatch.setattr("knowledge.embedding.selection.REMEMBERED_S", -1.0)
    assert remembered_space() == remembered


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("switch", "nowhere"), "no embedding space nowhere"),
        (("drop", "openai:words-384"), "is searched"),
        (("fill", "openai:words-384"), "is searched"),
        (("compare", "openai:words-384"), "another space"),
        (("rollback",), "searched before"),
        (("create", "--model", "words-2000", "--dimensions", "2000"), "1,024 dimensions"),
        (("create", "--model", "words-16"), "1,024 dimensions"),
        (("create", "--model", "words-384", "--dimensions", "384"), "exists already"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(acme, words, sentence):
    with pytest.raises(CommandError, match=sentence):
        run(*words)


def test_a_change_at_the_moment_of_the_switch_is_filled_first(acme):
    run("create", "--model", model(16), "--dimensions", "16")
    run("fill", "openai:words-16")
    acme.item("Ticket heron", "A heron ticket costs nine dirhams.")
    index_everything()
    assert "words-16" in run("switch", "openai:words-16")


def test_what_fails_is_told_and_waits_for_another_try(acme, server, monkeypatch):
    run("create", "--model", model(16), "--dimensions", "16")
    run("fill", "openai:words-16", "--no-wait")
    monkeypatch.setattr(spaces, "SOON_S", 0.0)
    with pytest.raises(CommandError, match="lacks vectors of 3 rows"):
        run("switch", "openai:words-16")
