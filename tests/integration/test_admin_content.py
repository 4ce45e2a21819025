from __future__ import annotations

import pytest

from knowledge.models import IndexState, Instruction, InstructionDirectory, Item, LexicalEntry
from tenants.models import AuditEntry, Membership, Role
from tests.staff import office, posted

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff():
    return office()


def item_page(item, page="change"):
    return f"/admin/knowledge/item/{item.pk}/{page}/"


def save(client, address, **changes):
    answer = client.post(address, {**posted(client, address), **changes})
    errors = answer.context["adminform"].form.errors if answer.status_code == 200 else {}
    return answer.status_code, dict(errors)


def fresh(staff, row):
    with staff.acme.context():
        return type(row).objects.get(pk=row.pk)


def test_a_saved_item_gets_new_lexical_entries_and_a_new_generation(staff):
    item = staff.rows["item"]
    save(staff.as_("editor"), item_page(item), body="The heron lounge opens at eight.")
    with staff.acme.context():
        entry = LexicalEntry.objects.get(asset_id=item.pk)
        state = IndexState.objects.get(asset_id=item.pk)
    assert (fresh(staff, item).generation, entry.generation, state.desired_generation) == (2, 2, 2)


def test_a_change_is_in_the_audit_trail_without_the_text(staff):
    item = staff.rows["item"]
    save(staff.as_("editor"), item_page(item), body="x" * 500, language="en")
    with staff.acme.context():
        entry = AuditEntry.objects.filter(verb="item.change").get()
    assert entry.actor_label == "editor"
    assert entry.after == {"body": "500 characters", "language": "en"}


def test_a_new_item_is_filed_under_the_canonical_key(staff):
    added = {
        "organization": staff.acme.organization.pk, "source": str(staff.rows["source"].pk),
        "folder": " cards //voyager ", "title": "Fees", "body": "None.", "review_status": "approved",
        "visibility": "public",
    }  # fmt: skip
    answer = staff.as_("editor").post("/admin/knowledge/item/add/", added)
    assert answer.status_code == 302
    with staff.acme.context():
        item = Item.objects.get(title="Fees")
        assert LexicalEntry.objects.filter(asset_id=item.pk).exists()
    assert (item.folder_key, item.uploader) == ("help/cards/voyager", staff.people["editor"])


def test_an_item_cannot_be_added_to_another_organization(staff):
    added = {
        "organization": staff.globex.organization.pk, "source": str(staff.globex.source().pk),
        "title": "Fees", "body": "None.", "review_status": "approved", "visibility": "public",
    }  # fmt: skip
    answer = staff.as_("editor").post("/admin/knowledge/item/add/", added)
    assert set(answer.context["adminform"].form.errors) == {"organization", "source"}


def test_a_row_may_not_point_into_another_of_ones_own_organizations(staff):
    Membership.objects.create(
        user=staff.people["editor"], organization=staff.globex.organization, role=Role.EDITOR
    )
    added = {
        "organization": staff.acme.organization.pk, "source": str(staff.globex.source().pk),
        "title": "Fees", "body": "None.", "review_status": "approved", "visibility": "public",
    }  # fmt: skip
    answer = staff.as_("editor").post("/admin/knowledge/item/add/", added)
    assert answer.context["adminform"].form.errors["source"] == ["Belongs to another organization."]


def test_choices_offer_rows_of_ones_own_organizations_only(staff):
    staff.globex.source("secret")
    address = "/admin/autocomplete/?app_label=knowledge&model_name=item&field_name=source&term="
    found = staff.as_("editor").get(address).json()["results"]
    assert [one["text"] for one in found] == ["Help"]


