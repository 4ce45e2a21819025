"""Sources that are kept fresh: a site, a list, a folder, a Git checkout, exports."""

from __future__ import annotations

import json
import subprocess
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from knowledge.models import ImportFailure, Item, Source, SourcePage, SourceSchedule
from knowledge.sources.addresses import public_address
from knowledge.sources.errors import AddressRefused, NothingToConfirm, SourceBusy
from knowledge.sources.fetching import Fetcher
from knowledge.sources.scheduling import ask_now, confirm, refuse, sync, sync_due
from tests.site_server import site
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db
Outcome = SourceSchedule.Outcome


class Clock:
    def __init__(self):
        self.now = AT

    def __call__(self):
        self.now += timedelta(milliseconds=1)
        return self.now


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def web():
    with site() as made:
        yield made


def schedule(acme, kind, **config):
    with acme.context():
        source = Source.objects.create(
            organization=acme.organization, slug="site", name="Site", kind="site"
        )
        return SourceSchedule.objects.create(
            organization=acme.organization, source=source, kind=kind, config=config,
            every_minutes=60, next_run_at=AT,
        )  # fmt: skip


def look(acme, made, clock):
    found = sync(acme.organization.pk, made.pk, clock=clock)
    with acme.context():
        made.refresh_from_db()
    return found


def live(acme):
    with acme.context():
        rows = Item.objects.filter(organization=acme.organization, deleted_at=None)
        return {row.external_id.partition("//")[2].partition("/")[2]: row for row in rows}


def failures(acme):
    with acme.context():
        return list(ImportFailure.objects.values_list("code", flat=True))


def test_a_site_comes_in_by_its_sitemap(acme, clock, web):
    web.page("/help/cards/gold", "Gold cards cost ten euros.")
    web.page("/help/fees", "Transfers are free.")
    web.page("/press/news", "We are in the news.")
    web.sitemap("/help/cards/gold", "/help/fees", "/press/news")
    made = schedule(acme, "site", start=f"{web.address}/help/")
    found = look(acme, made, clock)
    assert (found.outcome, found.reason) == (Outcome.DONE, "")
    items = live(acme)
    assert set(items) == {"help/cards/gold", "help/fees"}
    gold = items["help/cards/gold"]
    assert "Gold cards cost ten euros." in gold.body
    assert "menu" not in gold.body
    assert (gold.folder_key, gold.url) == ("site/help/cards", f"{web.address}/help/cards/gold")


def test_without_a_sitemap_links_below_the_start_are_followed(acme, clock, web):
    web.page("/help/", "Welcome to our help.", "/help/a", "b#part", "/elsewhere", "mailto:x@y.z")
    web.page("/help/a", "About a.", "/help/b")
    web.page("/help/b", "About b.", "/help/")
    web.page("/elsewhere", "Not help.")
    made = schedule(acme, "site", start=f"{web.address}/help/")
    look(acme, made, clock)
    assert set(live(acme)) == {"help/", "help/a", "help/b"}
    assert web.statuses("/elsewhere") == []


def test_robots_are_respected(acme, clock, web):
    web.page("/help/", "Welcome to our help.", "/help/secret")
    web.page("/help/secret", "Hidden.")
    web.pages["/robots.txt"] = "User-agent: *\nDisallow: /help/secret\n"
    look(acme, schedule(acme, "site", start=f"{web.address}/help/"), clock)
    assert set(live(acme)) == {"help/"}
    assert web.statuses("/help/secret") == []


def test_a_second_look_asks_only_for_what_changed(acme, clock, web):
    web.page("/a", "About a.")
    web.page("/b", "About b.")
    web.sitemap("/a", "/b")
    made = schedule(acme, "site", start=f"{web.address}/")
    look(acme, made, clock)
    web.page("/b", "About b, which has changed.")
    found = look(acme, made, clock)
    assert (web.statuses("/a"), web.statuses("/b")) == ([200, 304], [200, 200])
    assert {k: v for k, v in found.changes.items() if v} == {"updated": 1, "unchanged": 1}


def test_without_etags_a_hash_tells_what_changed(acme, clock, web):
    web.etags = False
    web.page("/a", "About a.")
    web.sitemap("/a")
    made = schedule(acme, "site", start=f"{web.address}/")
    look(acme, made, clock)
    assert look(acme, made, clock).changes["unchanged"] == 1


