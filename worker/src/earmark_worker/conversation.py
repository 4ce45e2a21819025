"""One call: captures each turn, begins searches early, and answers the search tool."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from earmark_worker.events import (
    Announcer,
    Listener,
    SearchFinished,
    SearchForced,
    SearchInterrupted,
    SpeculationRefused,
)
from earmark_worker.follow_up import FollowUps
from earmark_worker.generation import Generation, Seen
from earmark_worker.outcomes import (
    NO_ANSWER_GUIDANCE,
    ToolOutcome,
    from_search,
    interrupted,
    invalid_arguments,
)
from earmark_worker.search_plan import SearchPlan, canonical
from earmark_worker.sending import Backend, Principal, Sender
from earmark_worker.speculation import Clock, Speculations
from earmark_worker.turn_context import TurnContext, capture
from earmark_worker.turns import TurnView
from earmark_worker.wire import SearchReply, Session

logger = logging.getLogger("earmark_worker")

Race = Callable[["asyncio.Future[SearchReply]"], Awaitable[object]]
ToolGate = Callable[[str], str | None]


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
        self._ending: asyncio.Future[None] | None = None
        self._sender = Sender(backend, session, principal, self.follow_ups)
        self._principal = principal
        self._clock = clock
        self._seen: dict[str, Seen] = {}
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
        self, call: str, seen: Seen, queries: tuple[str, ...] | None, *, speculate: bool
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
        task = early or asyncio.ensure_future(self._sender.send(plan, speculative=False))
        return await self._answered(plan, task, race or _wait, early=early is not None)

    def end_turn(self) -> None:
        """The caller's turn is over or the agent changes: unused early searches are dropped."""
        self._speculations.end_turn()

    async def end(self) -> None:
        """The call is over: returns when the server knows; ending twice is ending once."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        self.end_turn()
        await self._sender.end()
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

    def _unseen(self, view: TurnView) -> Seen:
        return Seen("unseen", view.caller_turn, self.captured(view), self.follow_ups.offer())

    async def _speculate(self, plan: SearchPlan) -> SearchReply:
        return await self._sender.send(plan, speculative=True)


async def _wait(task: "asyncio.Future[SearchReply]") -> None:
    await asyncio.wait([task])


def _failed(task: "asyncio.Future[SearchReply]") -> SearchReply:
    logger.error("a search failed: %s", type(task.exception()).__name__)
    return SearchReply(status="unavailable", guidance=NO_ANSWER_GUIDANCE)
