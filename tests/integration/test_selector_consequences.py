"""History, restoring, copying, previewing a scope, and who finds a row."""

from __future__ import annotations

import json
import re

import pytest

from knowledge.models import Item, SearchRecord
from knowledge.retrieval.deadline import Deadline
from scopes.asking import CallerFacts, Question, ask
from scopes.models import ItemPick
from tests.embedders import CountingEmbedder
from tests.scope_pages import desk
from tests.world import AT

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    for door in ("scopes.asking", "scopes.selector.previews"):
        monkeypatch.setattr(f"{door}.current_embedder", CountingEmbedder)


@pytest.fixture
def at_desk():
    return desk()


def text(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def entries(at_desk):
    page = at_desk.admin.get(f"{at_desk.url}history/")
    return re.findall(r'name="entry" value="([^"]+)"', page.content.decode()), page


def restore(at_desk, entry, who=None, **sent):
    body = {"entry": entry, "version": at_desk.version(), **sent}
    return (who or at_desk.admin).post(f"{at_desk.url}restore/", body)


def test_history_tells_who_changed_what_and_restores_it_as_a_new_change(at_desk):
    one, two = at_desk.acme.item("One"), at_desk.acme.item("Two")
    at_desk.save(add=[f"r:{one}"], who=at_desk.second)
    at_desk.save(add=[f"r:{two}"])
    found, page = entries(at_desk)
    assert "bob" in text(page)
    assert "1 selected 2 selected" in text(page)
    restore(at_desk, found[1])
    assert at_desk.picked() == {f"r:{one}"}
    assert len(entries(at_desk)[0]) == 3


def test_a_change_tells_by_name_what_it_added_and_took_away(at_desk):
    one = at_desk.acme.item("One", folder="a")
    at_desk.save(add=[f"r:{one}"])
    at_desk.save(remove=[f"r:{one}"], add=["c:help/b"])
    page = at_desk.admin.get(f"{at_desk.url}history/{entries(at_desk)[0][0]}/")
    assert "Added Help › b Taken away Help › a › One" in text(page)


def test_restoring_leaves_out_what_has_gone_and_says_so(at_desk):
    one, two = at_desk.acme.item("One"), at_desk.acme.item("Two")
    at_desk.save(add=[f"r:{one}", f"r:{two}"])
    at_desk.save(remove=[f"r:{one}", f"r:{two}"], add=["c:help"])
    at_desk.acme.change_item(two, deleted_at="2026-01-01T00:00Z")
    restore(at_desk, entries(at_desk)[0][1])
    assert at_desk.picked() == {f"r:{one}"}
    assert "1 of it is no longer there" in text(at_desk.admin.get(at_desk.url))


def test_restoring_a_selection_that_has_gone_never_opens_everything(at_desk):
    one = at_desk.acme.item("One")
    at_desk.save(add=[f"r:{one}"])
    at_desk.save(remove=[f"r:{one}"], add=["c:help"])
    at_desk.acme.change_item(one, deleted_at="2026-01-01T00:00Z")
    restore(at_desk, entries(at_desk)[0][1])
    assert at_desk.picked() == {"c:help"}
    assert "would open everything" in text(at_desk.admin.get(at_desk.url))


def test_restoring_onto_an_older_version_is_refused(at_desk):
    one = at_desk.acme.item("One")
    at_desk.save(add=[f"r:{one}"])
    at_desk.save(clear=True)
    restore(at_desk, entries(at_desk)[0][1], version=at_desk.version() - 1)
    assert at_desk.picked() == set()


def test_only_an_admin_of_the_organization_restores(at_desk):
    one = at_desk.acme.item("One")
    at_desk.save(add=[f"r:{one}"])
    entry = entries(at_desk)[0][0]
    assert restore(at_desk, entry, at_desk.viewer).status_code == 403
    assert restore(at_desk, entry, at_desk.rival).status_code == 404
    assert restore(at_desk, "nonsense").status_code == 404


def copy(at_desk, other, *categories):
    return at_desk.admin.post(f"{at_desk.url}copy/", compared(at_desk, other, categories))


def compared(at_desk, other, categories):
    """What the page "Copy from another agent" would send now."""
    page = at_desk.admin.get(f"{at_desk.url}copy/", {"from": str(other.pk)})
    fields = re.findall(r'name="((?:version|theirs)[^"]*)" value="([^"]*)"', page.content.decode())
    return {"from": str(other.pk), "category": categories, **dict(fields)}


def test_a_scope_is_copied_by_category(at_desk):
    one = at_desk.acme.item("One")
    other = at_desk.acme.agent("other")
    at_desk.acme.pick(other, "knowledge", rows=[one])
    page = at_desk.admin.get(f"{at_desk.url}copy/", {"from": str(other.pk)})
    assert "now: All searchable; then: 1 selected" in text(page)
    copy(at_desk, other, "knowledge")
    assert at_desk.picked() == {f"r:{one}"}
    assert at_desk.mode("instruction") == "all"


def test_a_scope_restricted_to_nothing_is_not_copied_as_an_open_one(at_desk):
    one = at_desk.acme.item("One")
    other = at_desk.acme.agent("other")
    at_desk.acme.pick(other, "knowledge", rows=[one])
    with at_desk.acme.context():
        ItemPick.objects.filter(agent=other).delete()
    at_desk.save(add=["c:help"])
    copy(at_desk, other, "knowledge")
    assert at_desk.picked() == {"c:help"}


def test_a_scope_that_was_cleared_since_it_was_compared_is_not_copied(at_desk):
    one = at_desk.acme.item("One")
    other = at_desk.acme.agent("other")
    at_desk.acme.pick(other, "knowledge", rows=[one])
    at_desk.save(add=["c:help"])
    sent = compared(at_desk, other, ["knowledge"])
    at_desk.acme.pick(other, "knowledge")
    at_desk.admin.post(f"{at_desk.url}copy/", sent)
    assert (at_desk.mode(), at_desk.picked()) == ("selected", {"c:help"})
    assert "changed the scope of Other after you opened" in text(at_desk.admin.get(at_desk.url))


def test_a_copy_that_does_not_say_what_was_compared_is_refused(at_desk):
    at_desk.acme.source()
    other = at_desk.acme.agent("other")
    at_desk.save(add=["c:help"])
    sent = compared(at_desk, other, ["knowledge"])
    at_desk.admin.post(f"{at_desk.url}copy/", {**sent, "theirs.knowledge": ""})
    assert (at_desk.mode(), at_desk.picked()) == ("selected", {"c:help"})


def test_a_selection_saved_since_it_was_compared_is_not_replaced_by_a_copy(at_desk):
    at_desk.acme.source()
    other = at_desk.acme.agent("other")
    at_desk.acme.pick(other, "knowledge", containers=["help/a"])
    sent = compared(at_desk, other, ["knowledge"])
    at_desk.save(add=["c:help"])
    at_desk.admin.post(f"{at_desk.url}copy/", sent)
    assert at_desk.picked() == {"c:help"}


def test_an_agent_of_another_organization_cannot_be_copied(at_desk):
    from tests.world import tenant

    stranger = tenant("initech").agent("stranger")
    assert copy(at_desk, stranger, "knowledge").status_code == 404


def ask_as(at_desk, words):
    return ask(
        at_desk.agent, Question((words,)), CallerFacts(None, "phone", None),
        at=AT, deadline=Deadline.after(5),
    )  # fmt: skip


def test_a_preview_tells_what_the_last_questions_gain_and_lose_and_saves_nothing(at_desk):
    at_desk.acme.item("Pelican lounge", "The pelican lounge opens at seven.", folder="birds")
    at_desk.acme.item("Fees", "A transfer costs five dirhams.", folder="money")
    ask_as(at_desk, "when does the pelican lounge open")
    delta = json.dumps({"add": ["c:help/money"], "remove": [], "clear": False})
    answer = at_desk.admin.post(f"{at_desk.url}preview/", {"delta.knowledge": delta})
    assert "1 of the last 1 question would be answered differently." in text(answer)
    assert "Lost: − Pelican lounge" in text(answer)
    assert (at_desk.mode(), at_desk.picked()) == ("all", set())
    with at_desk.acme.context():
        assert SearchRecord.objects.count() == 1


def test_a_preview_of_nothing_says_so(at_desk):
    assert "Nothing is changed" in text(at_desk.admin.post(f"{at_desk.url}preview/", {}))


def test_a_scope_saved_here_governs_the_next_voice_search(at_desk):
    at_desk.acme.item("Pelican lounge", "The pelican lounge opens at seven.", folder="birds")
    at_desk.acme.item("Fees", "A transfer costs five dirhams.", folder="money")
    words = "when does the pelican lounge open"
    assert [r.title for r in ask_as(at_desk, words).answer.results] == ["Pelican lounge"]
    at_desk.save(add=["c:help/money"])
    titles = [r.title for r in ask_as(at_desk, words).answer.results]
    assert "Pelican lounge" not in titles
    at_desk.save(clear=True)
    assert [r.title for r in ask_as(at_desk, words).answer.results] == ["Pelican lounge"]


def finds(at_desk, item, who=None):
    return (who or at_desk.admin).get(f"/admin/knowledge/{item}/who-finds/")


def test_who_finds_a_row_names_the_way_and_the_callers(at_desk):
    gold = at_desk.acme.segment("gold")
    item = at_desk.acme.item("One", folder="a/b")
    at_desk.acme.agent("other")
    at_desk.save(add=["c:help/a"])
    at_desk.acme.change_item(item, segment_restricted=True, segments=[gold.pk])
    page = text(finds(at_desk, item))
    assert "Front-Desk Yes Included by folder a" in page
    assert "Other Yes Everything of this kind is searchable" in page
    assert "Only callers in these segments: gold" in page
    at_desk.acme.change_item(item, segments=[], visibility="internal")
    page = text(finds(at_desk, item))
    assert "It is for internal use. It is kept for nobody." in page
    assert "none, so nobody finds it" in page


def test_who_finds_an_instruction_names_its_directory(at_desk):
    instruction = at_desk.acme.instruction("Greet", directory="desk/morning")
    at_desk.save(add=[f"c:{at_desk.acme.directory('desk')}"], root="instruction")
    page = text(at_desk.admin.get(f"/admin/instructions/{instruction}/who-finds/"))
    assert "Included by folder desk" in page


def test_a_row_outside_every_scope_is_found_by_nobody(at_desk):
    item = at_desk.acme.item("One", folder="a")
    at_desk.save(add=["c:help/b"])
    assert "No It is outside the agent&#x27;s scope." in text(finds(at_desk, item))
    assert finds(at_desk, item, at_desk.rival).status_code == 404


def test_restricting_warns_when_golden_answers_fall_outside(at_desk):
    at_desk.acme.source("golden")
    golden = at_desk.acme.item("Golden", source="golden")
    at_desk.acme.change_item(golden, kind="golden", published_version=golden)
    at_desk.acme.item("One", folder="a")
    answer = at_desk.save(add=["c:help/a"])
    assert "1 published golden answer is outside this selection" in text(answer)
    with at_desk.acme.context():
        assert Item.objects.filter(kind="golden").count() == 1
