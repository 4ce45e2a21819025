from __future__ import annotations

import pytest

from tests.openai_server import OpenAIServer
from tests.people import offices
from tests.spaces import fill, index_everything, second_space, wanted, word_vectors

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_work(settings):
    with OpenAIServer(word_vectors) as server:
        settings.EARMARK_EMBEDDING = wanted(server.base_url)
        made = offices()
        made.acme.item("Hours", "We open at seven.")
        made.globex.item("Secret", "Nobody's business.")
        index_everything()
        yield made


def test_progress_is_told_for_one_s_own_organization_alone(at_work):
    second_space()
    first, second = at_work.viewer.get("embedding-spaces").json()["results"]
    assert (first["status"], second["status"]) == ("active", "filling")
    assert (first["dimensions"], second["dimensions"]) == (384, 512)
    assert [one["organization"] for one in second["organizations"]] == ["acme"]
    assert second["organizations"][0]["missing"] == 1
    assert "lacks vectors of 1 rows" in second["obstacle"]
    fill()
    _, second = at_work.viewer.get("embedding-spaces").json()["results"]
    assert second["organizations"][0]["percent"] == 100
    assert "not been measured" in second["obstacle"]


def test_another_organization_and_one_that_is_not_there_are_one_answer(at_work):
    answers = [at_work.viewer.get(f"embedding-spaces?organization={s}") for s in ("globex", "no")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nobody_changes_a_space_through_the_api(at_work, method):
    assert at_work.editor.call(method, "embedding-spaces").status_code == 405
