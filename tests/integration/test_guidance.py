"""Guidance is about what a runtime is shown, not about what was found beside it."""

from __future__ import annotations

import pytest

from knowledge.retrieval.grounding import WEAK
from knowledge.retrieval.pipeline import retrieve
from scopes.resolution import allowlist_for
from tests.planting import asked, direction, plant_vectors
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered():
    """Return a search that ranks a weak row first, which has all its words, and then a sure one."""
    acme = tenant("acme")
    agent = acme.agent()
    weak = acme.item("Pelican", "The lounge of the pelican opens on weekdays.")
    sure = acme.item("Flamingo", "The flamingo.")

    def search(limit):
        with acme.context():
            near = {weak: direction(1, away=0.622), sure: direction(1, away=0.530)}
            plant_vectors(acme.organization.pk, near)
            allowlist = allowlist_for(agent, contact=None, channel="phone", country=None, at=AT)
            question = asked(acme.organization.pk, "pelican lounge weekdays", direction(1))
            return retrieve(question, allowlist, limit=limit)

    return search


def test_a_weak_result_shown_alone_tells_the_model_to_hedge(answered):
    answer = answered(1)
    assert ([r.title for r in answer.results], answer.guidance) == (["Pelican"], WEAK)


def test_a_sure_result_shown_beside_a_weak_one_needs_no_hedging(answered):
    answer = answered(2)
    assert ([r.title for r in answer.results], answer.guidance) == (["Pelican", "Flamingo"], None)
