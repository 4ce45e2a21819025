"""What the worker did, told to whoever listens, and a ledger that adds it up.

Units: every `_ms` is milliseconds of the conversation's clock.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

logger = logging.getLogger("earmark_worker")


@dataclass(frozen=True)
class SearchForced:
    """The model was made to search before it speaks."""

    turn: str


@dataclass(frozen=True)
class SpeculationStarted:
    """A search began before its tool call was authorised."""

    turn: str
    call: str


@dataclass(frozen=True)
class SpeculationRefused:
    """A tool call was seen early and not searched for (`reason` is a short code)."""

    turn: str
    reason: str


@dataclass(frozen=True)
class SpeculationUsed:
    """An authorised tool call took over a search that had begun earlier.

    Shape: `head_start_ms` from its start to the authorisation; `ready_before_ms` how long the
    result had been there by then (0 when still running); `won_ms` is the time the caller did
    not wait.
    """

    turn: str
    head_start_ms: float
    ready_before_ms: float
    won_ms: float
    regenerated: bool


@dataclass(frozen=True)
class SpeculationWasted:
    """A speculative search ended with its turn and nobody used it."""

    turn: str


@dataclass(frozen=True)
class SearchFinished:
    """A search was executed for the model."""

    turn: str
    status: str
    waited_ms: float
    results: int
    speculative: bool


@dataclass(frozen=True)
class SearchInterrupted:
    """The caller spoke before the search came back."""

    turn: str


@dataclass(frozen=True)
class ToolCallSuppressed:
    """A tool call was dropped (after a question, or while a survey answer is bound)."""

    turn: str
    tool: str
    reason: str


WorkerEvent = (
    SearchForced
    | SpeculationStarted
    | SpeculationRefused
    | SpeculationUsed
    | SpeculationWasted
    | SearchFinished
    | SearchInterrupted
    | ToolCallSuppressed
)
Listener = Callable[[WorkerEvent], None]


class Announcer:
    """Tells every listener; one that fails is logged and never disturbs the call."""

    def __init__(self, listeners: tuple[Listener, ...] = ()) -> None:
        self._listeners = list(listeners)

    def listen(self, listener: Listener) -> None:
        """Add a listener."""
        self._listeners.append(listener)

    def tell(self, event: WorkerEvent) -> None:
        """Tell what happened."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                logger.exception("a listener failed on %s", type(event).__name__)


@dataclass
class Ledger:
    """Adds events up: pass it as a listener and read the totals at the end of the call."""

    started: int = 0
    used: int = 0
    wasted: int = 0
    refused: int = 0
    searches: int = 0
    suppressed: int = 0
    interrupted: int = 0
    won_ms: list[float] = field(default_factory=list)
    ready_before_ms: list[float] = field(default_factory=list)
    waited_ms: list[float] = field(default_factory=list)

    def __call__(self, event: WorkerEvent) -> None:
        """Take one event."""
        counted = _COUNTED.get(type(event))
        if counted is not None:
            setattr(self, counted, getattr(self, counted) + 1)
        if isinstance(event, SpeculationUsed):
            self.won_ms.append(event.won_ms)
            self.ready_before_ms.append(event.ready_before_ms)
        elif isinstance(event, SearchFinished):
            self.waited_ms.append(event.waited_ms)


_COUNTED: dict[type, str] = {
    SpeculationStarted: "started",
    SpeculationUsed: "used",
    SpeculationWasted: "wasted",
    SpeculationRefused: "refused",
    SearchFinished: "searches",
    ToolCallSuppressed: "suppressed",
    SearchInterrupted: "interrupted",
}
