"""Work on many items: an outcome for each, cancelled, undone, and taken up again after a kill."""

from __future__ import annotations

from datetime import timedelta

import pytest

from knowledge.models import BulkEntry, BulkJob, Item, SourceSchedule
from knowledge.shelving import working
from knowledge.shelving.errors import CannotUndo, NothingChosen
from knowledge.shelving.items import RESTORABLE
from knowledge.shelving.jobs import Order, cancel, start, start_chosen, undo
from knowledge.shelving.working import LEASE, work, work_waiting
from knowledge.tasks import work_bulk
from tenants.models import AuditEntry
from tests.shelves import again, filed, order, outcomes, says, worked
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def clerk(acme):
    return acme.agent("clerk")


@pytest.fixture
def hours(acme):
    return acme.item("Hours", "The pelican lounge opens at seven.", folder="public")


def test_the_next_search_finds_a_deleted_item_no_more_and_a_restored_one_again(acme, clerk, hours):
    assert says(acme, clerk, "pelican") == {"Hours"}
    worked(acme, "delete", hours)
    assert says(acme, clerk, "pelican") == set()
    worked(acme, "restore", hours)
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_an_unpublished_item_is_found_again_once_it_is_published(acme, clerk, hours):
    worked(acme, "unpublish", hours)
    assert says(acme, clerk, "pelican") == set()
    worked(acme, "publish", hours)
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_a_moved_item_keeps_its_own_selection_and_leaves_that_of_its_folder(acme, clerk, hours):
    other = acme.agent("other")
    acme.pick(clerk, "knowledge", rows=[hours])
    acme.pick(other, "knowledge", containers=["help/public"])
    worked(acme, "move", hours, target="help/archive")
    assert says(acme, clerk, "pelican") == {"Hours"}
    assert says(acme, other, "pelican") == set()


def test_every_item_has_an_outcome_and_one_that_is_refused_leaves_the_others_alone(acme, hours):
    golden = acme.item("Golden", kind="golden")
    correction = acme.item("Correction", kind="correction", dataset="corrections")
    gone = acme.item("Gone")
    acme.change_item(gone, deleted_at=AT)
    job = worked(acme, "publish", hours, golden, correction, gone)
    assert outcomes(acme, job) == {
        "Hours": ("unchanged", ""),
        "Golden": ("refused", "changed_by_publishing"),
        "Correction": ("refused", "changed_by_publishing"),
        "Gone": ("refused", "item_deleted"),
    }
    assert (job.status, job.total, job.unchanged, job.refused) == ("done", 4, 1, 3)


def test_an_item_that_changed_after_it_was_seen_is_left_alone(acme, hours):
    job = order(acme, "delete", hours)
    acme.change_item(hours, lock_version=7)
    work_waiting(clock=lambda: AT)
    assert outcomes(acme, job)["Hours"] == ("refused", "item_changed")


def test_an_item_moves_within_its_source_only(acme, hours):
    acme.source("site")
    job = worked(acme, "move", hours, target="site/public")
    assert outcomes(acme, job)["Hours"] == ("refused", "stays_in_source")


def test_an_item_of_a_source_that_is_kept_fresh_is_not_filed_elsewhere(acme, hours):
    with acme.context():
        SourceSchedule.objects.create(
            organization=acme.organization, source=acme.source(), kind="site", config={}
        )
    job = worked(acme, "move", hours, target="help/archive")
    assert outcomes(acme, job)["Hours"] == ("refused", "source_files_it")


def test_after_thirty_days_nothing_is_restored(acme, hours):
    worked(acme, "delete", hours)
    job = worked(acme, "restore", hours, at=AT + RESTORABLE + timedelta(seconds=1))
    assert outcomes(acme, job)["Hours"] == ("refused", "restore_too_late")


def test_after_thirty_days_no_deletion_is_undone(acme, hours):
    job = worked(acme, "delete", hours)
    late = AT + RESTORABLE + timedelta(seconds=1)
    with acme.context():
        undone = undo(job, by=BY, at=late)
    work_waiting(clock=lambda: late)
    assert outcomes(acme, undone)["Hours"] == ("refused", "restore_too_late")


