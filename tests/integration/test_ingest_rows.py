"""`manage.py ingest` on lines of JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from knowledge.models import ImportFailure, Item
from tests.world import tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def export(tmp_path):
    return tmp_path / "export.jsonl"


def row(name: str = "a", **keys):
    return {"id": name, "title": name.title(), "text": f"Text of {name}.", **keys}


def ingest(path, *rows, source: str = "help", **options) -> str:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in rows)
    path.write_text("\n".join(lines))
    said = StringIO()
    call_command("ingest", str(path), organization="acme", source=source, stdout=said, **options)
    return said.getvalue()


def items(acme):
    with acme.context():
        return {item.external_id: item for item in Item.objects.filter(deleted_at=None)}


def failures(acme):
    with acme.context():
        found = ImportFailure.objects.filter(resolved_at=None).order_by("line")
        return [(failure.line, failure.code, failure.reason) for failure in found]


def test_every_key_is_kept(acme, export):
    vip = acme.segment("vip")
    ingest(
        export,
        row(
            url="https://acme.example/a", folder="Billing / Cards", lang="pt-BR", channels=["phone"],
            segments=["vip"], jurisdictions=["de", "AT"], visibility="internal",
            valid_from="2026-01-31", valid_until="2026-12-31T18:00:00+01:00",
            metadata={"price": 3, "tags": ["a"]},
        ),
    )  # fmt: skip
    item = items(acme)["a"]
    assert (item.title, item.body, item.url) == ("A", "Text of a.", "https://acme.example/a")
    assert (item.folder_key, item.language) == ("help/Billing/Cards", "pt-BR")
    assert (item.channel_restricted, item.channels) == (True, ["phone"])
    assert (item.segment_restricted, item.segments) == (True, [vip.pk])
    assert (item.jurisdiction_restricted, item.jurisdictions) == (True, ["AT", "DE"])
    assert item.visibility == "internal"
    assert item.valid_from == datetime(2026, 1, 31, tzinfo=UTC)
    assert item.valid_until == datetime(2026, 12, 31, 17, tzinfo=UTC)
    assert item.metadata == {"price": 3, "tags": ["a"]}


def test_the_shortest_row_is_enough(acme, export):
    ingest(export, row())
    item = items(acme)["a"]
    assert (item.folder_key, item.visibility, item.channel_restricted) == ("help", "public", False)


def test_unknown_keys_are_refused_by_name_with_their_line(acme, export):
    ingest(export, row(), "", row("b", colour="red", titel="B"), row("c"))
    assert set(items(acme)) == {"a", "c"}
    assert failures(acme) == [(3, "unknown_keys", 'Unknown keys: "colour", "titel"')]


@pytest.mark.parametrize(
    ("bad", "code", "sentence"),
    [
        ('{"id": "b", "title": "B"', "invalid_row", "not a JSON object"),
        ("[1, 2]", "invalid_row", "not a JSON object"),
        ("[" * 100_000, "invalid_row", "not a JSON object"),
        ('{"id": "b", "title": "B", "text": NaN}', "invalid_row", "not a JSON object"),
        ({"id": "b", "title": "B"}, "row_refused", 'Missing keys: "text"'),
        ({"title": "B", "text": "b"}, "row_refused", '"id" is a text that is not empty.'),
        (row("b", text=3), "row_refused", '"text" is a text.'),
        (row("b", text="  "), "no_text", "It holds no text."),
        (row("b" * 401), "row_refused", '"id" is longer'),
        (row("b\u0000"), "row_refused", '"id" holds a character'),
        (row("b", channels="phone"), "row_refused", '"channels" is a list of texts.'),
        (row("b", channels=[]), "row_refused", '"channels" is empty'),
        (row("b", segments=["nobody"]), "row_refused", 'There is no segment "nobody".'),
        (row("b", jurisdictions=["Germany"]), "row_refused", "two letters"),
        (row("b", visibility="secret"), "row_refused", '"visibility" is'),
        (row("b", valid_from="soon"), "row_refused", "A time is written as"),
        (row("b", valid_from="2026-02-01", valid_until="2026-01-01"), "row_refused", "not before"),
        (row("b", url="javascript:alert(1)"), "row_refused", '"url" is a web address'),
        (row("b", lang="a very long language"), "row_refused", '"lang" is a language code'),
        (row("b", metadata=[1]), "row_refused", '"metadata" is an object.'),
        (row("b", metadata={"a": "\u0000"}), "row_refused", '"metadata"'),
        (row("b", metadata={"a": "x" * 70_000}), "row_refused", '"metadata" is too large'),
        (row("b", folder="../up"), "folder_refused", "never goes up"),
        (row("a"), "duplicate_id", "already has this id"),
    ],
)
def test_a_bad_row_fails_alone_with_a_reason(acme, export, bad, code, sentence):
    ingest(export, row(), bad, row("c"))
    assert set(items(acme)) == {"a", "c"}
    ((line, found, reason),) = failures(acme)
    assert (line, found) == (2, code)
    assert sentence in reason


def test_a_reason_never_repeats_the_text(acme, export):
    ingest(export, row(), row("b", text="My secret", visibility="secret"))
    assert "My secret" not in str(failures(acme))


def test_the_same_rows_again_change_nothing(acme, export):
    vip = acme.segment("vip")
    rows = [row(segments=["vip"], channels=["sms", "phone"], metadata={"a": 1.5}), row("b")]
    ingest(export, *rows)
    assert ingest(export, *rows).startswith("0 created, 0 updated, 2 unchanged, 0 failed")
    assert items(acme)["a"].segments == [vip.pk]


def test_changed_metadata_makes_no_new_generation(acme, export):
    ingest(export, row(metadata={"price": 1}))
    assert ingest(export, row(metadata={"price": 2})).startswith("0 created, 1 updated")
    item = items(acme)["a"]
    assert (item.metadata, item.generation) == ({"price": 2}, 1)


def test_a_restriction_that_is_no_longer_said_stays(acme, export):
    ingest(export, row(channels=["phone"]))
    ingest(export, row())
    assert items(acme)["a"].channels == ["phone"]


def test_null_lifts_a_restriction(acme, export):
    ingest(export, row(channels=["phone"], valid_until="2027-01-01"))
    ingest(export, row(channels=None, valid_until=None))
    item = items(acme)["a"]
    assert (item.channel_restricted, item.channels, item.valid_until) == (False, [], None)


def test_null_visibility_means_that_of_the_command(acme, export):
    ingest(export, row(visibility=None), visibility="internal")
    assert items(acme)["a"].visibility == "internal"


def test_an_empty_title_is_made_up_for(acme, export):
    ingest(export, row("a", title="", text="# Fees\n\nFive."), row("late-fee", title=""))
    assert {name: item.title for name, item in items(acme).items()} == {
        "a": "Fees", "late-fee": "Late fee"
    }  # fmt: skip


def test_prune_deletes_rows_that_have_gone(acme, export):
    ingest(export, row(), row("b"))
    ingest(export, row(), prune=True)
    assert set(items(acme)) == {"a"}


def test_prune_keeps_a_row_that_failed_this_time(acme, export):
    ingest(export, row(), row("b"))
    ingest(export, row(), row("b", visibility="secret"), prune=True)
    assert set(items(acme)) == {"a", "b"}


def test_a_line_that_nobody_understands_stops_the_prune(acme, export):
    ingest(export, row(), row("b"))
    with pytest.raises(CommandError, match="nothing was deleted as gone"):
        ingest(export, row(), '{"id": "b', prune=True)
    assert set(items(acme)) == {"a", "b"}


def test_failed_rows_are_resolved_when_the_file_is_right(acme, export):
    ingest(export, row(), row("b", oops=1))
    ingest(export, row(), row("b"))
    assert failures(acme) == []


def test_rows_become_instructions(acme, export):
    ingest(export, row(folder="Calls"), instructions=True)
    with acme.context():
        found = acme.organization.instruction_set.get()
    assert (found.external_id, found.title, found.directory_id is not None) == ("help:a", "A", True)


@pytest.mark.slow
def test_two_thousand_rows_take_seconds(acme, export):
    rows = [
        row(f"r{n}", text=f"Question {n}? Answer {n}, in a sentence or two.") for n in range(2_000)
    ]
    assert ingest(export, *rows).startswith("2000 created")
    assert ingest(export, *rows).startswith("0 created, 0 updated, 2000 unchanged")
