"""The pages of the knowledge browser: what they show, what they do, and who may do it."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse
from django.utils import timezone

from knowledge.browser.showing import safe_html
from knowledge.models import BulkJob, ImportRun, IndexState, Item, SourceSchedule
from tests.shelves import filed, says
from tests.staff import office

pytestmark = pytest.mark.django_db
BASE = "/admin/browse/acme/"


@pytest.fixture
def staff():
    made = office()
    made.acme.item("Ramadan hours", "The pelican lounge opens at nine.", folder="public/hours")
    with made.acme.context():
        SourceSchedule.objects.update(is_active=False)
    made.acme.item("Price list", "A flamingo ticket costs forty.", folder="public", language="en")
    return made


def shown(staff, address=BASE, who="editor", **asked):
    answer = staff.as_(who).get(address, asked)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def titles(page):
    found = re.findall(r'class="browse__name"[^>]*><bdi dir="auto">([^<]*)</bdi>', page)
    return [title.replace("&#x27;", "'") for title in found]


def way(page, rel):
    found = re.search(rf'href="\?([^"#]*)#rows" rel="{rel}"', page)
    return f"{BASE}?{found[1].replace('&amp;', '&')}" if found else ""


def token(staff, title):
    with staff.acme.context():
        item = Item.objects.get(title=title)
    return f"{item.pk}:{item.lock_version}"


def do(staff, action, *chosen, who="editor", **sent):
    body = {"action": action, "row": [token(staff, one) for one in chosen], **sent}
    return staff.as_(who).post(f"{BASE}do/", body)


def folder(staff, action, place="help/public", who="editor", **sent):
    return staff.as_(who).post(f"{BASE}folder/", {"place": place, "action": action, **sent})


def job(staff):
    with staff.acme.context():
        return BulkJob.objects.exclude(action="reread").latest("started_at", "id")


def test_sources_open_into_folders_and_folders_into_items(staff):
    assert titles(shown(staff)) == ["Help"]
    assert titles(shown(staff, place="help")) == ["public"]
    assert titles(shown(staff, place="help/public")) == ["hours", "Opening hours", "Price list"]
    page = shown(staff, place="help/public/hours")
    assert titles(page) == ["Ramadan hours"]
    assert "?place=help%2Fpublic" in page


def test_a_folder_is_shown_fifty_at_a_time(staff):
    for number in range(120):
        staff.acme.item(f"Item {number:03}", folder="many")
    first = shown(staff, place="help/many")
    assert len(titles(first)) == 50
    second = shown(staff, way(first, "next"))
    assert titles(second)[0] == "Item 050"
    assert 'rel="prev"' in second


def test_what_matches_is_shown_fifty_at_a_time_in_both_directions(staff):
    for number in range(120):
        staff.acme.item(f"Item {number:03}", folder="many", language="fr")
    page = shown(staff, language="fr")
    seen = titles(page)
    while way(page, "next"):
        page = shown(staff, way(page, "next"))
        seen += titles(page)
    assert seen == [f"Item {number:03}" for number in range(120)]
    assert titles(shown(staff, way(page, "prev")))[0] == "Item 050"


def test_a_name_is_found_wherever_it_is_filed(staff):
    page = shown(staff, q="hours")
    assert titles(page) == ["help/public/hours", "Opening hours", "Ramadan hours"]
    assert "Help › public › hours" in page


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"language": "en"}, ["Price list"]),
        ({"status": "pending"}, ["Opening hours"]),
        ({"dataset": "conversations"}, ["Ramadan hours"]),
        ({"index": "failed"}, ["Price list"]),
        ({"index": "failed", "language": "ar"}, []),
    ],
)
def test_items_are_narrowed_down(staff, asked, expected):
    with staff.acme.context():
        Item.objects.filter(title="Opening hours").update(review_status="pending")
        Item.objects.filter(title="Ramadan hours").update(dataset="conversations")
        failed = Item.objects.get(title="Price list").pk
        IndexState.objects.filter(asset_id=failed).update(status="failed")
    assert titles(shown(staff, place="help", **asked)) == expected


def test_what_voice_never_searches_says_so(staff):
    with staff.acme.context():
        Item.objects.filter(title="Price list").update(dataset="conversations")
    assert "A conversation, never searched by voice" in shown(staff, place="help/public")


def test_nothing_to_show_is_said(staff):
    assert "There is nothing in this folder." in shown(staff, place="help/nowhere")
    assert "Nothing matches." in shown(staff, q="zzzzqqq")


def test_an_item_says_what_an_agent_would_say_and_whom_it_is_for(staff):
    segment = staff.rows["segment"]
    item = staff.acme.item("Kept", "# Lounge\n\nOpens *early*.", folder="public")
    staff.acme.change_item(item, segment_restricted=True, segments=[segment.pk])
    page = shown(staff, f"{BASE}items/{item}/", who="viewer")
    assert "Only callers in these segments: gold" in page
    assert "<em>early</em>" in page
    assert f"/admin/agents/{staff.rows['phoneagent'].pk}/search/" in page
    assert reverse("admin:who_finds_item", args=[item]) in page
    assert 'name="action"' not in page


NASTY = """
<script>alert(1)</script> <img src=x onerror=alert(1)> ![p](https://evil.example/p.png)

[a](javascript:alert(1)) [b](https://good.example/ "t") <iframe src="//evil.example"></iframe>

<svg><a xlink:href="javascript:alert(1)">x</a></svg> <p style="background:url(//evil.example)">y</p>
"""


def test_nothing_active_of_a_document_reaches_the_page(staff):
    html = safe_html(NASTY)
    found = BeautifulSoup(html, "html.parser").find_all(True)
    assert {tag.name for tag in found} <= {"p", "a"}
    assert {name for tag in found for name in tag.attrs} <= {"href", "rel", "title"}
    assert [tag["href"] for tag in found if tag.name == "a"] == ["https://good.example/"]
    item = staff.acme.item("Nasty", NASTY)
    page = shown(staff, f"{BASE}items/{item}/")
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_a_deleted_item_is_gone_from_the_next_search_and_undo_brings_it_back(staff):
    agent = staff.acme.agent("clerk")
    answer = do(staff, "delete", "Ramadan hours", place="help/public/hours")
    assert answer.status_code == 302
    assert "job=" in answer.url
    assert says(staff.acme, agent, "pelican nine") == {"Opening hours"}
    page = shown(staff, answer.url)
    address = re.findall(r'action="([^"]*do/undo/)"', page)
    staff.as_("editor").post(address[0])
    assert "Ramadan hours" in says(staff.acme, agent, "pelican nine")
    assert "do/undo/" not in shown(staff, answer.url)


def test_deleted_items_are_listed_newest_first_and_restored_from_there(staff):
    do(staff, "delete", "Ramadan hours")
    staff.acme.item("Older")
    with staff.acme.context():
        Item.objects.filter(title="Older").update(deleted_at=timezone.now() - timedelta(days=29))
        Item.objects.filter(title="Price list").update(
            deleted_at=timezone.now() - timedelta(days=31)
        )
    assert titles(shown(staff, deleted="yes")) == ["Ramadan hours", "Older"]
    do(staff, "restore", "Older", deleted="yes")
    assert titles(shown(staff, deleted="yes")) == ["Ramadan hours"]
    assert "help" in filed(staff.acme)["Older"]


def test_items_are_moved_published_and_unpublished(staff):
    do(staff, "move", "Price list", "Ramadan hours", target="help/ archive ")
    assert filed(staff.acme)["Price list"] == "help/archive"
    do(staff, "unpublish", "Price list")
    with staff.acme.context():
        assert Item.objects.get(title="Price list").review_status == "pending"
    do(staff, "publish", "Price list")
    with staff.acme.context():
        assert Item.objects.get(title="Price list").review_status == "approved"


def test_all_that_match_are_confirmed_first(staff):
    answer = do(staff, "delete", all="yes", place="help/public")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "3 items" in page
    assert not BulkJob.objects.exists()
    do(staff, "delete", all="yes", place="help/public", confirmed="yes")
    assert (job(staff).done, job(staff).total) == (3, 3)


def test_a_version_that_is_old_is_refused_and_the_page_of_the_job_says_why(staff):
    old = token(staff, "Price list")
    with staff.acme.context():
        Item.objects.filter(title="Price list").update(lock_version=9)
    staff.as_("editor").post(f"{BASE}do/", {"action": "delete", "row": [old]})
    page = shown(staff, f"{BASE}jobs/{job(staff).pk}/", who="viewer")
    assert "Somebody changed it after you saw it." in page
    assert "1 refused" in page


def test_a_running_job_is_followed_and_cancelled(staff, monkeypatch):
    monkeypatch.setattr("knowledge.browser.doing.work_now", lambda *_: None)
    answer = do(staff, "delete", "Price list")
    page = shown(staff, answer.url)
    assert 'hx-trigger="every 1s"' in page
    part = staff.as_("editor").get(answer.url, headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith('<section id="job-state"')
    staff.as_("editor").post(f"{answer.url}do/cancel/")
    assert job(staff).status == "cancelled"
    assert "Cancelled after 0 of 1 items" in shown(staff, f"{BASE}jobs/")


@pytest.mark.parametrize("target", ["", "..", "nowhere/x", "help/../x"])
def test_a_place_that_cannot_be_is_refused(staff, target):
    answer = do(staff, "move", "Price list", target=target)
    assert answer.status_code in {302, 404}
    assert filed(staff.acme)["Price list"] == "help/public"


def test_a_folder_is_renamed_and_its_agents_are_named(staff):
    page = shown(staff, f"{BASE}folder/", place="help/public")
    assert "Selected for these agents, itself or a folder in it: Front-Desk." in page
    answer = folder(staff, "rename", name=" open ")
    assert answer.url == f"{BASE}?place=help%2Fopen"
    assert filed(staff.acme)["Ramadan hours"] == "help/open/hours"
    assert "filed there now" in shown(staff, answer.url)


def test_a_folder_is_moved_lifted_and_deleted(staff):
    folder(staff, "move", place="help/public/hours", target="help/archive")
    assert filed(staff.acme)["Ramadan hours"] == "help/archive/hours"
    folder(staff, "lift", place="help/archive", expected="1")
    assert filed(staff.acme)["Ramadan hours"] == "help/hours"
    folder(staff, "delete", place="help/hours", expected="1")
    assert job(staff).done == 1


def test_a_refused_folder_says_why_and_changes_nothing(staff):
    staff.acme.item("Other", folder="other")
    answer = folder(staff, "rename", name="other")
    assert "A folder of this name is in use there" in answer.content.decode()
    answer = folder(staff, "delete", expected="99")
    assert "has changed since you looked" in answer.content.decode()
    assert filed(staff.acme)["Price list"] == "help/public"


def test_a_viewer_looks_and_changes_nothing(staff):
    page = shown(staff, place="help/public", who="viewer")
    assert "browse__box" not in page
    assert "drop-form" not in page
    assert do(staff, "delete", "Price list", who="viewer").status_code == 403
    assert folder(staff, "rename", name="x", who="viewer").status_code == 403
    do(staff, "delete", "Price list")
    undo = f"{BASE}jobs/{job(staff).pk}/do/undo/"
    assert staff.as_("viewer").post(undo).status_code == 403


def test_another_organization_finds_nothing_here(staff):
    do(staff, "delete", "Price list")
    rival, item = staff.as_("rival"), staff.rows["item"].pk
    mine = f"/admin/browse/globex/items/{item}/"
    for address in (
        BASE,
        f"{BASE}items/{item}/",
        f"{BASE}jobs/",
        f"{BASE}folder/?place=help",
        mine,
    ):
        assert rival.get(address).status_code == 404
    gone = f"/admin/browse/globex/jobs/{job(staff).pk}/"
    assert (
        rival.get(gone).content == rival.get(f"/admin/browse/globex/jobs/{uuid.uuid4()}/").content
    )
    assert rival.post(f"{BASE}do/", {"action": "delete"}).status_code == 404
    stolen = {"action": "delete", "row": [token(staff, "Ramadan hours")]}
    rival.post("/admin/browse/globex/do/", stolen)
    assert filed(staff.acme)["Ramadan hours"]
    with staff.acme.context():
        assert Item.objects.get(title="Ramadan hours").deleted_at is None


@pytest.mark.parametrize("sent", [{"action": "burn"}, {"action": "delete", "row": ["x"]}, {}])
def test_what_no_page_sends_is_a_bad_request(staff, sent):
    assert staff.as_("editor").post(f"{BASE}do/", sent).status_code == 400


@pytest.mark.parametrize("cursor", ["!", "bm8", "WzEsIFsieCJdLCAxXQ"])
def test_a_cursor_that_cannot_be_is_not_there(staff, cursor):
    for asked in ({"place": "help"}, {"language": "en"}, {"deleted": "yes"}):
        assert staff.as_("editor").get(BASE, {**asked, "cursor": cursor}).status_code == 404


def test_one_organization_is_opened_at_once_and_several_are_offered(staff):
    assert staff.as_("editor").get("/admin/browse/").url == BASE
    assert titles(shown(staff, "/admin/browse/", who="operator")) == ["Acme", "Globex"]


def test_files_are_brought_into_the_open_folder(staff):
    page = shown(staff, place="help/public")
    source = staff.acme.source()
    assert f"?source={source.pk}&amp;folder=public" in page
    form = shown(staff, "/admin/imports/new/", source=str(source.pk), folder="public")
    assert 'value="public"' in form
    with staff.acme.context():
        assert not ImportRun.objects.filter(label__contains="public").exists()


def test_a_folder_of_a_source_that_is_kept_fresh_can_only_be_emptied(staff):
    with staff.acme.context():
        SourceSchedule.objects.update(is_active=True)
    page = shown(staff, f"{BASE}folder/", place="help/public")
    assert "files its items anew at every look" in page
    assert 'value="rename"' not in page
    assert 'value="lift"' not in page
    answer = folder(staff, "rename", name="open")
    assert "files its items anew at every look" in answer.content.decode()
    assert filed(staff.acme)["Price list"] == "help/public"
