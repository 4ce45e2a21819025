"""What a runtime is told, and with which status."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from knowledge.retrieval.types import Answer, Result, SearchStatus
from voiceapi.contract import DEADLINE_MS, summary
from voiceapi.models import VoiceSession
from voiceapi.sessions import Opened
from voiceapi.tool import TOOL

STATUS: Final[dict[SearchStatus, int]] = {
    SearchStatus.OK: 200,
    SearchStatus.NO_MATCH: 200,
    SearchStatus.RESTRICTED_EMPTY: 200,
    SearchStatus.TIMEOUT: 504,
    SearchStatus.UNAVAILABLE: 503,
}
RETRY_AFTER: Final = "2"


def search_headers(answer: Answer) -> dict[str, str]:
    """Return the headers of an answer."""
    unavailable = answer.status is SearchStatus.UNAVAILABLE
    return {"Retry-After": RETRY_AFTER} if unavailable else {}


def search_body(answer: Answer, search_id: UUID) -> dict[str, Any]:
    """Return the one envelope of every status; no score leaves the server."""
    return {
        "status": answer.status.value,
        "search": str(search_id),
        "digest": answer.digest,
        "degraded": list(answer.degraded),
        "guidance": answer.guidance,
        "results": [_result(result) for result in answer.results],
    }


def session_body(opened: Opened, prompt: str, version: int) -> dict[str, Any]:
    """Return what a runtime needs to take a call."""
    agent = opened.session.agent
    return {
        **renewed_body(opened.session, version),
        "prompt": prompt,
        "tools": [TOOL],
        "scope": opened.scope,
        "fallback": agent.fallback,
        "deadline_ms": DEADLINE_MS,
        "code_patterns": agent.organization.code_patterns,
    }


def renewed_body(session: VoiceSession, version: int) -> dict[str, Any]:
    """Return until when a session lives, and the contract that was asked under."""
    return {
        "session": str(session.pk),
        "expires_at": written(session.expires_at),
        "contract": summary(version),
    }


def written(instant: datetime) -> str:
    """Return an instant as it stands on the wire: ISO 8601 in UTC."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _result(result: Result) -> dict[str, Any]:
    return {
        "type": result.type,
        "id": result.id,
        "chunk": result.chunk,
        "title": result.title,
        "content": result.content,
        "url": result.url,
        "valid_until": written(result.valid_until) if result.valid_until else None,
    }