def test_a_page_that_was_withdrawn_by_mistake_of_the_site_comes_back(acme, clock, web):
    paths = [f"/p{n}" for n in range(5)]
    for path in paths:
        web.page(path, f"About {path}.")
    web.sitemap(*paths)
    made = schedule(acme, "site", start=f"{web.address}/")
    look(acme, made, clock)
    web.sitemap(*paths[:4])
    assert look(acme, made, clock).changes["pruned"] == 1
    assert set(live(acme)) == {"p0", "p1", "p2", "p3"}
    web.sitemap(*paths)
    look(acme, made, clock)
    assert set(live(acme)) == {"p0", "p1", "p2", "p3", "p4"}


def ten_pages_of_which_four_go(acme, clock, web):
    paths = [f"/p{n}" for n in range(10)]
    for path in paths:
        web.page(path, f"About {path}.")
    web.sitemap(*paths)
    made = schedule(acme, "site", start=f"{web.address}/")
    look(acme, made, clock)
    web.sitemap(*paths[:6])
    return made, look(acme, made, clock)


def test_a_site_that_shrinks_a_lot_is_asked_about_first(acme, clock, web):
    made, found = ten_pages_of_which_four_go(acme, clock, web)
    assert (found.outcome, made.asked_removals, len(live(acme))) == (
        Outcome.NEEDS_CONFIRMATION,
        4,
        10,
    )
    assert made.last_reason.startswith("4 of 10 are gone")


def test_confirmed_removals_happen_with_the_next_look(acme, clock, web):
    made, _ = ten_pages_of_which_four_go(acme, clock, web)
    with acme.context():
        assert confirm(made, by=BY, at=clock()) == 4
    assert sync_due(clock=clock) == ["acme/site"]
    assert len(live(acme)) == 6


def test_a_confirmation_covers_no_more_than_it_was_asked_for(acme, clock, web):
    made, _ = ten_pages_of_which_four_go(acme, clock, web)
    with acme.context():
        confirm(made, by=BY, at=clock())
    web.sitemap("/p0")
    assert look(acme, made, clock).outcome == Outcome.NEEDS_CONFIRMATION
    assert len(live(acme)) == 10


def test_refused_removals_stay_and_are_not_asked_about_again(acme, clock, web):
    made, _ = ten_pages_of_which_four_go(acme, clock, web)
    with acme.context():
        assert refuse(made, by=BY, at=clock()) == 4
    for _ in range(2):
        found = look(acme, made, clock)
        assert (found.outcome, len(live(acme))) == (Outcome.DONE, 10)
        assert found.reason == "4 of 10 are gone; they stay, as somebody said."
    web.sitemap("/p0", "/p1")
    assert look(acme, made, clock).outcome == Outcome.NEEDS_CONFIRMATION
    assert made.asked_removals == 8


def test_a_look_that_fails_forgets_no_word_of_staff(acme, clock, web):
    made, _ = ten_pages_of_which_four_go(acme, clock, web)
    with acme.context():
        refuse(made, by=BY, at=clock())
    kept = web.pages.pop("/sitemap.xml")
    assert look(acme, made, clock).outcome == Outcome.FAILED
    web.pages["/sitemap.xml"] = kept
    assert look(acme, made, clock).outcome == Outcome.DONE


def test_without_a_question_there_is_nothing_to_confirm(acme, clock, web):
    made = schedule(acme, "site", start=f"{web.address}/")
    with acme.context(), pytest.raises(NothingToConfirm):
        confirm(made, by=BY, at=AT)


@pytest.mark.parametrize("trouble", [500, 429, 403])
def test_a_page_in_trouble_is_kept_and_told(acme, clock, web, trouble):
    web.page("/a", "About a.")
    web.page("/b", "About b.")
    web.sitemap("/a", "/b")
    made = schedule(acme, "site", start=f"{web.address}/")
    look(acme, made, clock)
    web.pages["/b"] = trouble
    look(acme, made, clock)
    assert set(live(acme)) == {"a", "b"}
    assert failures(acme) == ["page_unavailable"]


@pytest.mark.parametrize("broken", [500, "<urlset", '<!DOCTYPE x [<!ENTITY a "b">]><urlset/>'])
def test_a_sitemap_that_cannot_be_read_fails_the_look_and_deletes_nothing(acme, clock, web, broken):
    web.page("/a", "About a.")
    web.sitemap("/a")
    made = schedule(acme, "site", start=f"{web.address}/")
    look(acme, made, clock)
    web.pages["/sitemap.xml"] = broken
    found = look(acme, made, clock)
    assert found.outcome == Outcome.FAILED
    assert found.reason
    assert set(live(acme)) == {"a"}


