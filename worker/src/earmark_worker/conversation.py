"""One call: captures each turn, begins searches early, and answers the search tool."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from earmark_worker.events import (
    Announcer,
    Listener,
    SearchFinished,
    SearchForced,
    SearchInterrupted,
    SpeculationRefused,
    ToolCallSuppressed,
)
from earmark_worker.follow_up import FollowUps, Pins
from earmark_worker.outcomes import (
    NO_ANSWER_GUIDANCE,
    ToolOutcome,
    from_search,
    interrupted,
    invalid_arguments,
)
from earmark_worker.question_boundary import QuestionBoundary
from earmark_worker.redaction import redact
from earmark_worker.search_plan import SEARCH_TOOL, SearchPlan, canonical, strict_queries
from earmark_worker.speculation import Clock, Speculations
from earmark_worker.turn_context import TurnContext, capture, fill
from earmark_worker.turn_policy import needs_search
from earmark_worker.turns import TurnView
from earmark_worker.wire import (
    EndSession,
    SearchReply,
    SearchRequest,
    Session,
    TurnContextBody,
)

logger = logging.getLogger("earmark_worker")

Race = Callable[["asyncio.Future[SearchReply]"], Awaitable[object]]
ToolGate = Callable[[str], str | None]


class Backend(Protocol):
    """The server as a conversation needs it."""

    async def search(self, session: str, request: SearchRequest) -> SearchReply:
        """Search; never raises."""
        ...

    async def end(self, session: str, request: EndSession) -> None:
        """Close the session; never raises."""
        ...


@dataclass(frozen=True)
class Principal:
    """Which phone agent of which organization speaks, and what is known about the call."""

    organization: str
    agent: str
    call: Mapping[str, object]


@dataclass(frozen=True)
class _Seen:
    generation: str
    turn: str
    context: TurnContext
    pins: Pins | None


class Generation:
    """One run of the model: watches its text and its tool calls; changes nothing in the call."""

    def __init__(self, conversation: "Conversation", name: str, view: TurnView) -> None:
        self.id = name
        self.turn = view.caller_turn
        self.force_search = needs_search(view, answering_survey=conversation.surveying)
        self._conversation = conversation
        self._context = conversation.captured(view)
        self._boundary = QuestionBoundary()
        self._pins = conversation.follow_ups.offer()

    def text(self, piece: str) -> None:
        """Take streamed text; call it before the tool calls of the same chunk."""
        self._boundary.feed(piece)

    def admit(self, call: str, tool: str, arguments: str, *, speculate: bool) -> bool:
        """Whether a tool call goes on to the framework; a search may begin right here."""
        reason = self._refusal(tool)
        if reason is not None:
            self._conversation.announcer.tell(ToolCallSuppressed(self.turn, tool, reason))
            return False
        if tool == SEARCH_TOOL:
            self._see(call, arguments, speculate=speculate)
        return True

    def _refusal(self, tool: str) -> str | None:
        if self._boundary.asked:
            return "after_question"
        return self._conversation.gate(tool)

    def _see(self, call: str, arguments: str, *, speculate: bool) -> None:
        pins, self._pins = self._pins, None
        seen = _Seen(self.id, self.turn, self._context, pins)
        self._conversation.see(call, seen, strict_queries(arguments), speculate=speculate)


class Conversation:
    """The state of one call; everything that may be thrown away stays outside of it."""

    def __init__(
        self,
        backend: Backend,
        session: Session,
        principal: Principal,
        *,
        listeners: tuple[Listener, ...] = (),
        clock: Clock = time.monotonic,
    ) -> None:
        self.session = session
        self.announcer = Announcer(listeners)
        self.follow_ups = FollowUps()
        self.surveying = False
        self.gate: ToolGate = lambda _tool: None
        self.at_end: list[Callable[[], Awaitable[None]]] = []
        self._ended = False
        self._backend = backend
        self._principal = principal
        self._clock = clock
        self._seen: dict[str, _Seen] = {}
        self._speculations = Speculations(self._speculate, self.announcer, clock=clock)

    @property
    def language(self) -> str:
        """The language of the call with its country, as `ar-AE`; English when unknown."""
        language = str(self._principal.call.get("language") or "en")
        country = self._principal.call.get("country")
        return f"{language}-{country}" if country and "-" not in language else language

    @property
    def in_flight(self) -> int:
        """Early searches that have not come back."""
        return self._speculations.in_flight

    def begin(self, generation: str, view: TurnView) -> Generation:
        """Start watching a run of the model; early searches of past turns end here."""
        self._speculations.end_turn(except_for=view.caller_turn)
        self._seen = {
            call: seen for call, seen in self._seen.items() if seen.turn == view.caller_turn
        }
        return Generation(self, generation, view)

    def forced(self, generation: Generation) -> None:
        """The adapter made the model search."""
        self.announcer.tell(SearchForced(generation.turn))

    def captured(self, view: TurnView) -> TurnContext:
        """The context of the caller's current turn."""
        return capture(view, self._principal.call, code_patterns=self.session.code_patterns)

    def see(
        self, call: str, seen: _Seen, queries: tuple[str, ...] | None, *, speculate: bool
    ) -> None:
        """A generation asks for a search: remember its turn, and begin when that is safe."""
        self._seen[call] = seen
        if not speculate:
            return
        if queries is None:
            self.announcer.tell(SpeculationRefused(seen.turn, "arguments_not_valid"))
            return
        plan = SearchPlan(seen.turn, queries, seen.context, seen.pins)
        self._speculations.start(plan, generation=seen.generation, call=call)

    async def search(
        self, call: str, queries: object, *, view: TurnView, race: Race | None = None
    ) -> ToolOutcome:
        """Answer an authorised search call, from the early search when there is one.

        Shape: `race` waits for the search or for the caller to interrupt, whichever is first.
        """
        clean = canonical(queries)
        if clean is None:
            return invalid_arguments()
        seen = self._seen.pop(call, None) or self._unseen(view)
        plan = SearchPlan(seen.turn, clean, seen.context, seen.pins)
        early = self._speculations.claim(plan, generation=seen.generation)
        task = early or asyncio.ensure_future(self._send(plan, speculative=False))
        return await self._answered(plan, task, race or _wait, early=early is not None)

    def end_turn(self) -> None:
        """The caller's turn is over or the agent changes: unused early searches are dropped."""
        self._speculations.end_turn()

    async def end(self) -> None:
        """The call is over; a second time does nothing."""
        if self._ended:
            return
        self._ended = True
        self.end_turn()
        body = EndSession(
            organization=self._principal.organization,
            agent=self._principal.agent,
            adopted=self.follow_ups.adopted(),
        )
        await self._backend.end(self.session.session, body)
        for close in self.at_end:
            await close()

    async def _answered(
        self, plan: SearchPlan, task: "asyncio.Future[SearchReply]", race: Race, *, early: bool
    ) -> ToolOutcome:
        began = self._clock()
        try:
            await race(task)
        finally:
            if not task.done():
                task.cancel()
        if task.cancelled() or not task.done():
            self.announcer.tell(SearchInterrupted(plan.turn))
            return interrupted()
        reply = task.result() if task.exception() is None else _failed(task)
        self._executed(plan, reply, early=early)
        waited = (self._clock() - began) * 1000
        self.announcer.tell(
            SearchFinished(plan.turn, reply.status, waited, len(reply.results), early)
        )
        return from_search(reply, fallback=self.session.fallback)

    def _executed(self, plan: SearchPlan, reply: SearchReply, *, early: bool) -> None:
        self.follow_ups.spent(plan.pins)
        if reply.search is None:
            return
        if early:
            self.follow_ups.adopt(reply.search)
        if reply.status == "ok":
            self.follow_ups.executed(reply.search, [result.id for result in reply.results])

    def _unseen(self, view: TurnView) -> _Seen:
        return _Seen("unseen", view.caller_turn, self.captured(view), self.follow_ups.offer())

    async def _speculate(self, plan: SearchPlan) -> SearchReply:
        return await self._send(plan, speculative=True)

    async def _send(self, plan: SearchPlan, *, speculative: bool) -> SearchReply:
        adopted = self.follow_ups.adopted()
        reply = await self._backend.search(
            self.session.session, self._request(plan, adopted, speculative=speculative)
        )
        if reply.search is not None:
            self.follow_ups.reported(adopted)
        return reply

    def _request(
        self, plan: SearchPlan, adopted: tuple[str, ...], *, speculative: bool
    ) -> SearchRequest:
        patterns = self.session.code_patterns
        queries = [redact(query, code_patterns=patterns).text for query in plan.queries]
        return SearchRequest(
            organization=self._principal.organization,
            agent=self._principal.agent,
            queries=tuple(fill(queries, plan.context)),
            turn_context=TurnContextBody.model_validate(plan.context.body()),
            follows=plan.pins.follows if plan.pins else None,
            pinned=plan.pins.pinned if plan.pins else (),
            speculative=speculative,
            adopted=adopted,
        )


async def _wait(task: "asyncio.Future[SearchReply]") -> None:
    await asyncio.wait([task])


def _failed(task: "asyncio.Future[SearchReply]") -> SearchReply:
    logger.error("a search failed: %s", type(task.exception()).__name__)
    return SearchReply(status="unavailable", guidance=NO_ANSWER_GUIDANCE)
