"""Whatever becomes of folders, an agent that is restricted never finds what it could not find before."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
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
from scopes.models import AgentScope
from scopes.resolution import allowlist_for
from tests.world import AT, BY, tenant

PATHS = ("a", "a/b", "a/b/c", "a/d", "b", "e", "e/b")
NAMES = ("a", "b", "c", "x")
paths = st.sampled_from(PATHS)
acts = st.tuples(
    st.sampled_from(("rename", "lift", "delete", "undo")), paths, st.sampled_from(NAMES)
)


class Place:
    """An organization with an item in every folder, and an agent restricted to some of them."""

    def __init__(self, picked):
        self.tenant = tenant(f"o-{uuid.uuid4().hex}")
        self.number = self.tenant.organization.pk
        for path in PATHS:
            self.tenant.item(path, f"word in {path}", folder=path)
        self.agent = self.tenant.agent()
        self.tenant.pick(self.agent, "knowledge", containers=[f"help/{path}" for path in picked])

    def finds(self):
        with self.tenant.context():
            allowlist = allowlist_for(
                self.agent, contact=None, channel="phone", country=None, at=AT
            )
            queries = understand(["word"], organization_id=self.number)
            probe = Probe(queries, None, None, depth=100, lexical_rows=100)
            found = candidates("knowledge", probe, allowlist, CorpusStatistics())
            return {candidate.asset_id for candidate in found}

    def act(self, verb, path, name):
        """Do it, unless what it is about is not there or stands in the way."""
        with suppress(FolderGone, FolderInUse, CannotUndo, NothingChosen):
            with self.tenant.context():
                job = self._begin(verb, f"help/{path}", name)
            if job is not None:
                work(self.number, job.pk, clock=lambda: AT)

    def _begin(self, verb, key, name):
        told: dict[str, Any] = {"by": BY, "at": AT}
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
@settings(max_examples=20)
def test_a_restricted_agent_finds_no_more_than_before(picked, history):
    place = Place(picked)
    before = place.finds()
    for verb, path, name in history:
        place.act(verb, path, name)
        assert place.finds() <= before, (verb, path, name)
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