def test_a_server_that_is_away_deletes_nothing(acme, clock):
    with site() as web:
        web.page("/a", "About a.")
        web.sitemap("/a")
        made = schedule(acme, "site", start=f"{web.address}/")
        look(acme, made, clock)
    assert look(acme, made, clock).outcome == Outcome.FAILED
    assert set(live(acme)) == {"a"}


def test_a_list_of_addresses_comes_in(acme, clock, web):
    web.page("/x/one", "About one.", "/x/two")
    web.page("/x/two", "About two.")
    look(acme, schedule(acme, "urls", urls=[f"{web.address}/x/one"]), clock)
    assert set(live(acme)) == {"x/one"}


def two_sites_of_one_spelling():
    """Two sites, the address of one of which begins as that of the other."""
    for port in range(3300, 6500):
        try:
            with site(port) as short, site(port * 10) as long:
                yield short, long
                return
        except OSError:
            continue
    pytest.fail("No two such ports are free.")


@pytest.fixture
def alike():
    yield from two_sites_of_one_spelling()


def test_a_prefix_ends_where_the_address_of_its_host_ends(acme, clock, alike):
    web, evil = alike
    evil.page("/a", "Sold elsewhere.")
    web.page("/", "Welcome to our site.", "/b", f"{evil.address}/a")
    web.page("/b", "About b.")
    made = schedule(acme, "site", start=f"{web.address}/", prefix=web.address)
    look(acme, made, clock)
    assert set(live(acme)) == {"", "b"}
    assert evil.asked == []


def test_a_sitemap_lists_no_page_of_another_host(acme, clock, alike):
    web, evil = alike
    evil.page("/a", "Sold elsewhere.")
    web.page("/b", "About b.")
    web.sitemap("/b")
    listed = f"</loc></url><url><loc>{evil.address}/a</loc></url></urlset>"
    web.pages["/sitemap.xml"] = web.pages["/sitemap.xml"].replace("</loc></url></urlset>", listed)
    look(acme, schedule(acme, "site", start=f"{web.address}/", prefix=web.address), clock)
    assert set(live(acme)) == {"b"}
    assert evil.asked == []


@pytest.mark.parametrize("away", ["/help-old/x", "/help/%2e%2e/press", "/help/..%2fpress"])
def test_a_prefix_ends_where_its_folder_ends(acme, clock, web, away):
    web.page("/help", "Welcome to our help.", "/help/a", away)
    web.page("/help/a", "About a.")
    for path in (away, "/press"):
        web.page(path, "Not help.")
    address = f"{web.address}/help"
    look(acme, schedule(acme, "site", start=address, prefix=address), clock)
    assert set(live(acme)) == {"help", "help/a"}
    assert web.statuses(away) == []


def test_a_prefix_is_the_same_in_upper_case(acme, clock, web):
    web.page("/help/", "Welcome to our help.", "/help/a")
    web.page("/help/a", "About a.")
    local = f"localhost:{web.port}/help/"
    made = schedule(
        acme, "site", start=f"http://{local}", prefix=f"HTTP://LOCALHOST:{web.port}/help/"
    )
    look(acme, made, clock)
    assert set(live(acme)) == {"help/", "help/a"}


@pytest.fixture
def elsewhere():
    with site() as made:
        made.page("/x", "Sold elsewhere.")
        yield made


def failure(acme):
    with acme.context():
        return ImportFailure.objects.get(resolved_at=None)


@pytest.mark.parametrize("sitemap", [True, False])
def test_a_page_that_leads_out_of_the_site_is_not_taken(acme, clock, web, elsewhere, sitemap):
    web.page("/help/", "Welcome to our help.", "/help/a")
    web.pages["/help/a"] = (302, f"{elsewhere.address}/x")
    if sitemap:
        web.sitemap("/help/", "/help/a")
    found = look(acme, schedule(acme, "site", start=f"{web.address}/help/"), clock)
    assert (found.outcome, set(live(acme))) == (Outcome.DONE, {"help/"})
    told = f"It leads to {elsewhere.address}/x, which is not part of this source."
    assert (failure(acme).code, failure(acme).reason) == ("page_unavailable", told)


def test_a_page_that_leads_out_of_the_folder_is_not_taken(acme, clock, web):
    web.page("/help/", "Welcome to our help.", "/help/a")
    web.page("/press", "We are in the news.")
    web.pages["/help/a"] = (302, "/press")
    look(acme, schedule(acme, "site", start=f"{web.address}/help/"), clock)
    assert set(live(acme)) == {"help/"}


