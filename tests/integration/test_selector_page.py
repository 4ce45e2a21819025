"""The scope page and its parts over HTTP."""

from __future__ import annotations

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scopes.models import FolderPick
from tests.scope_pages import desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_desk():
    return desk()


def boxes(html):
    return re.findall(r'<li class="row" data-key="([^"]*)" data-base="(\d)"', html)


def found_in(pattern, answer):
    found = re.search(pattern, answer.content.decode())
    assert found is not None
    return found[1]


def text(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_both_roots_start_as_all_searchable(at_desk):
    page = at_desk.admin.get(at_desk.url)
    assert page.status_code == 200
    assert page.content.decode().count("All searchable") >= 2
    assert page.content.decode().count("<legend") == 2


def test_another_organizations_agent_is_not_found(at_desk):
    assert at_desk.rival.get(at_desk.url).status_code == 404
    for part in ("folder/", "find/", "root/"):
        asked = {"root": "knowledge", "q": "xx"}
        assert at_desk.rival.get(at_desk.url + part, asked).status_code == 404
    assert at_desk.save(add=["c:help"], who=at_desk.rival).status_code == 404


def test_a_viewer_looks_and_cannot_save(at_desk):
    item = at_desk.acme.item("Hours", folder="public")
    page = at_desk.viewer.get(at_desk.url)
    assert page.status_code == 200
    assert b"Save Knowledge" not in page.content
    assert at_desk.save(add=[f"r:{item}"], who=at_desk.viewer).status_code == 403
    assert at_desk.picked() == set()


def test_an_expired_session_is_told_to_a_script_and_not_redirected(at_desk, client):
    answer = client.get(f"{at_desk.url}folder/?root=knowledge", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["Content-Type"]) == (401, "text/plain")


def test_saving_a_tick_restricts_and_tells_the_new_state(at_desk):
    item = at_desk.acme.item("Hours", folder="public")
    answer = at_desk.save(add=[f"r:{item}", "c:help/public"])
    assert answer.status_code == 200
    assert "Restricted" in text(answer)
    assert "2 selected" in text(answer)
    assert at_desk.picked() == {f"r:{item}", "c:help/public"}
    assert at_desk.mode() == "selected"


def test_saving_nothing_changes_nothing(at_desk):
    before = at_desk.version()
    at_desk.save()
    assert at_desk.version() == before


def test_clearing_opens_again(at_desk):
    item = at_desk.acme.item("Hours")
    at_desk.save(add=[f"r:{item}"])
    assert "All searchable" in text(at_desk.save(clear=True))
    assert (at_desk.picked(), at_desk.mode()) == (set(), "all")


def test_a_stale_save_is_refused_with_both_ways_out(at_desk):
    first, second = at_desk.acme.item("One"), at_desk.acme.item("Two")
    stale = at_desk.version()
    at_desk.save(add=[f"r:{first}"], who=at_desk.second)
    refused = at_desk.save(add=[f"r:{second}"], version=stale)
    assert refused.status_code == 409
    assert refused["HX-Retarget"] == "#message-knowledge"
    assert "bob saved at" in text(refused)
    assert "Apply my changes to theirs (1 change)" in text(refused)
    theirs = int(found_in(r'data-over="(\d+)"', refused))
    merged = at_desk.save(add=[f"r:{second}"], version=theirs, fresh="1")
    assert merged["HX-Retarget"] == "#root-knowledge"
    assert at_desk.picked() == {f"r:{first}", f"r:{second}"}


def test_repeating_a_save_whose_answer_was_lost_succeeds(at_desk):
    item = at_desk.acme.item("One")
    stale = at_desk.version()
    at_desk.save(add=[f"r:{item}"], version=stale)
    again = at_desk.save(add=[f"r:{item}"], version=stale)
    assert again.status_code == 200
    assert at_desk.version() == stale + 1


def test_what_has_gone_is_left_out_and_counted(at_desk):
    here, gone = at_desk.acme.item("Here"), at_desk.acme.item("Gone")
    at_desk.acme.change_item(gone, deleted_at="2026-01-01T00:00Z")
    answer = at_desk.save(add=[f"r:{here}", f"r:{gone}"])
    assert "1 of what you selected is no longer there" in text(answer)
    assert at_desk.picked() == {f"r:{here}"}


def test_saving_only_what_has_gone_never_opens_everything(at_desk):
    gone = at_desk.acme.item("Gone")
    at_desk.acme.change_item(gone, deleted_at="2026-01-01T00:00Z")
    before = at_desk.version()
    assert at_desk.save(add=[f"r:{gone}"]).status_code == 400
    assert at_desk.version() == before


@pytest.mark.parametrize(
    "sent",
    [
        "[]",
        "{",
        '{"add": ["c:\\u0000"]}',
        '{"add": ["c:\\ud800"]}',
        '{"add": 1}',
        '{"add": ["x"]}',
        '{"clear": "yes"}',
    ],
)
def test_changes_that_cannot_be_read_are_refused(at_desk, sent):
    body = {"root": "knowledge", "version": at_desk.version(), "delta": sent}
    assert at_desk.admin.post(f"{at_desk.url}save/", body).status_code == 400


@pytest.mark.parametrize(
    "asked",
    [
        "folder/?root=knowledge&place=help%00", "folder/?root=knowledge&place=nowhere",
        "folder/?root=instruction&place=nonsense", "folder/?root=knowledge&place=help&cursor=!",
        "folder/?root=knowledge&place=help&cursor=W2ZhbHNlLCBbInIiLCAiYSIsICJiIl0sIDFd",
        "folder/?root=other", "find/?root=other",
    ],
)  # fmt: skip
def test_nonsense_in_an_address_is_not_found(at_desk, asked):
    at_desk.acme.source()
    assert at_desk.admin.get(at_desk.url + asked).status_code == 404


def test_a_search_for_what_no_name_can_hold_finds_nothing(at_desk):
    answer = at_desk.admin.get(f"{at_desk.url}find/", {"root": "knowledge", "q": "x\0y"})
    assert "0 found." in text(answer)


def test_a_folder_says_what_is_selected_inside_and_above(at_desk):
    item = at_desk.acme.item("Deep", folder="a/b/c")
    at_desk.save(add=["c:help/a", f"r:{item}", "c:help/a/b"])
    top = at_desk.folder("help").content.decode()
    assert boxes(top) == [("c:help/a", "1")]
    assert "2 selected inside" in top
    deep = at_desk.folder("help/a/b/c")
    assert boxes(deep.content.decode()) == [(f"r:{item}", "1")]
    below = at_desk.folder("help/a/b").content.decode()
    assert "Included by folder" in below
    assert "<bdi>b</bdi>" in below


def test_a_restricted_root_whose_targets_have_gone_says_so(at_desk):
    item = at_desk.acme.item("Hours")
    at_desk.save(add=[f"r:{item}"])
    at_desk.acme.change_item(item, deleted_at="2026-01-01T00:00Z")
    assert "Restricted, nothing left to search" in text(at_desk.admin.get(at_desk.url))
    with at_desk.acme.context():
        FolderPick.objects.all().delete()
    body = {"root": "knowledge", "delta": "{}", "offset": "0"}
    review = at_desk.admin.post(f"{at_desk.url}review/", body)
    assert "No longer there" in text(review)


def test_a_search_finds_folders_and_items_with_their_path(at_desk):
    at_desk.acme.item("Refund of a card", folder="cards/refund rules")
    answer = at_desk.admin.get(f"{at_desk.url}find/", {"root": "knowledge", "q": "refund"})
    assert "2 found." in text(answer)
    assert "Help › cards › refund rules" in text(answer)


def test_an_instruction_in_a_picked_directory_is_included(at_desk):
    instruction = at_desk.acme.instruction("Greet", directory="desk/morning")
    desk_id = at_desk.acme.directory("desk")
    at_desk.save(add=[f"c:{desk_id}"], root="instruction")
    answer = at_desk.folder(str(at_desk.acme.directory("desk/morning")), root="instruction")
    assert boxes(answer.content.decode()) == [(f"r:{instruction}", "0")]
    assert "Included by folder desk" in text(answer).replace("  ", " ")


def test_a_folder_costs_the_same_statements_whatever_it_holds(at_desk):
    for n in range(60):
        at_desk.acme.item(f"Item {n}", folder="many")
    at_desk.acme.item("One", folder="few")
    at_desk.folder("help/few")
    counts = []
    for place in ("help/few", "help/many"):
        with CaptureQueriesContext(connection) as caught:
            assert len(boxes(at_desk.folder(place).content.decode())) in {1, 50}
        counts.append(len(caught))
    assert counts[0] == counts[1] <= 20


def form_of(html):
    """Every field of the form as a browser without a script would send it."""
    sent: dict[str, list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", html):
        name = re.search(r'name="([^"]*)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        if name is None or ('type="checkbox"' in tag and " checked" not in tag):
            continue
        plain = (value[1] if value else "").replace("&quot;", '"').replace("&#x27;", "'")
        sent.setdefault(name[1], []).append(plain.replace("&amp;", "&"))
    return sent


def press(at_desk, page, action, *, tick=(), untick=(), category="knowledge"):
    sent = form_of(page.content.decode())
    ticked = set(sent.get(f"box.{category}", [])) - set(untick)
    sent[f"box.{category}"] = sorted(ticked | set(tick))
    return at_desk.admin.post(at_desk.url, {**sent, "action": action})


def test_without_a_script_one_opens_ticks_pages_and_saves(at_desk):
    items = [at_desk.acme.item(f"Item {n:02}", folder="many") for n in range(60)]
    page = at_desk.admin.get(at_desk.url)
    for action in ("open:knowledge:", "open:knowledge:help", "open:knowledge:help/many"):
        page = press(at_desk, page, action)
    first, last = f"r:{items[0]}", f"r:{items[59]}"
    assert first in page.content.decode()
    following = found_in(r'value="(page:knowledge:[^"]*:help/many)"', page)
    page = press(at_desk, page, following, tick=[first])
    assert last in page.content.decode()
    assert "1 unsaved change" in text(page)
    page = press(at_desk, page, "save:knowledge", tick=[last])
    assert "Knowledge saved" in text(page)
    assert at_desk.picked() == {first, last}


def test_without_a_script_a_conflict_offers_both_ways(at_desk):
    one, two = at_desk.acme.item("One"), at_desk.acme.item("Two")
    page = at_desk.admin.get(at_desk.url)
    for action in ("open:knowledge:", "open:knowledge:help"):
        page = press(at_desk, page, action)
    at_desk.save(add=[f"r:{one}"], who=at_desk.second)
    page = press(at_desk, page, "save:knowledge", tick=[f"r:{two}"])
    assert page.status_code == 409
    merge = found_in(r'value="(merge:knowledge:\d+)"', page)
    page = press(at_desk, page, merge)
    assert page.status_code == 200
    assert at_desk.picked() == {f"r:{one}", f"r:{two}"}


def test_without_a_script_the_roots_stay_apart(at_desk):
    item = at_desk.acme.item("One")
    page = at_desk.admin.get(at_desk.url)
    for action in ("open:knowledge:", "open:knowledge:help"):
        page = press(at_desk, page, action)
    page = press(at_desk, page, "save:instruction", tick=[f"r:{item}"])
    assert at_desk.picked() == set()
    delta = form_of(page.content.decode())["delta.knowledge"][0]
    assert json.loads(delta)["add"] == [f"r:{item}"]


@pytest.mark.slow
def test_twenty_thousand_picks_are_saved_and_shown(at_desk):
    from tests.planting import plant_items

    at_desk.acme.source()
    with at_desk.acme.context():
        ids = plant_items(at_desk.acme, "help/many", 20_000)
    assert at_desk.save(add=[f"r:{one}" for one in ids]).status_code == 200
    assert "20,000 selected" in text(at_desk.admin.get(at_desk.url))
    assert "20,000 selected inside" in text(at_desk.folder("help"))
    body = {"root": "knowledge", "delta": "{}", "offset": "19950"}
    review = at_desk.admin.post(f"{at_desk.url}review/", body)
    assert len(boxes(review.content.decode())) == 50
