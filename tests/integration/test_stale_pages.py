"""A page that somebody has changed since it was opened is not saved, whatever it is about."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from lxml import html

from tenants.models import Membership, User
from tests.staff import browser, office, person, posted

pytestmark = pytest.mark.django_db
REFUSED = "Somebody changed this after you opened it"
# What somebody else changes of a row; a form of the admin that is not named here fails.
CHANGES: dict[str, dict[str, Any]] = {
    "user": {"email": "else@example.com"},
    "organization": {"name": "Else"},
    "membership": {"role": "author"},
    "contact": {"name": "Else"},
    "segment": {"name": "Else"},
    "phoneagent": {"name": "Else"},
    "source": {"name": "Else"},
    "sourceschedule": {"every_minutes": 7},
    "instructiondirectory": {"name": "else"},
    "instruction": {"title": "Else"},
    "item": {"title": "Else"},
}
ADMINS = {model._meta.model_name: one for model, one in admin.site._registry.items()}


@pytest.fixture
def staff():
    return office()


def page(row, name="change"):
    return f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/{name}/"


def unticked(sent, *names):
    return {name: values for name, values in sent.items() if name not in names}


def now(staff, row):
    with staff.acme.context():
        return type(row)._default_manager.get(pk=row.pk)


def test_every_form_of_the_admin_is_named_here(staff):
    operator = staff.as_("operator")
    editable = {
        name for name in ADMINS
        if operator.get(page(staff.rows[name])).context["has_change_permission"]
    }  # fmt: skip
    assert editable == set(CHANGES)


def test_a_row_has_no_rows_below_it_in_its_form():
    """Rows in a form of their own would have to be among what was seen."""
    assert [one for one in ADMINS.values() if one.inlines] == []


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_form_is_saved_while_nobody_changes_the_row(staff, name):
    operator, address = staff.as_("operator"), page(staff.rows[name])
    assert operator.post(address, posted(operator, address)).status_code == 302


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_stale_form_is_refused(staff, name):
    operator, row = staff.as_("operator"), staff.rows[name]
    sent = posted(operator, page(row))
    with staff.acme.context():
        type(row)._default_manager.filter(pk=row.pk).update(**CHANGES[name])
    answer = operator.post(page(row), sent)
    assert answer.status_code == 200
    assert REFUSED in answer.content.decode()
    for column, value in CHANGES[name].items():
        assert getattr(now(staff, row), column) == value


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_form_that_does_not_say_what_was_seen_is_refused(staff, name):
    operator, row = staff.as_("operator"), staff.rows[name]
    sent = unticked(posted(operator, page(row)), "seen")
    assert REFUSED in operator.post(page(row), sent).content.decode()


def test_a_contact_that_was_taken_out_of_a_segment_is_not_put_back(staff):
    contact, second = staff.rows["contact"], person("second", (staff.acme.organization, "admin"))
    stale = posted(staff.as_("admin"), page(contact))
    other = browser(second)
    other.post(page(contact), unticked(posted(other, page(contact)), "in_segments"))
    answer = staff.as_("admin").post(page(contact), {**stale, "name": "Corrected"})
    assert REFUSED in answer.content.decode()
    with staff.acme.context():
        assert list(contact.places.all()) == []
    assert now(staff, contact).name == ""


@pytest.mark.parametrize(
    ("name", "column", "who"),
    [
        ("phoneagent", "is_active", "admin"),
        ("organization", "approval_required", "admin"),
        ("organization", "is_active", "operator"),
        ("user", "is_active", "operator"),
        ("user", "is_staff", "operator"),
    ],
)
def test_what_was_switched_meanwhile_stays_switched(staff, name, column, who):
    row, first = staff.rows[name], staff.as_(who)
    stale = posted(first, page(row))
    second = browser(person("second", is_superuser=True))
    before = posted(second, page(row))
    switched = unticked(before, column) if column in before else {**before, column: ["on"]}
    assert second.post(page(row), switched).status_code == 302
    told = {"first_name": "Corrected"} if name == "user" else {"name": "Corrected"}
    assert REFUSED in first.post(page(row), {**stale, **told}).content.decode()
    assert getattr(now(staff, row), column) == (column not in before)


def test_a_refused_page_keeps_what_was_typed_and_is_refused_again(staff):
    contact, client = staff.rows["contact"], staff.as_("admin")
    stale = posted(client, page(contact))
    client.post(page(contact), {**stale, "country": "AE"})
    answer = client.post(page(contact), {**stale, "name": "Typed"})
    told = html.fromstring(answer.content.decode())
    (form,) = [one for one in told.forms if one.get("id") == "contact_form"]
    again = {name: [value] for name, value in form.form_values()}
    assert again["name"] == ["Typed"]
    assert REFUSED in client.post(page(contact), again).content.decode()


def test_a_refused_page_links_to_the_page_as_it_is_now(staff):
    contact, client = staff.rows["contact"], staff.as_("admin")
    stale = posted(client, page(contact))
    client.post(page(contact), {**stale, "name": "Now"})
    answer = client.post(page(contact), stale)
    (link,) = html.fromstring(answer.content.decode()).find_class("stale__anew")
    assert link.get("href") == page(contact)
    assert posted(client, link.get("href"))["name"] == ["Now"]


def test_a_page_with_another_mistake_is_not_called_stale(staff):
    contact, client = staff.rows["contact"], staff.as_("admin")
    answer = client.post(page(contact), {**posted(client, page(contact)), "external_id": ""})
    assert set(answer.context["adminform"].form.errors) == {"external_id"}
    assert b"stale__anew" not in answer.content


def test_what_a_form_does_not_show_may_change_meanwhile(staff):
    schedule, client = staff.rows["sourceschedule"], staff.as_("editor")
    sent = posted(client, page(schedule))
    with staff.acme.context():
        type(schedule).objects.filter(pk=schedule.pk).update(last_reason="Looked at meanwhile.")
    assert client.post(page(schedule), {**sent, "every_minutes": "9"}).status_code == 302
    kept = now(staff, schedule)
    assert (kept.every_minutes, kept.last_reason) == (9, "Looked at meanwhile.")


def test_an_item_that_was_withdrawn_meanwhile_is_not_saved(staff):
    item, client = staff.rows["item"], staff.as_("editor")
    stale = posted(client, page(item))
    client.post(page(item, "do/withdraw"))
    assert REFUSED in client.post(page(item), stale).content.decode()


def test_the_same_page_in_arabic_is_not_stale(staff):
    contact, client = staff.rows["contact"], staff.as_("admin")
    sent = posted(client, page(contact))
    client.cookies["django_language"] = "ar"
    assert client.post(page(contact), sent).status_code == 302


def held(staff, name):
    rows = Membership.objects.filter(user__username=name, organization=staff.acme.organization)
    return sorted(rows.values_list("role", flat=True))


def test_a_role_that_was_taken_away_is_not_given_back_by_a_stale_page(staff):
    viewer = staff.people["viewer"]
    organization = staff.acme.organization
    Membership.objects.create(user=viewer, organization=organization, role="admin")
    address, client = f"/admin/people/acme/{viewer.pk}/", staff.as_("admin")
    stale = _roles_form(client, address)
    Membership.objects.filter(user=viewer, role="admin").delete()
    answer = client.post(address, {**stale, "roles": ["admin", "editor", "viewer"]})
    assert "changed after you opened" in answer.content.decode()
    assert held(staff, "viewer") == ["viewer"]


def _roles_form(client, address):
    content = client.get(address).content.decode()
    (form,) = html.fromstring(content).find_class("people__form")
    return dict(form.form_values())


def test_an_account_that_was_closed_stays_closed(staff):
    row, operator = staff.rows["user"], staff.as_("operator")
    stale = posted(operator, page(row))
    User.objects.filter(pk=row.pk).update(is_active=False)
    operator.post(page(row), {**stale, "last_name": "Corrected"})
    assert not User.objects.get(pk=row.pk).is_active
