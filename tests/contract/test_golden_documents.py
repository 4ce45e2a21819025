"""The shape that others rely on: an answer's index document, its item, and where its texts come from."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from knowledge.indexing.converge import converge
from knowledge.models import Chunk, Document, IndexState, Item
from tests.answers import CONTENT, Staff
from tests.embedders import CountingEmbedder
from tests.world import AT

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff():
    return Staff()


@pytest.fixture
def item(staff):
    item_id = staff.row(staff.published()).item_id
    converge(
        staff.organization.pk, "knowledge", item_id, embedder=CountingEmbedder(), clock=lambda: AT
    )
    with staff.tenant.context():
        return Item.objects.get(pk=item_id)


def test_a_document_is_called_organization_dataset_and_hash(staff, item):
    with staff.tenant.context():
        key = Document.objects.get().key
    assert re.fullmatch(rf"{staff.organization.pk}:default-kb:[0-9a-f]{{64}}", key)


def test_the_hash_is_over_the_asset_and_the_content(staff, item):
    named = {"asset": str(item.pk), "content": item.content_hash}
    digest = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
    with staff.tenant.context():
        document = Document.objects.get()
    assert document.key.endswith(f":{digest}")
    assert document.content_hash == item.content_hash


def test_answers_of_equal_text_have_documents_of_their_own(staff, item):
    other = staff.row(staff.published()).item_id
    converge(
        staff.organization.pk, "knowledge", other, embedder=CountingEmbedder(), clock=lambda: AT
    )
    with staff.tenant.context():
        documents = list(Document.objects.values_list("key", "content_hash"))
    assert len({key for key, _ in documents}) == 2
    assert len({content for _, content in documents}) == 1


def test_the_item_says_what_it_is_and_which_version_it_serves(staff, item):
    with staff.tenant.context():
        golden = item.goldenanswer
        state = IndexState.objects.get(asset_id=item.pk)
    assert (item.kind, item.dataset, item.source_tag) == ("golden", "default-kb", "golden")
    assert (item.review_status, item.parse_status) == ("approved", "ingested")
    assert item.folder_key == "golden/desks"
    assert item.metadata == {
        "kind": "golden",
        "golden_asset_id": str(golden.pk),
        "golden_version_id": str(golden.published_version_id),
    }
    assert item.published_version == state.applied_version == golden.published_version_id


def test_question_paraphrases_and_answer_are_all_matched(staff, item):
    with staff.tenant.context():
        positions = sorted(Chunk.objects.values_list("position", flat=True))
    assert positions == [-1 - len(CONTENT.paraphrases), -2, -1, 0]


def test_an_archived_answer_has_no_document(staff, item):
    with staff.tenant.context():
        golden = item.goldenanswer.pk
    staff.archive(golden)
    converge(
        staff.organization.pk, "knowledge", item.pk, embedder=CountingEmbedder(), clock=lambda: AT
    )
    with staff.tenant.context():
        assert not Document.objects.exists()
