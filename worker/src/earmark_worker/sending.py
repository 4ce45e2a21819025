"""Sends a planned search: redacted, filled up with context variants, with what it follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from earmark_worker.follow_up import FollowUps
from earmark_worker.redaction import redact
from earmark_worker.search_plan import SearchPlan
from earmark_worker.turn_context import fill
from earmark_worker.wire import EndSession, SearchReply, SearchRequest, Session, TurnContextBody


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


class Sender:
    """The only way out of a conversation."""

    def __init__(
        self, backend: Backend, session: Session, principal: Principal, follow_ups: FollowUps
    ) -> None:
        self._backend = backend
        self._session = session
        self._principal = principal
        self._follow_ups = follow_ups

    async def send(self, plan: SearchPlan, *, speculative: bool) -> SearchReply:
        """Send a search and note which adoptions it reported."""
        adopted = self._follow_ups.adopted()
        reply = await self._backend.search(
            self._session.session, self._request(plan, adopted, speculative=speculative)
        )
        if reply.search is not None:
            self._follow_ups.reported(adopted)
        return reply

    def _request(
        self, plan: SearchPlan, adopted: tuple[str, ...], *, speculative: bool
    ) -> SearchRequest:
        patterns = self._session.code_patterns
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

    async def end(self) -> None:
        """Close the session and report the last adoptions."""
        body = EndSession(
            organization=self._principal.organization,
            agent=self._principal.agent,
            adopted=self._follow_ups.adopted(),
        )
        await self._backend.end(self._session.session, body)
