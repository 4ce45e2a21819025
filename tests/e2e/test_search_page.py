"""The page "Search as this agent" with and without scripts, and by keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import sign_in, strict
from tests.embedders import CountingEmbedder
from tests.staff import office

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def staff():
    return office()


def opened(page, staff, live_server):
    sign_in(page, live_server.url, staff.as_("viewer").cookies["sessionid"].value)
    page.goto(f"{live_server.url}/admin/agents/{staff.rows['phoneagent'].pk}/search/")
    return page


def test_a_search_replaces_the_results_and_says_how_many(staff, live_server, page):
    with strict(opened(page, staff, live_server)):
        page.get_by_label("Query", exact=True).fill("pelican lounge")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text("1 result")
        expect(page.get_by_role("heading", name="Opening hours")).to_be_visible()
        link = page.get_by_role("link", name="Link to this search")
        assert "q1=pelican+lounge" in link.get_attribute("href")
        expect(page.get_by_label("Query", exact=True)).to_be_focused()


def test_a_search_works_without_scripts(staff, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = opened(context.new_page(), staff, live_server)
    page.get_by_label("Query", exact=True).fill("pelican lounge")
    page.get_by_role("button", name="Search").click()
    assert page.get_by_role("heading", name="Opening hours").is_visible()
    context.close()


def test_a_failure_is_said_in_words_and_the_question_stays(staff, live_server, page):
    opened(page, staff, live_server).route("**/search/?*", lambda route: route.fulfill(status=500))
    page.get_by_label("Query", exact=True).fill("pelican lounge")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("The search failed. Try again.")
    expect(page.get_by_label("Query", exact=True)).to_have_value("pelican lounge")


def test_someone_signed_out_is_told_and_keeps_the_question(staff, live_server, page):
    opened(page, staff, live_server).context.clear_cookies()
    page.get_by_label("Query", exact=True).fill("pelican lounge")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("no longer signed in")
    expect(page.get_by_label("Query", exact=True)).to_have_value("pelican lounge")
