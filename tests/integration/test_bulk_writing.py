"""Many truth rows in a few statements: just what one by one would have written."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from knowledge.indexing.bulk import Wanted, write_many
from knowledge.indexing.writing import InstructionContent, ItemContent, Outcome, only, write_item
from knowledge.ingestion.importing import run_import
from knowledge.ingestion.merging import merged_item
from knowledge.ingestion.request import ImportRequest
from knowledge.models import ImportFailure, IndexState, Instruction, Item, LexicalEntry
from tests.world import AT, tenant

pytestmark = pytest.mark.django_db
LATER = AT + timedelta(hours=1)
BODY = "# Cards\n\nGold cards cost ten euros.\n\n" + "A long story about cards. " * 80


@pytest.fixture
def acme():
    return tenant("acme")


def content(acme, name, body=BODY, **more):
    return ItemContent(
        acme.organization.pk, acme.source().pk, name, more.pop("title", name), body, "help", **more
    )


def written(acme, name):
    """Everything that an item consists of, but for its id and its times of day."""
    with acme.context():
        row = Item.objects.get(external_id=name)
        state = IndexState.objects.get(asset_id=row.pk)
        entries = LexicalEntry.objects.filter(asset_id=row.pk).order_by("position")
        skipped = {"_state", "id", "external_id", "title", "created_at"}
        return (
            {key: value for key, value in vars(row).items() if key not in skipped},
            list(entries.values_list("position", "generation", "start", "end", "section", "tokens")),
            (state.desired_generation, state.desired_version, state.status, state.desired_at),
        )  # fmt: skip


def test_many_are_written_as_one_would_be(acme):
    version = uuid4()
    kinds: list[dict[str, Any]] = [
        {},
        {"body": "Short."},
        {"kind": "golden", "published_version": version, "phrasings": ("How much is gold?",)},
        {"agents": only(uuid4()), "metadata": {"a": [1]}, "language": "de"},
    ]
    acme.source()
    with acme.context():
        for number, kind in enumerate(kinds):
            write_item(content(acme, f"one {number}", title="Cards", **kind), at=AT)
        write_many(
            [
                Wanted(content(acme, f"many {number}", title="Cards", **kind))
                for number, kind in enumerate(kinds)
            ],
            at=AT,
        )
    for number in range(len(kinds)):
        assert written(acme, f"many {number}") == written(acme, f"one {number}")


def test_what_changed_is_written_and_the_rest_is_left_alone(acme):
    names = ["same", "retold", "closed"]
    with acme.context():
        write_many([Wanted(content(acme, name)) for name in names], at=AT)
        rows = {row.external_id: row for row in Item.objects.all()}
        wanted = [
            Wanted(content(acme, "same"), rows["same"]),
            Wanted(content(acme, "retold", "Something else."), rows["retold"]),
            Wanted(content(acme, "closed", review_status="rejected"), rows["closed"]),
            Wanted(content(acme, "new")),
        ]
        outcomes = [each.outcome for each in write_many(wanted, at=LATER)]
    assert outcomes == [Outcome.UNCHANGED, Outcome.UPDATED, Outcome.UPDATED, Outcome.CREATED]
    with acme.context():
        found = {row.external_id: row for row in Item.objects.all()}
        due = dict(IndexState.objects.values_list("asset_id", "desired_generation"))
        words = LexicalEntry.objects.filter(asset_id=found["retold"].pk)
        assert set(words.values_list("generation", flat=True)) == {2}
    versions = {name: (row.generation, row.lock_version) for name, row in found.items()}
    assert versions == {"same": (1, 1), "retold": (2, 2), "closed": (1, 2), "new": (1, 1)}
    assert [due[found[name].pk] for name in ("same", "retold", "closed", "new")] == [1, 2, 2, 1]


def test_instructions_are_written_so_too(acme):
    pk = acme.organization.pk
    with acme.context():
        made = write_many(
            [Wanted(InstructionContent(pk, f"i{n}", f"I {n}", BODY)) for n in range(3)], at=AT
        )
        assert Instruction.objects.filter(pk__in=[each.id for each in made]).count() == 3
        assert LexicalEntry.objects.filter(category="instruction").count() > 3


def test_a_hundred_cost_no_more_statements_than_ten(acme):
    def statements(count, first):
        wanted = [Wanted(content(acme, f"{first}-{n}", "Short.")) for n in range(count)]
        with (
            acme.context(),
            CaptureQueriesContext(connection) as captured,
        ):
            write_many(wanted, at=AT)
        return len(captured)

    acme.source()
    assert statements(100, "a") <= statements(10, "b") + 1 <= 6


def test_a_name_that_is_taken_meanwhile_writes_nothing_of_them(acme):
    acme.item("taken")
    with pytest.raises(IntegrityError), acme.context():
        write_many([Wanted(content(acme, name)) for name in ("free", "taken")], at=AT)
    with acme.context():
        assert set(Item.objects.values_list("external_id", flat=True)) == {"taken"}


def test_a_row_that_the_database_refuses_fails_alone_among_a_hundred(acme, tmp_path, monkeypatch):
    real = merged_item

    def too_long(content, existing, labels):
        merged = real(content, existing, labels)
        return type(merged)(**{**vars(merged), "source_tag": "x" * 201}) \
            if content.external_id == "r50" else merged  # fmt: skip

    monkeypatch.setattr("knowledge.ingestion.targets.merged_item", too_long)
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "\n".join(f'{{"id": "r{n}", "title": "T", "text": "Text {n}."}}' for n in range(100))
    )
    done = run_import(
        ImportRequest(acme.organization.pk, (str(path),), "help"), clock=lambda: AT,
        watch=lambda _progress: None,
    )  # fmt: skip
    assert (done.run.created, done.run.failed) == (99, 1)
    with acme.context():
        assert ImportFailure.objects.get().code == "not_stored"
        assert Item.objects.count() == IndexState.objects.count() == 99