def test_a_page_that_leads_to_another_of_its_site_is_taken(acme, clock, web):
    web.page("/help/", "Welcome to our help.", "/help/a")
    web.page("/help/b", "About b.")
    web.pages["/help/a"] = (302, "/help/b")
    look(acme, schedule(acme, "site", start=f"{web.address}/help/"), clock)
    assert set(live(acme)) == {"help/", "help/a"}


def test_a_listed_address_that_leads_to_another_origin_is_not_taken(acme, clock, web, elsewhere):
    web.page("/moved/two", "About two.")
    web.pages["/one"] = (302, f"{elsewhere.address}/x")
    web.pages["/two"] = (302, "/moved/two")
    urls = [f"{web.address}/one", f"{web.address}/two"]
    look(acme, schedule(acme, "urls", urls=urls), clock)
    assert set(live(acme)) == {"two"}


def test_what_a_page_said_before_it_led_away_is_gone(acme, clock, web, elsewhere):
    pages = [f"/help/{number}" for number in range(5)]
    for path in pages:
        web.page(path, f"About {path}.")
    web.sitemap(*pages)
    made = schedule(acme, "site", start=f"{web.address}/help/")
    look(acme, made, clock)
    web.pages["/help/0"] = (302, f"{elsewhere.address}/x")
    assert look(acme, made, clock).changes["pruned"] == 1
    assert "help/0" not in live(acme)


def test_nothing_is_kept_because_another_host_says_that_nothing_changed(acme, clock, web):
    web.page("/help/", "Welcome to our help.", "/help/a", "/help/b", "/help/c")
    for path in ("/help/a", "/help/b", "/help/c"):
        web.page(path, "About it.")
    made = schedule(acme, "site", start=f"{web.address}/help/")
    look(acme, made, clock)
    with site() as evil:
        evil.pages["/x"] = 304
        web.pages["/help/a"] = (302, f"{evil.address}/x")
        look(acme, made, clock)
    assert set(live(acme)) == {"help/", "help/b", "help/c"}


def test_a_site_that_lies_elsewhere_than_its_prefix_is_not_looked_at(acme, clock, web):
    made = schedule(acme, "site", start=f"{web.address}/", prefix=f"{web.address}/help")
    found = look(acme, made, clock)
    assert (found.outcome, found.reason) == (Outcome.FAILED, '"start" lies below "prefix".')


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://localhost/", "http://10.0.0.1/", "http://169.254.169.254/",
     "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://192.168.1.1/",
     "http://[fd00::1]/", "http://2130706433/", "ftp://example.com/", "file:///etc/passwd",
     "http://user@127.0.0.1/", "http:///x", "http://127.0.0.1:99999/"],
)  # fmt: skip
def test_private_addresses_are_never_read(settings, url):
    settings.SOURCES_MAY_BE_PRIVATE = False
    with pytest.raises(AddressRefused):
        public_address(url)


def test_a_redirect_into_our_network_is_not_followed(settings, web, monkeypatch):
    settings.SOURCES_MAY_BE_PRIVATE = False
    from knowledge.sources import addresses

    web.pages["/a"] = (302, "http://10.0.0.1/secret")
    real = addresses._is_public
    monkeypatch.setattr(addresses, "_is_public", lambda text: text == "127.0.0.1" or real(text))
    with Fetcher() as fetcher, pytest.raises(AddressRefused):
        fetcher.get(f"{web.address}/a")


def test_a_source_is_looked_at_by_one_process_at_a_time(acme, clock, web):
    made = schedule(acme, "site", start=f"{web.address}/")
    with acme.context():
        SourceSchedule.objects.update(lease_until=AT + timedelta(minutes=5))
    with pytest.raises(SourceBusy):
        sync(acme.organization.pk, made.pk, clock=clock)
    assert sync_due(clock=clock) == []


def test_a_look_whose_process_died_is_taken_over(acme, clock, web):
    web.page("/", "Welcome to our site.")
    made = schedule(acme, "site", start=f"{web.address}/")
    with acme.context():
        SourceSchedule.objects.update(lease_until=AT - timedelta(minutes=5))
    assert look(acme, made, clock).outcome == Outcome.DONE


def test_the_next_look_is_due_after_its_time(acme, clock, web):
    web.page("/", "Welcome to our site.")
    made = schedule(acme, "site", start=f"{web.address}/")
    assert sync_due(clock=clock) == ["acme/site"]
    assert sync_due(clock=clock) == []
    clock.now += timedelta(minutes=61)
    assert sync_due(clock=clock) == ["acme/site"]
    with acme.context():
        ask_now(made, by=BY, at=clock())
    assert sync_due(clock=clock) == ["acme/site"]


