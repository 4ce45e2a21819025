"""Real corpora brought in by the product: what the index holds of each text covers all of it."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from datetime import UTC, datetime

import pytest

from knowledge.indexing.draining import Drain
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.request import ImportRequest
from knowledge.models import Chunk, Item, LexicalEntry
from tests.corpora import Corpus, corpora
from tests.embedders import CountingEmbedder
from tests.world import tenant

pytestmark = pytest.mark.django_db
SAMPLED = 40
HIDDEN = {"Cc", "Cf"}
_FOUND = {corpus.name: corpus for corpus in corpora()}


def brought_in(corpus: Corpus, folder) -> None:
    acme = tenant("acme")
    request = ImportRequest(acme.organization.pk, (str(corpus.write(folder)),), "docs")
    now = lambda: datetime.now(tz=UTC)  # noqa: E731
    run = run_import(request, clock=now, watch=lambda _progress: None).run
    assert (run.created, run.failed) == (len(corpus.rows), 0)
    while Drain(CountingEmbedder(), now).step():
        pass
    with acme.context():
        bodies = dict(Item.objects.values_list("external_id", "body"))
        chunks, words = slices(Chunk), slices(LexicalEntry)
        named = dict(Item.objects.values_list("external_id", "pk"))
    for row in corpus.rows:
        body, pk = bodies[row["id"]], named[row["id"]]
        assert letters(body) == letters(row["text"])
        for found in (chunks[pk], words[pk]):
            assert "".join(body[start:end] for _, start, end in sorted(found)) == body


def slices(model) -> dict[object, list[tuple[int, int, int]]]:
    found = defaultdict(list)
    rows = model.objects.filter(position__gte=0)
    for asset_id, *where in rows.values_list("asset_id", "position", "start", "end"):
        found[asset_id].append(tuple(where))
    return found


def letters(text: str) -> str:
    """A text without its blanks, which readers tidy, and marks nobody sees, which they take out."""
    seen = unicodedata.normalize("NFC", text)
    return "".join(c for c in seen if not c.isspace() and unicodedata.category(c) not in HIDDEN)


@pytest.mark.parametrize("name", _FOUND)
def test_a_sample_of_a_corpus_comes_in_whole(name, tmp_path):
    brought_in(_FOUND[name].every(max(1, len(_FOUND[name].rows) // SAMPLED)), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", _FOUND)
def test_a_corpus_comes_in_whole(name, tmp_path):
    brought_in(_FOUND[name], tmp_path)