def test_two_tabs_with_two_organizations_do_not_disturb_each_other(staff):
    theirs = staff.globex.item("Their hours", "We open at nine.")
    Membership.objects.create(
        user=staff.people["editor"], organization=staff.globex.organization, role=Role.EDITOR
    )
    client, item = staff.as_("editor"), staff.rows["item"]
    one = posted(client, item_page(item))
    other = posted(client, f"/admin/knowledge/item/{theirs}/change/")
    client.post(item_page(item), {**one, "title": "Acme"})
    client.post(f"/admin/knowledge/item/{theirs}/change/", {**other, "title": "Globex"})
    with staff.globex.context():
        assert Item.objects.get(pk=theirs).title == "Globex"
    assert fresh(staff, item).title == "Acme"


def test_two_tabs_with_one_item_do_not_overwrite_each_other(staff):
    client, item = staff.as_("editor"), staff.rows["item"]
    stale = posted(client, item_page(item))
    save(client, item_page(item), title="First")
    answer = client.post(item_page(item), {**stale, "title": "Second"})
    assert "Somebody changed this" in answer.content.decode()
    assert fresh(staff, item).title == "First"


def test_a_list_without_its_box_is_refused(staff):
    _, errors = save(staff.as_("editor"), item_page(staff.rows["item"]), channels="phone")
    assert set(errors) == {"channels"}


def test_a_ticked_box_with_an_empty_list_is_kept_and_means_nobody(staff):
    item = staff.rows["item"]
    save(staff.as_("editor"), item_page(item), segment_restricted="on")
    assert (fresh(staff, item).segment_restricted, fresh(staff, item).segments) == (True, [])


def test_restrictions_are_saved_as_they_were_chosen(staff):
    item, segment = staff.rows["item"], staff.rows["segment"]
    answer = save(
        staff.as_("editor"), item_page(item), segment_restricted="on", segments=[str(segment.pk)],
        jurisdiction_restricted="on", jurisdictions="ae, gb",
    )  # fmt: skip
    kept = fresh(staff, item)
    assert answer == (302, {})
    assert (kept.segments, kept.jurisdictions) == ([segment.pk], ["AE", "GB"])


def test_a_withdrawn_item_is_kept_and_can_be_restored(staff):
    client, item = staff.as_("editor"), staff.rows["item"]
    client.post(item_page(item, "do/withdraw"))
    withdrawn = fresh(staff, item).deleted_at
    client.post(item_page(item, "do/restore"))
    assert (withdrawn is not None, fresh(staff, item).deleted_at) == (True, None)


@pytest.mark.parametrize("page", ["change", "do/withdraw"])
def test_a_viewer_changes_nothing(staff, page):
    item = staff.rows["item"]
    answer = staff.as_("viewer").post(item_page(item, page), {"title": "Other"})
    assert answer.status_code == 403
    assert fresh(staff, item).lock_version == item.lock_version


def test_a_bulk_action_leaves_organizations_alone_where_one_only_reads(staff):
    theirs = staff.globex.item("Their hours", "We open at nine.")
    Membership.objects.create(
        user=staff.people["editor"], organization=staff.globex.organization, role=Role.VIEWER
    )
    sent = {"action": "withdraw_selected", "_selected_action": [str(theirs)]}
    staff.as_("editor").post("/admin/knowledge/item/?organization=globex", sent)
    with staff.globex.context():
        assert Item.objects.get(pk=theirs).deleted_at is None


def test_a_bulk_action_is_in_the_audit_trail(staff):
    item = staff.rows["item"]
    sent = {"action": "reject_selected", "_selected_action": [str(item.pk)]}
    staff.as_("editor").post("/admin/knowledge/item/", sent)
    with staff.acme.context():
        entry = AuditEntry.objects.get(verb="item.review")
    assert (fresh(staff, item).review_status, entry.before) == (
        "rejected", {"review_status": "approved"},
    )  # fmt: skip


def test_a_golden_answer_is_not_changed_as_an_item(staff):
    golden = staff.acme.item("Answer", "We open at seven.", kind="golden")
    answer = staff.as_("admin").post(f"/admin/knowledge/item/{golden}/change/", {"title": "Other"})
    assert answer.status_code == 403


