"""People in a real browser: invited, in, with another role, and with a new password."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from playwright.sync_api import expect

from tenants.models import Membership, User
from tenants.people import mailing
from tests.e2e.pages import faults, is_wider_than_the_window, keep_picture, sign_in, strict
from tests.staff import office

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff():
    made = office()
    User.objects.filter(username="viewer").update(email="viewer@example.com")
    return made


@pytest.fixture
def signed_in(staff, live_server, page):
    sign_in(page, live_server.url, staff.as_("admin").cookies["sessionid"].value)
    return page


def invite(page, url, email="nora@example.com"):
    page.goto(f"{url}/admin/people/")
    page.get_by_role("link", name="Invite somebody").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_role("radio", name=re.compile("^Editor")).check()
    page.get_by_role("button", name="Invite", exact=True).click()
    return page.get_by_label("The link.").input_value()


def test_a_new_person_follows_the_link_and_is_in(staff, live_server, signed_in, browser):
    with strict(signed_in):
        link = invite(signed_in, live_server.url)
    context = browser.new_context(java_script_enabled=False)
    theirs = context.new_page()
    theirs.goto(link)
    expect(theirs.get_by_text("You are invited to Acme as Editor.")).to_be_visible()
    theirs.get_by_label("Name to sign in with").fill("nora")
    for label in ("Password", "Password confirmation"):
        theirs.get_by_label(label, exact=True).fill("a quite long sentence")
    theirs.get_by_role("button", name="Make an account and join").click()
    expect(theirs.get_by_text("You are in Acme as Editor.")).to_be_visible()
    theirs.goto(link)
    # Signed in or not, a used link is the same sentence.
    expect(theirs.get_by_text("This link does not work")).to_be_visible()
    context.close()
    signed_in.goto(f"{live_server.url}/admin/people/")
    signed_in.get_by_role("link", name="Change nora").focus()
    signed_in.keyboard.press("Enter")
    signed_in.get_by_role("checkbox", name=re.compile("^Publisher")).focus()
    signed_in.keyboard.press("Space")
    signed_in.get_by_role("button", name="Save the roles").focus()
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_role("row", name=re.compile("nora.*Editor, Publisher"))).to_be_visible()
    assert Membership.objects.filter(user__username="nora").count() == 2


def test_a_new_password_comes_by_mail(staff, live_server, page):
    with strict(page):
        page.goto(f"{live_server.url}/admin/login/")
        page.get_by_role("link", name="Forgotten your password?").click()
        page.get_by_label("Email").fill("viewer@example.com")
        page.get_by_role("button", name="Send the link").click()
        expect(page.get_by_text("If an account has this address")).to_be_visible()
        mailing.settled()
        (link,) = re.findall(r"http\S+/people/password/\S+", str(mail.outbox[-1].body))
        page.goto(link)
        page.get_by_label("New password", exact=True).fill("a quite long sentence")
        page.get_by_label("New password confirmation").fill("a quite long sentence")
        page.get_by_role("button", name="Keep the new password").click()
        page.get_by_role("link", name="Sign in").click()
        page.get_by_label("Username").fill("viewer")
        page.get_by_label("Password").fill("a quite long sentence")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def pages_of(staff, link):
    pk = staff.people["viewer"].pk
    inside = {
        "people": "/admin/people/",
        "people-invite": "/admin/people/acme/invite/",
        "people-person": f"/admin/people/acme/{pk}/",
        "people-oneself": f"/admin/people/acme/{staff.people['admin'].pk}/",
        "people-remove": f"/admin/people/acme/{staff.people['admin'].pk}/remove/",
        "people-join-member": link,
        "password-change": "/admin/password_change/",
    }
    outside = {
        "people-join": link,
        "people-join-wrong": "/people/join/unknown/",
        "password-ask": "/people/password/",
        "password-asked": "/people/password/sent/",
        "password-wrong": "/people/password/MQ/abc-def/",
        "password-done": "/people/password/done/",
    }
    return inside, outside


def walk(page, staff, url, look):
    link = invite(page, url).removeprefix(url)
    wrong = [f"people-link: {one}" for one in faults(page)]
    keep_picture(page, f"people-link-{look}")
    for place, pages in enumerate(pages_of(staff, link)):
        if place == 1:
            page.context.clear_cookies()
        for name, address in pages.items():
            page.goto(url + address)
            wrong += [f"{name}: {one}" for one in faults(page)]
            if is_wider_than_the_window(page):
                wrong.append(f"{name}: wider than the window")
            keep_picture(page, f"{name}-{look}")
    return wrong


def test_axe_finds_nothing_on_the_pages_of_people(staff, live_server, signed_in):
    assert walk(signed_in, staff, live_server.url, "light") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("look", "width", "media"),
    [("dark", 1200, {"color_scheme": "dark"}), ("narrow", 320, {"color_scheme": "light"})],
)
def test_the_pages_of_people_hold_in_every_look(staff, live_server, signed_in, look, width, media):
    signed_in.emulate_media(**media)
    signed_in.set_viewport_size({"width": width, "height": 800})
    assert walk(signed_in, staff, live_server.url, look) == []


@pytest.mark.slow
def test_the_pages_of_people_run_from_right_to_left(staff, live_server, signed_in):
    signed_in.set_extra_http_headers({"Accept-Language": "ar"})
    signed_in.set_viewport_size({"width": 320, "height": 800})
    for name, address in pages_of(staff, "/people/password/")[0].items():
        with strict(signed_in):
            signed_in.goto(live_server.url + address)
        assert signed_in.locator("html").get_attribute("dir") == "rtl"
        assert not is_wider_than_the_window(signed_in), name
