"""The knowledge browser in a real browser: one path in every run, its looks and states in the slow one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from knowledge.models import Item, SourceSchedule
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.shelves import filed, worked
from tests.staff import office

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENT = """# Fees

A transfer costs *five* dirhams. <script>alert(1)</script>

| Way | Fee |
| --- | --- |
| App | 5 |
"""


@pytest.fixture
def staff():
    made = office()
    with made.acme.context():
        SourceSchedule.objects.update(is_active=False)
    made.acme.item("Fees", DOCUMENT, folder="public/money")
    made.acme.item("Exchange rates", "Rates change at noon.", folder="public/money")
    made.acme.item("ساعات العمل", "يفتح صالون البجع في السابعة.", folder="public/money/عام")
    return made


@pytest.fixture
def signed_in(staff, live_server, page):
    sign_in(page, live_server.url, staff.as_("editor").cookies["sessionid"].value)
    return page


def at(live_server, place="", **asked):
    query = "&".join(
        f"{name}={value}" for name, value in {"place": place, **asked}.items() if value
    )
    return f"{live_server.url}/admin/browse/acme/?{query}"


def gone(staff, title):
    with staff.acme.context():
        return Item.objects.get(title=title).deleted_at is not None


def test_an_editor_finds_deletes_takes_back_and_refiles(staff, live_server, signed_in):
    page = signed_in
    with strict(page):
        page.goto(f"{live_server.url}/admin/")
        page.get_by_role("main").get_by_role("link", name="Knowledge", exact=True).first.click()
        for name in ("Help", "public", "money"):
            page.get_by_role("link", name=name, exact=True).last.click()
        expect(page.get_by_role("heading", name="In money")).to_be_visible()
        page.get_by_label("Choose all on this page").check()
        expect(page.get_by_role("checkbox", name="Fees")).to_be_checked()
        page.get_by_role("checkbox", name="Exchange rates").uncheck()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("Done: 1 of 1 items (1 changed)")
        assert gone(staff, "Fees")
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("heading", name="Undo: Delete: help/public/money")).to_be_visible()
        assert not gone(staff, "Fees")
        page.goto(at(live_server, q="fees"))
        page.get_by_role("link", name="Fees", exact=True).click()
        expect(page.get_by_role("article").get_by_role("heading", name="Fees")).to_be_visible()
        page.goto(at(live_server, "help/public/money"))
        page.get_by_role("link", name="Rename, move or delete this folder").click()
        page.get_by_label("New name").fill("prices")
        page.get_by_role("button", name="Rename").click()
        expect(page.get_by_text("Done: 3 items filed there now.")).to_be_visible()
    keep_picture(page, "browser-renamed")
    assert filed(staff.acme)["Fees"] == "help/public/prices"
    assert faults(page) == []


def pages_of(staff, live_server):
    job = worked(staff.acme, "publish", staff.rows["item"].pk)
    golden = staff.acme.item("Answer", kind="golden", folder="public")
    refused = worked(staff.acme, "delete", golden)
    deleted = staff.acme.item("Gone", folder="public")
    worked(staff.acme, "delete", deleted)
    base = f"{live_server.url}/admin/browse/acme/"
    with staff.acme.context():
        item = Item.objects.get(title="Fees").pk
    return {
        "sources": at(live_server),
        "folder": at(live_server, "help/public/money"),
        "found": at(live_server, q="hours"),
        "nothing": at(live_server, q="zzzzqq"),
        "deleted": at(live_server, deleted="yes"),
        "item": f"{base}items/{item}/",
        "deleted-item": f"{base}items/{deleted}/",
        "change-folder": f"{base}folder/?place=help/public",
        "jobs": f"{base}jobs/",
        "job": f"{base}jobs/{refused.pk}/",
        "done": at(live_server, "help/public", job=str(job.pk)),
    }


LOOKS = {
    "light": (1200, {"color_scheme": "light"}),
    "dark": (1200, {"color_scheme": "dark"}),
    "forced": (1200, {"forced_colors": "active"}),
    "narrow": (320, {"color_scheme": "light"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_in_any_state_and_look(staff, live_server, signed_in, look):
    width, media = LOOKS[look]
    signed_in.emulate_media(**media)
    signed_in.set_viewport_size({"width": width, "height": 800})
    wrong: dict[str, list[str]] = {}
    for name, address in pages_of(staff, live_server).items():
        signed_in.goto(address)
        found = faults(signed_in, *(["color-contrast"] if look == "forced" else []))
        if is_wider_than_the_window(signed_in):
            found.append("wider than the window")
        wrong |= {name: found} if found else {}
        keep_picture(signed_in, f"browser-{name}-{look}")
    assert not wrong, "\n".join(f"{name}: {one}" for name, told in wrong.items() for one in told)


@pytest.mark.slow
def test_pages_keep_to_the_policy_and_run_from_right_to_left(staff, live_server, signed_in):
    signed_in.set_extra_http_headers({"Accept-Language": "ar"})
    signed_in.set_viewport_size({"width": 320, "height": 800})
    with strict(signed_in):
        for name, address in pages_of(staff, live_server).items():
            signed_in.goto(address)
            assert signed_in.locator("html").get_attribute("dir") == "rtl"
            assert not is_wider_than_the_window(signed_in), name
    keep_picture(signed_in, "browser-rtl")


@pytest.mark.slow
def test_without_a_script_everything_can_be_done(staff, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server.url, staff.as_("editor").cookies["sessionid"].value)
    page.goto(at(live_server, "help/public/money"))
    page.get_by_role("checkbox", name="Fees").check()
    page.get_by_label("Move to (source/folder)").fill("help/archive")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("1 changed")
    assert filed(staff.acme)["Fees"] == "help/archive"
    page.get_by_label("Everything in this folder and below it").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("2 items")).to_be_visible()
    page.get_by_role("button", name="Yes, go on").click()
    expect(page.get_by_role("status")).to_contain_text("2 changed")
    page.get_by_role("link", name="Deleted items").click()
    page.get_by_role("checkbox", name="Exchange rates").check()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status")).to_contain_text("1 changed")
    assert not gone(staff, "Exchange rates")
    context.close()


@pytest.mark.slow
def test_with_the_keyboard_alone_an_item_is_deleted_and_taken_back(staff, live_server, signed_in):
    page = signed_in
    page.goto(at(live_server, "help/public/money"))

    def tab_to(**wanted):
        target = page.get_by_role(wanted.pop("role"), **wanted).first
        for _ in range(120):
            page.keyboard.press("Tab")
            if target.evaluate("node => node === document.activeElement"):
                outline = target.evaluate("node => getComputedStyle(node).outlineStyle")
                assert outline != "none"
                return
        raise AssertionError(f"{wanted} is not reached")

    tab_to(role="checkbox", name="Fees", exact=True)
    page.keyboard.press("Space")
    tab_to(role="button", name="Delete", exact=True)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("1 changed")
    assert gone(staff, "Fees")
    tab_to(role="button", name="Undo")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 changed")).to_be_visible()
    assert not gone(staff, "Fees")


@pytest.mark.slow
def test_files_dropped_on_a_folder_are_brought_into_it(staff, live_server, signed_in):
    page = signed_in
    with strict(page):
        page.goto(at(live_server, "help/public"))
        expect(page.get_by_text("Drop files here")).to_be_visible()
        row = page.locator("[data-folder='help/public/money']")
        data = page.evaluate_handle(
            "() => { const all = new DataTransfer();"
            " all.items.add(new File(['# New\\n\\nFresh.'], 'new.md', {type: 'text/markdown'}));"
            " return all; }"
        )
        row.dispatch_event("dragover", {"dataTransfer": data})
        row.dispatch_event("drop", {"dataTransfer": data})
        expect(page.get_by_text("0 of 1 files")).to_be_visible()
    with staff.acme.context():
        run = staff.rows["importrun"].__class__.objects.exclude(label="import").get()
    assert run.label == "1 uploaded → help/public/money"
