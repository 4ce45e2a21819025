"""Whatever becomes of directories, an agent that is restricted never finds what it could not find before."""

from __future__ import annotations

import uuid
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.editor import clearing, placing, publishing
from knowledge.editor.errors import DirectoryAroundDeleted, DirectoryNameTaken
from knowledge.editor.holding import Hand
from knowledge.models import Instruction, InstructionDirectory
from knowledge.retrieval.candidates import Probe, candidates
from knowledge.retrieval.query import understand
from knowledge.retrieval.statistics import CorpusStatistics
from scopes.resolution import allowlist_for
from tests.world import AT, BY, tenant

PATHS = ("a", "a/b", "a/b/c", "a/d", "e", "e/b")
HAND = Hand(BY, AT)
paths = st.sampled_from(PATHS)
acts = st.tuples(st.sampled_from(("up", "all", "restore", "rename", "drop", "bring")), paths)


class Place:
    """An organization with an instruction in every directory, and an agent restricted to some."""

    def __init__(self, picked):
        self.tenant = tenant(f"o-{uuid.uuid4().hex}")
        self.number = self.tenant.organization.pk
        self.directories = {path: self.tenant.directory(path) for path in PATHS}
        self.rows = {
            path: self.tenant.instruction(path, f"word in {path}", directory=path) for path in PATHS
        }
        self.agent = self.tenant.agent()
        self.tenant.pick(
            self.agent, "instruction", containers=[self.directories[path] for path in picked]
        )

    def finds(self):
        with self.tenant.context():
            allowlist = allowlist_for(
                self.agent, contact=None, channel="phone", country=None, at=AT
            )
            queries = understand(["word"], organization_id=self.number)
            probe = Probe(queries, None, None, depth=100, lexical_rows=100)
            found = candidates("instruction", probe, allowlist, CorpusStatistics())
            return {candidate.asset_id for candidate in found}

    def act(self, verb, path):
        """Do it, unless what it is about is not there or stands in the way."""
        pk = self.directories[path]
        with self.tenant.context():
            directory = InstructionDirectory.every.get(pk=pk)
            is_gone = Instruction.objects.get(pk=self.rows[path]).deleted_at is not None
            seen = clearing.contents_of(directory).seen
        if verb in {"up", "all", "rename"} and directory.deleted_at is None:
            with suppress(DirectoryNameTaken):
                self._file(verb, directory, seen)
        if verb == "restore" and directory.deleted_at is not None:
            with suppress(DirectoryNameTaken, DirectoryAroundDeleted):
                clearing.bring_directory_back(self.number, pk, HAND)
        if verb == "drop" and not is_gone:
            publishing.delete(self.number, self.rows[path], HAND)
        if verb == "bring" and is_gone:
            publishing.bring_back(self.number, self.rows[path], HAND)

    def _file(self, verb, directory, seen):
        if verb == "up":
            clearing.move_everything_up(self.number, directory.pk, HAND, seen=seen)
        elif verb == "all":
            clearing.delete_everything(self.number, directory.pk, HAND, seen=seen)
        else:
            placing.file_elsewhere(
                self.number, directory.pk, HAND, name=f"{directory.name}x",
                parent_id=directory.parent_id, seen=placing.seen_place(directory),
            )  # fmt: skip


@pytest.mark.django_db
@given(picked=st.sets(paths, min_size=1), history=st.lists(acts, max_size=6))
@settings(max_examples=15)
def test_a_restricted_agent_finds_no_more_than_before(picked, history):
    place = Place(picked)
    before = place.finds()
    for verb, path in history:
        place.act(verb, path)
        assert place.finds() <= before, (verb, path)


@pytest.mark.django_db
@given(picked=st.sets(paths, min_size=1), path=paths)
@settings(max_examples=15)
def test_what_was_deleted_whole_is_found_by_the_same_agents_when_it_is_back(picked, path):
    place = Place(picked)
    before = place.finds()
    place.act("all", path)
    place.act("restore", path)
    assert place.finds() == before
