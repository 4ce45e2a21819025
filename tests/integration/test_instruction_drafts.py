"""What the voice door serves of instructions while staff write, publish, move and delete them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from knowledge.editor import clearing, drafting, placing, publishing
from knowledge.editor.errors import (
    DirectoryAroundDeleted,
    DirectoryChanged,
    DirectoryNameTaken,
    InstructionDeleted,
    NoInstructionDraft,
    NothingToPublish,
    WordingChanged,
    WordingRefused,
)
from knowledge.editor.holding import Hand, held
from knowledge.editor.wording import Wording, wording_of
from knowledge.indexing.filing import DirectoryGone, DirectoryRefused
from knowledge.indexing.writing import Gates, only
from knowledge.models import (
    IndexState,
    Instruction,
    InstructionDirectory,
    InstructionDraft,
    InstructionVersion,
    LexicalEntry,
)
from knowledge.shelving.errors import RestoreTooLate
from scopes.models import AgentScope, DirectoryPick
from tenants.models import AuditEntry
from tests.embedders import CountingEmbedder
from tests.voice import runtime
from tests.world import AT, BY, world

pytestmark = pytest.mark.django_db
HAND = Hand(BY, AT)
OLD = Wording("Lounge rules", "Guests of the pelican lounge wear blue hats.")
NEW = Wording("Lounge rules", "Guests of the flamingo terrace wear green scarves.")


@pytest.fixture(autouse=True)
def embedder(monkeypatch):
    monkeypatch.setattr("scopes.asking.current_embedder", CountingEmbedder)


class Desk:
    """Acme's instructions, and an agent that may search all of them."""

    def __init__(self):
        self.world = world()
        self.acme = self.world.acme
        self.number = self.acme.organization.pk
        self.agent = self.acme.agent("porter")
        self.voice = runtime(self.acme.organization)

    def row(self, pk):
        with self.acme.context():
            return Instruction.objects.get(pk=pk)

    def held(self, pk):
        with self.acme.context():
            return held(Instruction.objects.select_related("directory").get(pk=pk))

    def begin(self, wording=OLD, directory=None):
        return drafting.begin(self.number, wording, HAND, directory_id=directory).pk

    def save(self, pk, wording=NEW, **kwargs):
        seen = kwargs.get("seen", self.held(pk).seen)
        return drafting.save_draft(self.number, pk, wording, HAND, seen=seen)

    def publish(self, pk, **kwargs):
        seen = kwargs.get("seen", self.held(pk).seen_whole)
        return publishing.publish(self.number, pk, HAND, seen=seen)

    def live(self, wording=OLD, directory=None):
        pk = self.begin(wording, directory)
        self.publish(pk)
        return pk

    def hears(self, text, agent=None):
        """The contents that a call hears, asked in a new session as a runtime does."""
        agent = agent or self.agent
        answer = self.voice.search(agent, self.voice.session(agent), text).json()
        return [found["content"] for found in answer["results"]]

    def hears_old(self, agent=None):
        return any("blue hats" in one for one in self.hears("pelican blue hats", agent))

    def hears_new(self, agent=None):
        return any("green" in one for one in self.hears("flamingo green scarves", agent))

    def only(self, directory, slug="clerk"):
        agent = self.acme.agent(slug)
        self.acme.pick(agent, "instruction", containers=[directory])
        self.acme.pick(agent, "knowledge", containers=["help/nothing"])
        return agent

    def verbs(self):
        with self.acme.context():
            rows = AuditEntry.objects.filter(subject_type__in=["instruction", "directory"])
            return sorted(rows.values_list("verb", flat=True))


@pytest.fixture
def desk():
    return Desk()


def test_what_is_begun_is_heard_by_nobody_until_it_is_published(desk):
    pk = desk.begin()
    before = desk.hears_old()
    desk.publish(pk)
    assert (before, desk.hears_old()) == (False, True)


def test_a_draft_is_heard_by_nobody_and_what_is_live_stays(desk):
    pk = desk.live()
    desk.save(pk)
    assert (desk.hears_old(), desk.hears_new()) == (True, False)


def test_a_publish_is_heard_in_the_next_search_with_every_worker_stopped(desk):
    pk = desk.live()
    desk.save(pk)
    desk.publish(pk)
    assert (desk.hears_old(), desk.hears_new()) == (False, True)


def test_a_publish_raises_the_generation_and_its_lexical_row_together(desk):
    pk = desk.live()
    before = desk.row(pk).generation
    desk.save(pk)
    desk.publish(pk)
    with desk.acme.context():
        entries = LexicalEntry.objects.filter(asset_id=pk).values_list("generation", flat=True)
        state = IndexState.objects.get(asset_id=pk)
    assert set(entries) == {before + 1}
    assert state.desired_generation > state.applied_generation


