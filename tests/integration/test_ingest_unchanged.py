"""A file that is as it was is not parsed again, and nothing else is different for it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from knowledge.indexing.writing import change, withdraw
from knowledge.ingestion import remembering
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.request import ImportRequest
from knowledge.ingestion.sandbox import Sandbox
from knowledge.models import ImportedFile, ImportFailure, Item
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def parsed(monkeypatch):
    names: list[str] = []
    real = Sandbox.read

    def read(self, path, name):
        names.append(name)
        return real(self, path, name)

    monkeypatch.setattr(Sandbox, "read", read)
    return names


@pytest.fixture
def folder(tmp_path):
    for name in ("hours", "fees", "cards"):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\nAll about {name}.")
    return tmp_path


def bring(acme, place, parsed, **more):
    """Bring the folder in; tell what was parsed and what came of it."""
    parsed.clear()
    request = ImportRequest(acme.organization.pk, (str(place),), "help", **more)
    later = iter(range(10_000))
    done = run_import(
        request, clock=lambda: AT + timedelta(seconds=next(later)), watch=lambda _progress: None
    )
    run = done.run
    return sorted(parsed), (run.created, run.updated, run.unchanged, run.failed, run.pruned)


def test_only_what_changed_is_parsed(acme, folder, parsed):
    assert bring(acme, folder, parsed) == (["cards.md", "fees.md", "hours.md"], (3, 0, 0, 0, 0))
    assert bring(acme, folder, parsed) == ([], (0, 0, 3, 0, 0))
    (folder / "fees.md").write_text("# Fees\n\nTransfers are free now.")
    (folder / "new.md").write_text("# New\n\nSomething new.")
    assert bring(acme, folder, parsed) == (["fees.md", "new.md"], (1, 1, 2, 0, 0))


def test_what_was_not_parsed_is_not_pruned(acme, folder, parsed):
    bring(acme, folder, parsed)
    (folder / "fees.md").unlink()
    assert bring(acme, folder, parsed, prune=True) == ([], (0, 0, 2, 0, 1))
    with acme.context():
        assert set(Item.objects.filter(deleted_at=None).values_list("external_id", flat=True)) == {
            "hours.md",
            "cards.md",
        }


def test_an_item_that_staff_changed_is_told_by_its_file_again(acme, folder, parsed):
    bring(acme, folder, parsed)
    with acme.context():
        change(Item.objects.get(external_id="fees.md"), at=AT, body="Staff said so.")
    assert bring(acme, folder, parsed) == (["fees.md"], (0, 1, 2, 0, 0))


def test_an_item_that_staff_deleted_stays_deleted(acme, folder, parsed):
    bring(acme, folder, parsed)
    with acme.context():
        withdraw(Item.objects.get(external_id="fees.md"), at=AT - timedelta(hours=1))
    for _ in range(2):
        assert bring(acme, folder, parsed) == (["fees.md"], (0, 0, 3, 0, 0))
    with acme.context():
        assert Item.objects.get(external_id="fees.md").deleted_at


def test_another_label_or_place_parses_again(acme, folder, parsed):
    bring(acme, folder, parsed)
    assert bring(acme, folder, parsed, visibility="internal")[1] == (0, 3, 0, 0, 0)
    assert bring(acme, folder, parsed, folder="desk")[1] == (3, 0, 0, 0, 0)


def test_a_new_reader_parses_everything_again(acme, folder, parsed, monkeypatch):
    bring(acme, folder, parsed)
    monkeypatch.setattr(remembering, "reader_version", lambda: "another")
    assert bring(acme, folder, parsed) == (["cards.md", "fees.md", "hours.md"], (0, 0, 3, 0, 0))


def test_a_file_that_failed_is_tried_each_time(acme, folder, parsed):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    bring(acme, folder, parsed)
    assert bring(acme, folder, parsed) == (["broken.pdf"], (0, 0, 3, 1, 0))
    with acme.context():
        assert not ImportedFile.objects.filter(name="broken.pdf").exists()


def test_a_file_of_which_a_row_was_refused_is_tried_again(acme, tmp_path, parsed):
    (tmp_path / "rows.jsonl").write_text(
        '{"id": "a", "title": "A", "text": "About a."}\n'
        '{"id": "b", "title": "B", "text": "About b.", "segments": ["nobody"]}\n'
    )
    assert bring(acme, tmp_path, parsed)[1] == (1, 0, 0, 1, 0)
    acme.segment("nobody")
    assert bring(acme, tmp_path, parsed)[1] == (1, 0, 1, 0, 0)
    with acme.context():
        assert not ImportFailure.objects.filter(resolved_at=None).exists()
        assert set(ImportedFile.objects.get().rows) == {"a", "b"}
    assert bring(acme, tmp_path, parsed)[1] == (0, 0, 2, 0, 0)


def test_a_name_that_another_file_has_taken_is_still_refused(acme, tmp_path, parsed):
    row = '{"id": "a", "title": "A", "text": "About a."}\n'
    (tmp_path / "two.jsonl").write_text(row)
    bring(acme, tmp_path, parsed)
    (tmp_path / "one.jsonl").write_text(row)
    assert bring(acme, tmp_path, parsed)[1] == (0, 0, 1, 1, 0)


def test_each_organization_remembers_for_itself(acme, folder, parsed):
    bring(acme, folder, parsed)
    globex = tenant("globex")
    assert bring(globex, folder, parsed)[1] == (3, 0, 0, 0, 0)
    with globex.context():
        assert ImportedFile.objects.count() == 3
