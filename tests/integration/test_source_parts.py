"""A part of a source is not taken for the whole of it: what could not be seen stays."""

from __future__ import annotations

import json
import subprocess

import pytest

from knowledge.models import ImportFailure, Item, SourceSchedule
from knowledge.sources import finding, sites
from tests.integration.test_sources import (
    acme,
    clock,
    failures,
    folder,
    live,
    look,
    schedule,
    web,
)

__all__ = ["acme", "clock", "folder", "web"]
pytestmark = pytest.mark.django_db
Outcome = SourceSchedule.Outcome


def standing(acme):
    with acme.context():
        return list(ImportFailure.objects.filter(resolved_at=None).values_list("code", flat=True))


def bodies(acme):
    with acme.context():
        rows = Item.objects.filter(deleted_at=None).order_by("external_id")
        return dict(rows.values_list("external_id", "body"))


def five_pages(web):
    paths = [f"/help/p{number}" for number in range(5)]
    for path in paths:
        web.page(path, f"About {path}.")
    return paths


def test_a_sitemap_of_more_pages_than_are_read_lets_none_go(acme, clock, web, monkeypatch):
    paths = five_pages(web)
    web.sitemap(*paths)
    made = schedule(acme, "site", start=f"{web.address}/help/")
    look(acme, made, clock)
    monkeypatch.setattr(finding, "MOST_PAGES", 4)
    web.sitemap(*reversed(paths))
    found = look(acme, made, clock)
    assert (found.outcome, found.changes["pruned"], len(live(acme))) == (Outcome.UNCERTAIN, 0, 5)


def test_pages_outside_of_the_prefix_take_no_room(acme, clock, web, monkeypatch):
    monkeypatch.setattr(finding, "MOST_PAGES", 5)
    paths = five_pages(web)
    web.sitemap(*(f"/press/{number}" for number in range(5)), *paths)
    found = look(acme, schedule(acme, "site", start=f"{web.address}/help/"), clock)
    assert (found.outcome, len(live(acme))) == (Outcome.DONE, 5)


def test_more_sitemaps_than_are_read_let_no_page_go(acme, clock, web, monkeypatch):
    paths = five_pages(web)
    web.sitemap(*paths)
    made = schedule(acme, "site", start=f"{web.address}/help/")
    look(acme, made, clock)
    web.sitemap(*paths[:4])
    inner = web.pages["/sitemap.xml"]
    for number in range(3):
        web.pages[f"/map{number}.xml"] = inner
    maps = "".join(f"<sitemap><loc>{web.address}/map{n}.xml</loc></sitemap>" for n in range(3))
    web.pages["/sitemap.xml"] = f"<sitemapindex>{maps}</sitemapindex>"
    monkeypatch.setattr(finding, "MOST_SITEMAPS", 3)
    found = look(acme, made, clock)
    assert (found.outcome, len(live(acme))) == (Outcome.UNCERTAIN, 5)
    monkeypatch.setattr(finding, "MOST_SITEMAPS", 4)
    assert look(acme, made, clock).changes["pruned"] == 1


def test_a_page_in_trouble_hides_what_only_it_links_to(acme, clock, web):
    web.page("/help/", "Welcome to our help.", *(f"/help/p{n}" for n in range(5)))
    five_pages(web)
    made = schedule(acme, "site", start=f"{web.address}/help/")
    look(acme, made, clock)
    web.page("/help/", "Welcome to our help.", "/help/new", *(f"/help/p{n}" for n in range(4)))
    web.pages["/help/new"] = 500
    found = look(acme, made, clock)
    assert (found.outcome, len(live(acme))) == (Outcome.UNCERTAIN, 6)


ARTICLES = [
    {"id": number, "title": f"Article {number}", "body": f"<p>About {number}.</p>"}
    for number in range(5)
]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("zendesk", {"articles": ARTICLES[:4], "next_page": "https://acme.example/2"}),
        ("zendesk", {"articles": ARTICLES[:4], "count": 5, "next_page": None}),
        ("zendesk", {"articles": ARTICLES[:4], "meta": {"has_more": True}, "links": {}}),
        ("zendesk", {"articles": ARTICLES[1:], "previous_page": "https://acme.example/1"}),
        ("intercom", {"data": ARTICLES[:4], "pages": {"next": {"page": 2}}, "total_count": 5}),
        ("intercom", {"data": ARTICLES[1:], "pages": {"page": 2, "next": None}, "total_count": 5}),
    ],
    ids=["next", "count", "cursor", "last", "intercom", "intercom last"],
)
def test_one_page_of_an_export_lets_nothing_of_the_others_go(acme, clock, folder, kind, told):
    path = folder / "export.json"
    key = "articles" if kind == "zendesk" else "data"
    path.write_text(json.dumps({key: ARTICLES, "count": 5, "next_page": None}))
    made = schedule(acme, kind, path=str(path))
    assert look(acme, made, clock).changes["created"] == 5
    path.write_text(json.dumps(told))
    found = look(acme, made, clock)
    assert (found.outcome, len(bodies(acme))) == (Outcome.UNCERTAIN, 5)
    assert standing(acme) == ["malformed"]


