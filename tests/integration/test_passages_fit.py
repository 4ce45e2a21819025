"""Passages are cut from the text that is stored, whatever door it came through and however it was written."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from knowledge.editor import drafting, publishing
from knowledge.editor.errors import WordingRefused
from knowledge.editor.holding import Hand
from knowledge.editor.wording import Wording, checked, wording_of
from knowledge.embedding.spaces import ensure_space
from knowledge.indexing import converge, reconciling
from knowledge.indexing.bulk import Wanted, write_many
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.indexing.draining import due_assets
from knowledge.indexing.lexical import forget_lexical_entries
from knowledge.indexing.writing import ItemContent, change, cut_again, text_of, write_item
from knowledge.models import (
    Chunk,
    Instruction,
    InstructionDraft,
    InstructionVersion,
    Item,
    LexicalEntry,
)
from knowledge.passages import CHUNKER_VERSION, PassagePolicy, passages
from knowledge.text.normalising import clean
from tenants.models import AuditEntry
from tests.answers import CONTENT, Staff
from tests.embedders import CountingEmbedder
from tests.meanwhile import meanwhile
from tests.people import offices
from tests.staff import office, posted
from tests.world import AT, BY, tenant

PLANS = "\n".join(
    f"## Plan {number}\n\nPlan {number} costs {number * 1000 + 200} dirham a year.\n"
    + "It is paid at the café counter. " * 12
    for number in range(1, 40)
)
SHORT_PASSAGES = PassagePolicy(target=60, overlap=10, least=10)


def browser_text(text):
    """Return text as a browser posts what stands in a text area."""
    return text.replace("\n", "\r\n")


def slices(of, row):
    """Return what each passage of a row says to a caller, in order."""
    entries = LexicalEntry.objects.filter(asset_id=row.pk, generation=row.generation)
    places = entries.order_by("position").values_list("start", "end")
    return [row.body[start:end] for start, end in places]


def indexed(row):
    return [passage.text(row.body) for passage in text_of(row).passages()]


def stored(of, pk, model=Item):
    with of.context():
        return model.objects.get(pk=pk)


@pytest.mark.django_db
def test_saving_an_items_page_moves_no_passage():
    staff = office()
    pk = staff.acme.item("Plans", PLANS)
    client, page = staff.as_("editor"), f"/admin/knowledge/item/{pk}/change/"
    form = posted(client, page) | {"body": browser_text(PLANS), "valid_until_0": "2027-01-01"}
    assert client.post(page, form).status_code == 302
    row = stored(staff.acme, pk)
    assert slices(staff.acme, row) == indexed(row)
    assert "\r" not in row.body


@pytest.mark.django_db
def test_saving_an_instructions_page_moves_no_passage():
    staff = office()
    pk = staff.acme.instruction("Plans", PLANS.strip())
    client, page = staff.as_("editor"), f"/admin/knowledge/instruction/{pk}/change/"
    form = posted(client, page) | {"body": browser_text(PLANS), "language": "en"}
    assert client.post(page, form).status_code == 302
    row = stored(staff.acme, pk, Instruction)
    assert (row.language, row.body) == ("en", PLANS.strip())
    assert "".join(slices(staff.acme, row)) == row.body


@pytest.mark.django_db
@pytest.mark.parametrize(
    "anew",
    [
        browser_text,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("counter", "coun\u00adter"),
    ],
    ids=["line ends", "decomposed", "byte order mark", "soft hyphens"],
)
def test_the_same_text_in_another_spelling_is_the_same_text(anew):
    acme = tenant("acme")
    pk = acme.item("Café", PLANS)
    before = stored(acme, pk)
    acme.item("Café", anew(PLANS))
    assert stored(acme, pk).__dict__ | {"_state": None} == before.__dict__ | {"_state": None}


@pytest.mark.django_db
def test_line_ends_alone_are_no_change_that_staff_read_of():
    staff = office()
    pk = staff.acme.item("Plans", PLANS.strip())
    client, page = staff.as_("editor"), f"/admin/knowledge/item/{pk}/change/"
    client.post(page, posted(client, page) | {"body": browser_text(PLANS), "language": "en"})
    with staff.acme.context():
        assert AuditEntry.objects.get(verb="item.change").after == {"language": "en"}


HIDDEN = "\u200b\u00ad"
ODD = "\ufeff" + browser_text(unicodedata.normalize("NFD", PLANS)).replace("paid", "pa\u00adid")
CLEAN = unicodedata.normalize("NFC", PLANS)


def pushed(at_work, **said):
    named = {"external_id": "plans", "title": "Plans", "body": "As before."}
    made = at_work.editor.post("items", {"source": "help", **named, **said})
    assert made.status_code in {200, 201}, made.content
    return made


def by_push(at_work, tmp_path):
    pushed(at_work, body=ODD)


def by_patch(at_work, tmp_path):
    made = pushed(at_work, body=CLEAN)
    address = f"items/{made.json()['id']}"
    assert at_work.editor.patch(address, {"body": ODD}, If_Match=made["ETag"]).status_code == 200


def by_bulk(at_work, tmp_path):
    pushed(at_work, body=CLEAN)
    row = {"external_id": "plans", "title": "Plans", "body": ODD}
    done = at_work.editor.post("items/bulk", {"source": "help", "rows": [row]})
    assert [each["outcome"] for each in done.json()["results"]] == ["unchanged"]


def by_import(at_work, tmp_path):
    pushed(at_work, body="As before.")
    file = tmp_path / "plans.jsonl"
    file.write_text(json.dumps({"id": "plans", "title": "Plans", "text": ODD}))
    call_command("ingest", str(file), organization="acme", source="help", stdout=StringIO())


@pytest.mark.django_db
@pytest.mark.parametrize("door", [by_push, by_patch, by_bulk, by_import])
def test_every_door_stores_what_it_cuts(door, tmp_path):
    at_work = offices()
    at_work.acme.source()
    door(at_work, tmp_path)
    with at_work.acme.context():
        row = Item.objects.get(external_id="plans")
    assert row.body.strip() == CLEAN.strip()
    assert slices(at_work.acme, row) == indexed(row)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["title", "body"])
def test_a_text_of_signs_that_nobody_sees_is_blank_to_programs(name):
    at_work = offices()
    at_work.acme.source()
    said = {
        "source": "help",
        "external_id": "plans",
        "title": "Plans",
        "body": "Said.",
        name: HIDDEN,
    }
    refused = at_work.editor.post("items", said)
    assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, {name})


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["title", "body"])
def test_a_text_of_signs_that_nobody_sees_is_blank_on_a_page(name):
    staff = office()
    pk = staff.acme.item("Plans", PLANS)
    client, page = staff.as_("editor"), f"/admin/knowledge/item/{pk}/change/"
    answer = client.post(page, posted(client, page) | {name: HIDDEN})
    assert set(answer.context["adminform"].form.errors) == {name}


def test_a_draft_of_signs_that_nobody_sees_is_refused():
    with pytest.raises(WordingRefused) as refused:
        checked(Wording("Plans", HIDDEN))
    assert set(refused.value.data["fields"]) == {"body"}


@pytest.mark.django_db
def test_a_draft_is_kept_in_the_characters_that_are_served():
    acme = tenant("acme")
    number, hand = acme.organization.pk, Hand(BY, AT)
    before = Wording("Plans", "As before.")
    row = drafting.begin(number, before, hand, directory_id=None)
    drafting.save_draft(number, row.pk, Wording("Plans", ODD), hand, seen=before.digest)
    with acme.context():
        draft = InstructionDraft.objects.get(instruction=row)
    row = publishing.publish(number, row.pk, hand, seen=f"-.{wording_of(draft).digest}")
    with acme.context():
        version = InstructionVersion.objects.get(instruction=row)
    assert draft.body == version.body == row.body == CLEAN
    assert slices(acme, row) == indexed(row)


@pytest.mark.django_db
def test_a_draft_that_differs_from_what_is_served_in_spelling_only_is_none():
    acme = tenant("acme")
    pk = acme.instruction("Plans", CLEAN)
    said = Wording("Plans", ODD)
    seen = wording_of(stored(acme, pk, Instruction)).digest
    drafting.save_draft(acme.organization.pk, pk, said, Hand(BY, AT), seen=seen)
    with acme.context():
        assert not InstructionDraft.objects.filter(instruction=pk).exists()


@pytest.mark.django_db
def test_a_golden_answer_is_cut_from_what_it_says():
    staff = Staff()
    pk = staff.published(
        replace(CONTENT, answer="Café.\r\nUpsta\u00adirs.", paraphrases=("Cafe\u0301?",))
    )
    row = stored(staff.tenant, staff.row(pk).item_id)
    assert (row.body, row.phrasings) == ("Café.\nUpstairs.", ["Café?"])
    assert slices(staff.tenant, row) == indexed(row)


@pytest.mark.django_db
def test_a_canonical_title_that_grew_is_kept_as_far_as_it_fits():
    acme = tenant("acme")
    pk = acme.item("Title", title="\u0958" * 400)
    assert stored(acme, pk).title == "\u0915\u093c" * 200


class Indexed:
    """One organization, and an index of it that can be worked and compared."""

    def __init__(self):
        self.acme = tenant("acme")
        self.embedder = CountingEmbedder()

    def drain(self):
        workshop = Workshop(self.embedder, lambda: AT, lambda: True)
        while due := due_assets(at=AT, most=10):
            for organization_id, assets in due.items():
                converge_batch(organization_id, assets, workshop)

    def reconcile(self, version=CHUNKER_VERSION):
        space = ensure_space(self.embedder.space, chunker_version=version)
        return reconciling.reconcile(self.acme.organization.pk, space=space, at=AT)

    def places(self, model, pk):
        with self.acme.context():
            found = model.objects.filter(asset_id=pk, position__gte=0).order_by("position")
            return list(found.values_list("position", "start", "end"))

    def save_as_before(self, pk, body):
        """Save a body as the release before this one did: its hash did not see line ends."""
        self.acme.change_item(pk, body=body, content_hash=former_hash("Plans", PLANS))


def former_hash(title, body):
    parts = (title, body, "", "en")
    return hashlib.sha256("".join(parts).encode()).hexdigest()


@pytest.fixture
def index(transactional_db):
    return Indexed()


def test_reconciling_mends_passages_that_lie_beside_their_body(index):
    pk = index.acme.item("Plans", PLANS)
    index.drain()
    index.save_as_before(pk, browser_text(PLANS))
    assert index.reconcile().misplaced == 1
    index.drain()
    row = stored(index.acme, pk)
    assert (row.body, row.generation) == (PLANS, 2)
    assert slices(index.acme, row) == indexed(row)
    assert index.places(Chunk, pk) == index.places(LexicalEntry, pk)
    assert index.reconcile().total == 0
    assert index.embedder.paid_twice == []


@pytest.mark.django_db
def test_a_passage_that_lies_beside_its_body_is_not_served_until_it_is_cut_again(caplog):
    staff = Staff()
    pk = staff.tenant.item("Plans", PLANS)
    assert "costs 35200 dirham" in heard(staff)
    staff.tenant.change_item(pk, body=browser_text(PLANS))
    assert heard(staff) == ""
    assert [(told.message, told.asset) for told in caplog.records] == [("misplaced", pk)]
    with staff.tenant.context():
        cut_again(locked(pk), at=AT)
    assert "costs 35200 dirham" in heard(staff)


def heard(staff):
    return "\n".join(content for _, content in staff.heard("plan 35 costs 35200 dirham"))


def test_a_row_of_the_release_before_is_not_indexed_again_until_its_words_change(index):
    pk = index.acme.item("Plans", PLANS)
    index.drain()
    index.save_as_before(pk, PLANS)
    assert index.reconcile().total == 0
    index.acme.item("Plans", PLANS, url="https://acme.example/plans")
    assert stored(index.acme, pk).generation == 1
    index.acme.item("Plans", PLANS + "Ask at the counter.")
    assert stored(index.acme, pk).generation == 2


def test_a_row_of_the_release_before_whose_body_was_not_stored_clean_is_cut_anew(index):
    pk = index.acme.item("Plans", PLANS)
    index.save_as_before(pk, browser_text(PLANS))
    with index.acme.context():
        change(Item.objects.get(pk=pk), at=AT, url="https://acme.example/plans")
    row = stored(index.acme, pk)
    assert slices(index.acme, row) == indexed(row)


def cut_otherwise(monkeypatch):
    """Begin a release that cuts shorter passages."""
    shorter = lambda body, **where: passages(body, limits=SHORT_PASSAGES, **where)  # noqa: E731
    monkeypatch.setattr("knowledge.indexing.texts.passages", shorter)
    monkeypatch.setattr(converge, "CHUNKER_VERSION", "2")


def test_a_release_that_cuts_otherwise_cuts_for_words_what_it_cuts_for_vectors(index, monkeypatch):
    pk = index.acme.item("Plans", PLANS)
    index.drain()
    before = index.places(Chunk, pk)
    cut_otherwise(monkeypatch)
    index.reconcile("2")
    index.drain()
    assert index.places(Chunk, pk) == index.places(LexicalEntry, pk) != before
    assert stored(index.acme, pk).generation == 1
    assert index.reconcile("2").total == 0


def test_a_draft_from_before_such_a_release_is_cut_anew_when_it_is_published(index, monkeypatch):
    pk = index.acme.instruction("Plans", PLANS, status="draft")
    index.drain()
    cut_otherwise(monkeypatch)
    index.acme.instruction("Plans", PLANS, status="published")
    index.drain()
    assert index.places(Chunk, pk) == index.places(LexicalEntry, pk)


def test_words_that_lie_elsewhere_than_vectors_are_a_difference(index):
    pk = index.acme.item("Plans", PLANS)
    index.drain()
    with index.acme.context():
        Chunk.objects.filter(asset_id=pk, position=1).update(start=3)
    assert index.reconcile().misplaced == 1
    index.drain()
    assert index.places(Chunk, pk) == index.places(LexicalEntry, pk)


def test_a_row_that_somebody_is_writing_is_not_waited_for(index, monkeypatch):
    pk = index.acme.item("Plans", PLANS)
    index.drain()
    before = index.places(LexicalEntry, pk)
    cut_otherwise(monkeypatch)
    index.reconcile("2")
    writing = lambda: forget_lexical_entries(index.acme.organization.pk, [locked(pk).pk])  # noqa: E731
    with meanwhile(index.acme.organization.pk, writing):
        workshop = Workshop(index.embedder, lambda: AT, lambda: True)
        done = converge_batch(index.acme.organization.pk, [("knowledge", pk)], workshop)
        assert (done.released, index.places(LexicalEntry, pk)) == ({pk}, before)
    index.drain()
    assert index.places(Chunk, pk) == index.places(LexicalEntry, pk) != []


def locked(pk):
    return Item.objects.select_for_update(of=("self",), no_key=True).get(pk=pk)


SPELLINGS = (
    "a", "b", "é", "e\u0301", "\u0958", "\u00ad", "\ufeff", "\u202e", "\r\n", "\r", "\n", "\x1f",
    "\u2028", " ", "# H\n", "\n\n", "- i\n", "Fee 5. ", "😀", "ً", "word " * 80,
)  # fmt: skip
bodies = st.lists(st.sampled_from(SPELLINGS), max_size=30).map("".join)
verbs = st.sampled_from(["write_item", "write_many", "change", "none"])


class Doors(TestCase):
    """Any body, then any other, through any of the verbs that everything writes by."""

    @given(bodies, st.lists(st.tuples(verbs, bodies), max_size=3))
    def test_whatever_is_written_is_cut_where_it_is_stored(self, first, writes):
        acme = tenant("acme")
        pk = acme.item("Plans", first or "a")
        for verb, body in writes:
            with acme.context():
                self.write(locked(pk), verb, body)
        row = stored(acme, pk)
        with acme.context():
            assert slices(acme, row) == indexed(row)
            assert row.body == clean(row.body)

    def write(self, row, verb, body):
        content = ItemContent(
            row.organization_id, row.source_id, row.external_id, "Plans", body, row.folder_key
        )
        if verb == "write_item":
            write_item(content, at=AT)
        elif verb == "write_many":
            write_many([Wanted(content, row)], at=AT)
        else:
            change(
                row,
                at=AT,
                url="https://acme.example",
                **({"body": body} if verb == "change" else {}),
            )
