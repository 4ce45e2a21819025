from __future__ import annotations

import uuid

import pytest
from django.db import connection

from knowledge.embedding.spaces import ensure_space
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.indexing.draining import due_assets
from knowledge.indexing.reconciling import reconcile
from knowledge.indexing.writing import withdraw
from knowledge.models import (
    Chunk,
    Document,
    EmbeddedText,
    IndexState,
    Instruction,
    Item,
    LexicalEntry,
    Vector,
)
from knowledge.passages import CHUNKER_VERSION
from tests.embedders import CountingEmbedder
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db(transaction=True)


class Index:
    """One organization with two items and an instruction, all indexed."""

    def __init__(self):
        self.acme = tenant("acme")
        self.embedder = CountingEmbedder()
        self.item = self.acme.item("Hours", "We open at seven.")
        self.other = self.acme.item("Prices", "A ticket costs ten.")
        self.instruction = self.acme.instruction("Refunds", "Ask for the receipt.")
        self.drain()

    def drain(self):
        workshop = Workshop(self.embedder, lambda: AT, lambda: True)
        while due := due_assets(at=AT, most=10):
            for organization_id, assets in due.items():
                converge_batch(organization_id, assets, workshop)

    def reconcile(self):
        space = ensure_space(self.embedder.space, chunker_version=CHUNKER_VERSION)
        return reconcile(self.acme.organization.pk, space=space, at=AT)

    def indexed(self):
        with self.acme.context():
            return set(Document.objects.values_list("asset_id", flat=True))


@pytest.fixture
def index():
    return Index()


def test_an_index_that_equals_the_truth_has_no_differences(index):
    assert index.reconcile().total == 0


def test_a_lost_document_comes_back_without_paying_again(index):
    with index.acme.context():
        Document.objects.filter(asset_id=index.item).update(generation=99)
    assert index.reconcile().missing == 1
    index.drain()
    assert index.reconcile().total == 0
    assert index.embedder.paid_twice == []


def test_the_whole_index_is_rebuilt_from_the_truth_alone(index):
    everything = index.indexed()
    with index.acme.context(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM knowledge_document; DELETE FROM knowledge_lexicalentry")
    differences = index.reconcile()
    assert (differences.missing, differences.wordless) == (3, 3)
    index.drain()
    assert (index.indexed(), index.reconcile().total) == (everything, 0)


def test_a_lost_index_state_is_made_again(index):
    with index.acme.context():
        IndexState.objects.all().delete()
        Document.objects.filter(asset_id=index.item).delete()
    assert index.reconcile().missing == 1
    index.drain()
    assert index.item in index.indexed()


def test_lost_vectors_are_missed(index):
    Vector.objects.filter(asset_id=index.item).delete()
    assert index.reconcile().missing == 1
    index.drain()
    assert Vector.objects.filter(asset_id=index.item).count() == 2


@pytest.mark.parametrize(
    "columns",
    [
        {"deleted_at": AT},
        {"review_status": "rejected"},
        {"parse_status": "failed"},
        {"kind": "golden", "published_version": None},
    ],
)
def test_an_item_withdrawn_by_sql_leaves_the_index(index, columns):
    index.acme.change_item(index.item, **columns)
    assert index.reconcile().surplus == 1
    index.drain()
    assert index.item not in index.indexed()


def test_an_instruction_unpublished_by_sql_leaves_the_index(index):
    with index.acme.context():
        Instruction.objects.update(status="draft")
    assert index.reconcile().surplus == 1
    index.drain()
    assert index.instruction not in index.indexed()


def test_an_asset_deleted_by_sql_leaves_nothing_behind(index):
    with index.acme.context():
        Item.objects.filter(pk=index.item).delete()
    differences = index.reconcile()
    assert (differences.surplus, differences.orphans) == (1, 1)
    index.drain()
    assert index.reconcile().leftovers == 1
    with index.acme.context():
        tables = (Document, Chunk, Vector, LexicalEntry, IndexState, EmbeddedText)
        assert not any(table.objects.filter(**_of(table, index.item)).exists() for table in tables)


def _of(table, asset_id):
    return {} if table is EmbeddedText else {"asset_id": asset_id}


def test_a_vector_that_belongs_to_no_document_is_deleted(index):
    Vector.objects.filter(asset_id=index.item, position=0).update(asset_id=uuid.uuid4())
    differences = index.reconcile()
    assert (differences.missing, differences.orphans) == (1, 1)


def test_words_of_another_generation_are_written_again(index):
    LexicalEntry.objects.filter(asset_id=index.item).update(generation=7)
    assert index.reconcile().wordless == 1
    assert LexicalEntry.objects.get(asset_id=index.item).generation == 1


def test_what_waits_for_its_turn_is_no_difference(index):
    index.acme.item("Hours", "We open at eight.")
    assert index.reconcile().total == 0


def test_a_failed_asset_is_left_to_staff(index):
    index.acme.item("Hours", "We open at eight.")
    with index.acme.context():
        IndexState.objects.filter(asset_id=index.item).update(status="failed")
    assert index.reconcile().total == 0


def test_another_way_to_cut_passages_is_a_difference_of_every_asset_and_is_not_paid_again(index):
    with index.acme.context():
        Document.objects.update(fingerprint="tests:buckets:16:0:c0")
    assert index.reconcile().missing == 3
    index.drain()
    assert index.reconcile().total == 0
    assert index.embedder.paid_twice == []


def test_a_document_planted_for_another_asset_is_removed(index):
    stranger = uuid.uuid4()
    with index.acme.context():
        Document.objects.create(
            organization=index.acme.organization, key="planted", category="knowledge",
            asset_id=stranger, dataset="default-kb", generation=1, content_hash="", fingerprint="",
            applied_at=AT,
        )  # fmt: skip
    assert index.reconcile().surplus == 1
    index.drain()
    assert stranger not in index.indexed()


def test_withdrawing_twice_is_no_difference(index):
    with index.acme.context():
        withdraw(Item.objects.get(pk=index.item), at=AT)
    index.drain()
    assert index.reconcile().total == 0
