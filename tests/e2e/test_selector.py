"""One path through the scope page in a real browser; every state and look is in the slow tests."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import faults, keep_picture, strict
from tests.e2e.selector import scope_page
from tests.scope_pages import desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def at_desk():
    made = desk()
    made.acme.item("Opening hours", folder="public/hours")
    made.acme.item("Ramadan hours", folder="public/hours")
    made.acme.item("Price list", folder="public/prices")
    made.acme.instruction("Greet the caller", directory="desk")
    return made


def test_an_admin_selects_a_folder_and_saves(at_desk, live_server, page):
    with strict(page):
        scope = scope_page(page, at_desk, live_server.url).goto()
        scope.says("All searchable")
        scope.open("Knowledge", "Help", "public", "hours")
        scope.box("public").check()
        scope.says("Restricted")
        scope.says("1 selected")
        scope.says("1 unsaved change")
        scope.hears("The agent searches only what you select.")
        expect(scope.line("Opening hours")).to_contain_text("Included by folder public")
        expect(scope.box("Opening hours")).to_be_enabled()
        expect(scope.box("Opening hours")).not_to_be_checked()
        scope.box("Opening hours").check()
        expect(scope.line("public")).to_contain_text("1 selected inside")
        expect(page.locator("#state-instruction .state__unsaved")).to_be_hidden()
        scope.press("Save Knowledge")
        scope.hears("Knowledge saved")
        assert scope.focus() == "save-knowledge"
        expect(page.locator("#state-knowledge .state__unsaved")).to_be_hidden()
        expect(scope.line("public")).not_to_contain_text("Unsaved")
    keep_picture(page, "scope-saved")
    assert faults(page) == []
    picked = at_desk.picked()
    assert "c:help/public" in picked
    assert len(picked) == 2
