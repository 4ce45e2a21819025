"""Five scopes of growing narrowness, as agents' picks, as rows, and as a filter of Haystack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np

from bench.data import SEED, Numbers, folder_path
from bench.loading import AT, Loaded
from knowledge.retrieval.types import Allowlist
from scopes.models import AgentScope
from scopes.resolution import allowlist_for
from scopes.selecting import Picks, create_scopes, select
from tenants.auditing import Actor
from tenants.isolation import organization_context
from tenants.models import PhoneAgent

# So much of a narrow scope comes by whole folders, the rest by single items.
_BY_FOLDER: Final = 0.8


@dataclass(frozen=True)
class Picked:
    """Folders and items of the first organization, by number."""

    folders: frozenset[int]
    items: frozenset[int]


@dataclass(frozen=True)
class Scope:
    """One selectivity.

    Shape: `rows` are the vectors that may be found, every gate included; `filter` says the same to
           Haystack.
    """

    name: str
    allowlist: Allowlist
    rows: Numbers
    filter: dict[str, Any]


def scope_of(loaded: Loaded, name: str, share: float | None) -> Scope:
    """Return the scope that holds this share of all passages; None is the whole organization."""
    picked = None if share is None else _pick(loaded, share)
    made = loaded.made
    inside = (made.organizations == 0) & (made.closed == 0)
    if picked:
        chosen = np.isin(made.folders, list(picked.folders))
        chosen[list(picked.items)] = True
        inside &= chosen
    return Scope(
        name=name,
        allowlist=_allowlist(loaded, name, picked),
        rows=made.rows(np.flatnonzero(inside)),
        filter=_filter(loaded, picked),
    )


def _pick(loaded: Loaded, share: float) -> Picked:
    made = loaded.made
    wanted = round(share * made.items)
    own = np.flatnonzero(made.organizations == 0)
    sizes = np.bincount(made.folders[own])
    chance = np.random.default_rng(SEED)
    folders: set[int] = set()
    held = 0
    for folder in chance.permutation(len(sizes)):
        if 0 < sizes[folder] <= wanted * _BY_FOLDER - held:
            folders.add(int(folder))
            held += int(sizes[folder])
    outside = own[~np.isin(made.folders[own], list(folders)) & (made.closed[own] == 0)]
    items = chance.permutation(outside)[: max(1, wanted - held)]
    return Picked(frozenset(folders), frozenset(items.tolist()))


def _allowlist(loaded: Loaded, name: str, picked: Picked | None) -> Allowlist:
    owner = loaded.organizations[0]
    slug = "".join(c if c.isalnum() else "-" for c in name)
    with organization_context(owner):
        agent, is_new = PhoneAgent.objects.get_or_create(
            organization_id=owner, slug=slug,
            defaults={"name": name, "base_instructions": "Answer.", "fallback": "Later."},
        )  # fmt: skip
        if is_new:
            create_scopes(agent)
    if is_new and picked:
        rows = frozenset(loaded.made.ids[item] for item in picked.items)
        _select(agent, Picks(rows, frozenset(_keys(picked.folders))))
    with organization_context(owner):
        return allowlist_for(agent, contact=None, channel="phone", country=None, at=AT)


def _select(agent: PhoneAgent, picks: Picks) -> None:
    with organization_context(agent.organization_id):
        scope = AgentScope.objects.get(agent=agent, category="knowledge")
    by = Actor.process("bench")
    select(agent, "knowledge", picks, version=scope.version, by=by, at=AT)


def _keys(folders: Iterable[int]) -> list[str]:
    return sorted(f"docs/{folder_path(folder)}" for folder in folders)


def _filter(loaded: Loaded, picked: Picked | None) -> dict[str, Any]:
    conditions: list[dict[str, Any]] = [
        _is("meta.organization", "==", loaded.organizations[0]),
        _is("meta.open", "==", value=True),
    ]
    if picked:
        ids: list[UUID] = [loaded.made.ids[item] for item in sorted(picked.items)]
        places = [_is("meta.item", "in", [str(pk) for pk in ids])]
        if picked.folders:
            places.append(_is("meta.folder", "in", _keys(picked.folders)))
        conditions.append({"operator": "OR", "conditions": places})
    return {"operator": "AND", "conditions": conditions}


def _is(field: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}
