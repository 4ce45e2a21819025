"""What a search is asked and what it answers; pure values that every step shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

CategoryName = Literal["instruction", "knowledge"]
CATEGORIES: tuple[CategoryName, CategoryName] = ("instruction", "knowledge")


@dataclass(frozen=True)
class Everything:
    """No limit within the organization; said by name, never by leaving something out."""


@dataclass(frozen=True)
class Selection:
    """These rows, and whatever lies in these containers now; empty means nothing.

    Containers are directory ids (already with their descendants) for instructions and canonical
    folder keys for knowledge.
    """

    ids: frozenset[UUID]
    directories: frozenset[UUID] = frozenset()
    folders: frozenset[str] = frozenset()
    # Judged on live picks, before any gate of the caller (semantics.md, restricted_empty).
    is_vacant: bool = False


Scope = Everything | Selection


@dataclass(frozen=True)
class Caller:
    """What the gates compare with; unknown never opens."""

    channel: str
    country: str | None
    segments: frozenset[UUID]


@dataclass(frozen=True)
class Allowlist:
    """What one agent may say to one caller at one instant; made only by scopes.resolution."""

    organization_id: int
    agent_id: UUID
    caller: Caller
    at: datetime
    instructions: Scope
    knowledge: Scope

    def scope(self, category: CategoryName) -> Scope:
        """Return the limit of one category."""
        return self.instructions if category == "instruction" else self.knowledge


class SearchStatus(StrEnum):
    """The five ways in which a search ends."""

    OK = "ok"
    NO_MATCH = "no_match"
    RESTRICTED_EMPTY = "restricted_empty"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class Query:
    """One way of asking, ready for both legs."""

    text: str
    normalised: str
    language: str
    tokens: frozenset[int]
    codes: frozenset[int]
    # The number of the question as a whole; a golden answer may be written for just this.
    whole: int | None = None
    # All it says is that something is not wanted.
    refuses: bool = False


@dataclass(frozen=True)
class Focus:
    """What the caller is at: the words of query and turn, and how long a value they gave."""

    words: frozenset[str] = frozenset()
    digits: int | None = None


@dataclass(frozen=True)
class Understood:
    """A question made ready before any connection is held: redacted, split, embedded.

    The focus is never embedded and finds nothing; pinned rows join what is found, under every gate.
    """

    queries: tuple[Query, ...]
    vectors: tuple[Any, ...] | None
    space_key: str
    focus: Focus = Focus()
    pinned: tuple[UUID, ...] = ()
    degraded: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Candidate:
    """A passage that a leg found, with what both legs say of it.

    Units: cosines in [-1, 1] by query; shares in [0, 1] by query.
    """

    category: CategoryName
    asset_id: UUID
    position: int
    kind: str
    title: str
    content_hash: str
    cosines: tuple[float, ...] | None
    title_cosines: tuple[float, ...] | None
    matched: frozenset[int]
    language: str
    legs: frozenset[str]
    # Asked word for word as a golden answer expects it; and whether that answer may come first.
    exact: bool = False
    leads: bool = True
    # The mean over all titles and phrasings of the row, by query.
    phrasing_cosines: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Ranked:
    """A truth row in its place, with why it is there; shown to staff, never to the runtime."""

    category: CategoryName
    asset_id: UUID
    position: int
    kind: str
    title: str
    content_hash: str
    score: float
    cosine: float | None
    share: float
    legs: tuple[str, ...]
    ranks: tuple[tuple[str, int], ...]
    relevance: float = 0.0
    exact: bool = False
    leads: bool = True


@dataclass(frozen=True)
class Result:
    """A short passage that the agent may speak from, cut from the live truth row."""

    type: Literal["golden", "instruction", "knowledge"]
    id: str
    chunk: int | None
    title: str
    content: str
    url: str | None
    valid_until: datetime | None
    asset_id: UUID
    place: str = ""


@dataclass(frozen=True)
class Answer:
    """The outcome of a search, complete for a door to translate."""

    status: SearchStatus
    results: tuple[Result, ...] = ()
    degraded: tuple[str, ...] = ()
    guidance: str | None = None
    digest: str = ""
    ranked: tuple[Ranked, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    profile_version: int | None = None
    # The space whose vectors were compared, and the figures that relevance was judged by; for staff.
    space_key: str = ""
    judged_by: dict[str, Any] = field(default_factory=dict)
