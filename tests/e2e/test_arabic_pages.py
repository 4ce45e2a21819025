"""The main pages in Arabic, wide and narrow: from right to left, nothing that axe finds, no scrolling aside."""

from __future__ import annotations

import pytest

from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.embedders import CountingEmbedder
from tests.staff import office

pytestmark = pytest.mark.django_db(transaction=True)
SAMPLE = ("overview", "item", "scope", "search", "golden", "golden-edit")
WIDE, NARROW = {"width": 1200, "height": 800}, {"width": 320, "height": 800}


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    for place in ("scopes.asking", "golden.staff.checking", "golden.staff.covering"):
        monkeypatch.setattr(f"{place}.current_embedder", CountingEmbedder)


@pytest.fixture
def staff():
    made = office()
    made.acme.item("ساعات العمل", "يفتح صالون البجع في السابعة صباحًا.", folder="عام")
    return made


@pytest.fixture
def signed_in(staff, live_server, page):
    sign_in(page, live_server.url, staff.as_("admin").cookies["sessionid"].value)
    return page


def pages_of(staff):
    rows = {name: row.pk for name, row in staff.rows.items()}
    return {
        "overview": "/admin/",
        "second-factor": "/admin/second-factor/",
        "items": "/admin/knowledge/item/",
        "item": f"/admin/knowledge/item/{rows['item']}/change/",
        "who-finds": f"/admin/knowledge/{rows['item']}/who-finds/",
        "scope": f"/admin/tenants/phoneagent/{rows['phoneagent']}/scope/",
        "search": f"/admin/agents/{rows['phoneagent']}/search/?q1=البجع&why={rows['item']}",
        "call": f"/admin/calls/{rows['voicesession']}/",
        "import": "/admin/imports/new/",
        "golden": "/admin/golden/",
        "golden-answer": f"/admin/golden/{rows['golden']}/",
        "golden-edit": f"/admin/golden/{rows['golden']}/edit/",
        "golden-archive": f"/admin/golden/{rows['golden']}/archive/",
        "golden-coverage": "/admin/golden-coverage/",
        "golden-queue": "/admin/golden-queue/",
        "golden-import": "/admin/golden-import/",
        "golden-corrections": "/admin/golden-corrections/",
        "people": "/admin/people/",
        "invite": f"/admin/people/{staff.acme.organization.slug}/invite/",
        "browse": f"/admin/browse/{staff.acme.organization.slug}/",
        "browse-item": f"/admin/browse/{staff.acme.organization.slug}/items/{rows['item']}/",
        "instructions": "/admin/instructions/",
        "instruction": f"/admin/instructions/{rows['instruction']}/",
        "instruction-edit": f"/admin/instructions/{rows['instruction']}/edit/",
        "experiment": f"/admin/agents/{rows['phoneagent']}/experiment/?q1=البجع",
        "quality": "/admin/quality/",
        "spaces": "/admin/spaces/",
        "status": "/admin/status/",
        "organization": f"/admin/tenants/organization/{rows['organization']}/change/",
        "keys": "/admin/tenants/servicekeybinding/",
        "audit": "/admin/tenants/auditentry/",
    }


def wrong_on(page, name):
    assert page.locator("html").get_attribute("dir") == "rtl", name
    found = []
    for size, width in (("wide", WIDE), ("narrow", NARROW)):
        page.set_viewport_size(width)
        found += [f"{size}: {one}" for one in faults(page)]
        found += [f"{size}: wider than the window"] if is_wider_than_the_window(page) else []
        keep_picture(page, f"arabic-{name}-{size}")
    return found


def wrong_on_pages(page, url, pages):
    page.goto(f"{url}/admin/")
    page.get_by_role("button", name="العربيّة").click()
    wrong: dict[str, list[str]] = {}
    for name, address in pages.items():
        with strict(page):
            page.goto(url + address)
        wrong |= {name: found} if (found := wrong_on(page, name)) else {}
    return wrong


def test_a_page_of_each_kind_in_arabic(staff, live_server, signed_in):
    pages = {name: address for name, address in pages_of(staff).items() if name in SAMPLE}
    assert wrong_on_pages(signed_in, live_server.url, pages) == {}


@pytest.mark.slow
def test_the_other_pages_in_arabic(staff, live_server, signed_in):
    pages = {name: address for name, address in pages_of(staff).items() if name not in SAMPLE}
    assert wrong_on_pages(signed_in, live_server.url, pages) == {}


def test_the_sign_in_page_in_arabic(live_server, page):
    page.goto(f"{live_server.url}/admin/login/")
    page.get_by_role("button", name="العربيّة").press("Enter")
    page.get_by_role("button", name="تسجيل الدخول").wait_for()
    assert wrong_on(page, "sign-in") == []
