"""Folders renamed, moved, let go and deleted: selections follow, and no agent ever finds more."""

from __future__ import annotations

import pytest

from knowledge.errors import FolderRefused
from knowledge.models import BulkJob, Item, Source, SourceSchedule
from knowledge.shelving.errors import (
    FolderChanged,
    FolderGone,
    FolderInUse,
    NotOurs,
    SourceFilesIt,
    StaysInSource,
)
from knowledge.shelving.folders import delete_folder, lift_folder, move_folder, rename_folder
from knowledge.shelving.jobs import undo
from knowledge.shelving.working import work_waiting
from scopes.errors import ScopeChangedMeanwhile
from scopes.models import AgentScope, FolderPick
from scopes.selecting import Picks, select
from tenants.models import AuditEntry
from tests.shelves import filed, says
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    made = tenant("acme")
    made.item("Hours", "The pelican lounge opens at seven.", folder="public/hours")
    made.item("Ramadan", "The pelican lounge opens at nine.", folder="public/hours/ramadan")
    made.item("Prices", "A flamingo ticket costs forty.", folder="public/prices")
    made.item("Secret", "The pelican safe opens with a code.", folder="staff")
    return made


@pytest.fixture
def clerk(acme):
    made = acme.agent("clerk")
    acme.pick(made, "knowledge", containers=["help/public/hours"])
    return made


def did(acme, verb, *told, **more):
    with acme.context():
        return verb(acme.organization.pk, *told, by=BY, at=AT, **more)


def picked(acme):
    with acme.context():
        return set(FolderPick.objects.values_list("folder_key", flat=True))


def test_a_renamed_folder_keeps_its_items_and_its_selections(acme, clerk):
    done = did(acme, rename_folder, "help/public/hours", "opening")
    assert done.items == 2
    assert filed(acme)["Hours"] == "help/public/opening"
    assert filed(acme)["Ramadan"] == "help/public/opening/ramadan"
    assert picked(acme) == {"help/public/opening"}
    assert says(acme, clerk, "pelican") == {"Hours", "Ramadan"}


def test_items_are_matched_by_the_new_name_of_their_folder(acme, clerk):
    did(acme, rename_folder, "help/public/hours", "zanzibar")
    work_waiting(clock=lambda: AT)
    assert says(acme, clerk, "zanzibar") == {"Hours"}
    with acme.context():
        assert BulkJob.objects.get().status == "done"


def test_a_folder_that_moves_takes_selections_below_it_along(acme, clerk):
    acme.pick(clerk, "knowledge", containers=["help/public/hours/ramadan"])
    did(acme, move_folder, "help/public/hours", "help/archive/hours")
    assert picked(acme) == {"help/archive/hours/ramadan"}
    assert says(acme, clerk, "pelican") == {"Ramadan"}


def test_a_deleted_item_moves_with_its_folder(acme):
    with acme.context():
        Item.objects.filter(title="Ramadan").update(deleted_at=AT)
    did(acme, rename_folder, "help/public/hours", "opening")
    assert filed(acme)["Ramadan"] == "help/public/opening/ramadan"


def test_a_key_in_use_is_never_taken(acme):
    with pytest.raises(FolderInUse):
        did(acme, rename_folder, "help/public/hours", "prices")
    with acme.context():
        Item.objects.filter(title="Prices").update(deleted_at=AT)
    with pytest.raises(FolderInUse):
        did(acme, rename_folder, "help/public/hours", "prices")


def test_a_key_that_only_a_selection_names_is_never_taken(acme):
    apprentice = acme.agent("apprentice")
    acme.pick(apprentice, "knowledge", containers=["help/public/gone/deep"])
    with pytest.raises(FolderInUse):
        did(acme, move_folder, "help/staff", "help/public/gone")
    assert says(acme, apprentice, "pelican") == set()


def test_everything_in_a_folder_moves_up(acme, clerk):
    did(acme, lift_folder, "help/public/hours", expected=2)
    assert filed(acme)["Hours"] == "help/public"
    assert filed(acme)["Ramadan"] == "help/public/ramadan"


def test_a_selection_of_a_folder_that_goes_restricts_as_before(acme, clerk):
    did(acme, lift_folder, "help/public/hours")
    assert picked(acme) == {"help/public/hours"}
    assert says(acme, clerk, "pelican") == set()