@pytest.fixture
def folder(settings, tmp_path):
    """Acme's own part of the folders that operators named."""
    settings.SOURCE_FOLDERS = [str(tmp_path)]
    (tmp_path / "acme").mkdir()
    (tmp_path / "globex").mkdir()
    (tmp_path / "globex" / "secret.md").write_text("# Secret\n\nOf globex.")
    return tmp_path / "acme"


def test_a_folder_comes_in(acme, clock, folder):
    (folder / "a.md").write_text("# A\n\nAbout a.")
    assert look(acme, schedule(acme, "folder", path=str(folder)), clock).changes["created"] == 1


@pytest.mark.parametrize("path", ["..", "../globex", "../globex/secret.md", "/etc", "", None])
def test_a_folder_outside_the_organizations_own_is_not_read(acme, clock, folder, path):
    said = str(folder / path) if path else path
    found = look(acme, schedule(acme, "folder", path=said), clock)
    assert found.outcome == Outcome.FAILED
    assert live(acme) == {}


def test_a_link_out_of_the_folder_is_not_followed(acme, clock, folder):
    (folder / "away").symlink_to(folder.parent / "globex")
    found = look(acme, schedule(acme, "folder", path=str(folder / "away")), clock)
    assert found.outcome == Outcome.FAILED


def test_a_checkout_gives_its_tracked_markdown(acme, clock, folder):
    def git(*words):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)

    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("# A\n\nAbout a.")
    (folder / "untracked.md").write_text("# U\n\nUntracked.")
    (folder / "code.py").write_text("x = 1")
    (folder / "out.md").symlink_to("/etc/hostname")
    git("init", "-q")
    git("add", "docs/a.md", "code.py", "out.md")
    look(acme, schedule(acme, "git", path=str(folder)), clock)
    with acme.context():
        rows = list(Item.objects.values_list("external_id", "folder_key"))
    assert rows == [("docs/a.md", "site/docs")]


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [("csv", "faq.csv", "question,answer\nWhen do you open?,We open at seven.\n"),
     ("zendesk", "guide.json", json.dumps({"articles": [
         {"id": 7, "title": "Hours", "body": "<p>We open at seven.</p>", "locale": "en-us",
          "html_url": "https://help.example.com/7"}]})),
     ("intercom", "articles.json", json.dumps({"type": "list", "data": [
         {"type": "article", "id": "7", "title": "Hours", "body": "<p>We open at seven.</p>"}]}))],
)  # fmt: skip
def test_exports_of_help_desks_come_in(acme, clock, folder, kind, name, content):
    (folder / name).write_text(content)
    found = look(acme, schedule(acme, kind, path=str(folder / name)), clock)
    assert (found.outcome, found.changes["created"]) == (Outcome.DONE, 1), found
    with acme.context():
        assert "We open at seven." in Item.objects.get().body


@pytest.mark.parametrize(
    "location", ["http://[bad", "//", "http://127.0.0.1:99999/", "javascript:x", "\x7f", ""]
)
def test_a_page_that_leads_nowhere_is_a_failure_of_its_own(acme, clock, web, location):
    web.page("/a", "About a.")
    web.pages["/b"] = (302, location)
    web.sitemap("/a", "/b", ":not an address")
    found = look(acme, schedule(acme, "site", start=f"{web.address}/"), clock)
    assert found.outcome == Outcome.DONE, found.reason
    assert set(live(acme)) == {"a"}
    assert len(failures(acme)) == 1


def test_pages_of_another_organization_are_not_seen(acme, clock, web):
    web.page("/", "Welcome to our site.")
    look(acme, schedule(acme, "site", start=f"{web.address}/"), clock)
    globex = tenant("globex")
    with globex.context():
        assert (SourcePage.objects.count(), SourceSchedule.objects.count()) == (0, 0)


def test_the_command_adds_looks_and_tells(acme, web, capsys):
    web.page("/", "Welcome to our site.")
    config = json.dumps({"start": f"{web.address}/"})
    named = {"organization": "acme", "source": "help"}
    call_command("sources", "add", kind="site", config=config, **named)
    call_command("sources", "sync", **named)
    call_command("sources", "list", **named)
    told = capsys.readouterr().out
    assert "done: 1 created" in told
    assert "help\tsite\tdone" in told
    with pytest.raises(CommandError):
        call_command("sources", "confirm", **named)
