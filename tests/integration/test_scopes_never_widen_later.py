"""What is undone, taken over from the past or saved from an old page never opens more than was meant."""

from __future__ import annotations

from datetime import timedelta

import pytest

from knowledge.errors import FolderRefused
from knowledge.folders import folder_key
from knowledge.models import BulkJob
from knowledge.shelving.folders import lift_folder, move_folder, rename_folder
from knowledge.shelving.items import RESTORABLE
from knowledge.shelving.jobs import undo
from knowledge.shelving.purging import purge_deleted
from knowledge.shelving.working import work_waiting
from scopes.errors import ScopeChangedMeanwhile, SelectionGone
from scopes.models import AgentScope
from scopes.retaking import past_selection, restore_selection
from scopes.selector.deltas import Delta
from scopes.selector.saving import Onto, save
from tenants.models import AuditEntry
from tests.shelves import filed, order, outcomes, says, worked
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db
NOON, EVENING = AT + timedelta(hours=1), AT + timedelta(hours=2)
# When a rename began that was committed last.
EARLIER = AT - timedelta(hours=1)


@pytest.fixture
def acme():
    made = tenant("acme")
    made.item("Hours", "The pelican lounge opens at seven.", folder="public")
    made.item("Safe", "The pelican safe opens with a code.", folder="staff")
    made.item("Rest", "The pelican rests at noon.", folder="other")
    return made


@pytest.fixture
def clerk(acme):
    made = acme.agent("clerk")
    acme.pick(made, "knowledge", containers=["help/public"])
    return made


def did(acme, verb, *told, at=NOON):
    with acme.context():
        return verb(acme.organization.pk, *told, by=BY, at=at)


def version(acme, agent):
    with acme.context():
        return AgentScope.objects.get(agent=agent, category="knowledge").version


def gone_back(acme, agent, key="help/public"):
    """Take the selection of an agent over again in which a folder was."""
    with acme.context():
        changes = AuditEntry.objects.filter(subject_id=str(agent.pk), verb="scope.select")
        past = past_selection(agent, changes.get(after__containers__contains=[key]).pk)
    assert past is not None
    now = version(acme, agent)
    return restore_selection(agent, past, version=now, by=BY, at=EVENING)


def test_going_back_follows_a_folder_that_was_renamed_since(acme, clerk):
    did(acme, rename_folder, "help/public", "open")
    acme.pick(clerk, "knowledge", containers=["help/other"])
    assert gone_back(acme, clerk) == 0
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_going_back_never_selects_another_folder_that_took_the_name(acme, clerk):
    did(acme, rename_folder, "help/public", "open")
    did(acme, rename_folder, "help/staff", "public", at=EVENING)
    gone_back(acme, clerk)
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_going_back_leaves_out_an_emptied_folder_whose_name_another_one_has(acme):
    clerk = acme.agent("clerk")
    acme.pick(clerk, "knowledge", containers=["help/new", "help/public"])
    acme.pick(clerk, "knowledge", containers=["help/public"])
    did(acme, rename_folder, "help/staff", "new")
    assert gone_back(acme, clerk, "help/new") == 1
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_going_back_to_a_folder_that_is_another_one_now_is_refused_when_nothing_is_left(acme):
    clerk = acme.agent("clerk")
    acme.pick(clerk, "knowledge", containers=["help/new"])
    acme.pick(clerk, "knowledge", containers=["help/public"])
    did(acme, rename_folder, "help/staff", "new")
    with pytest.raises(SelectionGone):
        gone_back(acme, clerk, "help/new")
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_going_back_leaves_out_a_name_that_came_up_from_a_folder_let_go(acme):
    acme.item("Deep", "The pelican dives.", folder="staff/new")
    clerk = acme.agent("clerk")
    acme.pick(clerk, "knowledge", containers=["help/new"])
    acme.pick(clerk, "knowledge", containers=["help/public"])
    did(acme, lift_folder, "help/staff")
    with pytest.raises(SelectionGone):
        gone_back(acme, clerk, "help/new")


def test_going_back_follows_a_rename_that_began_before_the_selection(acme, clerk):
    did(acme, rename_folder, "help/public", "open", at=EARLIER)
    did(acme, rename_folder, "help/staff", "public", at=EARLIER)
    acme.pick(clerk, "knowledge", containers=["help/other"])
    gone_back(acme, clerk)
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_going_back_follows_renames_of_one_instant_in_their_order(acme, clerk):
    for old, new in (("public", "open"), ("open", "shown"), ("shown", "told")):
        did(acme, rename_folder, f"help/{old}", new, at=AT)
    acme.pick(clerk, "knowledge", containers=["help/other"])
    gone_back(acme, clerk)
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_going_back_to_what_a_rename_left_does_not_follow_that_rename_again(acme, clerk):
    did(acme, rename_folder, "help/public", "open", at=EARLIER)
    acme.pick(clerk, "knowledge", containers=["help/other"])
    assert gone_back(acme, clerk, "help/open") == 0
    assert says(acme, clerk, "pelican") == {"Hours"}