@pytest.mark.parametrize("kind", ["golden", "correction"])
@pytest.mark.parametrize("action", ["approve_selected", "reject_selected"])
def test_a_golden_answer_and_a_correction_are_not_reviewed_as_items(staff, kind, action):
    pk = staff.acme.item("Answer", "We open at seven.", kind=kind, review_status="pending")
    sent = {"action": action, "_selected_action": [str(pk)]}
    staff.as_("editor").post("/admin/knowledge/item/", sent)
    with staff.acme.context():
        assert Item.objects.get(pk=pk).review_status == "pending"


@pytest.mark.parametrize("kind", ["golden", "correction"])
def test_a_golden_answer_and_a_correction_are_read_and_not_changed_as_items(staff, kind):
    pk = staff.acme.item("Answer", "We open at seven.", kind=kind, review_status="pending")
    address, client = f"/admin/knowledge/item/{pk}/change/", staff.as_("editor")
    assert client.get(address).status_code == 200
    assert client.post(address, {"review_status": "approved"}).status_code == 403
    with staff.acme.context():
        assert Item.objects.get(pk=pk).lock_version == 1


@pytest.mark.parametrize("kind", ["golden", "correction"])
def test_a_golden_answer_and_a_correction_are_not_withdrawn_as_items(staff, kind):
    pk = staff.acme.item("Answer", "We open at seven.", kind=kind)
    answer = staff.as_("editor").post(f"/admin/knowledge/item/{pk}/do/withdraw/")
    with staff.acme.context():
        assert Item.objects.get(pk=pk).deleted_at is None
    assert answer.status_code == 403


def test_what_failed_to_index_is_shown_with_its_reason_and_retried(staff):
    item = staff.rows["item"]
    with staff.acme.context():
        IndexState.objects.filter(asset_id=item.pk).update(
            status="failed", last_error="The embedder refused it."
        )
    client = staff.as_("editor")
    listed = client.get("/admin/knowledge/item/?index=failed").content.decode()
    client.post(item_page(item, "do/retry"))
    with staff.acme.context():
        state = IndexState.objects.get(asset_id=item.pk)
    assert "Failed: The embedder refused it." in listed
    assert (state.status, state.attempts) == ("pending", 0)


def test_renaming_a_directory_indexes_its_instructions_again(staff):
    directory, instruction = staff.rows["instructiondirectory"], staff.rows["instruction"]
    address = f"/admin/knowledge/instructiondirectory/{directory.pk}/change/"
    save(staff.as_("editor"), address, name="reception")
    with staff.acme.context():
        assert InstructionDirectory.objects.get(pk=directory.pk).name == "reception"
        assert Instruction.objects.get(pk=instruction.pk).generation == 2


def test_a_directory_cannot_be_put_inside_itself(staff):
    below = staff.acme.directory("desk/below")
    address = (
        f"/admin/knowledge/instructiondirectory/{staff.rows['instructiondirectory'].pk}/change/"
    )
    status, _ = save(staff.as_("editor"), address, parent=str(below))
    assert status == 200


def test_search_finds_a_word_of_the_text_a_part_of_the_title_and_an_id(staff):
    client, item = staff.as_("viewer"), staff.rows["item"]
    staff.acme.item("Price list", "A flamingo costs forty.")
    for text in ("pelican", "pening hou", str(item.pk)):
        page = client.get("/admin/knowledge/item/", {"q": text})
        assert [row.pk for row in page.context["cl"].result_list] == [item.pk], text


@pytest.mark.parametrize(
    ("action", "status"), [("publish_selected", "published"), ("unpublish_selected", "draft")]
)
def test_several_instructions_are_published_or_taken_back_together(staff, action, status):
    row = staff.rows["instruction"]
    other = "draft" if status == "published" else "published"
    with staff.acme.context():
        Instruction.objects.filter(pk=row.pk).update(status=other)
    sent = {"action": action, "_selected_action": [str(row.pk)]}
    staff.as_("editor").post("/admin/knowledge/instruction/", sent)
    assert fresh(staff, row).status == status
