"""The sources of golden answers and of corrections are made and filled by golden's verbs alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from golden.correcting import Correction, approve_correction, correct
from golden.keeping import Care, assign
from golden.serving import ensure_source
from knowledge.errors import KindKept
from knowledge.indexing.writing import ItemContent, change, write_item
from knowledge.ingestion.errors import ImportRefused
from knowledge.ingestion.uploads import HandedIn, hand_in
from knowledge.models import ImportFailure, Item, Source, SourceSchedule
from knowledge.shelving.errors import NotOurs
from knowledge.shelving.folders import delete_folder, lift_folder, move_folder
from tenants.models import AuditEntry, Membership, Role, User
from tests.answers import CONTENT, Staff
from tests.people import program
from tests.staff import browser, posted
from tests.world import AT, BY

pytestmark = pytest.mark.django_db
SAID = Correction("Is the toucan desk open on Sunday?", "The toucan desk is closed on Sunday.")
FORGED = "The toucan desk sells tickets to the moon."
RESERVED = ("golden", "corrections")
SITE = {"kind": "site", "config": {"start": "https://help.example/"}, "every_minutes": 60}
reserved = pytest.mark.parametrize("slug", RESERVED)


@pytest.fixture
def staff():
    return Staff()


@pytest.fixture
def erin(staff):
    return program(staff.tenant, "erin", Role.EDITOR)


@pytest.fixture
def pages(staff):
    user = User.objects.create_user("editor", is_staff=True)
    Membership.objects.create(user=user, organization=staff.organization, role=Role.EDITOR)
    return browser(user)


def code(answer):
    return answer.status_code, answer.json()["error"]["code"]


def corrected(staff):
    pk = correct(staff.organization, SAID, staff.act("author"))
    approve_correction(staff.organization.pk, pk, staff.act("approver"))
    return pk


def item(staff, pk):
    with staff.tenant.context():
        return Item.objects.select_related("source").get(pk=pk)


def sources(staff):
    with staff.tenant.context():
        return set(Source.objects.values_list("slug", flat=True))


def forged(tmp_path, found, text=FORGED):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"id": found.external_id, "title": "Toucan desk", "text": text}))
    return str(file)


def ingest(path, source):
    call_command("ingest", path, organization="acme", source=source)


def old_source(staff, slug, kind="folder"):
    """A source of the name that somebody made before it was reserved."""
    with staff.tenant.context():
        return Source.objects.create(
            organization=staff.organization, slug=slug, name=slug, kind=kind
        )


def test_an_import_into_corrections_changes_no_correction(staff, tmp_path):
    found = item(staff, corrected(staff))
    with pytest.raises(CommandError, match="written by staff"):
        ingest(forged(tmp_path, found), "corrections")
    assert staff.heard("toucan desk sunday") == [("knowledge", SAID.text)]


def test_an_import_into_a_source_that_golden_answers_took_changes_none(staff, tmp_path):
    old_source(staff, "golden")
    found = item(staff, staff.row(staff.published()).item_id)
    with pytest.raises(CommandError, match="written by staff"):
        ingest(forged(tmp_path, found), "golden")
    assert staff.heard() == [("golden", CONTENT.answer)]


@pytest.mark.parametrize("kind", ["golden", "correction"])
def test_a_row_that_names_an_item_of_another_kind_is_refused_alone(staff, tmp_path, kind):
    pk = staff.tenant.item("Desk", "As it was approved.", kind=kind)
    file = tmp_path / "rows.jsonl"
    rows = [
        {"id": "Desk", "title": "Desk", "text": FORGED},
        {"id": "b", "title": "B", "text": "B."},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    ingest(str(file), "help")
    assert item(staff, pk).body == "As it was approved."
    with staff.tenant.context():
        assert ImportFailure.objects.get().code == "row_refused"
        assert Item.objects.filter(external_id="b").exists()


@reserved
def test_files_are_not_handed_in_to_them(staff, slug):
    source = old_source(staff, slug)
    with staff.tenant.context(), pytest.raises(ImportRefused):
        hand_in(source, "", [HandedIn("a.md", b"# A\n\nAbout a.")], by=BY, at=AT)


@reserved
def test_the_page_for_handing_files_in_does_not_offer_them(staff, pages, slug):
    source = old_source(staff, slug)
    assert str(source.pk) not in pages.get("/admin/imports/new/").content.decode()
    browsed = pages.get(f"/admin/browse/acme/?place={slug}").content.decode()
    assert "imports/new" not in browsed


@reserved
def test_the_api_makes_none_of_their_names(staff, erin, slug):
    answer = erin.post("sources", {"slug": slug, "name": "Mine"})
    assert code(answer) == (409, "name_reserved")
    assert slug not in sources(staff)


@reserved
def test_the_api_neither_fills_renames_schedules_nor_deletes_them(staff, erin, slug):
    source = old_source(staff, slug)
    row = {"external_id": "a", "title": "A", "body": FORGED}
    assert code(erin.post("items", {"source": slug, **row})) == (409, "changed_by_publishing")
    (bulk,) = erin.post("items/bulk", {"source": slug, "rows": [row]}).json()["results"]
    assert bulk["error"]["code"] == "changed_by_publishing"
    address = f"sources/{source.pk}"
    tag = erin.get(address)["ETag"]
    answers = [
        erin.patch(address, {"name": "Mine"}, If_Match=tag),
        erin.delete(address, If_Match=tag),
        erin.post(f"{address}/schedule", SITE),
    ]
    assert [code(answer) for answer in answers] == [(409, "changed_by_publishing")] * 3


@reserved
def test_the_admin_makes_none_of_their_names(staff, pages, slug):
    sent = {"organization": staff.organization.pk, "slug": slug, "name": "Mine", "kind": "upload"}
    page = pages.post("/admin/knowledge/source/add/", sent)
    assert "choose another name" in page.content.decode()
    assert slug not in sources(staff)


@reserved
def test_the_admin_writes_no_item_into_them(staff, pages, slug):
    source = old_source(staff, slug)
    address = "/admin/knowledge/item/add/"
    told = {"organization": staff.organization.pk, "source": str(source.pk), "title": "A"}
    sent = posted(pages, address) | told | {"body": FORGED}
    page = pages.post(address, sent)
    assert "Golden answers change by publishing" in page.content.decode()
    with staff.tenant.context():
        assert not Item.objects.exists()


@reserved
def test_the_admin_has_none_of_them_kept_fresh(staff, pages, slug):
    source = old_source(staff, slug)
    sent = {"organization": staff.organization.pk, "source": str(source.pk), "kind": "site",
            "config": json.dumps(SITE["config"]), "every_minutes": 60, "is_active": "on"}  # fmt: skip
    page = pages.post("/admin/knowledge/sourceschedule/add/", sent)
    assert "Golden answers change by publishing" in page.content.decode()
    with staff.tenant.context():
        assert not SourceSchedule.objects.exists()


def test_a_schedule_that_such_a_source_has_already_can_be_ended(staff, pages):
    with staff.tenant.context():
        made = SourceSchedule.objects.create(
            organization=staff.organization, source=old_source(staff, "golden"), kind="site",
            config=SITE["config"],
        )  # fmt: skip
    address = f"/admin/knowledge/sourceschedule/{made.pk}/change/"
    sent: dict[str, Any] = dict(posted(pages, address))
    sent.pop("is_active")
    assert pages.post(address, sent).status_code == 302
    with staff.tenant.context():
        assert not SourceSchedule.objects.get().is_active


@reserved
def test_the_command_that_brings_files_in_makes_none_of_them(staff, tmp_path, slug):
    (tmp_path / "a.md").write_text("# A\n\nAbout a.")
    with pytest.raises(CommandError, match="written by staff"):
        ingest(str(tmp_path), slug)
    assert slug not in sources(staff)


@reserved
def test_the_command_for_sources_makes_none_of_them(staff, slug):
    with pytest.raises(CommandError, match="choose another name"):
        call_command(
            "sources", "add", organization="acme", source=slug, kind="site",
            config=json.dumps(SITE["config"]),
        )  # fmt: skip
    assert slug not in sources(staff)


@reserved
def test_folders_of_them_are_neither_moved_nor_deleted(staff, slug):
    old_source(staff, slug)
    staff.tenant.item("Old", source=slug, folder="desks")
    who: dict[str, Any] = {"by": BY, "at": AT}
    key, number = f"{slug}/desks", staff.organization.pk
    with staff.tenant.context():
        for verb, told in ((move_folder, [f"{slug}/x"]), (lift_folder, []), (delete_folder, [])):
            with pytest.raises(NotOurs):
                verb(number, key, *told, **who)


def test_instructions_may_come_from_a_place_of_such_a_name(staff, tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nSay hello.")
    call_command("ingest", str(tmp_path), organization="acme", source="golden", instructions=True)
    assert sources(staff) == set()


def test_the_first_publish_takes_a_source_over_that_was_there_before(staff):
    source = old_source(staff, "golden")
    old = staff.tenant.item("Old", "The old lounge is closed.", source="golden")
    golden = staff.published()
    served = item(staff, staff.row(golden).item_id)
    assert (served.source, served.source.kind) == (source, "golden")
    assert (item(staff, old).kind, item(staff, old).body) == (
        "knowledge", "The old lounge is closed.",
    )  # fmt: skip
    with staff.tenant.context():
        told = AuditEntry.objects.get(verb="source.take_over")
    assert (told.before, told.after) == ({"kind": "folder"}, {"kind": "golden"})


def test_a_source_is_taken_over_once(staff):
    old_source(staff, "golden")
    with staff.tenant.context():
        assert ensure_source(staff.organization.pk, at=AT) == ensure_source(
            staff.organization.pk, at=AT
        )
        assert AuditEntry.objects.filter(verb="source.take_over").count() == 1


def test_a_golden_answer_is_not_written_over_as_an_ordinary_item(staff):
    found = item(staff, staff.row(staff.published()).item_id)
    with staff.tenant.context(), pytest.raises(KindKept):
        write_item(
            ItemContent(
                staff.organization.pk, found.source_id, found.external_id, "Desk", FORGED, "golden"
            ),
            at=AT,
        )
    assert staff.heard() == [("golden", CONTENT.answer)]


def test_an_item_that_waits_under_an_answers_name_becomes_the_answer_whole(staff):
    old_source(staff, "golden")
    golden = staff.write()
    staff.tenant.item(str(golden), FORGED, source="golden", review_status="rejected")
    staff.publish(golden)
    assert staff.heard() == [("golden", CONTENT.answer)]
    assert item(staff, staff.row(golden).item_id).kind == "golden"


def overwrite(staff, pk, **columns):
    """Change an answer's item as an import of an earlier release could."""
    with staff.tenant.context():
        found = Item.objects.select_for_update(no_key=True).get(pk=staff.row(pk).item_id)
        change(found, at=AT, **columns)


