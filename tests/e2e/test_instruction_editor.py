"""Instructions in a real browser: drafted, compared, published, filed; by keyboard and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from knowledge.models import Instruction
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.staff import office

pytestmark = pytest.mark.django_db(transaction=True)
BODY = "# Greeting\n\n1. Say **hello**.\n2. Ask for the name.\n\n| when | say |\n|---|---|\n| noon | hello |\n"


@pytest.fixture
def staff():
    made = office()
    made.acme.instruction("Farewell", BODY, directory="desk/ends", title="Farewell")
    made.acme.instruction("تحية", "قل مرحبا.", directory="desk", title="تحية", language="ar")
    return made


@pytest.fixture
def signed_in(staff, live_server, page):
    sign_in(page, live_server.url, staff.as_("admin").cookies["sessionid"].value)
    return page


def body_of(staff, title="Greeting"):
    with staff.acme.context():
        return Instruction.objects.get(title=title).body


def press(page, role, name):
    page.get_by_role(role, name=name, exact=True).focus()
    page.keyboard.press("Enter")


def test_an_instruction_is_drafted_and_published_by_keyboard_alone(staff, live_server, signed_in):
    page = signed_in
    with strict(page):
        page.goto(f"{live_server.url}/admin/instructions/")
        press(page, "link", "desk")
        press(page, "link", "Greeting")
        press(page, "link", "Edit")
        page.get_by_label("Text").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("Say good day.")
        press(page, "button", "Preview")
        expect(page.get_by_role("heading", name="Preview: not saved yet")).to_be_visible()
        press(page, "button", "Save the draft")
        expect(page.get_by_text("What callers hear has not changed.")).to_be_visible()
        assert body_of(staff) == "Say hello."
        expect(page.locator("ins").first).to_contain_text("good day")
        press(page, "link", "Publish")
        expect(page.get_by_text("callers hear the new text")).to_be_visible()
        press(page, "button", "Publish")
        expect(page.get_by_text("Searches hear it from the next one on.")).to_be_visible()
    assert body_of(staff) == "Say good day."


def test_a_text_that_was_not_saved_is_still_there_after_a_reload(staff, live_server, signed_in):
    page = signed_in
    with strict(page):
        page.goto(f"{live_server.url}/admin/instructions/{staff.rows['instruction'].pk}/edit/")
        page.get_by_label("Text").fill("Half a sentence")
        page.goto(f"{live_server.url}/admin/")
        page.goto(f"{live_server.url}/admin/instructions/{staff.rows['instruction'].pk}/edit/")
        page.get_by_role("button", name="Put it back").click()
        expect(page.get_by_label("Text")).to_have_value("Half a sentence")
        page.get_by_role("button", name="Save the draft").click()
        expect(page.get_by_text("What callers hear has not changed.")).to_be_visible()
        page.get_by_role("link", name="Edit", exact=True).click()
        expect(page.get_by_label("Text")).to_have_value("Half a sentence")
        expect(page.get_by_role("button", name="Put it back")).to_be_hidden()


@pytest.mark.slow
def test_everything_works_without_a_script(staff, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server.url, staff.as_("admin").cookies["sessionid"].value)
    page.goto(f"{live_server.url}/admin/instructions/")
    page.get_by_role("link", name="New directory").click()
    page.get_by_label("Name").fill("counter")
    page.get_by_role("button", name="Make the directory").click()
    page.get_by_role("link", name="New instruction").click()
    page.get_by_label("Title").fill("Thanks")
    page.get_by_label("Text").fill("Say thanks.")
    page.get_by_role("button", name="Save the draft").click()
    page.get_by_role("link", name="Publish", exact=True).click()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("link", name="Move", exact=True).click()
    page.get_by_label("Directory").select_option(label="desk/ends")
    page.get_by_role("button", name="Move").click()
    page.get_by_role("link", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("link", name="Restore", exact=True).click()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_role("link", name="ends", exact=True).click()
    page.get_by_role("link", name="Delete this directory").click()
    page.get_by_role("radio", name=re.compile("^Delete all")).check()
    page.get_by_role("button", name="Delete the directory").click()
    page.get_by_role("button", name="Restore ends").click()
    expect(page.get_by_role("link", name="Thanks")).to_be_visible()
    assert body_of(staff, "Thanks") == "Say thanks."
    context.close()


def pages_of(staff):
    one = f"/admin/instructions/{staff.rows['instruction'].pk}"
    place = staff.rows["instructiondirectory"].pk
    return {
        "editor-tree": f"/admin/instructions/?at={place}",
        "editor-found": "/admin/instructions/?q=hello",
        "editor-new": f"/admin/instructions/new/?at={place}",
        "editor-show": f"{one}/",
        "editor-edit": f"{one}/edit/",
        "editor-publish": f"{one}/decide/publish/",
        "editor-version": f"{one}/versions/1/",
        "editor-move": f"{one}/move/",
        "editor-delete": f"{one}/decide/delete/",
        "editor-rename": f"/admin/instruction-directories/{place}/rename/",
        "editor-clear": f"/admin/instruction-directories/{place}/delete/",
        "editor-deleted": "/admin/instructions/deleted/",
    }


def walk(page, staff, url, look):
    prepare(staff)
    wrong = []
    for name, address in pages_of(staff).items():
        page.goto(url + address)
        wrong += [f"{name}: {one}" for one in faults(page)]
        if is_wider_than_the_window(page):
            wrong.append(f"{name}: wider than the window")
        keep_picture(page, f"{name}-{look}")
    return wrong + conflict(page, staff, url, look)


def prepare(staff):
    """Publish one text after another, draft a third one, and delete something."""
    client, one = staff.as_("admin"), f"/admin/instructions/{staff.rows['instruction'].pk}"
    for number, text in enumerate((BODY, BODY.replace("name", "booking number"))):
        sent = {"title": "Greeting", "body": text, "visibility": "public"}
        seen = client.get(f"{one}/edit/").context["form"]["seen"].value()
        client.post(f"{one}/edit/", {**sent, "seen": seen})
        if number == 0:
            seen = client.get(f"{one}/decide/publish/").context["form"]["seen"].value()
            client.post(f"{one}/decide/publish/", {"seen": seen})
    gone = staff.acme.instruction("Gone", "Say nothing.", directory="desk", title="Gone")
    client.post(f"/admin/instructions/{gone}/decide/delete/", {"seen": "x"})


def conflict(page, staff, url, look):
    page.goto(f"{url}/admin/instructions/{staff.rows['instruction'].pk}/edit/")
    page.get_by_label("Text").fill("Say something else.")
    page.evaluate("document.querySelector('input[name=seen]').value = 'older'")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_text("Somebody changed this text after you saw it.")).to_be_visible()
    expect(page.get_by_label("Text")).to_have_value("Say something else.")
    keep_picture(page, f"editor-conflict-{look}")
    return [f"editor-conflict: {one}" for one in faults(page)]


def test_axe_finds_nothing_on_the_pages_of_instructions(staff, live_server, signed_in):
    assert walk(signed_in, staff, live_server.url, "light") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("look", "width", "media"),
    [("dark", 1200, {"color_scheme": "dark"}), ("narrow", 320, {"color_scheme": "light"})],
)
def test_the_pages_of_instructions_hold_in_every_look(
    staff, live_server, signed_in, look, width, media
):
    signed_in.emulate_media(**media)
    signed_in.set_viewport_size({"width": width, "height": 800})
    assert walk(signed_in, staff, live_server.url, look) == []


@pytest.mark.slow
def test_the_pages_of_instructions_run_from_right_to_left(staff, live_server, signed_in):
    prepare(staff)
    signed_in.set_extra_http_headers({"Accept-Language": "ar"})
    signed_in.set_viewport_size({"width": 320, "height": 800})
    for name, address in pages_of(staff).items():
        with strict(signed_in):
            signed_in.goto(live_server.url + address)
        assert signed_in.locator("html").get_attribute("dir") == "rtl"
        assert not is_wider_than_the_window(signed_in), name
