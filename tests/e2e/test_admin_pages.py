"""The admin in a real browser: no script error, no breach of the policy, nothing that axe finds."""

from __future__ import annotations

import pytest

from knowledge.models import IndexState
from scopes.models import CanaryLook
from scopes.probing import look_everywhere
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.embedders import CountingEmbedder
from tests.staff import office
from tests.world import AT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


@pytest.fixture
def staff():
    made = office()
    made.acme.item("ساعات العمل", "يفتح صالون البجع في السابعة صباحا.", folder="عام")
    made.acme.item("Price list", "A flamingo ticket costs forty dirhams.")
    look_everywhere(AT)
    with made.acme.context():
        CanaryLook.objects.update(leaks=["knowledge internal: told by an unknown caller"])
        IndexState.objects.filter(asset_id=made.rows["item"].pk).update(
            status="failed", last_error="The embedder refused it."
        )
        IndexState.objects.filter(asset_id=made.rows["instruction"].pk).update(
            applied_generation=1, status="live"
        )
    return made


def pages_of(staff):
    agent, item = staff.rows["phoneagent"].pk, staff.rows["item"].pk
    why = f"q1=pelican+lounge&why={item}"
    return {
        "overview": "/admin/",
        "items": "/admin/knowledge/item/",
        "item": f"/admin/knowledge/item/{item}/change/",
        "new-item": "/admin/knowledge/item/add/",
        "item-history": f"/admin/knowledge/item/{item}/history/",
        "instructions": "/admin/knowledge/instruction/",
        "index": "/admin/knowledge/indexstate/",
        "import-failures": "/admin/knowledge/importfailure/",
        "agent": f"/admin/tenants/phoneagent/{agent}/change/",
        "delete": f"/admin/tenants/phoneagent/{agent}/delete/",
        "contact": f"/admin/tenants/contact/{staff.rows['contact'].pk}/change/",
        "new-key": "/admin/tenants/servicekeybinding/add/",
        "audit": "/admin/tenants/auditentry/",
        "searches": "/admin/knowledge/searchrecord/",
        "status": "/admin/status/",
        "search-empty": f"/admin/agents/{agent}/search/",
        "search": f"/admin/agents/{agent}/search/?{why}",
    }


@pytest.fixture
def signed_in(staff, live_server, page):
    sign_in(page, live_server.url, staff.as_("admin").cookies["sessionid"].value)
    return page


def test_every_page_keeps_to_the_policy_and_runs_without_errors(staff, live_server, signed_in):
    with strict(signed_in):
        for address in pages_of(staff).values():
            signed_in.goto(live_server.url + address)


LOOKS = {
    "light": (1200, {"color_scheme": "light"}),
    "dark": (1200, {"color_scheme": "dark"}),
    "forced": (1200, {"forced_colors": "active"}),
    "narrow": (320, {"color_scheme": "light"}),
}
# The other looks change colours only, so a page of each kind is enough.
SAMPLE = ("overview", "items", "item", "delete", "search")


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_on_any_page(staff, live_server, signed_in, look):
    width, media = LOOKS[look]
    signed_in.emulate_media(**media)
    signed_in.set_viewport_size({"width": width, "height": 800})
    wrong: dict[str, list[str]] = {}
    for name, address in pages_of(staff).items():
        if look in {"dark", "forced"} and name not in SAMPLE:
            continue
        signed_in.goto(live_server.url + address)
        # Forced colours are the system's own; axe reads the ones that were computed before.
        found = faults(signed_in, *(["color-contrast"] if look == "forced" else []))
        if width == 320 and is_wider_than_the_window(signed_in):
            found.append("wider than the window")
        wrong |= {name: found} if found else {}
        keep_picture(signed_in, f"admin-{name}-{look}")
    assert not wrong, "\n".join(f"{name}: {one}" for name, told in wrong.items() for one in told)


def test_pages_run_from_right_to_left_and_fit_a_narrow_window(staff, live_server, signed_in):
    signed_in.set_extra_http_headers({"Accept-Language": "ar"})
    signed_in.set_viewport_size({"width": 320, "height": 800})
    with strict(signed_in):
        for name in SAMPLE:
            signed_in.goto(live_server.url + pages_of(staff)[name])
            assert signed_in.locator("html").get_attribute("dir") == "rtl"
            assert not is_wider_than_the_window(signed_in), name


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_stale_page_keeps_what_was_typed_and_shows_what_is_there_without_scripts(
    staff, live_server, browser, language
):
    contact = staff.rows["contact"]
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, live_server.url, staff.as_("admin").cookies["sessionid"].value)
    cookie = {"name": "django_language", "value": language, "url": live_server.url}
    page.context.add_cookies([cookie])
    page.goto(f"{live_server.url}/admin/tenants/contact/{contact.pk}/change/")
    with staff.acme.context():
        type(contact).objects.filter(pk=contact.pk).update(name="Theirs")
    page.fill("#id_name", "Mine")
    page.click("input[name=_save]")
    assert page.input_value("#id_name") == "Mine"
    keep_picture(page, f"contact-stale-{language}")
    with page.context.expect_page() as opened:
        page.click(".stale__anew")
    assert opened.value.input_value("#id_name") == "Theirs"
    page.context.close()
