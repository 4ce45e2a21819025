"""The language of pages is switched in their head and kept; programs are answered in English."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import translation
from django.utils.formats import date_format, number_format

from tests.staff import browser, office

pytestmark = pytest.mark.django_db
# Keeps a date from being read from the right after an Arabic letter.
MARK = "\u200e"


def test_the_switch_in_the_page_head_keeps_the_language():
    staff = office()
    admin = staff.as_("admin")
    told = admin.post("/language/", {"language": "ar", "next": "/admin/golden/"})
    assert told.headers["Location"] == "/admin/golden/"
    assert 'dir="rtl"' in admin.get("/admin/golden/").content.decode()
    admin.post("/language/", {"language": "en", "next": "/admin/"})
    assert 'dir="ltr"' in admin.get("/admin/golden/").content.decode()


def test_the_switch_leads_to_no_other_site():
    told = browser(None).post("/language/", {"language": "ar", "next": "https://example.com/"})
    assert told.headers["Location"] == "/"


@pytest.mark.parametrize("address", ["/api/v1/golden-answers", "/internal/voice/v1/sessions"])
def test_the_wires_stay_english(address):
    client = browser(None)
    client.cookies["django_language"] = "ar"
    told = client.get(address, headers={"Accept-Language": "ar"})
    plain = browser(None).get(address)
    assert told.json()["error"]["message"] == plain.json()["error"]["message"]
    assert told.json()["error"]["message"].isascii()
    assert "Content-Language" not in told.headers


def test_numbers_and_instants_are_written_alike_in_every_language():
    at = datetime(2026, 3, 2, 9, 30, 5, tzinfo=UTC)
    written = set()
    for language in ("en", "ar"):
        with translation.override(language):
            told = (
                date_format(at, "DATETIME_FORMAT"),
                number_format(12_345.5, force_grouping=True),
            )
            written.add(tuple(text.replace(MARK, "") for text in told))
    assert written == {("2026-03-02 09:30", "12,345.5")}
