"""The pages beside the scope page, and the scope page without a script."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest
from playwright.sync_api import expect

from knowledge.retrieval.deadline import Deadline
from scopes.asking import CallerFacts, Question, ask
from tenants.models import PhoneAgent
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.e2e.selector import scope_page
from tests.embedders import CountingEmbedder
from tests.scope_pages import Desk, desk
from tests.world import AT

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    for door in ("scopes.asking", "scopes.selector.previews"):
        monkeypatch.setattr(f"{door}.current_embedder", CountingEmbedder)


@dataclass
class Beside:
    desk: Desk
    item: UUID
    other: PhoneAgent


@pytest.fixture
def beside():
    made = desk()
    item = made.acme.item("Pelican lounge", "The pelican lounge opens at seven.", folder="birds")
    made.acme.item("Fees", "A transfer costs five dirhams.", folder="money")
    other = made.acme.agent("other")
    made.acme.pick(other, "knowledge", rows=[item])
    made.save(add=["c:help/money"], who=made.second)
    made.save(clear=True)
    return Beside(made, item, other)


@pytest.fixture
def at_desk(beside):
    return beside.desk


def test_what_changes_is_shown_before_saving(at_desk, live_server, page):
    ask(
        at_desk.agent, Question(("when does the pelican lounge open",)),
        CallerFacts(None, "phone", None), at=AT, deadline=Deadline.after(5),
    )  # fmt: skip
    with strict(page):
        scope = scope_page(page, at_desk, live_server.url).goto().open("Knowledge", "Help")
        scope.box("money").check()
        page.get_by_role("button", name="What changes").click()
        shown = page.locator("#scope-preview")
        expect(shown).to_contain_text("1 of the last 1 question would be answered differently.")
        expect(shown.locator("del")).to_contain_text("Pelican lounge")
        expect(page.get_by_role("heading", name="What changes")).to_be_focused()
        scope.says("1 unsaved change")
    assert faults(page) == []
    keep_picture(page, "scope-preview")


@pytest.mark.parametrize("width", [1200, 320])
def test_history_copy_and_reach_have_no_fault(beside, at_desk, live_server, page, width):
    page.set_viewport_size({"width": width, "height": 640})
    sign_in(page, live_server.url, at_desk.admin.cookies["sessionid"].value)
    pages = {
        "history": f"{at_desk.url}history/",
        "copy": f"{at_desk.url}copy/?from={beside.other.pk}",
        "reach": f"/admin/knowledge/{beside.item}/who-finds/",
    }
    for name, address in pages.items():
        page.goto(live_server.url + address)
        assert faults(page) == [], name
        keep_picture(page, f"scope-{name}-{width}")
        assert not is_wider_than_the_window(page), name


def test_a_selection_is_restored_from_the_history(at_desk, live_server, page):
    with strict(page):
        sign_in(page, live_server.url, at_desk.admin.cookies["sessionid"].value)
        page.goto(f"{live_server.url}{at_desk.url}history/")
        page.get_by_role("button", name="Restore this selection").nth(1).click()
        expect(page.get_by_text("Knowledge follows that selection from now on.")).to_be_visible()
    assert at_desk.picked() == {"c:help/money"}


def test_without_a_script_one_opens_ticks_saves_and_previews(at_desk, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server.url, at_desk.admin.cookies["sessionid"].value)
    page.goto(live_server.url + at_desk.url)
    for name in ("Contents of Knowledge", "Contents of Help"):
        page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("checkbox", name="birds", exact=True).check()
    page.get_by_role("button", name="What changes").click()
    expect(page.locator("#scope-preview")).to_contain_text("nothing to compare")
    expect(page.get_by_role("checkbox", name="birds", exact=True)).to_be_checked()
    page.get_by_label("Find in Knowledge").fill("fees")
    page.get_by_label("Find in Knowledge").press("Enter")
    page.get_by_role("checkbox", name="Fees", exact=True).check()
    page.get_by_role("button", name="Save Knowledge scope").click()
    expect(page.locator("#state-knowledge")).to_contain_text("2 selected")
    context.close()
    assert len(at_desk.picked()) == 2