@pytest.fixture
def publisher(staff):
    return browser(User.objects.get(pk=staff.people["publisher"].user_id))


def compare(publisher):
    return publisher.post("/admin/golden-index/?organization=acme", follow=True).content.decode()


@pytest.mark.parametrize(
    "columns", [{"body": FORGED}, {"visibility": "internal"}, {"phrasings": []}]
)
def test_comparing_says_an_answer_again_as_it_was_published(staff, publisher, columns):
    pk = staff.published()
    overwrite(staff, pk, **columns)
    assert "1 answer said something else" in compare(publisher)
    assert staff.heard() == [("golden", CONTENT.answer)]
    served = item(staff, staff.row(pk).item_id)
    assert served.phrasings == list(CONTENT.paraphrases)
    with staff.tenant.context():
        assert AuditEntry.objects.filter(verb="golden.serve_again", subject_id=str(pk)).count() == 1
    assert "said something else" not in compare(publisher)


def test_comparing_leaves_alone_what_is_said_as_it_was_published(staff, publisher):
    pk, gone = staff.published(), staff.published(replace(CONTENT, question="Where is the exit?"))
    staff.archive(gone)
    before = item(staff, staff.row(pk).item_id).lock_version
    archived = item(staff, staff.row(gone).item_id).lock_version
    assert "said something else" not in compare(publisher)
    assert item(staff, staff.row(pk).item_id).lock_version == before
    assert item(staff, staff.row(gone).item_id).lock_version == archived


def test_a_new_owner_is_no_difference(staff, publisher):
    pk = staff.published()
    assign(staff.organization.pk, pk, Care(staff.people["author"].user_id, 30), staff.act("author"))
    assert "said something else" not in compare(publisher)


def test_comparing_takes_over_a_source_that_answers_took_before(staff, publisher):
    pk = staff.published()
    with staff.tenant.context():
        Source.objects.filter(slug="golden").update(kind="folder")
    overwrite(staff, pk, body=FORGED)
    compare(publisher)
    assert item(staff, staff.row(pk).item_id).source.kind == "golden"