def test_what_else_was_done_is_undone_after_thirty_days_too(acme, hours):
    job = worked(acme, "unpublish", hours)
    late = AT + RESTORABLE + timedelta(seconds=1)
    with acme.context():
        undone = undo(job, by=BY, at=late)
    work_waiting(clock=lambda: late)
    assert outcomes(acme, undone)["Hours"] == ("done", "")


@pytest.mark.parametrize(
    ("action", "target"), [("delete", ""), ("unpublish", ""), ("move", "help/x")]
)
def test_what_was_done_is_undone(acme, clerk, hours, action, target):
    before = filed(acme)
    job = worked(acme, action, hours, target=target)
    with acme.context():
        undone = undo(job, by=BY, at=AT)
    work_waiting(clock=lambda: AT)
    assert again(acme, undone).done == 1
    assert filed(acme) == before
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_what_changed_since_is_not_undone(acme, hours):
    job = worked(acme, "delete", hours)
    worked(acme, "restore", hours)
    with acme.context():
        undone = undo(job, by=BY, at=AT)
    work_waiting(clock=lambda: AT)
    assert outcomes(acme, undone)["Hours"] == ("refused", "item_changed")


def test_a_job_is_undone_once_and_not_while_it_runs(acme, hours):
    job = order(acme, "delete", hours)
    with acme.context(), pytest.raises(CannotUndo):
        undo(job, by=BY, at=AT)
    work_waiting(clock=lambda: AT)
    with acme.context():
        undo(job, by=BY, at=AT)
        with pytest.raises(CannotUndo):
            undo(job, by=BY, at=AT)


def test_a_cancelled_job_takes_up_nothing_more(acme, clerk, hours):
    job = order(acme, "delete", hours)
    with acme.context():
        cancel(job, by=BY, at=AT)
    assert work_waiting(clock=lambda: AT) == 0
    assert again(acme, job).status == "cancelled"
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_a_job_whose_worker_died_goes_on_after_its_last_batch(acme, monkeypatch):
    monkeypatch.setattr(working, "BATCH", 2)
    for number in range(5):
        acme.item(f"Item {number}")
    with acme.context():
        job = start(acme.organization.pk, Order("delete", "all"), Item.objects.all(), by=BY, at=AT)
    assert work(acme.organization.pk, job.pk, clock=lambda: AT, seconds=0) == 2
    with acme.context():
        BulkJob.objects.update(lease_until=AT + LEASE)
    assert work_waiting(clock=lambda: AT) == 0
    assert work_waiting(clock=lambda: AT + LEASE) == 3
    job = again(acme, job)
    assert (job.status, job.done, job.total) == ("done", 5, 5)
    with acme.context():
        assert not Item.objects.filter(deleted_at=None).exists()


def test_celery_works_on_jobs_too(acme, hours):
    order(acme, "delete", hours)
    assert work_bulk() == 1


def test_a_job_on_nothing_is_refused_and_leaves_nothing(acme):
    globex = tenant("globex")
    theirs = globex.item("Theirs")
    with acme.context():
        with pytest.raises(NothingChosen):
            start_chosen(acme.organization.pk, Order("delete", ""), {theirs: 1}, by=BY, at=AT)
        assert not BulkJob.objects.exists()


def test_another_organization_sees_neither_jobs_nor_entries(acme, hours):
    worked(acme, "delete", hours)
    with tenant("globex").context():
        assert not BulkJob.objects.exists()
        assert not BulkEntry.objects.exists()


def test_each_item_and_the_job_are_written_down(acme, hours):
    worked(acme, "delete", hours)
    with acme.context():
        verbs = set(AuditEntry.objects.values_list("verb", "subject_id", "reason"))
    assert ("item.withdraw", str(hours), "delete") in verbs
    assert {verb for verb, _, _ in verbs} >= {"bulk.start", "bulk.ended"}
