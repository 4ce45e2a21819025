"""Files that break importers are refused or read, each with a sentence, and memory stays flat."""

from __future__ import annotations

import os
import resource
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command

from knowledge.indexing.draining import Drain
from knowledge.models import Chunk, ImportFailure, Item, LexicalEntry
from tests import made_files as made
from tests.embedders import CountingEmbedder
from tests.world import tenant

pytestmark = pytest.mark.django_db
FLAT_KIB = 150 * 1024


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def ingest(acme, tmp_path):
    def bring(**files: bytes) -> tuple[dict[str, Item], dict[str, str]]:
        for name, data in files.items():
            (tmp_path / name.replace("__", ".")).write_bytes(data)
        call_command("ingest", str(tmp_path), organization="acme", source="help", stdout=StringIO())
        with acme.context():
            items = {item.external_id: item for item in Item.objects.all()}
            failed = ImportFailure.objects.filter(resolved_at=None)
            return items, {os.path.basename(each.path): each.code for each in failed}

    return bring


@pytest.mark.slow
def test_a_folder_of_horrors_costs_only_the_horrors(ingest):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    items, failed = ingest(
        a__md=b"# First\n\nGood.",
        bomb__docx=made.office_bomb(),
        broken__pdf=b"%PDF-1.7\n" + os.urandom(20_000),
        deep__html=b"<div>" * 100_000 + b"text",
        huge__txt=b"word and word " * (100 * 1024 * 1024 // 14),
        lie__zip=made.lying_zip(),
        nest__jsonl=b"[" * 1_000_000,
        zero__txt=bytes(1_000_000),
        z__md=b"# Last\n\nGood.",
    )
    assert {"a.md", "z.md"} <= set(items)
    assert items.keys() - {"a.md", "z.md"} <= {"lie.zip!/a.txt"}
    lie = {"lie.zip!", "a.txt"} & failed.keys()
    assert {name: code for name, code in failed.items() if name not in lie} == {
        "bomb.docx": "too_large", "broken.pdf": "malformed", "deep.html": "too_deep",
        "huge.txt": "too_large", "nest.jsonl": "invalid_row", "zero.txt": "binary_content",
    }  # fmt: skip
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < FLAT_KIB


def test_a_line_of_200_kilobytes_without_spaces_is_brought_in(ingest):
    items, failed = ingest(line__txt=b"x" * 200_000)
    assert (len(items["line.txt"].body), failed) == (200_000, {})


@pytest.mark.slow
def test_200_000_different_words_are_brought_in_and_indexed_whole(acme, ingest):
    words = " ".join(f"word{number}" for number in range(200_000))
    items, failed = ingest(words__txt=words.encode())
    item = items["words.txt"]
    assert (len(item.body), failed) == (len(words), {})
    while Drain(CountingEmbedder(), lambda: datetime.now(tz=UTC)).step():
        pass
    with acme.context():
        for model in (Chunk, LexicalEntry):
            slices = model.objects.filter(asset_id=item.pk, position__gte=0).order_by("position")
            found = slices.values_list("start", "end")
            assert "".join(item.body[start:end] for start, end in found) == item.body
