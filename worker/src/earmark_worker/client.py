"""Speaks the voice contract to one server; a search never raises into the conversation."""

import asyncio
import logging
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import ValidationError

from earmark_worker.errors import BootstrapRefused, ContractMismatch, ServerNotReady
from earmark_worker.outcomes import NO_ANSWER_GUIDANCE
from earmark_worker.wire import (
    BASE_PATH,
    CONTRACT_VERSION,
    ContractInfo,
    EndSession,
    ErrorReply,
    OpenSession,
    Renewed,
    RenewSession,
    SearchReply,
    SearchRequest,
    Session,
)

logger = logging.getLogger("earmark_worker")
Read = TypeVar("Read", Session, Renewed)
SEARCH_DEADLINE = 6.0
_ENVELOPE_STATUSES = frozenset({200, 503, 504})


class VoiceClient:
    """One server, one service key.

    Units: `deadline` in seconds, from the start of a search to its answer.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        deadline: float = SEARCH_DEADLINE,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._deadline = deadline
        self._http = httpx.AsyncClient(
            base_url=base_url.rstrip("/") + BASE_PATH,
            headers=_headers(key),
            timeout=deadline,
            transport=transport,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def open(self, request: OpenSession) -> Session:
        """Open a session for one call.

        Raises: ContractMismatch, BootstrapRefused (also when the server cannot be reached).
        """
        answer = await self._ask("POST", "/sessions", request.model_dump(exclude_none=True))
        return _read(Session, answer)

    async def renew(self, session: str, request: RenewSession) -> Renewed:
        """Extend a session and read the name of its contract again.

        Raises: ContractMismatch, BootstrapRefused.
        """
        path = f"/sessions/{session}/renew"
        return _read(Renewed, await self._ask("POST", path, request.model_dump()))

    async def end(self, session: str, request: EndSession) -> None:
        """Close a session; a failure is logged and otherwise ignored, the call is over."""
        try:
            path = f"/sessions/{session}/end"
            answer = await self._http.post(path, json=request.model_dump())
            if answer.is_error:
                logger.warning("session end refused: %s", answer.status_code)
        except httpx.HTTPError as error:
            logger.warning("session end not delivered: %s", type(error).__name__)

    async def search(self, session: str, request: SearchRequest) -> SearchReply:
        """Search; every failure becomes the status `unavailable` or `timeout` with guidance."""
        try:
            async with asyncio.timeout(self._deadline):
                answer = await self._http.post(
                    f"/sessions/{session}/tools/knowledge-search",
                    json=request.model_dump(exclude_none=True),
                    headers={"X-Deadline-Ms": str(int(self._deadline * 1000))},
                )
        except TimeoutError:
            return _nothing("timed out")
        except httpx.HTTPError as error:
            return _nothing(type(error).__name__)
        return _search_reply(answer)

    async def contract(self) -> ContractInfo:
        """The contract the server serves; that it serves others too is no reason to refuse it.

        Raises: ServerNotReady, ContractMismatch.
        """
        answer = await self._get("/contract", {})
        info = ContractInfo.model_validate(answer.json())
        served = info.served or (info.version,)
        if CONTRACT_VERSION not in served:
            raise ContractMismatch(f"The server serves contract {', '.join(map(str, served))}.")
        return info

    async def ready(self) -> None:
        """Return when the server is ready for this contract.

        Raises: ServerNotReady with the failing check.
        """
        await self._get("/ready", {"version": str(CONTRACT_VERSION)})

    async def _get(self, path: str, params: dict[str, str]) -> httpx.Response:
        try:
            answer = await self._http.get(path, params=params)
        except httpx.HTTPError as error:
            raise ServerNotReady(f"No answer from {path}: {type(error).__name__}") from error
        if answer.is_error:
            raise ServerNotReady(f"{path} answered {answer.status_code}: {answer.text[:300]}")
        return answer

    async def _ask(self, method: str, path: str, body: dict[str, Any]) -> httpx.Response:
        try:
            return await self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise BootstrapRefused(f"No answer: {type(error).__name__}") from error


def _headers(key: str) -> dict[str, str]:
    contract = {"X-Earmark-Contract": str(CONTRACT_VERSION)}
    return {**contract, "Authorization": f"Bearer {key}"} if key else contract


def _read(shape: type[Read], answer: httpx.Response) -> Read:
    if answer.status_code == 409:
        raise ContractMismatch(_error_text(answer))
    if answer.is_error:
        raise BootstrapRefused(_error_text(answer))
    try:
        return shape.model_validate(answer.json())
    except ValueError as error:
        raise BootstrapRefused("The answer is not a session of this contract.") from error


def _search_reply(answer: httpx.Response) -> SearchReply:
    if answer.status_code not in _ENVELOPE_STATUSES:
        return _nothing(_error_text(answer))
    try:
        return SearchReply.model_validate(answer.json())
    except (ValueError, ValidationError):
        return _nothing(f"answer {answer.status_code} is no search reply")


def _nothing(reason: str) -> SearchReply:
    logger.warning("search unavailable: %s", reason)
    return SearchReply(status="unavailable", guidance=NO_ANSWER_GUIDANCE)


def _error_text(answer: httpx.Response) -> str:
    try:
        code = ErrorReply.model_validate(answer.json()).error.code
    except ValueError:
        code = "untyped error"
    return f"{answer.status_code} {code}"