def test_moving_up_takes_no_key_in_use(acme):
    acme.item("Other", folder="public/ramadan")
    with pytest.raises(FolderInUse) as refusal:
        did(acme, lift_folder, "help/public/hours")
    assert refusal.value.data["folder"] == "help/public/ramadan"
    assert filed(acme)["Hours"] == "help/public/hours"


def test_everything_in_a_folder_is_deleted_and_comes_back(acme, clerk):
    job = did(acme, delete_folder, "help/public/hours", expected=2)
    work_waiting(clock=lambda: AT)
    assert says(acme, clerk, "pelican") == set()
    assert picked(acme) == {"help/public/hours"}
    with acme.context():
        undo(job, by=BY, at=AT)
    work_waiting(clock=lambda: AT)
    assert says(acme, clerk, "pelican") == {"Hours", "Ramadan"}


def test_a_folder_that_changed_since_it_was_seen_is_not_deleted(acme):
    for verb in (delete_folder, lift_folder):
        with pytest.raises(FolderChanged):
            did(acme, verb, "help/public/hours", expected=1)


def test_what_is_not_there_is_refused(acme):
    globex = tenant("globex")
    globex.item("Theirs", folder="theirs")
    for verb in (delete_folder, lift_folder):
        with pytest.raises(FolderGone):
            did(acme, verb, "help/theirs")
    with pytest.raises(FolderGone):
        did(acme, rename_folder, "nowhere/a", "b")


@pytest.mark.parametrize("name", ["a/b", "..", "", "a\tb"])
def test_a_folder_has_one_name(acme, name):
    with pytest.raises(FolderRefused):
        did(acme, rename_folder, "help/public", name)


def test_a_folder_moves_neither_into_itself_nor_out_of_its_source(acme):
    with pytest.raises(FolderRefused):
        did(acme, move_folder, "help/public", "help/public/hours/public")
    with pytest.raises(FolderRefused):
        did(acme, move_folder, "help", "help/help")
    with pytest.raises(StaysInSource):
        did(acme, move_folder, "help/public", "site/public")


def test_a_path_that_would_be_too_long_is_refused(acme):
    deep = "/".join(["x" * 200] * 4)
    acme.item("Deep", folder=f"staff/{deep}")
    with pytest.raises(FolderRefused):
        did(acme, rename_folder, "help/staff", "y" * 255)
    assert "help/staff" in filed(acme)["Secret"]


def test_a_source_that_is_kept_fresh_files_its_items_itself(acme):
    with acme.context():
        SourceSchedule.objects.create(
            organization=acme.organization, source=acme.source(), kind="site", config={}
        )
    with pytest.raises(SourceFilesIt):
        did(acme, rename_folder, "help/public/hours", "opening")
    assert did(acme, delete_folder, "help/public/hours").total == 2


def test_golden_answers_are_not_refiled_or_deleted(acme):
    with acme.context():
        Source.objects.filter(slug="help").update(kind="golden")
    for verb, told in ((rename_folder, ["x"]), (lift_folder, []), (delete_folder, [])):
        with pytest.raises(NotOurs):
            did(acme, verb, "help/public/hours", *told)


def test_a_page_opened_before_a_rename_cannot_save_the_old_key_unseen(acme, clerk):
    with acme.context():
        version = AgentScope.objects.get(agent=clerk, category="knowledge").version
    did(acme, rename_folder, "help/public/hours", "opening")
    with pytest.raises(ScopeChangedMeanwhile):
        select(
            clerk, "knowledge", Picks(containers=frozenset({"help/staff"})),
            version=version, by=BY, at=AT,
        )  # fmt: skip


def test_a_rename_is_written_down_for_the_folder_and_for_every_scope(acme, clerk):
    did(acme, rename_folder, "help/public/hours", "opening")
    with acme.context():
        entries = AuditEntry.objects.filter(at__gte=AT)
        folder = entries.get(verb="folder.move")
        scope = entries.filter(verb="scope.select").latest("at", "id")
    assert (folder.before, folder.after["folder"]) == (
        {"folder": "help/public/hours"}, "help/public/opening",
    )  # fmt: skip
    assert scope.subject_id == str(clerk.pk)
    assert scope.after["containers"] == ["help/public/opening"]
