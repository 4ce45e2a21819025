from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scopes.models import AgentScope
from tenants.keys import KeyRefused, verify_key
from tenants.models import (
    AuditEntry,
    Contact,
    Membership,
    PhoneAgent,
    Role,
    Segment,
    ServiceKeyBinding,
)
from tests.staff import office, posted

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def staff():
    return office()


def issue(staff, who="admin"):
    sent = {"organization": staff.acme.organization.pk, "label": "new runtime"}
    return staff.as_(who).post("/admin/tenants/servicekeybinding/add/", sent)


def test_the_secret_of_a_new_key_is_shown_once_and_works(staff):
    token = issue(staff).context["token"]
    assert verify_key(token.encode(), at=NOW).organizations == (staff.acme.organization.pk,)
    with staff.acme.context():
        binding = ServiceKeyBinding.objects.get(key__label="new runtime")
    page = staff.as_("admin").get(f"/admin/tenants/servicekeybinding/{binding.pk}/change/")
    assert token.partition(".")[2] not in page.content.decode()


def test_a_page_with_a_secret_is_not_stored(staff):
    assert "no-store" in issue(staff).headers["Cache-Control"]


def test_a_third_key_is_refused_with_a_sentence(staff):
    issue(staff)
    answer = issue(staff)
    assert answer.context["token"] is None
    assert "revoke one first" in answer.content.decode()


def test_a_revoked_key_is_refused_from_the_next_request_on(staff):
    token = issue(staff).context["token"]
    with staff.acme.context():
        binding = ServiceKeyBinding.objects.get(key__label="new runtime")
    staff.as_("admin").post(f"/admin/tenants/servicekeybinding/{binding.pk}/do/revoke/")
    with pytest.raises(KeyRefused):
        verify_key(token.encode(), at=NOW)


def test_a_key_is_not_issued_for_another_organization(staff):
    sent = {"organization": staff.globex.organization.pk, "label": "new runtime"}
    answer = staff.as_("admin").post("/admin/tenants/servicekeybinding/add/", sent)
    assert "organization" in answer.context["form"].errors


def test_a_new_agent_has_its_scopes(staff):
    sent = {
        "organization": staff.acme.organization.pk, "slug": "night", "name": "Night desk",
        "language": "en", "is_active": "on",
    }  # fmt: skip
    staff.as_("admin").post("/admin/tenants/phoneagent/add/", sent)
    with staff.acme.context():
        agent = PhoneAgent.objects.get(slug="night")
        assert AgentScope.objects.filter(agent=agent, mode="all").count() == 2


@pytest.mark.parametrize(
    ("row", "gates"),
    [
        ("segment", lambda pk: {"segment_restricted": True, "segments": [pk]}),
        ("phoneagent", lambda pk: {"agent_restricted": True, "agents": [pk]}),
    ],
)
def test_what_restricts_something_is_not_deleted_and_says_what(staff, row, gates):
    target = staff.rows[row]
    staff.acme.change_item(staff.rows["item"].pk, **gates(target.pk))
    address = f"/admin/tenants/{row}/{target.pk}/delete/"
    answer = staff.as_("admin").post(address, {"post": "yes"})
    assert "It restricts items: Opening hours." in answer.content.decode()
    with staff.acme.context():
        assert type(target).objects.filter(pk=target.pk).exists()


def test_a_segment_that_restricts_nothing_is_deleted_and_noted(staff):
    segment = staff.rows["segment"]
    staff.as_("admin").post(f"/admin/tenants/segment/{segment.pk}/delete/", {"post": "yes"})
    with staff.acme.context():
        assert not Segment.objects.exists()
        assert AuditEntry.objects.filter(verb="segment.delete", actor_label="admin").count() == 1


def test_a_directory_that_is_picked_is_not_deleted(staff):
    directory = staff.acme.directory("empty")
    agent = staff.rows["phoneagent"]
    staff.acme.pick(agent, "instruction", containers=[directory])
    address = f"/admin/knowledge/instructiondirectory/{directory}/delete/"
    answer = staff.as_("admin").post(address, {"post": "yes"})
    assert "the scopes of agents: Front-Desk" in answer.content.decode()


def test_a_contact_is_put_into_segments_of_its_own_organization(staff):
    contact, other = staff.rows["contact"], staff.acme.segment("silver")
    theirs = staff.globex.segment("platinum")
    address = f"/admin/tenants/contact/{contact.pk}/change/"
    sent = {**posted(staff.as_("admin"), address), "in_segments": [str(other.pk)]}
    refused = staff.as_("admin").post(address, {**sent, "in_segments": [str(theirs.pk)]})
    staff.as_("admin").post(address, sent)
    with staff.acme.context():
        places = Contact.objects.get(pk=contact.pk).places.values_list("segment__slug", flat=True)
        assert list(places) == ["silver"]
    assert refused.status_code == 200


def test_an_admin_gives_roles_to_people_of_the_own_organization_only(staff):
    def give(name):
        user = staff.people[name]
        sent = {"organization": staff.acme.organization.pk, "user": user.pk, "role": Role.EDITOR}
        staff.as_("admin").post("/admin/tenants/membership/add/", sent)
        return Membership.objects.filter(user=user, role=Role.EDITOR).exists()

    assert (give("viewer"), give("rival")) == (True, False)


def test_an_admin_cannot_deactivate_the_organization(staff):
    organization = staff.acme.organization
    address = f"/admin/tenants/organization/{organization.pk}/change/"
    sent = posted(staff.as_("admin"), address)
    assert "is_active" not in sent
    assert staff.as_("admin").post(address, sent).status_code == 302
    organization.refresh_from_db()
    assert organization.is_active


def test_a_role_that_is_taken_away_is_gone_from_the_next_request(staff):
    client, address = staff.as_("viewer"), f"/admin/knowledge/item/{staff.rows['item'].pk}/change/"
    before = client.get(address).status_code
    Membership.objects.filter(user=staff.people["viewer"]).delete()
    assert (before, client.get(address).status_code) == (200, 404)


def test_someone_without_a_role_is_told_so(staff):
    page = staff.as_("stranger").get("/admin/").content.decode()
    assert "no organization has given you a role" in page


def test_the_overview_tells_what_needs_attention(staff):
    with staff.acme.context():
        staff.rows["indexstate"].__class__.objects.update(status="failed")
        AgentScope.objects.filter(agent=staff.rows["phoneagent"]).update(mode="selected")
        staff.rows["itempick"].delete()
        staff.rows["folderpick"].delete()
    page = staff.as_("viewer").get("/admin/").content.decode()
    for words in (
        "Acme: 2 failed to index",
        "Acme: 1 failed to import",
        "items that are no longer there",
    ):
        assert words in page


def test_the_overview_tells_nothing_of_others(staff):
    page = staff.as_("rival").get("/admin/").content.decode()
    assert "Acme" not in page


def test_the_history_of_a_row_is_its_audit_trail(staff):
    item = staff.rows["item"]
    page = staff.as_("viewer").get(f"/admin/knowledge/item/{item.pk}/history/").content.decode()
    assert "item.add" in page
