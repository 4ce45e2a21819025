"""Every organization holds a word that nobody else may ever see: in answers, pages, logs or metrics."""

from __future__ import annotations

import json
import logging
import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from config.logs import JsonLines
from golden.content import Content
from tests.answers import Staff
from tests.embedders import CountingEmbedder
from tests.staff import browser, person
from tests.voice import names, runtime

pytestmark = pytest.mark.django_db
ASKED = ("When does the pelican lounge open?", "Where is the toucan desk?")


@dataclass
class Holder:
    """One organization, its canary in every text that it has, and everything it was ever told."""

    number: int
    canary: str = ""
    told: list[tuple[str, bytes]] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    staff: Any = None
    voice: Any = None
    viewer: Any = None

    def plant(self):
        self.canary = f"ORG{self.number}-SECRET-{uuid.uuid4()}"
        self.staff = staff = Staff(f"org-{self.number}")
        tenant, word = staff.tenant, self.canary
        tenant.organization.name = word
        tenant.organization.save()
        agent = staff.agent
        agent.name = agent.base_instructions = agent.fallback = word
        with tenant.context():
            agent.save()
        segment = tenant.segment("gold")
        segment.name = word
        with tenant.context():
            segment.save()
        self.ids = {
            "item": str(tenant.item("Opening hours", f"The pelican lounge opens at seven. {word}", title=word, folder=word)),
            "instruction": str(tenant.instruction("Greeting", f"The pelican lounge greets. {word}", title=word, directory=word)),
            "contact": str(tenant.contact(word, segment).pk),
            "phoneagent": str(agent.pk),
            "segment": str(segment.pk),
        }  # fmt: skip
        content = Content("Where is the toucan desk?", f"On the second floor. {word}", folder=word)
        answer = staff.write(content)
        staff.approve(staff.request(answer))
        self.ids["goldenanswer"] = str(answer)
        self.voice = runtime(tenant.organization)
        self.viewer = browser(person(f"viewer-{self.number}", (tenant.organization, "admin")))

    def hear(self, what, answer):
        headers = repr(sorted(answer.headers.items()))
        self.told.append((what, answer.content + headers.encode()))
        return answer


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    made = CountingEmbedder()
    monkeypatch.setattr("scopes.asking.current_embedder", lambda: made)


@pytest.fixture
def spans(monkeypatch):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("voiceapi.telemetry.trace.get_tracer", provider.get_tracer)
    return exporter


@pytest.fixture
def holders():
    made = [Holder(number) for number in range(3)]
    for holder in made:
        holder.plant()
    return made


def call(me, other):
    """Call in every way there is, also with what belongs to the other."""
    agent, voice, theirs = me.staff.agent, me.voice, other.staff.agent
    contact = {"external_id": other.canary}
    opened = me.hear(
        "open", voice.open(agent, contact=contact, dynamic_instructions=[other.ids["instruction"]])
    )
    session = opened.json()["session"]
    searched = me.hear("search", voice.search(agent, session, *ASKED))
    assert searched.json()["status"] == "ok"
    pinned = {"follows": searched.json()["search"], "pinned": [other.ids["item"]]}
    me.hear("pinned", voice.search(agent, session, "zebra", **pinned))
    me.hear("their agent", voice.search(theirs, session, *ASKED))
    me.hear("open theirs", voice.open(theirs))
    me.hear("misspelt", voice.post("/sessions", names(agent) | {other.canary[:4]: 1}))
    me.hear("malformed", voice.post("/sessions", b"["))
    for named in (agent, theirs):
        sent = {
            "knowledge_id": f"{named.organization.slug}/{named.slug}",
            "query": ASKED[0],
            "retrieval_setting": {"top_k": 5, "score_threshold": 0},
        }
        headers = {"Authorization": f"Bearer {voice.token}"}
        answer = Client().post(
            "/integrations/dify/retrieval", json.dumps(sent), "application/json", headers=headers
        )
        me.hear("dify", answer)


def look(me, other):
    """Open every page of the admin, one's own rows and the other's."""
    for model in admin.site._registry:
        place = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        me.hear(place, me.viewer.get(place))
        for holder in (me, other):
            pk = holder.ids.get(str(model._meta.model_name))
            for page in ("change", "history", "delete") if pk else ():
                me.hear(page, me.viewer.get(f"{place}{pk}/{page}/"))
    for holder in (me, other):
        agent = holder.ids["phoneagent"]
        me.hear("as agent", me.viewer.get(f"/admin/agents/{agent}/search/", {"q1": ASKED[0]}))
    me.hear("overview", me.viewer.get("/admin/"))


def manage(me, other):
    """Ask the people's API, for lists and for the other's rows."""
    for path in ("items", "instructions", "sources", "directories", "golden-answers"):
        me.hear(path, me.viewer.get(f"/api/v1/{path}"))
    for path, name in (
        ("items", "item"),
        ("instructions", "instruction"),
        ("golden-answers", "goldenanswer"),
    ):
        me.hear(path, me.viewer.get(f"/api/v1/{path}/{other.ids[name]}"))


def test_no_organization_ever_sees_the_word_of_another(holders, caplog, spans):
    with caplog.at_level(logging.DEBUG):
        for me in holders:
            other = holders[(me.number + 1) % len(holders)]
            call(me, other)
            look(me, other)
            manage(me, other)
            me.hear("metrics", Client().get("/metrics"))
    for me in holders:
        said = b"".join(content for _, content in me.told)
        assert me.canary.encode() in said
        for other in holders:
            if other is not me:
                leaks = [what for what, content in me.told if other.canary.encode() in content]
                assert leaks == []


def test_no_log_metric_or_span_has_anybodys_word(holders, caplog, spans):
    with caplog.at_level(logging.DEBUG):
        # Statements carry bodies; they are logged in no setting of the product.
        caplog.set_level(logging.WARNING, logger="django.db.backends")
        for me in holders:
            call(me, holders[(me.number + 1) % len(holders)])
    logged = json.dumps([vars(record) for record in caplog.records], default=str)
    told = json.dumps([span.to_json() for span in spans.get_finished_spans()])
    metrics = Client().get("/metrics").content.decode()
    for text in (logged, told, metrics):
        assert "-SECRET-" not in text


def test_no_error_says_what_it_was_about(holders, monkeypatch, caplog):
    me = holders[0]
    session = me.voice.session(me.staff.agent)

    def fail(*_args, **_kwargs):
        raise ValueError(me.canary)

    monkeypatch.setattr("voiceapi.searching.ask", fail)
    answer = me.voice.search(me.staff.agent, session, *ASKED)
    assert answer.status_code == 500
    assert me.canary.encode() not in answer.content
    written = "".join(JsonLines().format(record) for record in caplog.records)
    assert "ValueError" in written
    assert me.canary not in written


def test_a_database_error_does_not_quote_a_row(holders, caplog):
    me = holders[0]
    session = me.voice.session(me.staff.agent)
    answer = me.voice.search(me.staff.agent, session, *ASKED, **{"X-Deadline-Ms": "501"})
    assert answer.status_code in {200, 503, 504}
    assert "-SECRET-" not in "".join(str(vars(record)) for record in caplog.records)
