"""Marked rows that no caller may ever hear, for a probe that looks for them.

Their ids lie in a range that no random id falls into. A restrictive policy of the database hides
them from every transaction that did not ask for them, so no list, count, export or search has one.
Their vectors are made by canary_vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef

from knowledge.indexing.lexical import write_lexical_entries
from knowledge.indexing.writing import text_of
from knowledge.models import Document, Instruction, Item, LexicalEntry, Source
from knowledge.retrieval.types import CategoryName
from knowledge.tables.canaries import FIRST, LAST
from tenants.isolation import organization_context

# No slug has a tilde, so no folder of a source is called so. Lexical entries of their own category
# are taken for neither orphans nor words of the corpus.
NAME: Final = "~canary"
ENTRY: Final = "canary"
OPEN: Final = "open"
WORDS: Final = "ochre canary in the unlit gallery"
CHANNELS: Final = ("phone", "chat")
_PAST, _FUTURE = datetime(2000, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)

# One for each gate, and each state that a gate tells apart, closed there and open everywhere else.
_BOTH: Final[dict[str, dict[str, Any]]] = {
    OPEN: {},
    "deleted": {"deleted_at": _PAST},
    "internal": {"visibility": "internal"},
    "for no channel": {"channel_restricted": True},
    "for no segment": {"segment_restricted": True},
    "for no country": {"jurisdiction_restricted": True},
    "not yet valid": {"valid_from": _FUTURE},
    "no longer valid": {"valid_until": _PAST},
}
CLOSED: Final[dict[CategoryName, dict[str, dict[str, Any]]]] = {
    "instruction": {**_BOTH, "draft": {"status": "draft"}},
    "knowledge": {
        **_BOTH,
        "pending review": {"review_status": "pending"},
        "rejected": {"review_status": "rejected"},
        "unread": {"parse_status": "failed"},
        "draft answer": {"kind": "golden"},
        "conversation": {"dataset": "conversations"},
        "for no agent": {"agent_restricted": True},
    },
}


@dataclass(frozen=True)
class Canary:
    """One marked row; `name` says what keeps it back."""

    id: UUID
    category: CategoryName
    name: str


def canary_id(organization_id: int, category: str, name: str) -> UUID:
    """Return the id that this canary has for ever."""
    named = f"{organization_id}:{category}:{name}".encode()
    chance = int.from_bytes(hashlib.sha256(named).digest(), "big")
    low = (chance >> 12) & ((1 << 62) - 1)
    return UUID(int=FIRST.int | (chance & 0xFFF) << 64 | low)


@contextmanager
def canaries_shown() -> Iterator[None]:
    """Let the block see canaries; inside an organization context."""
    _show("shown")
    yield
    _show("")


def plant(organization_id: int, segments: Iterable[UUID]) -> list[Canary]:
    """Return an organization's canaries; those that are missing are made, the others left as they are.

    So are their words, which go with everything derived when an index is dropped.
    Cost: five short statements when all are there.
    """
    wanted = _wanted(organization_id, segments)
    with organization_context(organization_id), canaries_shown():
        planting(organization_id)
        for category, model in (("instruction", Instruction), ("knowledge", Item)):
            mine = {c.id: columns for c, columns in wanted.items() if c.category == category}
            rows = model._default_manager.filter(
                organization_id=organization_id, pk__range=(FIRST, LAST)
            )
            there = set(rows.values_list("pk", flat=True))
            _forget(organization_id, rows, there - set(mine))
            for canary, columns in wanted.items():
                if canary.category == category and canary.id not in there:
                    _make(organization_id, canary, columns)
            _write_words_again(organization_id, rows)
    return list(wanted)


def planting(organization_id: int) -> None:
    """Let nobody else plant here until the transaction ends: several processes look at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext(%s))", [f"canaries of {organization_id}"]
        )


def uproot(organization_id: int) -> None:
    """Delete every canary of an organization; the next probe makes them anew."""
    with organization_context(organization_id), canaries_shown():
        planting(organization_id)
        for model in (Instruction, Item):
            rows = model._default_manager.filter(
                organization_id=organization_id, pk__range=(FIRST, LAST)
            )
            _forget(organization_id, rows, set(rows.values_list("pk", flat=True)))
        Source.objects.filter(organization_id=organization_id, slug=NAME).delete()


def _wanted(organization_id: int, segments: Iterable[UUID]) -> dict[Canary, dict[str, Any]]:
    kept_for: dict[str, dict[str, Any]] = {
        f"segment {pk}": {"segment_restricted": True, "segments": [pk]} for pk in segments
    }
    kept_for |= {
        f"channel {name}": {"channel_restricted": True, "channels": [name]} for name in CHANNELS
    }
    return {
        Canary(canary_id(organization_id, category, name), category, name): columns
        for category, closed in CLOSED.items()
        for name, columns in {**closed, **kept_for}.items()
    }


def _write_words_again(organization_id: int, rows: Any) -> None:
    worded = LexicalEntry.objects.filter(
        organization_id=organization_id, asset_id=OuterRef("pk"), generation=OuterRef("generation")
    )
    for row in rows.filter(~Exists(worded)):
        write_lexical_entries(
            organization_id, ENTRY, row.pk, text_of(row), generation=row.generation
        )


def _make(organization_id: int, canary: Canary, columns: Mapping[str, Any]) -> None:
    row: dict[str, Any] = {
        "id": canary.id, "organization_id": organization_id, "external_id": f"{NAME} {canary.name}",
        "title": f"Canary: {canary.name}", "language": "en",
        "body": f"The {WORDS} is {canary.name}; nobody may hear of it.",
    }  # fmt: skip
    if canary.category == "instruction":
        Instruction.objects.create(**row | {"status": "published"} | dict(columns))
    else:
        row |= {"folder_key": NAME, "source_id": _source(organization_id)}
        Item.objects.create(**row | dict(columns))


def _source(organization_id: int) -> UUID:
    found, _ = Source.objects.get_or_create(
        organization_id=organization_id,
        slug=NAME,
        defaults={"id": canary_id(organization_id, "source", NAME), "name": "Canary"},
    )
    return found.pk


def _forget(organization_id: int, rows: Any, ids: set[UUID]) -> None:
    if ids:
        # With its passage and its vectors, which have no policy of their own.
        Document.objects.filter(organization_id=organization_id, pk__in=ids).delete()
        LexicalEntry.objects.filter(organization_id=organization_id, asset_id__in=ids).delete()
        rows.filter(pk__in=ids).delete()


def _show(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('app.canaries', %s, true)", [value])