def test_a_publish_that_fails_leaves_everything_as_it_was(desk, monkeypatch):
    pk = desk.live()
    desk.save(pk)
    monkeypatch.setattr(publishing, "tell", _fails)
    with pytest.raises(ZeroDivisionError):
        desk.publish(pk)
    assert (desk.hears_old(), desk.hears_new()) == (True, False)
    assert desk.held(pk).draft is not None


def _fails(*_args, **_kwargs):
    raise ZeroDivisionError


def test_a_discarded_draft_leaves_what_is_live(desk):
    pk = desk.live()
    desk.save(pk)
    drafting.discard_draft(desk.number, pk, HAND, seen=desk.held(pk).seen_whole)
    assert desk.hears_old()
    assert desk.held(pk).draft is None
    with pytest.raises(NoInstructionDraft):
        drafting.discard_draft(desk.number, pk, HAND, seen=desk.held(pk).seen_whole)


def test_a_draft_that_says_what_is_live_is_none(desk):
    pk = desk.live()
    desk.save(pk)
    desk.save(pk, OLD)
    assert desk.held(pk).draft is None


def test_saving_what_stands_there_changes_nothing(desk):
    pk = desk.live()
    desk.save(pk, OLD)
    assert desk.held(pk).draft is None
    assert "instruction.save_draft" not in desk.verbs()


def test_a_stale_text_is_refused_with_both_and_nothing_is_lost(desk):
    pk = desk.live()
    seen = desk.held(pk).seen
    theirs = replace(NEW, title="Theirs")
    desk.save(pk, theirs)
    with pytest.raises(WordingChanged) as refusal:
        desk.save(pk, NEW, seen=seen)
    assert (refusal.value.data["yours"], refusal.value.data["theirs"]) == (NEW, theirs)
    desk.save(pk, NEW, seen=refusal.value.data["seen"])
    assert wording_of(desk.held(pk).draft) == NEW


def test_a_publish_of_something_else_than_was_shown_is_refused(desk):
    pk = desk.live()
    desk.save(pk)
    shown = desk.held(pk).seen_whole
    desk.save(pk, replace(NEW, body="Something else."))
    with pytest.raises(WordingChanged):
        desk.publish(pk, seen=shown)
    assert desk.hears_old()


def test_a_change_of_what_is_live_ends_a_confirmation_too(desk):
    pk = desk.live()
    desk.save(pk)
    shown = desk.held(pk).seen_whole
    desk.acme.instruction(desk.row(pk).external_id, "Imported meanwhile.", title="Lounge rules")
    with pytest.raises(WordingChanged):
        desk.publish(pk, seen=shown)


