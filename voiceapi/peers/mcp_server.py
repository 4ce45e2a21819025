"""A Model Context Protocol server with one tool: search as one agent, with one service key."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import anyio.to_thread
import mcp_types as types
from django.db import Error as DatabaseTrouble
from django.db import InterfaceError, OperationalError, connection
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from knowledge.retrieval.deadline import Deadline
from tenants.errors import EarmarkError
from tenants.keys import verify_key
from voiceapi.answers import search_body
from voiceapi.contract import DEADLINE_MS
from voiceapi.errors import DatabaseAway, InvalidRequest, ServerFault
from voiceapi.finding import Named
from voiceapi.peers.asking import Peer, ask_for_peer, fitting
from voiceapi.sessions import CallNote
from voiceapi.tool import DESCRIPTION, NAME, TOOL

log = logging.getLogger(__name__)
DOOR: Final = "mcp"
CHANNEL: Final = "chat"
_ARGUMENTS: Final = Draft202012Validator(TOOL["parameters"])


@dataclass(frozen=True)
class Desk:
    """Which agent answers, for whom, with which key; the key is asked again for every search."""

    token: str
    named: Named
    call: CallNote
    clock: Callable[[], datetime]


def note_of(*, channel: str = CHANNEL, contact: str | None = None, country: str = "") -> CallNote:
    """Return the call that one run of the server is."""
    return CallNote(f"{DOOR}-{uuid4()}", channel, country, contact=contact)


def server_for(desk: Desk) -> Server[Any]:
    """Return the server; what it lists and answers is what the voice API lists and answers."""

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        tool = types.Tool(name=NAME, description=DESCRIPTION, input_schema=TOOL["parameters"])
        return types.ListToolsResult(tools=[tool])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(_called, desk, params.name, params.arguments or {})

    return Server("earmark", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve(desk: Desk) -> None:
    """Speak over standard input and output until the other side goes away."""
    server = server_for(desk)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _called(desk: Desk, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    try:
        return _result(_search(desk, name, arguments), is_error=False)
    except (OperationalError, InterfaceError) as trouble:
        log.error("search_failed", extra={"failure": type(trouble).__name__})
        return _refused(DatabaseAway())
    except DatabaseTrouble:
        log.exception("server_fault")
        return _refused(ServerFault())
    except EarmarkError as refusal:
        return _refused(refusal)
    finally:
        # The thread belongs to a pool that knows nothing of connections.
        if not connection.in_atomic_block:
            connection.close()


def _search(desk: Desk, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    at, deadline = desk.clock(), Deadline.after(DEADLINE_MS / 1000)
    holder = verify_key(desk.token.encode("utf-8", "replace"), at=at)
    if name != NAME or not _ARGUMENTS.is_valid(arguments):
        raise InvalidRequest
    queries = tuple(filter(None, map(fitting, arguments["queries"])))
    if not queries:
        raise InvalidRequest
    peer = Peer(holder, desk.named, desk.call, DOOR)
    asked = ask_for_peer(peer, queries, at=at, deadline=deadline)
    return search_body(asked.answer, asked.search_id)


def _refused(error: EarmarkError) -> types.CallToolResult:
    return _result({"error": {"code": error.code, "message": str(error)}}, is_error=True)


def _result(told: dict[str, Any], *, is_error: bool) -> types.CallToolResult:
    text = types.TextContent(type="text", text=json.dumps(told, ensure_ascii=False))
    return types.CallToolResult(content=[text], structured_content=told, is_error=is_error)
