"""Whatever admins and staff do, in any order, a caller hears exactly what semantics.md says."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from knowledge.folders import folder_key
from knowledge.indexing.writing import NO_LIMIT, Gates, change, only
from knowledge.models import Instruction, Item
from knowledge.retrieval.candidates import Probe, candidates
from knowledge.retrieval.query import understand
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import CATEGORIES
from scopes.models import AgentScope, FolderPick, ItemPick
from scopes.resolution import allowlist_for
from scopes.selecting import Picks, select
from tests.property.reference import hearable
from tests.world import AT, BY, tenant

FOLDERS = ["", "billing", "billing/refunds", "billing-old", "billing/refunds/late", "Cards"]
DIRECTORIES = ["desk", "desk/cards", "desk/cards/lost", "desk-old"]
CHANNELS, COUNTRIES, SEGMENTS, AGENTS = ["phone", "chat"], ["AE", "DE"], ["vip", "staff"], 2
TIMES = [None, AT - timedelta(days=1), AT, AT + timedelta(days=1)]
choices = st.sampled_from


def limits(values):
    return st.none() | st.sets(choices(values))


gates = st.fixed_dictionaries(
    {
        "visibility": choices(["public", "public", "public", "internal"]),
        "channels": limits(CHANNELS),
        "segments": limits(SEGMENTS),
        "jurisdictions": limits(COUNTRIES),
        "valid_from": choices(TIMES),
        "valid_until": choices(TIMES),
    }
)
callers = st.fixed_dictionaries(
    {
        "channel": choices(CHANNELS),
        "country": choices([None, *COUNTRIES]),
        "segments": st.none() | st.sets(choices(SEGMENTS)),
        "at": choices([AT - timedelta(days=1), AT, AT + timedelta(days=2)]),
    }
)


class Scopes(RuleBasedStateMachine):
    """One organization in the database beside one dictionary."""

    @initialize()
    def begin(self):
        self.tenant = tenant(f"o-{uuid.uuid4().hex}")
        self.tenant.source()
        self.segments = {name: self.tenant.segment(name) for name in SEGMENTS}
        self.agents = [self.tenant.agent(f"a{n}") for n in range(AGENTS)]
        self.directories = {path: self.tenant.directory(path) for path in DIRECTORIES}
        parents = {
            self.directories[path]: self.directories.get(path.rpartition("/")[0])
            for path in DIRECTORIES
        }
        empty = {"mode": "all", "rows": set(), "containers": set()}
        self.model: dict[str, Any] = {
            "items": {},
            "instructions": {},
            "parents": parents,
            "scopes": {
                n: {
                    category: {**empty, "rows": set(), "containers": set()}
                    for category in CATEGORIES
                }
                for n in range(AGENTS)
            },
        }
        self.names = 0

    def _gates(self, chosen):
        def limit(values):
            return NO_LIMIT if values is None else only(*values)

        segments = chosen["segments"]
        return Gates(
            visibility=chosen["visibility"],
            channels=limit(chosen["channels"]),
            segments=limit(None if segments is None else {self.segments[s].pk for s in segments}),
            jurisdictions=limit(chosen["jurisdictions"]),
            valid_from=chosen["valid_from"],
            valid_until=chosen["valid_until"],
        )

    def _noted(self, chosen):
        row = dict(chosen, deleted=False)
        for gate in ("channel", "segment", "jurisdiction"):
            row[f"{gate}_restricted"] = chosen[f"{gate}s"] is not None
            row[f"{gate}s"] = chosen[f"{gate}s"] or set()
        return row

    def _name(self):
        self.names += 1
        return f"word {self.names}"

    @rule(
        chosen=gates,
        folder=choices(FOLDERS),
        agents=limits(range(AGENTS)),
        approved=choices([True, True, False]),
        dataset=choices(["default-kb", "corrections", "conversations"]),
    )
    def add_item(self, chosen, folder, agents, approved, dataset):
        limit = NO_LIMIT if agents is None else only(*(self.agents[n].pk for n in agents))
        pk = self.tenant.item(
            self._name(),
            folder=folder,
            gates=self._gates(chosen),
            agents=limit,
            dataset=dataset,
            review_status="approved" if approved else "pending",
        )
        self.model["items"][pk] = self._noted(chosen) | {
            "id": pk,
            "folder": folder_key("help", folder),
            "approved": approved,
            "dataset": dataset,
            "agent_restricted": agents is not None,
            "agents": agents or set(),
        }

    @rule(chosen=gates, path=choices([None, *DIRECTORIES]), published=choices([True, True, False]))
    def add_instruction(self, chosen, path, published):
        pk = self.tenant.instruction(
            self._name(),
            directory=path or "",
            gates=self._gates(chosen),
            status="published" if published else "draft",
        )
        self.model["instructions"][pk] = self._noted(chosen) | {
            "id": pk,
            "directory": self.directories[path] if path else None,
            "published": published,
        }

    def _any(self, kind, data):
        rows = list(self.model[kind])
        return data.draw(choices(rows)) if rows else None

    def _change(self, model, pk, **columns):
        with self.tenant.context():
            change(model.objects.select_for_update(of=("self",)).get(pk=pk), at=AT, **columns)

    @rule(data=st.data(), folder=choices(FOLDERS))
    def move_item(self, data, folder):
        if pk := self._any("items", data):
            self._change(Item, pk, folder_key=folder_key("help", folder))
            self.model["items"][pk]["folder"] = folder_key("help", folder)

    @rule(data=st.data(), deleted=st.booleans(), kind=choices(["items", "instructions"]))
    def delete_or_restore(self, data, deleted, kind):
        if pk := self._any(kind, data):
            table = Item if kind == "items" else Instruction
            self._change(table, pk, deleted_at=AT if deleted else None)
            self.model[kind][pk]["deleted"] = deleted

    @rule(data=st.data(), approved=st.booleans())
    def review(self, data, approved):
        if pk := self._any("items", data):
            self._change(Item, pk, review_status="approved" if approved else "rejected")
            self.model["items"][pk]["approved"] = approved

    @rule(data=st.data())
    def erase_item(self, data):
        if pk := self._any("items", data):
            with self.tenant.context():
                Item.objects.filter(pk=pk).delete()
            del self.model["items"][pk]
            for scope in self.model["scopes"].values():
                scope["knowledge"]["rows"].discard(pk)

    @rule(data=st.data(), agent=choices(range(AGENTS)), category=choices(CATEGORIES))
    def save_selection(self, data, agent, category):
        scope = self.model["scopes"][agent][category]
        kind = "items" if category == "knowledge" else "instructions"
        live = [pk for pk, row in self.model[kind].items() if not row["deleted"]]
        rows = data.draw(st.sets(choices(live), max_size=3)) if live else set()
        containers = (
            {folder_key("help", f) for f in data.draw(st.sets(choices(FOLDERS), max_size=2))}
            if category == "knowledge"
            else {self.directories[p] for p in data.draw(st.sets(choices(DIRECTORIES), max_size=2))}
        )
        self._select(agent, category, rows, containers)
        scope.update(mode="selected" if rows or containers else "all")
        scope.update(rows=set(rows), containers=set(containers))

    def _select(self, agent, category, rows, containers):
        with self.tenant.context():
            version = AgentScope.objects.get(agent=self.agents[agent], category=category).version
        picks = Picks(frozenset(rows), frozenset(containers))
        select(self.agents[agent], category, picks, version=version, by=BY, at=AT)

    @rule(data=st.data(), agent=choices(range(AGENTS)), folder=choices(FOLDERS))
    def pick_by_sql(self, data, agent, folder):
        pk = self._any("items", data)
        where = {"organization": self.tenant.organization, "agent": self.agents[agent]}
        scope = self.model["scopes"][agent]["knowledge"]
        with self.tenant.context():
            if pk:
                ItemPick.objects.get_or_create(**where, item_id=pk)
                scope["rows"].add(pk)
            else:
                FolderPick.objects.get_or_create(**where, folder_key=folder_key("help", folder))
                scope["containers"].add(folder_key("help", folder))
        scope["mode"] = "selected"

    @rule(agent=choices(range(AGENTS)), category=choices(CATEGORIES))
    def lose_mode_row(self, agent, category):
        with self.tenant.context():
            AgentScope.objects.filter(agent=self.agents[agent], category=category).delete()
            AgentScope.objects.create(
                organization=self.tenant.organization,
                agent=self.agents[agent],
                category=category,
                mode="selected",
            )
        self.model["scopes"][agent][category]["mode"] = "selected"

    @rule(agent=choices(range(AGENTS)), caller=callers)
    def search(self, agent, caller):
        segments = caller["segments"]
        contact = segments is not None and self.tenant.contact(
            uuid.uuid4().hex, *(self.segments[name] for name in segments)
        )
        with self.tenant.context():
            allowlist = allowlist_for(
                self.agents[agent],
                contact=contact or None,
                channel=caller["channel"],
                country=caller["country"],
                at=caller["at"],
            )
            found = self._found(allowlist)
        assert found == hearable(self.model, agent, caller | {"segments": segments or ()})

    def _found(self, allowlist):
        queries = understand(["word"], organization_id=self.tenant.organization.pk)
        probe = Probe(queries, None, None, depth=1000, lexical_rows=1000)
        return {
            candidate.asset_id
            for category in CATEGORIES
            for candidate in candidates(category, probe, allowlist, CorpusStatistics())
        }

    @invariant()
    def nobody_hears_what_no_caller_may(self):
        if hasattr(self, "tenant"):
            self.search(0, {"channel": "fax", "country": None, "segments": None, "at": AT})


@pytest.mark.django_db
def test_any_history_of_edits_and_picks_is_heard_as_the_reference_model_says():
    # A history is long, so a quick run takes fewer of them; make test-all runs all 300.
    examples = max(15, settings().max_examples if settings().max_examples >= 300 else 0)
    run_state_machine_as_test(
        Scopes, settings=settings(max_examples=examples, stateful_step_count=30)
    )
