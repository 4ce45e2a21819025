"""`manage.py ingest` on files and folders."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from knowledge.models import (
    ImportFailure,
    ImportRun,
    IndexState,
    Instruction,
    InstructionDirectory,
    Item,
    Source,
)
from tests.world import tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return tenant("acme")


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "help"
    write(root / "welcome.md", "# Welcome\n\nWe open at nine.")
    write(root / "billing/refunds.html", "<h1>Refunds</h1><p>Within <b>30</b> days.</p>")
    write(root / "billing/cards/lost-card.txt", "Call us at once.")
    return root


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def ingest(*paths: Path, source: str | None = "help", **options) -> str:
    said = StringIO()
    call_command(
        "ingest", *map(str, paths), organization="acme", source=source, stdout=said, **options
    )
    return said.getvalue()


def items(acme):
    with acme.context():
        return {item.external_id: item for item in Item.objects.order_by("external_id")}


def live(acme):
    return {name for name, item in items(acme).items() if item.deleted_at is None}


def failures(acme, **which):
    with acme.context():
        return list(ImportFailure.objects.filter(**which).order_by("path", "line"))


def generations(acme):
    with acme.context():
        desired = dict(IndexState.objects.values_list("asset_id", "desired_generation"))
    return {item.external_id: (item.generation, desired[item.pk]) for item in items(acme).values()}


def test_a_folder_tree_becomes_items_in_folders(acme, tree):
    said = ingest(tree)
    assert said.startswith("3 created, 0 updated, 0 unchanged, 0 failed")
    assert {name: (item.title, item.folder_key) for name, item in items(acme).items()} == {
        "billing/cards/lost-card.txt": ("Lost card", "help/billing/cards"),
        "billing/refunds.html": ("Refunds", "help/billing"),
        "welcome.md": ("Welcome", "help"),
    }


def test_html_is_kept_as_markdown(acme, tree):
    ingest(tree)
    assert items(acme)["billing/refunds.html"].body == "# Refunds\n\nWithin **30** days."


def test_a_folder_is_put_before_the_folders_of_the_tree(acme, tree):
    ingest(tree, folder="Guides")
    assert items(acme)["Guides/welcome.md"].folder_key == "help/Guides"


def test_the_same_again_changes_nothing(acme, tree):
    ingest(tree)
    before = generations(acme)
    assert ingest(tree).startswith("0 created, 0 updated, 3 unchanged, 0 failed")
    assert generations(acme) == before


def test_only_what_changed_is_written(acme, tree):
    ingest(tree)
    write(tree / "welcome.md", "# Welcome\n\nWe open at ten.")
    assert ingest(tree).startswith("0 created, 1 updated, 2 unchanged, 0 failed")
    assert generations(acme)["welcome.md"][0] == 2
    assert generations(acme)["billing/refunds.html"][0] == 1


def test_a_source_is_made_once(acme, tree):
    ingest(tree)
    ingest(tree)
    with acme.context():
        assert [source.slug for source in Source.objects.all()] == ["help"]


def test_without_prune_nothing_is_deleted(acme, tree):
    ingest(tree)
    (tree / "welcome.md").unlink()
    ingest(tree)
    assert "welcome.md" in live(acme)


def test_prune_deletes_what_has_gone(acme, tree):
    ingest(tree)
    (tree / "welcome.md").unlink()
    assert "1 pruned" in ingest(tree, prune=True)
    assert live(acme) == {"billing/cards/lost-card.txt", "billing/refunds.html"}


def test_a_pruned_file_that_returns_is_searchable_again(acme, tree):
    ingest(tree)
    text = (tree / "welcome.md").read_bytes()
    (tree / "welcome.md").unlink()
    ingest(tree, prune=True)
    write(tree / "welcome.md", text)
    ingest(tree, prune=True)
    assert "welcome.md" in live(acme)


def test_what_staff_deleted_stays_deleted(acme, tree, at):
    ingest(tree)
    with acme.context():
        Item.objects.filter(external_id="welcome.md").update(deleted_at=at)
    assert "1 were deleted by staff and stay deleted." in ingest(tree)
    assert "welcome.md" not in live(acme)


def test_prune_reaches_no_other_folder_or_source(acme, tree, tmp_path):
    other = write(tmp_path / "other/note.md", "# Note\n\nText.").parent
    ingest(other, folder="guides-old")
    ingest(other, source="wiki", folder="guides")
    ingest(tree, folder="guides")
    (tree / "welcome.md").unlink()
    ingest(tree, folder="guides", prune=True)
    assert {"guides-old/note.md", "guides/note.md"} <= live(acme)


def test_prune_refuses_to_delete_a_great_part(acme, tmp_path):
    for number in range(30):
        write(tmp_path / f"{number}.md", f"# Number {number}\n\nText.")
    ingest(tmp_path)
    for number in range(15):
        (tmp_path / f"{number}.md").unlink()
    with pytest.raises(CommandError, match="15 of 30 would be deleted as gone"):
        ingest(tmp_path, prune=True)
    assert len(live(acme)) == 30


def test_a_great_part_is_pruned_when_it_is_meant(acme, tmp_path):
    for number in range(30):
        write(tmp_path / f"{number}.md", f"# Number {number}\n\nText.")
    ingest(tmp_path)
    for number in range(15):
        (tmp_path / f"{number}.md").unlink()
    ingest(tmp_path, prune_anyway=True)
    assert len(live(acme)) == 15


def test_a_file_that_can_no_longer_be_read_is_not_pruned(acme, tree):
    ingest(tree)
    write(tree / "welcome.md", b"\x00\x01\x02\xff" * 100)
    ingest(tree, prune=True)
    assert items(acme)["welcome.md"].body == "# Welcome\n\nWe open at nine."
    assert "welcome.md" in live(acme)


def test_a_folder_that_cannot_be_read_stops_the_prune(acme, tree, tmp_path):
    ingest(tree)
    (tree / "welcome.md").unlink()
    with pytest.raises(CommandError, match="nothing was deleted as gone"):
        ingest(tree, tmp_path / "not-mounted", prune=True)
    assert "welcome.md" in live(acme)


def test_a_bad_file_fails_alone_and_is_listed(acme, tree):
    write(tree / "aaa.txt", b"\x89PNG\r\n\x1a\n" + bytes(200))
    assert ingest(tree).startswith("3 created, 0 updated, 0 unchanged, 1 failed")
    listed = ingest(failures=True)
    assert "aaa.txt\tbinary_content\tIt is named like text and holds an image." in listed


def test_a_failure_is_resolved_when_the_file_can_be_read(acme, tree):
    bad = write(tree / "bad.txt", b"%PDF-1.7 not text")
    ingest(tree)
    write(bad, "Now it is text.")
    ingest(tree)
    assert ingest(failures=True) == "Nothing failed.\n"


def test_a_file_that_fails_again_is_listed_once(acme, tree):
    write(tree / "bad.txt", b"%PDF-1.7 not text")
    ingest(tree)
    ingest(tree)
    assert len(failures(acme, resolved_at=None)) == 1


def test_nothing_readable_at_all_is_an_error(acme, tmp_path):
    with pytest.raises(CommandError, match="Nothing could be read"):
        ingest(tmp_path / "nowhere.md")
    assert failures(acme)[0].code == "missing"


def test_a_link_out_of_the_tree_is_not_followed(acme, tree, tmp_path):
    secret = write(tmp_path / "secret.md", "# Secret\n\nKeep it.")
    (tree / "link.md").symlink_to(secret)
    (tree / "up").symlink_to(tmp_path)
    ingest(tree)
    assert len(live(acme)) == 3
    assert [failure.code for failure in failures(acme)] == ["link_leaves_tree"] * 2


def test_a_link_within_the_tree_is_read(acme, tree):
    (tree / "hello.md").symlink_to(tree / "welcome.md")
    ingest(tree)
    assert items(acme)["hello.md"].title == "Welcome"


def test_a_pipe_does_not_hold_the_import_up(acme, tree):
    os.mkfifo(tree / "pipe.md")
    ingest(tree)
    assert [failure.code for failure in failures(acme)] == ["not_a_file"]


def test_images_beside_documents_are_skipped_and_counted(acme, tree):
    write(tree / "logo.png", b"\x89PNG")
    said = ingest(tree)
    assert "Skipped files of kinds that hold no text: .png 1" in said
    assert failures(acme) == []


def test_an_empty_file_holds_no_text(acme, tree):
    write(tree / "empty.md", "")
    ingest(tree)
    assert [failure.code for failure in failures(acme)] == ["no_text"]


def test_hidden_files_are_left_alone(acme, tree):
    write(tree / ".git/config.txt", "secret")
    write(tree / ".notes.md", "# Notes")
    ingest(tree)
    assert len(live(acme)) == 3


@pytest.mark.parametrize(
    "name", ["ünï — 中文 🎉.md", "a'b\"c;--.md", "line\nbreak.md", "%2e%2e.md", "x" * 200 + ".md"]
)
def test_odd_names_of_files_are_kept(acme, tmp_path, name):
    write(tmp_path / name, "# Text\n\nBody.")
    ingest(tmp_path)
    assert live(acme) == {name}


def test_a_name_that_is_no_utf8_is_escaped(acme, tmp_path):
    write(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")), "# Text\n\nBody.")
    ingest(tmp_path)
    assert live(acme) == {"caf\\xe9.md"}


def test_a_folder_whose_name_cannot_be_kept_fails_with_a_reason(acme, tmp_path):
    write(tmp_path / "bad\x07name/a.md", "# Text\n\nBody.")
    write(tmp_path / "good/a.md", "# Text\n\nBody.")
    ingest(tmp_path)
    assert live(acme) == {"good/a.md"}
    assert [failure.code for failure in failures(acme)] == ["folder_refused"]


def test_two_files_of_one_id_are_not_mixed_up(acme, tmp_path):
    one = write(tmp_path / "one/index.md", "# One\n\nBody.")
    two = write(tmp_path / "two/index.md", "# Two\n\nBody.")
    ingest(one, two)
    assert items(acme)["index.md"].title == "One"
    assert [failure.code for failure in failures(acme)] == ["duplicate_id"]


def test_restrictions_that_staff_made_survive_an_update(acme, tree):
    vip = acme.segment("vip")
    ingest(tree)
    with acme.context():
        Item.objects.filter(external_id="welcome.md").update(
            segment_restricted=True,
            segments=[vip.pk],
            review_status="rejected",
            visibility="internal",
            agent_restricted=True,
        )
    write(tree / "welcome.md", "# Welcome\n\nWe open at ten.")
    ingest(tree)
    item = items(acme)["welcome.md"]
    assert item.body.endswith("ten.")
    assert (item.segment_restricted, item.segments) == (True, [vip.pk])
    assert (item.review_status, item.visibility, item.agent_restricted) == (
        "rejected",
        "internal",
        True,
    )


def test_front_matter_labels_a_file(acme, tree):
    write(
        tree / "de.md",
        "---\ntitle: Willkommen\nlang: de\nvisibility: internal\nvalid_until: 2027-01-01\n"
        "channels: [phone]\nweight: 3\n---\nWir öffnen um neun.",
    )
    ingest(tree)
    item = items(acme)["de.md"]
    assert (item.title, item.language, item.visibility) == ("Willkommen", "de", "internal")
    assert (item.channel_restricted, item.channels) == (True, ["phone"])
    assert item.valid_until.isoformat() == "2027-01-01T00:00:00+00:00"
    assert item.body == "Wir öffnen um neun."


def test_language_and_visibility_hold_for_files_that_say_nothing(acme, tree):
    ingest(tree, lang="fr", visibility="internal")
    item = items(acme)["welcome.md"]
    assert (item.language, item.visibility) == ("fr", "internal")


def test_instructions_go_into_directories(acme, tree):
    ingest(tree, source=None, instructions=True, folder="Service")
    with acme.context():
        directory = InstructionDirectory.objects.get(name="cards")
        card = Instruction.objects.get(title="Lost card")
        assert card.directory == directory
        assert InstructionDirectory.objects.filter(
            name="billing", parent__name="Service", children=directory
        ).exists()
        assert card.status == "published"
    assert items(acme) == {}


def test_instructions_again_change_nothing_and_prune(acme, tree):
    ingest(tree, instructions=True, folder="Service")
    assert ingest(tree, instructions=True, folder="Service").startswith(
        "0 created, 0 updated, 3 un"
    )
    (tree / "billing/cards/lost-card.txt").unlink()
    assert "1 pruned" in ingest(tree, instructions=True, folder="Service", prune=True)


def test_an_import_leaves_a_record(acme, tree):
    write(tree / "bad.txt", b"%PDF-1.7")
    ingest(tree)
    with acme.context():
        run = ImportRun.objects.get()
    assert (run.status, run.total, run.created, run.failed) == ("done", 4, 3, 1)
    assert run.source_id is not None
    assert run.finished_at is not None


def test_another_organization_sees_nothing_of_it(acme, tree):
    globex = tenant("globex")
    ingest(tree)
    assert items(globex) == {}
    assert failures(globex) == []


def test_golden_answers_are_not_imported(acme, tree):
    with acme.context():
        Source.objects.create(
            organization=acme.organization, slug="golden", name="Golden", kind="golden"
        )
    with pytest.raises(CommandError, match="written by staff"):
        ingest(tree, source="golden")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"source": None}, "Name the source"),
        ({"source": "Not A Slug"}, "in lower case"),
        ({"folder": "a/../b"}, "never goes up"),
        ({"organization": "nobody"}, "There is no organization nobody"),
    ],
)
def test_a_command_that_makes_no_sense_says_why(acme, tree, options, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command("ingest", str(tree), **({"organization": "acme", "source": "help"} | options))