def test_an_export_on_one_page_is_the_whole_of_it(acme, clock, folder):
    path = folder / "export.json"
    paging = {"total_count": 5, "pages": {"page": 1, "next": None, "total_pages": 1}}
    path.write_text(json.dumps({"data": ARTICLES, **paging}))
    made = schedule(acme, "intercom", path=str(path))
    look(acme, made, clock)
    path.write_text(json.dumps({"data": ARTICLES[:4], **paging, "total_count": 4}))
    found = look(acme, made, clock)
    assert (found.outcome, found.changes["pruned"]) == (Outcome.DONE, 1)


QUESTIONS = "id,question,answer\n" + "".join(
    f'{number},Question {number}?,"Answer {number}’s."\n' for number in range(8)
)


@pytest.mark.parametrize(
    ("damaged", "code"),
    [
        (QUESTIONS.replace('5’s."', "5’s.").encode(), "malformed"),
        (QUESTIONS.encode().replace(b"Answer 5", b"Answer \xff"), "unknown_encoding"),
        (QUESTIONS.encode()[: QUESTIONS.encode().rindex("’".encode()) + 1], "unknown_encoding"),
    ],
    ids=["open quote", "bad byte", "cut off"],
)
def test_a_damaged_table_changes_nothing(acme, clock, folder, damaged, code):
    path = folder / "faq.csv"
    path.write_text(QUESTIONS)
    made = schedule(acme, "csv", path=str(path))
    look(acme, made, clock)
    before = bodies(acme)
    path.write_bytes(damaged)
    assert look(acme, made, clock).outcome == Outcome.UNCERTAIN
    assert bodies(acme) == before
    assert standing(acme) == [code]


def test_a_page_that_was_refused_is_read_again(acme, clock, web):
    def rules(text: str, segment: str) -> None:
        web.pages["/rules"] = f"---\nsegments: [{segment}]\n---\n# Rules\n\n{text}"

    web.kinds["/rules"] = "text/markdown"
    acme.segment("silver")
    rules("You pay five.", "silver")
    made = schedule(acme, "urls", urls=[f"{web.address}/rules"])
    look(acme, made, clock)
    rules("You pay six.", "gold")
    look(acme, made, clock)
    assert look(acme, made, clock).changes["failed"] == 1
    assert standing(acme) == ["row_refused"]
    acme.segment("gold")
    assert look(acme, made, clock).changes["updated"] == 1
    assert "You pay six." in live(acme)["rules"].body
    assert standing(acme) == []


@pytest.mark.parametrize("etags", [True, False])
def test_a_page_is_read_again_by_another_reader(acme, clock, web, monkeypatch, etags):
    web.etags = etags
    web.page("/a", "About a.")
    made = schedule(acme, "urls", urls=[f"{web.address}/a"])
    look(acme, made, clock)
    with acme.context():
        Item.objects.update(body="As the old reader had it.")
    monkeypatch.setattr(sites, "reader_version", lambda: "f" * 64)
    assert look(acme, made, clock).changes["updated"] == 1
    assert "About a." in live(acme)["a"].body
    look(acme, made, clock)
    assert web.statuses("/a") == [200, 200, 304 if etags else 200]


@pytest.fixture
def checkout(folder):
    def git(*words):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)

    for number in range(5):
        (folder / f"p{number}.md").write_text(f"# Page {number}\n\nAbout {number}.")
    git("init", "-q")
    git("add", ".")
    return folder


def test_a_tracked_file_that_is_not_there_is_not_gone(acme, clock, checkout):
    made = schedule(acme, "git", path=str(checkout))
    look(acme, made, clock)
    kept = (checkout / "p4.md").read_text()
    (checkout / "p4.md").unlink()
    found = look(acme, made, clock)
    assert (found.outcome, len(bodies(acme))) == (Outcome.UNCERTAIN, 5)
    assert standing(acme) == ["missing"]
    (checkout / "p4.md").write_text(kept)
    assert look(acme, made, clock).outcome == Outcome.DONE
    assert standing(acme) == []


def test_a_tracked_file_that_failed_has_not_failed_any_more_once_it_is_read(acme, clock, checkout):
    (checkout / "p4.md").write_bytes(b"\x89PNG\r\n")
    made = schedule(acme, "git", path=str(checkout))
    look(acme, made, clock)
    assert failures(acme) == ["binary_content"]
    (checkout / "p4.md").write_text("# Page 4\n\nAbout 4.")
    look(acme, made, clock)
    assert standing(acme) == []