def test_publishing_nothing_new_is_refused(desk):
    with pytest.raises(NothingToPublish):
        desk.publish(desk.live())


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": " "}, "title"),
        ({"body": "\n"}, "body"),
        ({"gates": Gates(valid_from=AT, valid_until=AT)}, "valid_until"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_field(desk, change, field):
    with pytest.raises(WordingRefused) as refusal:
        desk.begin(replace(OLD, **change))
    assert list(refusal.value.data["fields"]) == [field]


def test_gates_of_a_draft_hold_from_its_publication_on(desk):
    pk = desk.live()
    desk.save(pk, replace(OLD, gates=Gates(channels=only("whatsapp"))))
    before = desk.hears_old()
    desk.publish(pk)
    assert (before, desk.hears_old()) == (True, False)


def test_every_text_that_was_served_can_be_brought_back(desk):
    pk = desk.live()
    desk.save(pk)
    desk.publish(pk)
    with desk.acme.context():
        numbers = list(InstructionVersion.objects.values_list("number", "body"))
    assert numbers == [(2, NEW.body), (1, OLD.body)]
    seen = desk.held(pk).seen_whole
    drafting.draft_from_version(desk.number, pk, 1, HAND, seen=seen)
    assert desk.hears_new()
    desk.publish(pk)
    assert (desk.hears_old(), desk.hears_new()) == (True, False)


def test_a_text_that_came_from_elsewhere_is_kept_before_it_is_replaced(desk):
    pk = desk.acme.instruction("imported", OLD.body)
    desk.save(pk)
    desk.publish(pk)
    with desk.acme.context():
        kept = InstructionVersion.objects.order_by("number").values_list("body", flat=True)
        assert list(kept) == [OLD.body, NEW.body]


def test_what_is_taken_back_is_heard_by_nobody_and_keeps_its_text(desk):
    pk = desk.live()
    publishing.take_back(desk.number, pk, HAND, seen=desk.held(pk).seen_whole)
    assert not desk.hears_old()
    desk.publish(pk)
    assert desk.hears_old()


def test_a_deleted_instruction_is_gone_from_the_next_search_and_comes_back(desk):
    pk = desk.live()
    publishing.delete(desk.number, pk, HAND)
    before = desk.hears_old()
    with pytest.raises(InstructionDeleted):
        desk.save(pk)
    publishing.bring_back(desk.number, pk, HAND)
    assert (before, desk.hears_old()) == (False, True)


def test_after_thirty_days_nothing_comes_back(desk):
    pk = desk.live()
    publishing.delete(desk.number, pk, HAND)
    late = Hand(BY, AT + timedelta(days=31))
    with pytest.raises(RestoreTooLate):
        publishing.bring_back(desk.number, pk, late)


def test_another_organizations_instruction_is_not_there(desk):
    theirs = desk.world.globex.instruction("secret", "The ostrich sleeps.")
    for verb in (publishing.delete, publishing.bring_back):
        with pytest.raises(Exception, match="no such instruction"):
            verb(desk.number, theirs, HAND)
    place = desk.world.globex.directory("theirs")
    with pytest.raises(DirectoryGone):
        desk.begin(directory=place)
    with pytest.raises(DirectoryGone):
        placing.move_instruction(desk.number, desk.live(), place, HAND)


def test_an_agent_of_a_directory_hears_what_moves_in_and_no_longer_what_moves_out(desk):
    inside, outside = desk.acme.directory("desk"), desk.acme.directory("elsewhere")
    clerk = desk.only(inside)
    pk = desk.live(directory=outside)
    heard = [desk.hears_old(clerk)]
    for place in (inside, None):
        placing.move_instruction(desk.number, pk, place, HAND)
        heard.append(desk.hears_old(clerk))
    assert heard == [False, True, False]


def test_a_picked_directory_takes_its_agents_along_when_it_moves_and_is_renamed(desk):
    desk.acme.directory("other")
    inside, around = desk.acme.directory("desk"), desk.acme.directory("around")
    clerk, pk = desk.only(inside), desk.live(directory=inside)
    desk.live(NEW, directory=around)
    placing.file_elsewhere(
        desk.number, inside, HAND, name="counter", parent_id=around, seen="/desk"
    )
    assert (desk.hears_old(clerk), desk.hears_new(clerk)) == (True, False)
    assert "counter" in str(desk.held(pk).row.directory)


def test_the_new_name_of_a_directory_is_matched_in_the_next_search(desk):
    inside = desk.acme.directory("desk")
    desk.live(directory=inside)
    placing.file_elsewhere(desk.number, inside, HAND, name="zeppelin", parent_id=None, seen="/desk")
    assert any("blue hats" in one for one in desk.hears("zeppelin"))


def test_directories_keep_one_name_each_and_no_circle(desk):
    first, second = desk.acme.directory("one/two"), desk.acme.directory("three")
    one = desk.acme.directory("one")
    with pytest.raises(DirectoryNameTaken):
        placing.make_directory(desk.number, None, "three", HAND)
    with pytest.raises(DirectoryNameTaken):
        placing.file_elsewhere(desk.number, second, HAND, name="one", parent_id=None, seen="/three")
    with pytest.raises(DirectoryRefused):
        placing.file_elsewhere(desk.number, one, HAND, name="one", parent_id=first, seen="/one")
    with pytest.raises(DirectoryRefused):
        placing.make_directory(desk.number, None, "a/b", HAND)
    with pytest.raises(DirectoryChanged):
        placing.file_elsewhere(desk.number, one, HAND, name="x", parent_id=None, seen="/before")


def clear(desk, verb, place):
    with desk.acme.context():
        directory = InstructionDirectory.objects.get(pk=place)
        seen = clearing.contents_of(directory).seen
    return verb(desk.number, place, HAND, seen=seen)


def test_moving_everything_up_keeps_what_is_served_and_narrows_who_was_restricted_to_it(desk):
    inside = desk.acme.directory("around/desk")
    clerk, warden = desk.only(inside), desk.only(desk.acme.directory("around"), "warden")
    desk.acme.directory("around/desk/drawer")
    pk = desk.live(directory=inside)
    clear(desk, clearing.move_everything_up, inside)
    assert (desk.hears_old(), desk.hears_old(warden), desk.hears_old(clerk)) == (True, True, False)
    assert desk.row(pk).directory_id == desk.acme.directory("around")
    with desk.acme.context():
        assert InstructionDirectory.objects.filter(name="drawer", parent__name="around").exists()
        assert DirectoryPick.objects.filter(agent=clerk, directory=inside).exists()


def test_deleting_everything_opens_nothing_to_whom_it_restricted(desk):
    inside = desk.acme.directory("desk")
    clerk = desk.only(inside)
    pk = desk.live(directory=desk.acme.directory("desk/drawer"))
    desk.live(NEW)
    assert desk.hears_old(clerk)
    assert clear(desk, clearing.delete_everything, inside) == 1
    assert (desk.hears_old(), desk.hears_old(clerk), desk.hears_new(clerk)) == (False, False, False)
    with desk.acme.context():
        mode = AgentScope.objects.get(agent=clerk, category="instruction").mode
        assert (mode, DirectoryPick.objects.filter(agent=clerk).count()) == ("selected", 1)
    assert desk.row(pk).deleted_at == AT


def test_a_directory_comes_back_with_what_went_with_it_and_with_its_agents(desk):
    inside = desk.acme.directory("desk")
    clerk = desk.only(inside)
    gone_before = desk.live(NEW, directory=inside)
    publishing.delete(desk.number, gone_before, Hand(BY, AT - timedelta(days=1)))
    desk.live(directory=desk.acme.directory("desk/drawer"))
    clear(desk, clearing.delete_everything, inside)
    clearing.bring_directory_back(desk.number, inside, HAND)
    assert (desk.hears_old(clerk), desk.hears_new()) == (True, False)
    assert desk.acme.directory("desk") == inside


def test_an_instruction_of_a_deleted_directory_comes_back_where_there_still_is_one(desk):
    inside, around = desk.acme.directory("around/desk"), desk.acme.directory("around")
    clerk, pk = desk.only(inside), desk.live(directory=inside)
    clear(desk, clearing.delete_everything, inside)
    publishing.bring_back(desk.number, pk, HAND)
    assert desk.row(pk).directory_id == around
    assert (desk.hears_old(), desk.hears_old(clerk)) == (True, False)


def test_a_name_that_went_can_be_used_again_and_then_stands_in_the_way(desk):
    inside = desk.acme.directory("desk")
    clear(desk, clearing.delete_everything, inside)
    again = desk.acme.directory("desk")
    assert again != inside
    with pytest.raises(DirectoryNameTaken):
        clearing.bring_directory_back(desk.number, inside, HAND)


def test_a_directory_comes_back_into_one_that_is_there(desk):
    inside, around = desk.acme.directory("around/desk"), desk.acme.directory("around")
    clear(desk, clearing.delete_everything, inside)
    clear(desk, clearing.delete_everything, around)
    with pytest.raises(DirectoryAroundDeleted):
        clearing.bring_directory_back(desk.number, inside, HAND)
    late = Hand(BY, AT + timedelta(days=31))
    with pytest.raises(RestoreTooLate):
        clearing.bring_directory_back(desk.number, around, late)


def test_names_that_would_meet_keep_a_directory_where_it_is(desk):
    inside = desk.acme.directory("around/desk")
    desk.acme.directory("around/desk/drawer")
    desk.acme.directory("around/drawer")
    with pytest.raises(DirectoryNameTaken):
        clear(desk, clearing.move_everything_up, inside)
    assert desk.acme.directory("around/desk") == inside


def test_what_was_added_since_the_question_keeps_a_directory_where_it_is(desk):
    inside = desk.acme.directory("desk")
    desk.live(directory=inside)
    with pytest.raises(DirectoryChanged):
        clearing.delete_everything(desk.number, inside, HAND, seen="1.0")
    assert desk.hears_old()


def test_every_verb_is_in_the_audit_trail(desk):
    pk, place = desk.live(), desk.acme.directory("desk")
    desk.save(pk)
    drafting.discard_draft(desk.number, pk, HAND, seen=desk.held(pk).seen_whole)
    placing.move_instruction(desk.number, pk, place, HAND)
    placing.make_directory(desk.number, place, "drawer", HAND)
    placing.file_elsewhere(desk.number, place, HAND, name="counter", parent_id=None, seen="/desk")
    publishing.delete(desk.number, pk, HAND)
    publishing.bring_back(desk.number, pk, HAND)
    clear(desk, clearing.delete_everything, place)
    clearing.bring_directory_back(desk.number, place, HAND)
    drafting.draft_from_version(desk.number, pk, 1, HAND, seen=desk.held(pk).seen_whole)
    publishing.take_back(desk.number, pk, HAND, seen=desk.held(pk).seen_whole)
    clear(desk, clearing.move_everything_up, place)
    assert set(desk.verbs()) == {
        "directory.add", "directory.change", "directory.delete_all", "directory.move_up",
        "directory.restore", "instruction.begin", "instruction.discard_draft",
        "instruction.draft_from_version", "instruction.move", "instruction.publish",
        "instruction.restore", "instruction.save_draft", "instruction.take_back",
        "instruction.withdraw",
    }  # fmt: skip


def test_drafts_and_versions_are_kept_apart_by_the_database(desk):
    pk = desk.live()
    desk.save(pk)
    with desk.world.globex.context():
        assert not InstructionDraft.objects.exists()
        assert not InstructionVersion.objects.exists()
