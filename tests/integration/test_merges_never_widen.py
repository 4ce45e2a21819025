"""Two people who each take a tick away both mean a restriction: together they never open a scope."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from knowledge.folders import folder_key
from knowledge.shelving.folders import rename_folder
from knowledge.shelving.items import RESTORABLE
from knowledge.shelving.purging import purge_deleted
from tests.scope_pages import desk
from tests.shelves import worked
from tests.world import AT, BY

pytestmark = pytest.mark.django_db
NOTHING_LEFT = "Theirs and yours together leave nothing selected"


@pytest.fixture
def at_desk():
    return desk()


@pytest.fixture
def two(at_desk):
    """Two items that are selected, and the version in which they are."""
    one, other = (f"r:{at_desk.acme.item(name)}" for name in ("One", "Two"))
    at_desk.save(add=[one, other])
    return one, other, at_desk.version()


def text(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def kept(at_desk):
    return at_desk.mode(), at_desk.picked()


def test_what_both_took_away_is_not_merged_into_everything(at_desk, two):
    one, other, seen = two
    at_desk.save(remove=[one], who=at_desk.second)
    assert at_desk.save(remove=[other], version=seen).status_code == 409
    merged = at_desk.save(remove=[other], version=seen + 1, base=seen, fresh="1")
    assert (merged.status_code, kept(at_desk)) == (409, ("selected", {other}))


def test_a_merge_that_would_leave_nothing_is_not_offered_and_says_why(at_desk, two):
    one, other, seen = two
    at_desk.save(remove=[one], who=at_desk.second)
    refused = at_desk.save(remove=[one, other], version=seen)
    assert NOTHING_LEFT in text(refused)
    assert "Apply my changes" not in text(refused)
    assert "Discard mine and load theirs" in text(refused)


def test_a_script_that_does_not_say_what_it_was_based_on_merges_nothing_into_everything(
    at_desk, two
):
    one, other, seen = two
    at_desk.save(remove=[one], who=at_desk.second)
    at_desk.save(remove=[other], version=seen + 1, fresh="1")
    assert kept(at_desk) == ("selected", {other})


def test_what_was_removed_for_good_and_what_is_taken_away_do_not_open_the_scope(at_desk):
    gone = at_desk.acme.item("Gone")
    at_desk.save(add=[f"r:{gone}", "c:help/a"])
    seen = at_desk.version()
    worked(at_desk.acme, "delete", gone)
    purge_deleted(AT + RESTORABLE + timedelta(seconds=1))
    assert NOTHING_LEFT in text(at_desk.save(remove=["c:help/a"], version=seen))
    merged = at_desk.save(remove=["c:help/a"], version=seen + 1, base=seen, fresh="1")
    assert (merged.status_code, kept(at_desk)) == (409, ("selected", {"c:help/a"}))


def test_whoever_loads_theirs_may_take_the_last_tick_away(at_desk, two):
    one, other, _seen = two
    at_desk.save(remove=[one], who=at_desk.second)
    at_desk.save(remove=[other])
    assert kept(at_desk) == ("all", set())


def test_a_cleared_selection_opens_when_it_is_merged(at_desk, two):
    one, _other, seen = two
    at_desk.save(remove=[one], who=at_desk.second)
    refused = at_desk.save(clear=True, version=seen)
    assert "Applying yours makes everything searchable." in text(refused)
    at_desk.save(clear=True, version=seen + 1, base=seen, fresh="1")
    assert kept(at_desk) == ("all", set())


def pressed(at_desk, action, *, remove, version):
    """Press a button without a script, on a page of a version with these ticks taken away."""
    delta = json.dumps({"add": [], "remove": remove, "clear": False})
    sent = {"action": action, "delta.knowledge": delta, "version.knowledge": version}
    return at_desk.admin.post(at_desk.url, sent)


def test_without_a_script_both_take_a_tick_away_and_the_scope_stays_restricted(at_desk, two):
    one, other, seen = two
    at_desk.save(remove=[one], who=at_desk.second)
    page = pressed(at_desk, "save:knowledge", remove=[other], version=seen)
    assert page.status_code == 409
    assert NOTHING_LEFT in text(page)
    assert f'name="version.knowledge" value="{seen}"' in page.content.decode()
    assert "merge:knowledge" not in page.content.decode()
    merge = f"merge:knowledge:{seen + 1}"
    assert pressed(at_desk, merge, remove=[other], version=seen).status_code == 409
    assert kept(at_desk) == ("selected", {other})


def test_without_a_script_what_was_purged_and_what_is_taken_away_do_not_open_the_scope(at_desk):
    gone = at_desk.acme.item("Gone")
    at_desk.save(add=[f"r:{gone}", "c:help/a"])
    seen = at_desk.version()
    worked(at_desk.acme, "delete", gone)
    purge_deleted(AT + RESTORABLE + timedelta(seconds=1))
    merge = f"merge:knowledge:{seen + 1}"
    page = pressed(at_desk, merge, remove=["c:help/a"], version=seen)
    assert page.status_code == 409
    assert kept(at_desk) == ("selected", {"c:help/a"})


def test_without_a_script_loading_theirs_and_taking_the_last_tick_away_opens(at_desk, two):
    one, other, seen = two
    at_desk.save(remove=[one], who=at_desk.second)
    page = pressed(at_desk, "theirs:knowledge", remove=[other], version=seen)
    assert f'name="version.knowledge" value="{seen + 1}"' in page.content.decode()
    pressed(at_desk, "save:knowledge", remove=[other], version=seen + 1)
    assert kept(at_desk) == ("all", set())


@pytest.fixture
def swapped(at_desk):
    """Two folders of which the second has got the first one's name, and the version before that."""
    at_desk.acme.item("Old hours", folder="open")
    at_desk.acme.item("Staff wages", folder="closed")
    at_desk.save(add=[f"r:{at_desk.acme.item('Third')}"])
    seen, number = at_desk.version(), at_desk.acme.organization.pk
    with at_desk.acme.context():
        rename_folder(number, folder_key("help", "open"), "archive", by=BY, at=AT)
        rename_folder(number, folder_key("help", "closed"), "open", by=BY, at=AT)
    return f"c:{folder_key('help', 'open')}", seen


def test_a_folder_that_has_anothers_name_by_now_is_not_merged_in(at_desk, swapped):
    folder, seen = swapped
    refused = at_desk.save(add=[folder], version=seen)
    assert refused.status_code == 409
    assert "Folders were moved or renamed after you opened this page" in text(refused)
    assert "Apply my changes" not in text(refused)
    merged = at_desk.save(add=[folder], version=at_desk.version(), base=seen, fresh="1")
    assert (merged.status_code, folder in at_desk.picked()) == (409, False)


def test_a_page_opened_after_the_move_selects_the_folder_and_is_merged(at_desk, swapped):
    folder, _seen = swapped
    opened = at_desk.version()
    at_desk.save(add=[f"r:{at_desk.acme.item('Fourth')}"], who=at_desk.second)
    merged = at_desk.save(add=[folder], version=at_desk.version(), base=opened, fresh="1")
    assert (merged.status_code, folder in at_desk.picked()) == (200, True)
