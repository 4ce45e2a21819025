from __future__ import annotations

import pytest

from knowledge.calibration.fitting import fit
from knowledge.models import EmbeddingSpace
from knowledge.spaces.creating import Where, create
from tenants.models import AuditEntry
from tests.openai_server import OpenAIServer
from tests.spaces import (
    calibrate,
    fill,
    index_everything,
    now,
    searched,
    second_space,
    spec,
    wanted,
    word_vectors,
)
from tests.staff import office
from tests.world import BY

pytestmark = pytest.mark.django_db
PAGE = "/admin/spaces/"


@pytest.fixture
def staff(settings):
    with OpenAIServer(word_vectors) as server:
        settings.EARMARK_EMBEDDING = wanted(server.base_url)
        made = office()
        made.globex.item("Secret of globex", "It is nobody's business.")
        index_everything()
        yield made


def act(staff, who, verb, space):
    return staff.as_(who).post(f"{PAGE}{space.pk}/{verb}/")


def test_everybody_with_a_role_sees_how_far_the_spaces_are_in_their_own_organizations(staff):
    second_space()
    text = staff.as_("viewer").get(PAGE).content.decode()
    assert "being filled" in text
    assert "Acme" in text
    assert "Globex" not in text
    assert "lacks vectors of" in text


def test_an_operator_fills_switches_goes_back_and_deletes_by_pages_that_ask_first(staff):
    first = searched()
    second = create(spec(), Where(), by=BY, at=now())
    ask = staff.as_("operator").get(f"{PAGE}{second.pk}/fill/").content.decode()
    assert "This is paid for." in ask
    assert act(staff, "operator", "fill", second).status_code == 302
    fill()
    calibrate(second)
    calibrate(first)
    assert act(staff, "operator", "switch", second).status_code == 302
    assert searched() == second
    assert act(staff, "operator", "rollback", first).status_code == 302
    assert searched() == first
    EmbeddingSpace.objects.filter(pk=second.pk).update(left_at=None)
    assert act(staff, "operator", "drop", second).status_code == 302
    second.refresh_from_db()
    assert second.status == "dropping"
    with staff.acme.context():
        told = AuditEntry.objects.filter(verb__startswith="space.", actor_label="operator")
        assert {entry.verb for entry in told} == {
            "space.fill", "space.switch", "space.rollback", "space.drop",
        }  # fmt: skip


def test_a_refusal_is_a_sentence_on_the_page_and_nothing_was_done(staff):
    second = second_space()
    answer = act(staff, "operator", "switch", second)
    assert answer.status_code == 200
    assert "lacks vectors of" in answer.content.decode()
    assert searched() != second


def test_what_a_space_cannot_do_now_is_refused(staff):
    answer = act(staff, "operator", "drop", searched())
    assert "cannot be done" in answer.content.decode()
    assert searched().status == "active"


@pytest.mark.parametrize("who", ["admin", "editor", "viewer", "rival", "stranger"])
@pytest.mark.parametrize("verb", ["fill", "switch", "drop", "rollback"])
def test_nobody_but_an_operator_acts_on_a_space_that_everybody_shares(staff, who, verb):
    space = searched()
    assert act(staff, who, verb, space).status_code == 403
    assert searched() == space


def test_a_space_that_is_not_there_is_not_found(staff):
    assert staff.as_("operator").post(f"{PAGE}999999/switch/").status_code == 404


def test_what_moves_is_asked_for_again_by_the_page_and_what_stands_is_not(staff):
    assert "hx-trigger" not in staff.as_("viewer").get(PAGE).content.decode()
    second = second_space()
    assert "hx-trigger" in staff.as_("viewer").get(PAGE).content.decode()
    fill()
    fit(staff.acme.organization.pk, searched(), _embedder(), at=now())
    assert (
        "<html"
        not in staff.as_("viewer").get(PAGE, headers={"HX-Request": "true"}).content.decode()
    )
    assert second.status == "filling"


def _embedder():
    from knowledge.embedding.selection import current_embedder

    return current_embedder()
