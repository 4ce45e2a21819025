"""The language of pages is switched in their head and kept; programs are answered in English."""

from __future__ import annotations

import pytest

from tests.staff import browser, office

pytestmark = pytest.mark.django_db


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
    told = browser(None).get(address, headers={"Accept-Language": "ar"})
    plain = browser(None).get(address)
    assert told.json()["error"]["message"] == plain.json()["error"]["message"]
    assert told.json()["error"]["message"].isascii()
