"""How people come into an organization, what they may do there, and how they go."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from tenants.models import AuditEntry, Invitation, Membership, Role, User
from tenants.people import attempts, mailing
from tenants.people.attempts import Allowance
from tenants.people.errors import TooManyAttempts
from tests.staff import browser, office, person, posted

pytestmark = pytest.mark.django_db
INVALID = "This link does not work: it was used, taken back or has run out. Ask for a new one."
GOOD = {
    "username": "nora",
    "password1": "a quite long sentence",
    "password2": "a quite long sentence",
}


@pytest.fixture
def staff():
    return office()


def roles(staff, name):
    held = Membership.objects.filter(user__username=name, organization=staff.acme.organization)
    return sorted(held.values_list("role", flat=True))


def invite(staff, who="admin", email="nora@example.com", role="editor"):
    return staff.as_(who).post("/admin/people/acme/invite/", {"email": email, "role": role})


def link_of(answer):
    (found,) = re.findall(r'value="http://testserver(/people/join/[^"]+)"', answer.content.decode())
    return found


def the_invitation(staff):
    with staff.acme.context():
        return Invitation.objects.get()


def change(staff, **columns):
    with staff.acme.context():
        Invitation.objects.update(**columns)


def verbs(staff):
    with staff.acme.context():
        entries = AuditEntry.objects.filter(verb__startswith="people.").order_by("at", "id")
        return [entry.verb for entry in entries]


def press(staff, name, who="admin"):
    row = the_invitation(staff)
    return staff.as_(who).post(f"/admin/people/acme/invitations/{row.pk}/{name}/")


def test_an_invitation_is_shown_once_and_kept_as_a_hash(staff):
    answer = invite(staff)
    token = link_of(answer).split("/")[-2]
    assert "no-store" in answer.headers["Cache-Control"]
    assert token.encode() not in bytes(the_invitation(staff).secret_sha256)
    assert token not in staff.as_("admin").get("/admin/people/").content.decode()


def test_the_mail_brings_the_same_link(staff):
    link = link_of(invite(staff))
    mailing.settled()
    (sent,) = mail.outbox
    assert sent.to == ["nora@example.com"]
    assert link in sent.body


def test_without_a_mail_server_the_page_says_so_and_nothing_is_sent(staff, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert "give them the link yourself" in invite(staff).content.decode()


def test_a_mail_that_cannot_be_sent_leaves_the_invitation(staff, settings):
    settings.EMAIL_BACKEND = "tests.integration.nowhere.EmailBackend"
    link = link_of(invite(staff))
    mailing.settled()
    assert Client().get(link).status_code == 200


def test_a_new_person_chooses_a_name_and_is_in(staff):
    client = Client()
    answer = client.post(link_of(invite(staff)), GOOD)
    assert answer.headers["Location"] == "/admin/"
    assert roles(staff, "nora") == ["editor"]
    assert User.objects.get(username="nora").email == "nora@example.com"
    assert "Acme" in client.get("/admin/").content.decode()
    assert verbs(staff) == ["people.invite", "people.join"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"password1": "short", "password2": "short"},
        {"password1": "nora@example.com", "password2": "nora@example.com"},
        {"password2": "something else entirely"},
        {"username": "VIEWER"},
        {"username": "no spaces allowed"},
    ],
)
def test_a_wrong_name_or_password_makes_no_account_and_keeps_the_link(staff, wrong):
    link = link_of(invite(staff))
    answer = Client().post(link, GOOD | wrong)
    assert "Nothing was saved" in answer.content.decode()
    assert not User.objects.filter(email="nora@example.com").exists()
    assert Client().post(link, GOOD).status_code == 302


def test_whoever_has_an_account_signs_in_first_and_joins(staff):
    link = link_of(invite(staff))
    assert f"/admin/login/?next={link}" in Client().get(link).content.decode()
    assert "Join Acme" in staff.as_("stranger").get(link).content.decode()
    assert staff.as_("stranger").post(link).status_code == 302
    assert roles(staff, "stranger") == ["editor"]


def test_joining_adds_to_what_a_member_has(staff):
    staff.as_("viewer").post(link_of(invite(staff)))
    assert roles(staff, "viewer") == ["editor", "viewer"]


def used(staff, link):
    Client().post(link, GOOD)


def expired(staff, link):
    change(staff, expires_at=timezone.now() - timedelta(seconds=1))


def taken_back(staff, link):
    press(staff, "take-back")


def replaced(staff, link):
    press(staff, "again")


def made_by_somebody_who_administers_no_longer(staff, link):
    Membership.objects.filter(user__username="admin").delete()


def of_an_organization_that_is_not_served(staff, link):
    type(staff.acme.organization).objects.filter(slug="acme").update(is_active=False)


def never_made(staff, link):
    return link.replace(link.split("/")[-2], "x" * 43)


@pytest.mark.parametrize(
    "how",
    [
        used, expired, taken_back, replaced, made_by_somebody_who_administers_no_longer,
        of_an_organization_that_is_not_served, never_made,
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_link_that_does_not_work_is_one_sentence_whatever_the_reason(staff, how, method):
    link = link_of(invite(staff))
    link = how(staff, link) or link
    unknown = getattr(Client(), method)("/people/join/unknown/", GOOD)
    answer = getattr(Client(), method)(link, GOOD)
    assert (answer.status_code, unknown.status_code) == (404, 404)
    assert INVALID in answer.content.decode()
    # The page may carry the address it was asked under.
    strip = re.compile(r'(name="csrfmiddlewaretoken" value="[^"]+"|/people/join/[^/"]+)')
    assert strip.sub("", answer.content.decode()) == strip.sub("", unknown.content.decode())


def test_links_cannot_be_tried_without_end(staff, monkeypatch):
    link = link_of(invite(staff))
    narrow = Allowance("link", timedelta(minutes=5), 3)
    monkeypatch.setattr("tenants.people.joining.LINKS_OPENED", narrow)
    statuses = [Client(REMOTE_ADDR="10.0.0.7").get(link).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert Client(REMOTE_ADDR="10.0.0.8").get(link).status_code == 200


def test_an_admin_cannot_send_mail_without_end(staff, monkeypatch):
    monkeypatch.setattr("tenants.people.pages.INVITATIONS", Allowance("i", timedelta(minutes=5), 2))
    assert [invite(staff).status_code for _ in range(3)] == [200, 200, 429]


def test_what_was_tried_is_forgotten_when_it_is_paid(staff, at):
    allowance = Allowance("test", timedelta(minutes=1), 1)
    attempts.spend(allowance, "ada", at=at)
    with pytest.raises(TooManyAttempts):
        attempts.spend(allowance, "ada", at=at)
    attempts.spend(allowance, "ada", at=at + timedelta(minutes=1))


def test_a_new_link_can_be_sent_until_somebody_used_it(staff):
    invite(staff)
    link = link_of(press(staff, "again"))
    assert Client().post(link, GOOD).status_code == 302
    page = staff.as_("admin").post(
        f"/admin/people/acme/invitations/{the_invitation(staff).pk}/again/", follow=True
    )
    assert "was used or taken back already" in page.content.decode()
    assert verbs(staff) == ["people.invite", "people.invite_again", "people.join"]


def test_the_list_says_what_became_of_each_invitation(staff):
    link = link_of(invite(staff))
    assert "until" in staff.as_("admin").get("/admin/people/").content.decode()
    Client().post(link, GOOD)
    assert "by nora" in staff.as_("admin").get("/admin/people/").content.decode()


def set_roles(staff, name, *wanted, who="admin", **more):
    address = f"/admin/people/acme/{staff.people[name].pk}/"
    seen = staff.as_(who).get(address).context["form"]["seen"].value()
    return staff.as_(who).post(address, {"roles": list(wanted), "seen": seen, **more})


def remove(staff, name, who="admin", **more):
    return staff.as_(who).post(f"/admin/people/acme/{staff.people[name].pk}/remove/", more)


def test_changed_roles_hold_from_the_next_request_on(staff):
    address = "/admin/knowledge/item/add/"
    before = staff.as_("viewer").get(address).status_code
    set_roles(staff, "viewer", "editor", "author")
    assert roles(staff, "viewer") == ["author", "editor"]
    assert (before, staff.as_("viewer").get(address).status_code) == (403, 200)
    assert verbs(staff) == ["people.roles"]


def test_a_removed_person_sees_nothing_from_the_next_request_on(staff):
    address = f"/admin/knowledge/item/{staff.rows['item'].pk}/change/"
    before = staff.as_("viewer").get(address).status_code
    remove(staff, "viewer")
    assert (before, staff.as_("viewer").get(address).status_code) == (200, 404)
    assert User.objects.filter(username="viewer", is_active=True).exists()
    assert verbs(staff) == ["people.remove"]


@pytest.mark.parametrize("who", ["admin", "operator"])
def test_the_last_admin_stays(staff, who):
    kept = set_roles(staff, "admin", "viewer", who=who, confirmed="on")
    removed = remove(staff, "admin", who=who, confirmed="on")
    for answer in (kept, removed):
        assert "keeps at least one administrator" in answer.content.decode()
    assert roles(staff, "admin") == ["admin"]


def test_the_last_admin_stays_on_the_other_pages_too(staff):
    row = Membership.objects.get(user__username="admin")
    address, operator = f"/admin/tenants/membership/{row.pk}", staff.as_("operator")
    sent = {**posted(operator, f"{address}/change/"), "role": "viewer"}
    answers = [
        operator.post(f"{address}/change/", sent),
        operator.post(f"{address}/delete/", {"post": "yes"}),
    ]
    for answer in answers:
        assert "keeps at least one administrator" in answer.content.decode()
    assert roles(staff, "admin") == ["admin"]


def test_an_admin_who_cannot_sign_in_does_not_count(staff):
    second = person("second", (staff.acme.organization, Role.ADMIN))
    User.objects.filter(pk=second.pk).update(is_active=False)
    assert (
        "keeps at least one administrator"
        in remove(staff, "admin", who="operator").content.decode()
    )


def test_ones_own_administration_is_given_up_only_on_purpose(staff):
    person("second", (staff.acme.organization, Role.ADMIN))
    unsure = [set_roles(staff, "admin", "viewer"), remove(staff, "admin")]
    assert ["confirm that you want that" in one.content.decode() for one in unsure] == [True, True]
    assert roles(staff, "admin") == ["admin"]
    set_roles(staff, "admin", "viewer", confirmed="on")
    assert roles(staff, "admin") == ["viewer"]


def test_two_tabs_with_two_organizations_do_not_disturb_each_other(staff):
    both = person("both", (staff.acme.organization, "admin"), (staff.globex.organization, "admin"))
    client = browser(both)
    tabs = [client.get(f"/admin/people/?organization={slug}") for slug in ("acme", "globex")]
    texts = [tab.content.decode() for tab in tabs]
    assert ["People of Acme" in texts[0], "People of Globex" in texts[1]] == [True, True]
    assert ("rival" in texts[0], "viewer" in texts[1]) == (False, False)
    # The tab that was opened first still acts on its own organization.
    client.post("/admin/people/acme/invite/", {"email": "a@example.com", "role": "viewer"})
    assert the_invitation(staff).organization_id == staff.acme.organization.pk


def test_an_admin_of_one_organization_is_a_stranger_in_the_other(staff):
    both = person("both", (staff.acme.organization, "viewer"), (staff.globex.organization, "admin"))
    client = browser(both)
    pk = staff.people["viewer"].pk
    for page in ("invite/", f"{pk}/", f"{pk}/remove/"):
        assert client.get(f"/admin/people/acme/{page}").status_code == 403
    assert client.get("/admin/people/?organization=acme").status_code == 404


@pytest.mark.parametrize("who", ["rival", "stranger"])
def test_another_organizations_people_are_as_absent_as_nobodys(staff, who):
    invite(staff)
    client, pk = staff.as_(who), staff.people["viewer"].pk
    row = the_invitation(staff)
    for page in ("invite/", f"{pk}/", f"{pk}/remove/", f"invitations/{row.pk}/again/"):
        theirs = client.post(f"/admin/people/acme/{page}")
        missing = client.post(f"/admin/people/nowhere/{page}")
        assert (theirs.status_code, theirs.content) == (404, missing.content), page
    assert not the_invitation(staff).is_over


def test_a_foreign_member_or_invitation_is_not_found_under_ones_own_organization(staff):
    invite(staff)
    row, pk = the_invitation(staff), staff.people["viewer"].pk
    client = staff.as_("rival")
    assert client.post(f"/admin/people/globex/invitations/{row.pk}/take-back/").status_code == 404
    assert client.get(f"/admin/people/globex/{pk}/").status_code == 404
    assert client.post(f"/admin/people/globex/{pk}/remove/").status_code == 404
    assert roles(staff, "viewer") == ["viewer"]


@pytest.mark.parametrize("who", ["editor", "viewer"])
def test_only_admins_bring_people_in(staff, who):
    assert invite(staff, who=who).status_code == 403
    assert staff.as_(who).get("/admin/people/").status_code == 403
    assert "Members and invitations" not in staff.as_(who).get("/admin/").content.decode()
    assert "Members and invitations" in staff.as_("admin").get("/admin/").content.decode()


def test_pages_say_whose_things_they_show(staff):
    both = person("both", (staff.acme.organization, "admin"), (staff.globex.organization, "admin"))
    client, rows = browser(both), staff.rows
    pages = {
        f"/admin/golden/{rows['golden'].pk}/": "(<bdi>Acme</bdi>)",
        "/admin/golden/?organization=globex": "(<bdi>Globex</bdi>)",
        f"/admin/tenants/phoneagent/{rows['phoneagent'].pk}/scope/": "(<bdi>Acme</bdi>)",
        f"/admin/agents/{rows['phoneagent'].pk}/search/": "of Acme would find",
        f"/admin/instructions/{rows['instruction'].pk}/": "Belongs to Acme.",
        f"/admin/knowledge/item/{rows['item'].pk}/change/": "Acme",
    }
    wrong = {address for address, said in pages.items() if said not in _text(client, address)}
    assert wrong == set()


def _text(client, address):
    return client.get(address).content.decode()
