"""Experiment, runs and drift, and embedding spaces in a real browser."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.models import EmbeddingSpace, SearchRecord
from knowledge.passages import CHUNKER_VERSION
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.embedders import CountingEmbedder
from tests.staff import office
from tests.world import AT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff(monkeypatch, settings, tmp_path):
    settings.RUNS_FOLDER = str(tmp_path)
    cells = [{"scope": "10 %", "timings": {"earmark": {"p50": 1.5, "p95": 2.5}}}]
    part = {"at": "2026-03-02T09:30:00+00:00", "figures": {"cells": cells}, "faults": ["Too slow."]}
    (tmp_path / "bench.json").write_text(json.dumps({"parts": {"dense": part}}))
    embedder = CountingEmbedder()
    for module in ("scopes.asking", "search.trying"):
        monkeypatch.setattr(f"{module}.current_embedder", lambda: embedder)
    made = office()
    titles = ("Pelican lounge", "تذكرة البجع", "Pelican ticket")
    items = [made.acme.item(t, f"{t}: ten dirhams.", folder="public") for t in titles]
    ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)
    workshop = Workshop(embedder, lambda: AT, lambda: True)
    converge_batch(made.acme.organization.pk, [("knowledge", one) for one in items], workshop)
    EmbeddingSpace.objects.create(
        key="openai:text-embedding-3-small:512:0123abcd:c1", provider="openai", status="kept",
        model="text-embedding-3-small", dimensions=512, chunker_version="1",
    )  # fmt: skip
    records(made)
    return made


def records(made):
    laps = {"embed": 12.0, "scope": 2.0, "candidates": 5.0, "fuse": 1.0, "render": 2.0}
    own = {"organization": made.acme.organization, "agent": made.rows["phoneagent"]}
    with made.acme.context():
        SearchRecord.objects.bulk_create(
            SearchRecord(
                **own, at=timezone.now() - timedelta(days=number % 20, hours=1), queries=["q"],
                status="no_match" if number % 7 == 0 else "ok", instruction_mode="all",
                results=[{"relevance": 0.5 + number % 5 / 10}], knowledge_mode="all",
                degraded=["dense"] if number % 13 == 0 else [], space="",
                timings_ms={step: lap * (1 + number % 9) for step, lap in laps.items()},
            )
            for number in range(200)
        )  # fmt: skip


def pages_of(staff):
    agent = staff.rows["phoneagent"].pk
    kept = EmbeddingSpace.objects.get(status="kept").pk
    return {
        "experiment": f"/admin/agents/{agent}/experiment/?q1=pelican+lounge&q2=lounge+for+pelicans",
        "search-reasons": f"/admin/agents/{agent}/search/?q1=pelican+lounge",
        "quality": "/admin/quality/",
        "spaces": "/admin/spaces/",
        "space-switch": f"/admin/spaces/{kept}/switch/",
    }


def opened(staff, live_server, page, who="operator"):
    sign_in(page, live_server.url, staff.as_(who).cookies["sessionid"].value)
    return page


LOOKS = {
    "light": (1200, "light", "en"),
    "dark": (1200, "dark", "en"),
    "narrow": (320, "light", "en"),
    "arabic": (320, "dark", "ar"),
}


def widest(page):
    """Name what sticks out on either side, for whoever has to mend it."""
    return page.evaluate(
        "[...document.querySelectorAll('#content *')].filter(e => { const b = e.getBoundingClientRect();"
        " return b.right > innerWidth + 1 || b.left < -1 }).slice(0, 3).map(e => e.outerHTML.slice(0, 120))"
    )


def open_the_first_reasons(page):
    for closed in page.locator("details.reasons:not([open]) > summary").all()[:2]:
        closed.click()


def test_every_page_keeps_to_the_policy_and_runs_without_errors(staff, live_server, page):
    with strict(opened(staff, live_server, page)):
        for address in pages_of(staff).values():
            page.goto(live_server.url + address)
            open_the_first_reasons(page)


# One wide and light, one narrow, dark and from right to left; the others in make test-all.
@pytest.mark.parametrize(
    "look",
    [
        "light",
        "arabic",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("dark", "narrow")),
    ],
)
def test_axe_finds_nothing_and_the_pages_fit(staff, live_server, page, look):
    width, scheme, language = LOOKS[look]
    opened(staff, live_server, page).emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.set_extra_http_headers({"Accept-Language": language})
    wrong = []
    for name, address in pages_of(staff).items():
        page.goto(live_server.url + address)
        open_the_first_reasons(page)
        wrong += [f"{name}: {fault}" for fault in faults(page)]
        if is_wider_than_the_window(page):
            wrong.append(f"{name}: wider than the window: {widest(page)}")
        keep_picture(page, f"quality-{name}-{look}")
        direction = page.locator("html").get_attribute("dir")
        wrong += [] if direction == ("rtl" if language == "ar" else "ltr") else [name]
    assert not wrong, "\n".join(wrong)


def test_an_experiment_is_made_by_keyboard_alone_and_shared_by_its_address(
    staff, live_server, page, browser
):
    opened(staff, live_server, page, "viewer")
    page.goto(f"{live_server.url}/admin/agents/{staff.rows['phoneagent'].pk}/experiment/")
    page.get_by_label("Query", exact=True).focus()
    page.keyboard.type("pelican lounge")
    page.get_by_label("Ranking").last.focus()
    page.keyboard.type("Meaning")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Right: Meaning alone")).to_be_visible()
    address = page.url
    context = browser.new_context(java_script_enabled=False)
    other = opened(staff, live_server, context.new_page(), "editor")
    other.goto(address)
    assert other.get_by_role("heading", name="Right: Meaning alone").is_visible()
    summary = other.locator("details.reasons > summary").first
    summary.focus()
    other.keyboard.press("Enter")
    assert other.get_by_text("place 1 for query 1").first.is_visible()
    context.close()


def test_agent_and_range_are_chosen_without_scripts(staff, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = opened(staff, live_server, context.new_page(), "viewer")
    page.goto(f"{live_server.url}/admin/quality/")
    page.get_by_label("Days").select_option("7")
    page.get_by_role("button", name="Show").click()
    assert page.get_by_text("searches in 7 days").is_visible()
    assert page.get_by_role("img", name="Time of a search by day").is_visible()
    context.close()


def test_a_space_is_dropped_only_after_a_page_that_asks(staff, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = opened(staff, live_server, context.new_page())
    page.goto(f"{live_server.url}/admin/spaces/")
    page.get_by_role("link", name="Delete it").click()
    assert page.get_by_text("everything is paid for again").is_visible()
    page.get_by_role("button", name="Delete it").click()
    assert page.get_by_text("It is being deleted.").is_visible()
    assert page.get_by_text("being deleted", exact=True).is_visible()
    context.close()
