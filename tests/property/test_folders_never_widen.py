"""Whatever becomes of folders, an agent that is restricted never finds what it could not find before."""

from __future__ import annotations

import uuid
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knowledge.folders import leaf
from knowledge.models import BulkJob
from knowledge.retrieval.candidates import Probe, candidates
from knowledge.retrieval.query import understand
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.shelving.errors import CannotUndo, FolderGone, FolderInUse, NothingChosen
from knowledge.shelving.folders import delete_folder, lift_folder, rename_folder
from knowledge.shelving.jobs import undo
from knowledge.shelving.working import work
from scopes.errors import SelectionGone
from scopes.models import AgentScope
from scopes.resolution import allowlist_for
from scopes.retaking import past_selection, restore_selection
from tenants.models import AuditEntry
from tests.world import AT, BY, tenant

PATHS = ("a", "a/b", "a/b/c", "a/d", "b", "e", "e/b")
NAMES = ("a", "b", "c", "x")
paths = st.sampled_from(PATHS)
VERBS = ("rename", "lift", "delete", "undo", "go back")
# An act may have begun before others that are over when it ends.
hours = st.integers(-2, 2)
SWAPPED = [("rename", "a", "x", -1), ("rename", "b", "a", -1), ("go back", "a", "a", 0)]
acts = st.tuples(st.sampled_from(VERBS), paths, st.sampled_from(NAMES), hours)


class Place:
    """An organization with an item in every folder, and an agent restricted to some of them."""

    def __init__(self, picked):
        self.tenant = tenant(f"o-{uuid.uuid4().hex}")
        self.number = self.tenant.organization.pk
        for path in PATHS:
            self.tenant.item(path, f"word in {path}", folder=path)
        self.agent = self.tenant.agent()
        self.tenant.pick(self.agent, "knowledge", containers=[f"help/{path}" for path in picked])
        with self.tenant.context():
            self.first = AuditEntry.objects.get(verb="scope.select").pk

    def finds(self):
        with self.tenant.context():
            allowlist = allowlist_for(
                self.agent, contact=None, channel="phone", country=None, at=AT
            )
            queries = understand(["word"], organization_id=self.number)
            probe = Probe(queries, None, None, depth=100, lexical_rows=100)
            found = candidates("knowledge", probe, allowlist, CorpusStatistics())
            return {candidate.asset_id for candidate in found}

    def act(self, verb, path, name, began=0):
        """Do it, unless what it is about is not there or stands in the way."""
        at = AT + timedelta(hours=began)
        with suppress(FolderGone, FolderInUse, CannotUndo, NothingChosen, SelectionGone):
            if verb == "go back":
                self._go_back(at)
                return
            with self.tenant.context():
                job = self._begin(verb, f"help/{path}", name, at)
            if job is not None:
                work(self.number, job.pk, clock=lambda: at)

    def _go_back(self, at):
        """Take the first selection over again."""
        with self.tenant.context():
            past = past_selection(self.agent, self.first)
            scope = AgentScope.objects.get(agent=self.agent, category="knowledge")
        assert past is not None
        restore_selection(self.agent, past, version=scope.version, by=BY, at=at)

    def _begin(self, verb, key, name, at):
        told: dict[str, Any] = {"by": BY, "at": at}
        if verb == "rename":
            return rename_folder(self.number, key, name, **told).rereading
        if verb == "lift":
            return lift_folder(self.number, key, **told).rereading
        if verb == "delete":
            return delete_folder(self.number, key, **told)
        last = BulkJob.objects.filter(action="delete").order_by("-total", "id").first()
        return undo(last, **told) if last else None


@pytest.mark.django_db
@given(picked=st.sets(paths, min_size=1), history=st.lists(acts, max_size=6))
@example(picked={"a"}, history=SWAPPED)
@settings(max_examples=20)
def test_a_restricted_agent_finds_no_more_than_before(picked, history):
    place = Place(picked)
    before = place.finds()
    for act in history:
        place.act(*act)
        assert place.finds() <= before, act
    with place.tenant.context():
        assert AgentScope.objects.get(agent=place.agent, category="knowledge").mode == "selected"


@pytest.mark.django_db
@given(picked=st.sets(paths, min_size=1), path=paths, name=st.sampled_from(NAMES))
@settings(max_examples=20)
def test_a_rename_changes_nothing_of_what_an_agent_finds(picked, path, name):
    place = Place(picked)
    before = place.finds()
    place.act("rename", path, name if leaf(path) != name else "y")
    assert place.finds() == before
