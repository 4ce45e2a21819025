"""Handing files in, in a real browser: with a script the page renews itself, without one it works too."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from knowledge.ingestion.importing import run_import
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.uploads import import_waiting
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.staff import office
from tests.world import AT

pytestmark = pytest.mark.django_db(transaction=True)
FILES = [
    {"name": "hours.md", "mimeType": "text/markdown", "buffer": b"# Hours\n\nWe open at seven."},
    {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 nonsense"},
]


@pytest.fixture
def staff():
    return office()


def hand_in(page, live_server, staff):
    sign_in(page, live_server.url, staff.as_("editor").cookies["sessionid"].value)
    page.goto(f"{live_server.url}/admin/imports/new/")
    page.get_by_label("Files").set_input_files(FILES)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("0 of 2 files")).to_be_visible()


def test_the_page_follows_the_import_by_itself(staff, live_server, page):
    with strict(page):
        hand_in(page, live_server, staff)
        import_waiting(clock=lambda: AT)
        expect(page.get_by_text("2 of 2 files")).to_be_visible(timeout=10_000)
        expect(page.get_by_role("row", name="broken.pdf")).to_contain_text("Failed")
        expect(page.get_by_role("button", name="Try again what failed")).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 800})
    keep_picture(page, "import-progress")
    assert not is_wider_than_the_window(page)
    assert faults(page) == []


def test_without_a_script_the_same_can_be_done(staff, live_server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    hand_in(page, live_server, staff)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    import_waiting(clock=lambda: AT)
    page.reload()
    expect(page.get_by_text("2 of 2 files")).to_be_visible()
    context.close()


def test_the_sources_and_the_upload_form_have_no_faults(staff, live_server, page):
    sign_in(page, live_server.url, staff.as_("editor").cookies["sessionid"].value)
    row = staff.rows["sourceschedule"].pk
    for address in (
        "imports/new/",
        "knowledge/sourceschedule/",
        f"knowledge/sourceschedule/{row}/change/",
        "knowledge/usageentry/",
    ):
        with strict(page):
            page.goto(f"{live_server.url}/admin/{address}")
        assert faults(page) == [], address


def test_the_record_of_a_command_tells_what_failed_and_offers_it_again(
    staff, live_server, page, tmp_path
):
    (tmp_path / "hours.md").write_text("# Hours\n\nWe open at seven.")
    (tmp_path / f"{'a-very-long-name-' * 8}.pdf").write_bytes(b"%PDF-1.4 nonsense")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    request = ImportRequest(
        staff.acme.organization.pk, (str(tmp_path),), "help", is_repeatable=True
    )
    run = run_import(request, clock=lambda: AT, watch=lambda _progress: None).run
    sign_in(page, live_server.url, staff.as_("editor").cookies["sessionid"].value)
    with strict(page):
        page.goto(f"{live_server.url}/admin/imports/{run.pk}/")
        expect(page.get_by_text("1 created, 0 updated, 0 unchanged, 1 failed")).to_be_visible()
        expect(page.get_by_text("Left out, as they hold no text: .png 1")).to_be_visible()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            # Colours that change under an open page are half-way for a moment.
            page.reload()
            assert faults(page) == []
            keep_picture(page, f"import-record-{scheme}")
        page.get_by_role("button", name="Try again what failed").click()
        expect(page.get_by_text("as soon as a process is free")).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 800})
    keep_picture(page, "import-record-narrow")
    assert not is_wider_than_the_window(page)
    assert faults(page) == []
