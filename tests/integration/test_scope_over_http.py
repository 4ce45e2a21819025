"""The scope table of the product, as a voice runtime sees it: by exact result ids."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest
from django.db import DatabaseError, transaction

from knowledge.indexing.writing import Gates, change, only
from knowledge.models import Item
from knowledge.retrieval.types import Selection
from scopes.models import AgentScope, FolderPick, ItemPick
from scopes.resolution import allowlist_for
from tenants.models import PhoneAgent, Segment
from tests.voice import Runtime, runtime
from tests.world import AT, Tenant, tenant

pytestmark = pytest.mark.django_db
WORD = "marmalade"


@dataclass
class Desk:
    """An agent with one instruction and one item inside what may be picked, one outside."""

    acme: Tenant
    agent: PhoneAgent
    voice: Runtime
    ids: dict[str, UUID]

    def hears(self, **session):
        answer = self.voice.search(
            self.agent, self.voice.session(self.agent, **session), WORD, limit=10
        )
        found = {result["id"] for result in answer.json()["results"]}
        return {name for name, pk in self.ids.items() if str(pk) in found}

    def status(self):
        answer = self.voice.search(self.agent, self.voice.session(self.agent), WORD)
        return answer.json()["status"]

    def add_item(self, name, folder, **content):
        self.ids[name] = self.acme.item(name, f"{WORD} {name}", folder=folder, **content)

    def add_instruction(self, name, directory):
        self.ids[name] = self.acme.instruction(name, f"{WORD} {name}", directory=directory)


@pytest.fixture
def desk(settings):
    acme = tenant("acme")
    desk = Desk(acme, acme.agent(), runtime(acme.organization), {})
    desk.add_instruction("rule in", "desk/cards")
    desk.add_instruction("rule out", "other")
    desk.add_item("fact in", "cards/lost")
    desk.add_item("fact out", "other")
    return desk


def pick_instructions(desk):
    desk.acme.pick(desk.agent, "instruction", containers=[desk.acme.directory("desk")])


def pick_knowledge(desk):
    desk.acme.pick(desk.agent, "knowledge", containers=["help/cards"])


@pytest.mark.parametrize(
    ("instructions", "knowledge", "heard"),
    [
        (False, False, {"rule in", "rule out", "fact in", "fact out"}),
        (True, False, {"rule in", "fact in", "fact out"}),
        (False, True, {"rule in", "rule out", "fact in"}),
        (True, True, {"rule in", "fact in"}),
    ],
)
def test_the_two_categories_are_limited_apart(desk, instructions, knowledge, heard):
    if instructions:
        pick_instructions(desk)
    if knowledge:
        pick_knowledge(desk)
    assert desk.hears() == heard


def test_a_picked_folder_covers_what_comes_later_and_lies_deeper(desk):
    pick_knowledge(desk)
    desk.add_item("later", "cards/lost/abroad")
    assert desk.hears() == {"rule in", "rule out", "fact in", "later"}


def test_a_picked_directory_covers_what_comes_later_and_lies_deeper(desk):
    pick_instructions(desk)
    desk.add_instruction("later", "desk/cards/lost/abroad")
    assert desk.hears() == {"rule in", "later", "fact in", "fact out"}


def test_a_folder_does_not_cover_its_namesake(desk):
    pick_knowledge(desk)
    desk.add_item("namesake", "cards-old")
    assert "namesake" not in desk.hears()


def test_a_picked_item_stays_picked_wherever_it_is_filed(desk):
    desk.acme.pick(desk.agent, "knowledge", rows=[desk.ids["fact out"]])
    with desk.acme.context():
        row = Item.objects.select_for_update(of=("self",)).get(pk=desk.ids["fact out"])
        change(row, at=AT, folder_key="help/elsewhere")
    assert desk.hears() == {"rule in", "rule out", "fact out"}


def test_clearing_the_last_pick_opens_the_category_again(desk):
    pick_knowledge(desk)
    desk.acme.pick(desk.agent, "knowledge")
    assert desk.hears() == {"rule in", "rule out", "fact in", "fact out"}


def test_when_all_that_was_picked_is_gone_nothing_of_the_category_is_heard(desk):
    pick_knowledge(desk)
    desk.acme.change_item(desk.ids["fact in"], deleted_at=AT)
    assert desk.hears() == {"rule in", "rule out"}


def test_a_pick_of_an_erased_item_leaves_the_category_restricted(desk):
    desk.acme.pick(desk.agent, "knowledge", rows=[desk.ids["fact in"]])
    with desk.acme.context():
        Item.objects.filter(pk=desk.ids["fact in"]).delete()
    assert desk.hears() == {"rule in", "rule out"}


def test_with_nothing_left_in_either_category_the_status_says_so(desk):
    desk.acme.pick(desk.agent, "knowledge", containers=["help/empty"])
    desk.acme.pick(desk.agent, "instruction", containers=[desk.acme.directory("empty")])
    assert desk.status() == "restricted_empty"


def test_one_category_with_nothing_left_is_no_restricted_empty(desk):
    desk.acme.pick(desk.agent, "knowledge", containers=["help/empty"])
    assert (desk.status(), desk.hears()) == ("ok", {"rule in", "rule out"})


def test_everything_over_an_empty_corpus_is_no_match():
    empty = tenant("empty")
    agent, voice = empty.agent(), runtime(empty.organization)
    assert voice.search(agent, voice.session(agent), WORD).json()["status"] == "no_match"


@pytest.mark.parametrize("pick", ["item", "folder"])
def test_a_pick_inserted_by_sql_restricts_though_the_stored_mode_is_all(desk, pick):
    where = {"organization": desk.acme.organization, "agent": desk.agent}
    with desk.acme.context():
        if pick == "item":
            ItemPick.objects.create(**where, item_id=desk.ids["fact in"])
        else:
            FolderPick.objects.create(**where, folder_key="help/cards")
    assert desk.hears() == {"rule in", "rule out", "fact in"}


def test_erasing_what_a_pick_by_sql_named_never_opens_the_category(desk):
    with desk.acme.context():
        ItemPick.objects.create(
            organization=desk.acme.organization, agent=desk.agent, item_id=desk.ids["fact in"]
        )
        Item.objects.filter(pk=desk.ids["fact in"]).delete()
    assert desk.hears() == {"rule in", "rule out"}


def test_without_the_row_of_its_mode_nothing_of_a_category_is_searchable(desk):
    with desk.acme.context():
        AgentScope.objects.filter(agent=desk.agent, category="knowledge").delete()
    assert desk.hears() == {"rule in", "rule out"}


@pytest.fixture
def members(desk):
    members = desk.acme.segment("members")
    desk.add_item("for members", "other", gates=Gates(segments=only(members.pk)))
    desk.acme.contact("inside", members)
    desk.acme.contact("outside")
    return members


@pytest.mark.parametrize(
    ("contact", "heard"),
    [({"external_id": "inside"}, True), ({"external_id": "outside"}, False), (None, False)],
)
def test_the_same_query_by_contacts_inside_and_outside_a_segment(desk, members, contact, heard):
    session = {"contact": contact} if contact else {}
    assert ("for members" in desk.hears(**session)) is heard


def test_a_segment_that_restricts_something_cannot_be_deleted(desk, members):
    with desk.acme.context(), pytest.raises(DatabaseError), transaction.atomic():
        Segment.objects.filter(pk=members.pk).delete()
    assert "for members" not in desk.hears()


def test_a_restriction_that_lost_its_list_is_heard_by_nobody(desk, members):
    desk.acme.change_item(desk.ids["for members"], segments=[])
    assert "for members" not in desk.hears(contact={"external_id": "inside"})


def test_no_session_sees_more_than_its_allowlist(desk):
    pick_knowledge(desk)
    with desk.acme.context():
        allowlist = allowlist_for(desk.agent, contact=None, channel="phone", country=None, at=AT)
    assert isinstance(allowlist.knowledge, Selection)
    assert allowlist.knowledge.folders == {"help/cards"}
