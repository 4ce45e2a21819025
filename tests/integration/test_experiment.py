from __future__ import annotations

import uuid

import pytest
from django.test import Client

from knowledge.calibration.fitting import fit
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.models import SearchRecord
from knowledge.passages import CHUNKER_VERSION
from knowledge.retrieval.policy import DEFAULT_POLICY
from search.as_agent import Call
from search.experiment import POLICIES
from search.explaining import explained
from search.trying import Variant, try_variant
from tests.embedders import CountingEmbedder
from tests.staff import office
from tests.voice import runtime
from tests.world import AT

pytestmark = pytest.mark.django_db
FOR_STAFF_ONLY = {
    "legs", "ranks", "score", "scores", "consensus", "cosine", "share", "relevance", "judged_by", "why",
    "ranked", "space", "space_key", "profile_version", "timings_ms", "candidates",
}  # fmt: skip


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    made = CountingEmbedder()
    for module in ("scopes.asking", "search.trying"):
        monkeypatch.setattr(f"{module}.current_embedder", lambda: made)
    monkeypatch.setattr("search.trying.embedder_of", lambda _space: made)
    return made


@pytest.fixture
def staff(embedder):
    made = office()
    names = ("Pelican ticket", "Flamingo ticket", "Pelican lounge")
    items = [
        made.acme.item(name, f"The {name.lower()} costs ten dirhams.", folder="public")
        for name in names
    ]
    space = ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
    workshop = Workshop(embedder, lambda: AT, lambda: True)
    converge_batch(made.acme.organization.pk, [("knowledge", one) for one in items], workshop)
    fit(made.acme.organization.pk, space, embedder, at=AT)
    return made


def page(staff, **asked):
    return f"/admin/agents/{staff.rows['phoneagent'].pk}/experiment/", asked


def test_the_same_question_is_shown_in_two_ways_with_what_each_leg_found(staff):
    address, _ = page(staff)
    answer = staff.as_("viewer").get(address, {"q1": "what does a pelican ticket cost"})
    text = answer.content.decode()
    assert answer.status_code == 200
    assert [side.policy for side in answer.context["sides"]] == [
        "As callers are answered", "Reciprocal ranks",
    ]  # fmt: skip
    for side in answer.context["sides"]:
        assert side.rows[0].ranked.title == "Pelican ticket"
        assert {str(leg.leg) for leg in side.legs if leg.found} == {"By meaning", "By words"}
    assert "place 1 for query 1" in text
    assert "What each leg found" in text


def test_an_experiment_leaves_no_record(staff):
    address, _ = page(staff)
    with staff.acme.context():
        before = SearchRecord.objects.count()
    staff.as_("viewer").get(address, {"q1": "pelican ticket"})
    with staff.acme.context():
        assert SearchRecord.objects.count() == before


def test_the_address_alone_holds_the_comparison(staff):
    address, _ = page(staff)
    asked = {"q1": "pelican", "left_policy": "meaning", "right_policy": "bodies", "limit": "2"}
    answer = staff.as_("editor").get(address, asked)
    assert [side.policy for side in answer.context["sides"]] == [
        "Meaning alone", "Titles do not count",
    ]  # fmt: skip
    assert "left_policy=meaning" in answer.content.decode()


@pytest.mark.parametrize("name", POLICIES)
def test_every_named_policy_answers(staff, name):
    call = Call(None, "phone", None, AT)
    answer = try_variant(
        staff.rows["phoneagent"], ("pelican ticket",), call, Variant(POLICIES[name][1]), limit=5
    )
    assert answer.ranked[0].title == "Pelican ticket"


def test_the_reasons_tell_queries_legs_and_what_relevance_decided(staff):
    call = Call(None, "phone", None, AT)
    queries = ("pelican ticket", "cost of a ticket for pelicans")
    answer = try_variant(staff.rows["phoneagent"], queries, call, Variant(), limit=5)
    first = explained(answer, len(queries), DEFAULT_POLICY)[0]
    assert (first.queries, first.legs, first.possible) == (2, 2, 4)
    assert (first.result, first.height is not None) == (1, True)
    assert str(first.decided).startswith("Near enough")


@pytest.mark.parametrize(
    "asked",
    [
        {"q1": "x", "left_policy": "nonsense"},
        {"q1": "x", "right_space": "tests:nowhere"},
        {"q1": "", "left_policy": "usual"},
        {"q1": "x", "contact": "nobody"},
        {"q1": "x", "limit": "99"},
    ],
)
def test_what_cannot_be_tried_is_said_and_nothing_is_searched(staff, asked):
    address, _ = page(staff)
    answer = staff.as_("viewer").get(address, asked)
    assert (answer.status_code, "sides" in answer.context) == (200, False)
    assert "Nothing was searched" in answer.content.decode()


def test_another_organization_s_agent_and_none_at_all_are_one_answer(staff):
    pages = [
        f"/admin/agents/{pk}/experiment/?q1=pelican"
        for pk in (staff.rows["phoneagent"].pk, uuid.uuid4())
    ]
    first, second = (staff.as_("rival").get(one) for one in pages)
    assert (first.status_code, first.content) == (404, second.content)


def test_someone_signed_out_is_asked_to_sign_in(staff):
    address, _ = page(staff)
    assert Client().get(address).status_code == 302


def test_staff_see_the_same_reasons_where_they_search_as_callers_do(staff):
    address = f"/admin/agents/{staff.rows['phoneagent'].pk}/search/"
    text = staff.as_("viewer").get(address, {"q1": "pelican ticket"}).content.decode()
    assert "Found in 2 of 2 places" in text
    assert "Height above other questions" in text


def keys_of(value):
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    return set()


def test_a_voice_runtime_never_gets_the_reasons(staff):
    voice = runtime(staff.acme.organization)
    agent = staff.rows["phoneagent"]
    answer = voice.search(agent, voice.session(agent), "pelican ticket")
    assert answer.json()["status"] == "ok"
    assert not keys_of(answer.json()) & FOR_STAFF_ONLY
