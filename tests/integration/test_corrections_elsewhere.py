"""Corrections and golden answers change by their own verbs alone; every other door leaves them as they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from golden.correcting import (
    Correction,
    approve_correction,
    correct,
    restore_correction,
    withdraw_correction,
)
from knowledge.models import BulkEntry, BulkJob, Instruction, Item
from knowledge.shelving.errors import RestoreTooLate
from knowledge.shelving.items import RESTORABLE
from knowledge.shelving.jobs import undo
from knowledge.shelving.working import work_waiting
from tenants.models import Membership, Role, User
from tests.answers import Staff
from tests.people import program
from tests.shelves import outcomes, worked
from tests.staff import browser
from tests.world import AT, BY

pytestmark = pytest.mark.django_db
SAID = Correction("Is the toucan desk open on Sunday?", "The toucan desk is closed on Sunday.")
ITEMS = "/admin/knowledge/item/"


class Desk(Staff):
    """An organization with a program of an editor and an editor at the pages."""

    def __init__(self) -> None:
        super().__init__()
        self.program = program(self.tenant, "erin", Role.EDITOR)
        user = User.objects.create_user("editor", is_staff=True)
        Membership.objects.create(user=user, organization=self.organization, role=Role.EDITOR)
        self.pages = browser(user)

    def item(self, pk):
        with self.tenant.context():
            return Item.objects.get(pk=pk)

    def answer(self):
        """Return the item of a live golden answer."""
        return self.row(self.published()).item_id


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def correction(desk):
    """One that is in use."""
    pk = correct(desk.organization, SAID, desk.act("author"))
    approve_correction(desk.organization.pk, pk, desk.act("approver"))
    return pk


@pytest.fixture
def withdrawn(desk, correction):
    act = desk.act("publisher", at=datetime.now(tz=UTC))
    withdraw_correction(desk.organization.pk, correction, act)
    return correction


def by_job(desk, pk, verb):
    job = worked(desk.tenant, verb, pk, at=datetime.now(tz=UTC))
    assert outcomes(desk.tenant, job)[desk.item(pk).title] == ("refused", "changed_by_publishing")


def by_api(desk, pk, verb):
    tag = desk.program.get(f"items/{pk}")["ETag"]
    if verb == "restore":
        answer = desk.program.post(f"items/{pk}/restore", If_Match=tag)
    else:
        answer = desk.program.delete(f"items/{pk}", If_Match=tag)
    refused = (answer.status_code, answer.json()["error"]["code"])
    assert refused == (409, "changed_by_publishing")


def by_api_job(desk, pk, verb):
    chosen = [{"id": str(pk), "version": desk.item(pk).lock_version}]
    made = desk.program.post("jobs", {"action": verb, "items": chosen})
    work_waiting(clock=lambda: datetime.now(tz=UTC))
    (told,) = desk.program.get(f"jobs/{made.json()['id']}/items").json()["results"]
    assert (told["outcome"], told["code"]) == ("refused", "changed_by_publishing")


def by_api_folder(desk, pk, verb):
    made = desk.program.post("jobs", {"action": verb, "folder": desk.item(pk).folder_key})
    assert made.status_code == 202, made.content
    work_waiting(clock=lambda: datetime.now(tz=UTC))
    assert desk.program.get(f"jobs/{made.json()['id']}").json()["refused"] == 1


def by_button(desk, pk, verb):
    name = {"delete": "withdraw"}.get(verb, verb)
    assert desk.pages.post(f"{ITEMS}{pk}/do/{name}/").status_code == 403


def by_action(desk, pk, verb):
    name = {"delete": "withdraw"}.get(verb, verb)
    sent = {"action": f"{name}_selected", "_selected_action": [str(pk)]}
    address = f"{ITEMS}?withdrawn=yes" if verb == "restore" else ITEMS
    page = desk.pages.post(address, sent, follow=True).content.decode()
    assert "Done for 0 of the chosen rows." in page


def by_browser(desk, pk, verb):
    row = f"{pk}:{desk.item(pk).lock_version}"
    answer = desk.pages.post("/admin/browse/acme/do/", {"action": verb, "row": [row]})
    assert answer.status_code == 302
    with desk.tenant.context():
        assert BulkEntry.objects.get().code == "changed_by_publishing"


DOORS = [by_job, by_api, by_api_job, by_api_folder, by_button, by_action, by_browser]


@pytest.mark.parametrize("door", DOORS)
def test_a_withdrawn_correction_stays_silent_whoever_restores_it_as_an_item(desk, withdrawn, door):
    before = desk.item(withdrawn).lock_version
    door(desk, withdrawn, "restore")
    assert desk.item(withdrawn).deleted_at is not None
    assert desk.item(withdrawn).lock_version == before
    assert desk.heard("toucan desk sunday") == []


@pytest.mark.parametrize("door", DOORS)
def test_a_correction_in_use_is_heard_on_whoever_deletes_it_as_an_item(desk, correction, door):
    door(desk, correction, "delete")
    assert desk.item(correction).lock_version == 2
    assert desk.heard("toucan desk sunday") == [("knowledge", SAID.text)]


@pytest.mark.parametrize("door", [by_job, by_api, by_api_job, by_button, by_action, by_browser])
def test_a_golden_answer_is_heard_on_whoever_deletes_it_as_an_item(desk, door):
    pk = desk.answer()
    door(desk, pk, "delete")
    assert desk.item(pk).deleted_at is None
    assert [kind for kind, _ in desk.heard()] == ["golden"]


def test_a_deletion_of_the_release_before_is_not_undone_for_a_correction(desk, withdrawn):
    with desk.tenant.context():
        own = {"organization": desk.organization, "started_at": AT, "actor_label": "editor"}
        job = BulkJob.objects.create(**own, action="delete", label="", status="done", total=1)
        BulkEntry.objects.create(
            organization=desk.organization, job=job, item_id=withdrawn, outcome="done",
            version=desk.item(withdrawn).lock_version, before={"deleted_at": None},
        )  # fmt: skip
        undone = undo(job, by=BY, at=AT)
    work_waiting(clock=lambda: AT)
    told = outcomes(desk.tenant, undone)[SAID.question]
    assert told == ("refused", "changed_by_publishing")
    assert desk.heard("toucan desk sunday") == []


def test_after_thirty_days_no_publisher_restores_a_correction(desk, withdrawn):
    late = datetime.now(tz=UTC) + RESTORABLE + timedelta(minutes=1)
    with pytest.raises(RestoreTooLate):
        restore_correction(desk.organization.pk, withdrawn, desk.act("publisher", at=late))


@pytest.fixture
def long_gone(desk):
    """An ordinary item that was deleted more than thirty days ago."""
    pk = desk.tenant.item("Hours", "The pelican lounge opens at seven.")
    desk.tenant.change_item(pk, deleted_at=datetime.now(tz=UTC) - RESTORABLE - timedelta(days=1))
    return pk


def test_after_thirty_days_no_program_restores_an_item(desk, long_gone):
    tag = desk.program.get(f"items/{long_gone}")["ETag"]
    answer = desk.program.post(f"items/{long_gone}/restore", If_Match=tag)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "restore_too_late")
    assert desk.item(long_gone).deleted_at is not None


def test_after_thirty_days_no_program_restores_an_instruction(desk):
    pk = desk.tenant.instruction("Greeting")
    with desk.tenant.context():
        long_ago = datetime.now(tz=UTC) - RESTORABLE - timedelta(days=1)
        Instruction.objects.filter(pk=pk).update(deleted_at=long_ago)
    tag = desk.program.get(f"instructions/{pk}")["ETag"]
    answer = desk.program.post(f"instructions/{pk}/restore", If_Match=tag)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "restore_too_late")


@pytest.mark.parametrize("path", ["{pk}/do/restore/", "?withdrawn=yes"])
def test_after_thirty_days_no_page_of_the_admin_restores_an_item(desk, long_gone, path):
    sent = {"action": "restore_selected", "_selected_action": [str(long_gone)]}
    answer = desk.pages.post(ITEMS + path.format(pk=long_gone), sent, follow=True)
    assert desk.item(long_gone).deleted_at is not None
    assert "more than thirty days ago" in answer.content.decode()


@pytest.mark.parametrize("kind", ["golden", "correction"])
@pytest.mark.parametrize(
    ("action", "target"),
    [("delete", ""), ("restore", ""), ("publish", ""), ("unpublish", ""), ("move", "help/x")],
)
def test_no_job_changes_what_golden_keeps_wherever_it_lies(desk, kind, action, target):
    pk = desk.tenant.item("Kept", kind=kind, review_status="pending")
    before = desk.item(pk)
    job = worked(desk.tenant, action, pk, target=target, at=AT)
    assert outcomes(desk.tenant, job) == {"Kept": ("refused", "changed_by_publishing")}
    after = desk.item(pk)
    assert after.lock_version == before.lock_version
    assert after.folder_key == before.folder_key


@pytest.mark.parametrize("kind", ["golden", "correction"])
def test_a_push_that_names_what_golden_keeps_is_refused(desk, kind):
    pk = desk.tenant.item("Kept", "As it was approved.", kind=kind)
    said = {"external_id": "Kept", "title": "Kept", "body": "Otherwise."}
    answer = desk.program.post("items", {"source": "help", **said})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "changed_by_publishing")
    bulk = desk.program.post("items/bulk", {"source": "help", "rows": [said]}).json()["results"]
    assert bulk[0]["error"]["code"] == "changed_by_publishing"
    assert desk.item(pk).body == "As it was approved."


@pytest.mark.parametrize("kind", ["golden", "correction"])
def test_an_import_prunes_nothing_that_golden_keeps(desk, kind, tmp_path):
    kept, ordinary = desk.tenant.item("Kept", kind=kind), desk.tenant.item("Ordinary")
    (tmp_path / "a.md").write_text("# A\n\nAbout a.")
    call_command("ingest", str(tmp_path), organization="acme", source="help", prune=True)
    assert desk.item(kept).deleted_at is None
    assert desk.item(ordinary).deleted_at is not None
