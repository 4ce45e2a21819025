"""What was deleted thirty days ago is removed for good, and a restricted scope stays restricted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from knowledge.models import BulkJob, IndexState, Item, LexicalEntry, SourceSchedule
from knowledge.shelving.items import RESTORABLE
from knowledge.shelving.purging import purge_deleted
from knowledge.tasks import purge
from scopes.models import AgentScope
from tests.shelves import says, worked
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db
DUE = AT + RESTORABLE + timedelta(seconds=1)


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def gone(acme):
    pk = acme.item("Hours", "The pelican lounge opens at seven.")
    worked(acme, "delete", pk)
    return pk


def test_it_is_kept_for_thirty_days_and_then_removed_with_its_place_in_the_index(acme, gone):
    assert purge_deleted(AT + RESTORABLE) == {"acme": 0}
    assert purge_deleted(DUE) == {"acme": 1}
    with acme.context():
        assert not Item.objects.exists()
        assert not IndexState.objects.exists()
        assert not LexicalEntry.objects.filter(organization=acme.organization).exists()


def test_an_agent_whose_last_selection_is_removed_finds_nothing(acme, gone):
    acme.item("Prices", "The pelican ticket costs forty.")
    clerk = acme.agent("clerk")
    with acme.context():
        Item.objects.filter(pk=gone).update(deleted_at=None)
    acme.pick(clerk, "knowledge", rows=[gone])
    acme.change_item(gone, deleted_at=AT)
    purge_deleted(DUE)
    with acme.context():
        assert AgentScope.objects.get(agent=clerk, category="knowledge").mode == "selected"
    assert says(acme, clerk, "pelican") == set()


def test_golden_answers_and_what_is_there_are_left_alone(acme):
    acme.item("There")
    golden = acme.item("Golden", kind="golden")
    acme.change_item(golden, deleted_at=AT)
    purge_deleted(DUE)
    with acme.context():
        assert Item.objects.count() == 2


def test_of_a_source_that_is_kept_fresh_the_words_go_and_the_name_keeps_it_away(acme, gone):
    with acme.context():
        SourceSchedule.objects.create(
            organization=acme.organization, source=acme.source(), kind="site", config={}
        )
    assert purge_deleted(DUE) == {"acme": 1}
    assert purge_deleted(DUE) == {"acme": 0}
    with acme.context():
        item = Item.objects.get(pk=gone)
        assert (item.title, item.body, item.external_id) == ("", "", "Hours")
        assert item.deleted_at == AT
        assert not LexicalEntry.objects.filter(asset_id=gone).exists()


def test_the_records_of_jobs_go_too(acme, gone):
    purge_deleted(DUE)
    with acme.context():
        assert not BulkJob.objects.exists()


def test_the_drain_and_celery_both_do_it(acme, gone):
    path, _ = settings.DRAIN_CHORES["purge"]
    assert import_string(path) is purge_deleted
    assert purge() == 1
