"""The addresses of the voice API; each translates and decides nothing."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from voiceapi import contract, described, metrics, requests
from voiceapi.answers import (
    STATUS,
    renewed_body,
    search_body,
    search_headers,
    session_body,
    written,
)
from voiceapi.authentication import holder_of
from voiceapi.contract import OLDEST_WORKER, summary
from voiceapi.door import OpenView, VoiceView
from voiceapi.errors import NotFound
from voiceapi.finding import Named, find_agent, find_session, within
from voiceapi.following import mark_adopted
from voiceapi.limiting import spend, spenders
from voiceapi.prompt import Parts, assemble
from voiceapi.readiness import CHECKS, require_ready
from voiceapi.searching import Wanted, search
from voiceapi.sessions import USUAL_CHANNEL, CallNote, end_session, open_session, touch
from voiceapi.telemetry import search_span


class SessionsView(VoiceView):
    """Open a session for one call: prompt, tool, scope, contract."""

    @described.open_session
    def post(self, request: Request) -> Response:
        """Answer 201 with what the runtime needs to take the call."""
        holder, deadline = holder_of(request), self.deadline(request)
        body = self.body(request, requests.SessionRequest)
        with within(holder, deadline):
            agent = find_agent(holder, _named(body))
        spend(spenders(holder, agent))
        with within(holder, deadline):
            wanted = body["dynamic_instructions"]
            opened = open_session(agent, _call(body), wanted, kid=holder.kid, at=self.at)
        metrics.SESSIONS.inc()
        parts = Parts(opened.rules, opened.added, body["additions"])
        told = session_body(opened, assemble(agent, parts), self.version)
        return Response(told, status=201)


class RenewView(VoiceView):
    """Keep a session alive."""

    @described.renew_session
    def post(self, request: Request, session: str) -> Response:
        """Answer with the new end of its life and the contract."""
        holder, deadline = holder_of(request), self.deadline(request)
        body = self.body(request, requests.RenewRequest)
        with within(holder, deadline):
            found = find_session(holder, _named(body), session, at=self.at)
        spend(spenders(holder, found.agent))
        with within(holder, deadline):
            touch(found, at=self.at)
        return Response(renewed_body(found, self.version))


class EndView(VoiceView):
    """End a session."""

    @described.end_session
    def post(self, request: Request, session: str) -> Response:
        """Take the last word on speculative searches; from now on the session is not there.

        No limit counts or refuses it: a runtime reports it once, when the call is over.
        """
        holder, deadline = holder_of(request), self.deadline(request)
        body = self.body(request, requests.EndRequest)
        with within(holder, deadline):
            found = find_session(holder, _named(body), session, at=self.at)
            mark_adopted(found, body["adopted"])
            end_session(found, at=self.at)
        return Response({"session": str(found.pk), "ended_at": written(self.at)})


class SearchView(VoiceView):
    """Search as the agent of a session, for its caller, now."""

    @described.search
    def post(self, request: Request, session: str) -> Response:
        """Answer with a few short passages, or honestly with none."""
        holder, deadline = holder_of(request), self.deadline(request)
        body = self.body(request, requests.SearchRequest)
        wanted = Wanted(holder, _named(body), session, body)
        with search_span(version=self.version) as span:
            asked = search(wanted, at=self.at, deadline=deadline)
            span.answered(asked)
        return Response(
            search_body(asked.answer, asked.search_id),
            status=STATUS[asked.answer.status],
            headers=search_headers(asked.answer),
        )


class ContractView(OpenView):
    """Which contract this address speaks, and which others the server."""

    @described.contract
    def get(self, _request: Request) -> Response:
        """Answer with version, hash, all that is served and the oldest worker that may speak to it."""
        served = sorted(contract.SERVED)
        told = {**summary(self.version), "served": served, "oldest_worker": OLDEST_WORKER}
        return Response(told)


class ReadyView(OpenView):
    """Whether this server can answer searches."""

    @described.ready
    def get(self, request: Request) -> Response:
        """Answer 200 when every check passes, else 503 with those that fail."""
        asked = request.query_params.get("version", str(self.version))
        require_ready(asked)
        return Response({"ready": True, "version": int(asked), "checks": list(CHECKS)})


@extend_schema(exclude=True)
class NothingView(VoiceView):
    """Every other address below the voice API: for a known key there is nothing here."""

    def get(self, _request: Request, **_path: str) -> Response:
        """Answer as for anything that is not there."""
        raise NotFound

    post = get


def _named(body: dict[str, Any]) -> Named:
    return Named(body["organization"], body["agent"])


def _call(body: dict[str, Any]) -> CallNote:
    call, contact = body["call"] or {}, body["contact"]
    return CallNote(
        call_id=call.get("id") or "",
        channel=call.get("channel") or USUAL_CHANNEL,
        country=(call.get("country") or "").upper(),
        language=call.get("language") or "",
        contact=contact["external_id"] if contact else None,
    )
