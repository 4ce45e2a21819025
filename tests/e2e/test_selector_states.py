"""Every state of the scope page: failures, conflicts, races, keyboard, looks. Slow by their number."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, strict
from tests.e2e.selector import scope_page
from tests.planting import plant_items
from tests.scope_pages import desk

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def at_desk():
    made = desk()
    made.acme.item("Opening hours", folder="public/hours")
    made.acme.item("Price list", folder="public/prices")
    made.acme.item("ساعات العمل في رمضان", folder="عام")
    made.acme.instruction("Greet the caller", directory="desk")
    return made


@pytest.fixture
def scope(at_desk, live_server, page):
    return scope_page(page, at_desk, live_server.url)


@pytest.fixture
def many(at_desk):
    with at_desk.acme.context():
        plant_items(at_desk.acme, "help/many", 1_130)
    return at_desk


def test_pages_replace_fifty_rows_and_keep_the_selection(many, scope, page):
    with strict(page):
        scope.goto().open("Knowledge", "Help", "many")
        rows = page.locator("ul[aria-label='In many'] > .row")
        first = rows.first.get_by_role("checkbox")
        first.check()
        label = rows.first.locator("label").inner_text()
        nodes = []
        for _page in range(20):
            expect(rows).to_have_count(50)
            nodes.append(page.evaluate("document.querySelectorAll('*').length"))
            before = rows.first.get_attribute("data-key")
            scope.press("Next 50")
            expect(rows.first).not_to_have_attribute("data-key", before)
            expect(rows.first.get_by_role("checkbox")).to_be_focused()
        assert max(nodes[1:]) - min(nodes[1:]) <= 10, nodes
        scope.hears("many: 1,001 to 1,050; it holds more than 1,000")
        scope.press("Last 50")
        expect(page.locator(".pager__span")).to_have_text("The last 50")
        for _page in range(23):
            before = rows.first.get_attribute("data-key")
            scope.press("Previous 50")
            expect(rows.first).not_to_have_attribute("data-key", before)
            if not page.get_by_role("button", name="Previous 50").count():
                break
        expect(scope.box(label)).to_be_checked()


def test_a_folder_that_does_not_load_says_so_and_tries_again(scope, page):
    scope.goto().open("Knowledge")
    page.route("**/folder/*", lambda route: route.fulfill(status=500))
    scope.press("Contents of Help")
    failure = page.locator(".panel .failure")
    expect(failure).to_contain_text("This could not be loaded. Your selection is kept.")
    scope.hears("could not be loaded")
    assert faults(page) == []
    keep_picture(page, "scope-load-failed")
    page.unroute("**/folder/*")
    page.get_by_role("button", name="Try again").click()
    expect(scope.box("public")).to_be_visible()
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"


@pytest.mark.parametrize("how", ["lost", "slow-server", "refused"])
def test_a_save_that_fails_keeps_every_tick(at_desk, scope, page, how):
    answers = {
        "lost": lambda route: route.abort(),
        "slow-server": lambda route: route.fulfill(status=503),
        "refused": lambda route: route.fulfill(status=401),
    }
    scope.goto().open("Knowledge", "Help")
    scope.box("public").check()
    page.route("**/save/", answers[how])
    scope.press("Save Knowledge")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(
        "no longer signed in" if how == "refused" else "could not be saved"
    )
    assert scope.focus() == "save-knowledge"
    expect(scope.box("public")).to_be_checked()
    scope.says("1 unsaved change")
    assert faults(page) == []
    keep_picture(page, f"scope-save-{how}")
    page.unroute("**/save/")
    page.get_by_role("button", name="Try again").click()
    scope.hears("Knowledge saved")
    assert at_desk.picked() == {"c:help/public"}


def test_an_expired_session_keeps_the_selection_and_saves_after_signing_in(at_desk, scope, page):
    scope.goto().open("Knowledge", "Help")
    scope.box("public").check()
    page.context.clear_cookies(name="sessionid")
    scope.press("Save Knowledge")
    expect(page.get_by_role("alert")).to_contain_text("no longer signed in")
    other = page.context.new_page()
    other.goto(scope.url + "/admin/login/")
    other.get_by_label("Username").fill("ada")
    other.get_by_label("Password").fill("a long enough word")
    other.get_by_role("button", name="Log in").click()
    expect(other.get_by_role("button", name="Log out")).to_be_visible()
    other.close()
    page.get_by_role("button", name="Try again").click()
    scope.hears("Knowledge saved")
    assert at_desk.picked() == {"c:help/public"}


def test_a_reload_keeps_what_is_not_saved_and_leaving_asks(scope, page):
    scope.goto().open("Knowledge", "Help")
    scope.box("public").check()
    asked = []

    def answer(dialog):
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", answer)
    page.reload()
    page.wait_for_selector("#scope-form[data-ready]")
    assert asked == ["beforeunload"]
    scope.says("1 unsaved change")
    scope.open("Knowledge", "Help")
    expect(scope.box("public")).to_be_checked()
    scope.press("Discard changes")
    scope.says("All searchable")
    page.reload()
    assert asked == ["beforeunload"]


def test_two_admins_race_and_nothing_is_lost(at_desk, scope, page, browser, live_server):
    with strict(page):
        theirs = scope_page(browser.new_context().new_page(), at_desk, live_server.url, "second")
        for one in (scope, theirs):
            one.goto().open("Knowledge", "Help", "public")
        scope.box("hours").check()
        theirs.box("prices").check()
        theirs.press("Save Knowledge")
        theirs.hears("Knowledge saved")
    scope.press("Save Knowledge")
    heading = page.get_by_role("heading", name="Knowledge was changed meanwhile")
    expect(heading).to_be_focused()
    expect(scope.root()).to_contain_text("bob saved at")
    assert faults(page) == []
    keep_picture(page, "scope-conflict")
    page.get_by_role("button", name="Apply my changes to theirs (1 change)").click()
    scope.hears("Knowledge saved")
    assert at_desk.picked() == {"c:help/public/hours", "c:help/public/prices"}
    scope.says("2 selected")
    assert scope.focus() == "save-knowledge"


def test_the_second_admin_may_load_theirs(at_desk, scope, page):
    scope.goto().open("Knowledge", "Help")
    scope.box("public").check()
    at_desk.save(add=["c:help/عام"], who=at_desk.second)
    scope.press("Save Knowledge")
    page.get_by_role("button", name="Discard mine and load theirs").click()
    scope.says("1 selected")
    expect(page.locator("#state-knowledge .state__unsaved")).to_be_hidden()
    scope.open("Knowledge", "Help")
    expect(scope.box("عام")).to_be_checked()
    expect(scope.box("public")).not_to_be_checked()


def test_two_admins_who_each_take_a_tick_away_do_not_open_the_scope(at_desk, scope, page):
    at_desk.save(add=["c:help/public", "c:help/عام"])
    seen = at_desk.version()
    scope.goto().open("Knowledge", "Help")
    scope.box("public").uncheck()
    # A third tick is still there, so that the merge is offered; meanwhile that goes too.
    at_desk.save(add=["c:help/other"], remove=["c:help/عام"], who=at_desk.second)
    scope.press("Save Knowledge")
    merge = page.get_by_role("button", name="Apply my changes to theirs (1 change)")
    expect(merge).to_be_visible()
    at_desk.save(remove=["c:help/other"], who=at_desk.second)
    with page.expect_request(re.compile("/save/")) as sent:
        merge.click()
    assert {f"version={seen + 1}", f"base={seen}"} <= set(sent.value.post_data.split("&"))
    expect(scope.root()).to_contain_text("together leave nothing selected")
    expect(merge).to_have_count(0)
    assert at_desk.picked() == {"c:help/public"}
    page.get_by_role("button", name="Discard mine and load theirs").click()
    scope.says("1 selected")


def test_toggles_during_slow_saves_end_as_the_last_one_says(at_desk, scope, page):
    scope.goto().open("Knowledge", "Help")
    waits = iter([1.2, 0.6, 0.0])

    def late(route):
        wait = next(waits, 0.0)
        page.wait_for_timeout(wait * 1000)
        route.continue_()

    page.route("**/save/", late)
    box = scope.box("public")
    for _press in range(3):
        box.click()
        scope.press("Save Knowledge")
    expect(box).to_be_checked()
    expect(page.locator("#save-knowledge")).not_to_have_attribute("aria-disabled", "true")
    if page.locator("#state-knowledge .state__unsaved").is_visible():
        scope.press("Save Knowledge")
    expect(page.locator("#state-knowledge .state__unsaved")).to_be_hidden()
    expect(box).to_be_checked()
    assert at_desk.picked() == {"c:help/public"}


def test_answers_of_a_search_that_come_in_the_wrong_order_show_the_last_one(scope, page):
    scope.goto()
    page.route(
        "**/find/*",
        lambda route: (page.wait_for_timeout(900 if "q=pri" in route.request.url and "q=price" not in route.request.url else 0), route.continue_()),
    )  # fmt: skip
    box = page.get_by_label("Find in Knowledge")
    box.press_sequentially("pri")
    page.wait_for_timeout(400)
    box.fill("opening")
    expect(scope.box("Opening hours")).to_be_visible()
    page.wait_for_timeout(1000)
    expect(scope.box("Opening hours")).to_be_visible()
    expect(scope.box("Price list")).to_have_count(0)


def test_a_tick_in_a_search_stays_with_those_made_elsewhere(at_desk, scope, page):
    with strict(page):
        scope.goto().open("Knowledge", "Help")
        scope.box("عام").check()
        box = page.get_by_label("Find in Knowledge")
        box.fill("price")
        scope.hears("found.")
        expect(scope.line("Price list")).to_contain_text("Help › public › prices")
        expect(box).to_be_focused()
        scope.box("Price list").check()
        scope.says("2 selected")
        scope.press("Review selection")
        expect(page.get_by_role("heading", name="Selection")).to_be_focused()
        expect(scope.line("Price list")).to_contain_text("Unsaved: added")
    assert faults(page) == []
    keep_picture(page, "scope-review")
    scope.press("Back to the folders")
    expect(scope.box("عام")).to_be_checked()


def test_clearing_is_its_own_control(at_desk, scope, page):
    at_desk.save(add=["c:help/public"])
    with strict(page):
        scope.goto().open("Knowledge", "Help")
        scope.press("Clear selection")
        scope.says("All searchable")
        expect(scope.box("public")).not_to_be_checked()
        scope.press("Save Knowledge")
        scope.hears("Knowledge saved")
    assert (at_desk.picked(), at_desk.mode()) == (set(), "all")


def test_a_viewer_sees_everything_and_changes_nothing(at_desk, live_server, page):
    at_desk.save(add=["c:help/public"])
    with strict(page):
        scope = scope_page(page, at_desk, live_server.url, "viewer").goto()
        scope.open("Knowledge", "Help")
        expect(scope.box("public")).to_be_checked()
        expect(scope.box("public")).to_be_disabled()
        assert page.get_by_role("button", name=re.compile("Save")).count() == 0
    assert faults(page) == []


def tab_to(page, matches):
    for _press in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(f"document.activeElement.matches({matches!r})"):
            return
    raise AssertionError(matches)


def test_the_whole_flow_by_keyboard(at_desk, scope, page):
    with strict(page):
        scope.goto()
        page.evaluate("document.getElementById('q-knowledge').focus()")
        tab_to(page, "#root-knowledge .disclosure--root")
        page.keyboard.press("Enter")
        expect(scope.box("Help")).to_be_visible()
        tab_to(page, "#root-knowledge .row .disclosure")
        page.keyboard.press("Space")
        expect(scope.box("public")).to_be_visible()
        tab_to(page, "[value='c:help/public']:not(button)")
        page.keyboard.press("Space")
        scope.says("1 selected")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert float(outline.removesuffix("px")) >= 2
        page.keyboard.press("Enter")
        scope.says("1 unsaved change")
        tab_to(page, "#save-knowledge")
        page.keyboard.press("Enter")
        scope.hears("Knowledge saved")
        assert scope.focus() == "save-knowledge"
    assert at_desk.picked() == {"c:help/public"}


LOOKS = {
    "light": (1200, {"color_scheme": "light"}),
    "dark": (1200, {"color_scheme": "dark"}),
    "forced": (1200, {"forced_colors": "active"}),
    "narrow": (320, {"color_scheme": "light"}),
}


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_in_any_look(at_desk, live_server, browser, look, language):
    width, media = LOOKS[look]
    context = browser.new_context(locale=language, viewport={"width": width, "height": 640})
    page = context.new_page()
    page.emulate_media(**media)
    at_desk.save(add=["c:help/public"])
    scope = scope_page(page, at_desk, live_server.url).goto()
    skipped = ["color-contrast"] if look == "forced" else []
    wrong = faults(page, *skipped)
    for selector in ("#root-knowledge .disclosure--root", "#root-knowledge .row .disclosure"):
        page.locator(selector).first.click()
        expect(page.locator("#root-knowledge .rows").last).to_be_visible()
    page.wait_for_selector("[value='c:help/public']:not(button)")
    page.locator("[value='c:help/عام']:not(button)").check()
    page.locator("[value='c:help/public']:not(button)").uncheck()
    wrong += faults(page, *skipped)
    keep_picture(page, f"scope-{look}-{language}")
    assert wrong == []
    assert not is_wider_than_the_window(page)
    assert page.evaluate("document.documentElement.dir") == ("rtl" if language == "ar" else "ltr")
    assert scope.root().locator("[role=tree], [role=treeitem], fieldset fieldset").count() == 0
    page.on("dialog", lambda dialog: dialog.accept())
    context.close()


@pytest.mark.parametrize("height", [640, 256])
def test_every_control_is_large_enough_and_never_covered(at_desk, live_server, page, height):
    page.set_viewport_size({"width": 320, "height": height})
    scope = scope_page(page, at_desk, live_server.url).goto().open("Knowledge", "Help")
    scope.box("public").check()
    page.evaluate("document.getElementById('q-instruction').focus()")
    seen = 0
    while page.evaluate("document.activeElement.closest('#scope-form') !== null"):
        told = page.evaluate(
            """() => {
              const e = document.activeElement, b = e.getBoundingClientRect();
              const top = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
              return [e.id, b.width, b.height, e === top || e.contains(top),
                      parseFloat(getComputedStyle(e).outlineWidth), e.matches(':focus-visible')];
            }"""
        )
        _name, width, tall, is_on_top, outline, _visible = told
        assert min(width, tall) >= 24, told
        assert is_on_top, told
        assert outline >= 2, told
        seen += 1
        page.keyboard.press("Tab")
        assert seen < 60
    assert seen > 15


def test_wider_spacing_of_text_clips_nothing(at_desk, live_server, page):
    page.set_viewport_size({"width": 320, "height": 640})
    scope_page(page, at_desk, live_server.url).goto().open("Knowledge", "Help")
    page.evaluate(
        """() => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
            word-spacing: 0.16em !important; }`);
          document.adoptedStyleSheets = [sheet];
        }"""
    )
    assert not is_wider_than_the_window(page)
    clipped = page.evaluate(
        """() => [...document.querySelectorAll('.scope button, .scope label, .scope .chip')]
          .filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"""
    )
    assert clipped == []


def test_ticking_and_focusing_send_nothing(at_desk, scope, page):
    scope.goto().open("Knowledge", "Help")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    scope.box("public").check()
    scope.box("public").uncheck()
    for _press in range(10):
        page.keyboard.press("Tab")
    assert sent == []


def test_a_folder_tick_is_one_pick_and_covers_what_comes_later(at_desk, scope, page):
    scope.goto().open("Knowledge", "Help")
    scope.box("public").check()
    scope.press("Save Knowledge")
    scope.hears("Knowledge saved")
    assert at_desk.picked() == {"c:help/public"}
    at_desk.acme.item("Later", folder="public/new")
    scope.open("public", "new")
    expect(scope.line("Later")).to_contain_text("Included by folder public")
    expect(scope.box("Later")).not_to_be_checked()
