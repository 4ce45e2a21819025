"""The pages of answers in a real browser: keyboard, contrast, policy, small windows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from golden.correcting import Correction, correct
from knowledge.models import IndexState, SearchRecord
from tenants.models import Membership, User
from tests.answers import CONTENT, Staff
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.embedders import CountingEmbedder
from tests.staff import browser as client

pytestmark = pytest.mark.django_db(transaction=True)
ARABIC = replace(
    CONTENT,
    question="أين مكتب الطوقان؟",
    answer="مكتب الطوقان في الطابق الثاني. يفتح في السابعة صباحا.",
    paraphrases=("وين مكتب الطوقان",),
    language="ar",
)


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    for place in ("scopes.asking", "golden.staff.checking", "golden.staff.covering"):
        monkeypatch.setattr(f"{place}.current_embedder", CountingEmbedder)


@pytest.fixture
def staff():
    staff: Any = Staff()
    staff.live = staff.published()
    staff.edit(staff.live, replace(CONTENT, answer="The toucan desk is on the third floor now."))
    staff.publish(staff.live)
    staff.edit(
        staff.live, replace(CONTENT, answer="The toucan desk has moved to the fourth floor.")
    )
    staff.arabic = staff.published(ARABIC)
    staff.waiting = staff.write(replace(CONTENT, question="Do you open on Sundays?"))
    staff.request(staff.waiting)
    staff.write(replace(CONTENT, question="May I bring a dog?"))
    staff.tenant.item("Toucan desk", "The toucan desk has moved to the 7 th floor of tower 2.")
    staff.correction = correct(
        staff.organization, Correction("Dogs?", "Dogs wait outside."), staff.act("author")
    )
    with staff.tenant.context():
        for times, text in enumerate(
            ("may I bring a dog", "where is the toucan desk", "كم السعر؟")
        ):
            for _ in range(times + 1):
                staff.search = SearchRecord.objects.create(
                    organization=staff.organization, at=datetime.now(tz=UTC), agent=staff.agent,
                    status="ok", queries=[text], instruction_mode="all", knowledge_mode="all",
                ).pk  # fmt: skip
        item = staff.row(staff.arabic).item_id
        IndexState.objects.filter(asset_id=item).update(
            status="failed", last_error="The embedder refused it."
        )
    return staff


@pytest.fixture
def signed_in(staff, live_server, page):
    user = User.objects.create_user("boss", is_staff=True)
    Membership.objects.create(user=user, organization=staff.organization, role="admin")
    sign_in(page, live_server.url, client(user).cookies["sessionid"].value)
    return page


def pages_of(staff):
    one = f"/admin/golden/{staff.live}"
    return {
        "golden-list": "/admin/golden/",
        "golden-answer": f"{one}/",
        "golden-arabic": f"/admin/golden/{staff.arabic}/",
        "golden-edit": f"{one}/edit/",
        "golden-new": "/admin/golden/new/",
        "golden-compare": f"{one}/compare/?left=1&right=draft",
        "golden-override": f"{one}/override/",
        "golden-roll-back": f"{one}/roll-back/?version=1",
        "golden-assign": f"{one}/assign/",
        "golden-checks": f"{one}/checks/",
        "golden-coverage": "/admin/golden-coverage/",
        "golden-import": "/admin/golden-import/",
        "golden-correct": f"/admin/golden-correct/{staff.search}/",
        "golden-queue": "/admin/golden-queue/",
        "golden-corrections": "/admin/golden-corrections/?state=waiting",
        "golden-correction": f"/admin/golden-corrections/{staff.correction}/withdraw/",
        "golden-approve": f"/admin/golden/{staff.waiting}/approve/",
    }


def test_every_page_of_answers_keeps_to_the_policy(staff, live_server, signed_in):
    with strict(signed_in):
        for name, address in pages_of(staff).items():
            signed_in.goto(live_server.url + address)
            keep_picture(signed_in, name)


def test_axe_finds_nothing_on_the_pages_of_answers(staff, live_server, signed_in):
    found = {}
    for name, address in pages_of(staff).items():
        signed_in.goto(live_server.url + address)
        found[name] = faults(signed_in)
    assert {name: told for name, told in found.items() if told} == {}


def test_the_pages_of_answers_fit_a_telephone(staff, live_server, signed_in):
    signed_in.set_viewport_size({"width": 390, "height": 800})
    wide = []
    for name, address in pages_of(staff).items():
        signed_in.goto(live_server.url + address)
        wide += [name] if is_wider_than_the_window(signed_in) else []
    keep_picture(signed_in, "golden-telephone")
    assert wide == []


CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
NUMBER = """controls => {
  const seen = [...document.querySelectorAll('#content-start ' + controls.split(', ').join(', #content-start '))]
    .filter(one => one.checkVisibility());
  seen.forEach((one, place) => { one.dataset.place = place; });
  document.querySelector('#content-start').focus();
  return seen.length;
}"""


def missed_by_tab(page):
    """How many controls of a page the tabulator does not reach."""
    left = page.evaluate(NUMBER, CONTROLS)
    reached: set[str | None] = set()
    # A box for a date and a time takes several steps.
    for _step in range(left + 20):
        page.keyboard.press("Tab")
        place = page.evaluate("document.activeElement.dataset.place")
        if place is None and len(reached) >= left:
            break
        reached.add(place)
    return left - len(reached - {None})


def test_every_control_of_every_page_is_reached_by_the_keyboard(staff, live_server, signed_in):
    missed = {}
    for name, address in pages_of(staff).items():
        signed_in.goto(live_server.url + address)
        missed[name] = missed_by_tab(signed_in)
    assert {name: count for name, count in missed.items() if count} == {}


def test_an_answer_is_written_and_published_with_the_keyboard_alone(staff, live_server, signed_in):
    signed_in.goto(f"{live_server.url}/admin/golden/new/")
    signed_in.get_by_label("Question").focus()
    signed_in.keyboard.type("Is there a cloakroom?")
    signed_in.keyboard.press("Tab")
    signed_in.keyboard.type("Where do I leave my coat?")
    signed_in.keyboard.press("Tab")
    signed_in.keyboard.type("Yes, beside the entrance.")
    signed_in.get_by_role("button", name="Save the draft").focus()
    signed_in.keyboard.press("Enter")
    signed_in.get_by_role("link", name="Publish without approval").focus()
    signed_in.keyboard.press("Enter")
    signed_in.get_by_label("Reason").focus()
    signed_in.keyboard.type("Asked today.")
    signed_in.get_by_role("button", name="Publish without approval").focus()
    signed_in.keyboard.press("Enter")
    signed_in.get_by_text("published version 1 without approval").wait_for()
    assert staff.heard("Is there a cloakroom?")[0] == ("golden", "Yes, beside the entrance.")


@pytest.mark.parametrize("context_", ["on", "off"])
def test_a_conflict_is_shown_with_and_without_scripts(staff, live_server, browser, context_):
    user = User.objects.create_user("boss", is_staff=True)
    Membership.objects.create(user=user, organization=staff.organization, role="admin")
    context = browser.new_context(java_script_enabled=context_ == "on")
    page = context.new_page()
    sign_in(page, live_server.url, client(user).cookies["sessionid"].value)
    page.goto(f"{live_server.url}/admin/golden/{staff.live}/edit/")
    staff.edit(staff.live, replace(CONTENT, answer="Somebody else wrote this meanwhile."))
    page.get_by_label("Answer").fill("My own words.")
    page.get_by_role("button", name="Save the draft").click()
    assert page.get_by_text("meanwhile.", exact=False).first.is_visible()
    assert page.get_by_label("Answer").input_value() == "My own words."
    keep_picture(page, f"golden-conflict-{context_}")
    context.close()