def emptied(acme):
    """Move the only item of a folder away, and let a folder that an agent has selected take its name."""
    moving = acme.item("Code", "The pelican code is seven.", folder="drawer")
    job = worked(acme, "move", moving, target="help/staff")
    did(acme, move_folder, "help/public", "help/drawer")
    return job


def undone(acme, job):
    with acme.context():
        made = undo(BulkJob.objects.get(pk=job.pk), by=BY, at=EVENING)
    work_waiting(clock=lambda: EVENING)
    return made


def test_undoing_a_move_files_nothing_into_another_folder_that_took_the_name(acme, clerk):
    made = undone(acme, emptied(acme))
    assert outcomes(acme, made) == {"Code": ("refused", "folder_in_use")}
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_undoing_a_move_follows_the_folder_that_was_renamed_since(acme, clerk):
    hours = acme.item("Holidays", "The pelican flies in May.", folder="public")
    job = worked(acme, "move", hours, target="help/staff")
    did(acme, rename_folder, "help/public", "open")
    undone(acme, job)
    assert filed(acme)["Holidays"] == "help/open"
    assert says(acme, clerk, "pelican") == {"Hours", "Holidays"}


def test_undoing_a_move_follows_a_rename_that_began_before_it(acme, clerk):
    moving = acme.item("Holidays", "The pelican flies in May.", folder="public")
    job = worked(acme, "move", moving, target="help/staff")
    did(acme, rename_folder, "help/public", "open", at=EARLIER)
    undone(acme, job)
    assert filed(acme)["Holidays"] == "help/open"
    assert says(acme, clerk, "pelican") == {"Hours", "Holidays"}


def test_a_move_that_waits_follows_a_rename_that_began_before_it(acme):
    key = acme.item("Key", "The pelican key hangs there.", folder="drawer")
    order(acme, "move", key, target="help/other")
    did(acme, rename_folder, "help/other", "rest", at=EARLIER)
    work_waiting(clock=lambda: EVENING)
    assert filed(acme)["Key"] == "help/rest"


def test_a_move_that_waits_follows_the_folder_that_is_renamed_meanwhile(acme):
    safe = acme.item("Key", "The pelican key hangs there.", folder="drawer")
    order(acme, "move", safe, target="help/other")
    did(acme, rename_folder, "help/other", "rest")
    work_waiting(clock=lambda: EVENING)
    assert filed(acme)["Key"] == "help/rest"


@pytest.fixture
def halved(acme):
    """An agent with an item and a folder selected, of which the item was removed for good."""
    clerk = acme.agent("clerk")
    item = acme.item("Old", "The pelican was young.")
    acme.pick(clerk, "knowledge", rows=[item], containers=["help/public"])
    seen = version(acme, clerk)
    worked(acme, "delete", item)
    purge_deleted(AT + RESTORABLE + timedelta(seconds=1))
    return clerk, item, seen


def saved(agent, *removed, version):
    delta = Delta(remove=frozenset(removed))
    onto = Onto(version, version)
    return save(agent, "knowledge", delta, onto=onto, by=BY, at=EVENING)


def test_a_tick_taken_away_on_a_page_older_than_a_purge_does_not_open_the_scope(acme, halved):
    clerk, _item, seen = halved
    with pytest.raises(ScopeChangedMeanwhile):
        saved(clerk, "c:help/public", version=seen)
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_taking_away_what_was_removed_for_good_does_not_open_the_scope(acme):
    clerk = acme.agent("clerk")
    item = acme.item("Old", "The pelican was young.")
    acme.pick(clerk, "knowledge", rows=[item])
    worked(acme, "delete", item)
    purge_deleted(AT + RESTORABLE + timedelta(seconds=1))
    with pytest.raises(SelectionGone):
        saved(clerk, f"r:{item}", version=version(acme, clerk))
    assert says(acme, clerk, "pelican") == set()


def test_a_key_that_no_column_holds_is_refused():
    path = "/".join("n" * 249 for _ in range(4))
    assert len(folder_key("s" * 3, path[:-3])) == 1_000
    with pytest.raises(FolderRefused):
        folder_key("help", path)
