"""Pages in Arabic: what a page says itself is Arabic; only what people wrote, and names, are not."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from lxml import html

from tests.embedders import CountingEmbedder
from tests.integration.test_admin_matrix import _address, _model_of, admin_routes
from tests.staff import browser, office

pytestmark = pytest.mark.django_db
WORD = re.compile(r"(?<![\w.-])[A-Za-z]{3,}(?![\w-])")
# Names of things, and what the tests wrote where no element sets it apart.
WRITTEN = """
Earmark CSV JSON API UTC Zendesk Guide Intercom Markdown Git AUROC MRR nDCG recall make eval
cards voyager phone whatsapp Acme acme Help help desk Desk Front front gold admin editor viewer operator
runtime import tests advice created override item add key issue Because pelican lounge golden service
knowledge lexical Opening hours Greeting empty Delete
"""
NAMES = frozenset(WRITTEN.split())
SET_APART = "//bdi|//code|//script|//style|//textarea|//title|//*[@dir='auto']|//*[@lang='en']"
SEEN = "//body//text()|//@aria-label|//@title|//@placeholder|//input[@type='submit']/@value"


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    for place in ("scopes.asking", "golden.staff.checking", "golden.staff.covering"):
        monkeypatch.setattr(f"{place}.current_embedder", CountingEmbedder)


def english(page):
    tree = html.fromstring(page.content.decode())
    for element in tree.body.xpath(SET_APART):
        if element.getparent() is not None:
            element.drop_tree()
    words = {word for text in tree.xpath(SEEN) for word in WORD.findall(text)}
    return sorted(words - NAMES)


def addresses(staff):
    rows = {name: row.pk for name, row in staff.rows.items()}
    pages = [
        _address(staff, route, None) for name, route in admin_routes() if _model_of(name)[0] is None
    ]
    lists = ("knowledge_item", "knowledge_indexstate", "tenants_auditentry", "tenants_membership",
             "knowledge_sourceschedule", "knowledge_importfailure")  # fmt: skip
    forms = (("knowledge", "item"), ("knowledge", "instruction"), ("tenants", "organization"),
             ("tenants", "phoneagent"), ("tenants", "contact"), ("tenants", "servicekeybinding"))  # fmt: skip
    return [
        *(page for page in pages if "/export/" not in page and "jsi18n" not in page),
        f"/admin/agents/{rows['phoneagent']}/search/?q1=pelican&why={rows['item']}",
        f"/admin/tenants/phoneagent/{rows['phoneagent']}/scope/",
        *(reverse(f"admin:{name}_changelist") for name in lists),
        *(reverse(f"admin:{app}_{name}_change", args=[rows[name]]) for app, name in forms),
        reverse("admin:tenants_contact_history", args=[rows["contact"]]),
        reverse("admin:tenants_phoneagent_delete", args=[rows["phoneagent"]]),
    ]


def test_no_page_says_anything_in_english():
    staff = office()
    admin = staff.as_("admin")
    admin.cookies["django_language"] = "ar"
    left: dict[str, list[str]] = {}
    shown = 0
    for address in addresses(staff):
        page = admin.get(address)
        if page.status_code == 200 and page["Content-Type"].startswith("text/html"):
            shown += 1
            assert 'dir="rtl"' in page.content.decode(), address
            left |= {address: words} if (words := english(page)) else {}
    assert left == {}
    assert shown > 40


@pytest.mark.parametrize("address", ["/admin/login/", "/nowhere/"])
def test_pages_without_a_person_are_arabic_too(address):
    visitor = browser(None)
    page = visitor.get(address, headers={"Accept-Language": "ar"})
    assert english(page) == []
    assert 'dir="rtl"' in page.content.decode()
