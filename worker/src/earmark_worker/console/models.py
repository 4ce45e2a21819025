"""The models a console agent can think with: the scripted one, or any OpenAI-compatible server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

from earmark_worker.scripted import Reply, scripted_reply
from earmark_worker.turns import TurnView

_TIMEOUT = 60.0


@dataclass(frozen=True)
class Request:
    """What a model is asked: the messages in the chat-completions shape, and the turns in ours."""

    messages: list[dict[str, Any]]
    view: TurnView
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: Any = "auto"


class Model(Protocol):
    """Answers a request."""

    async def reply(self, request: Request) -> Reply:
        """The model's reply."""
        ...


class ScriptedModel:
    """Searches for what was said and reads the best passage out."""

    async def reply(self, request: Request) -> Reply:
        """The scripted reply."""
        return scripted_reply(request.view)


class ChatModel:
    """A model behind the chat-completions API of OpenAI or of any server that speaks it."""

    def __init__(self, base_url: str, key: str, model: str) -> None:
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._model = model

    async def reply(self, request: Request) -> Reply:
        """The model's reply. Raises: httpx.HTTPError when the model server fails."""
        body = {
            "model": self._model,
            "messages": request.messages,
            "tools": request.tools,
            "tool_choice": request.tool_choice,
        }
        async with httpx.AsyncClient(timeout=_TIMEOUT) as http:
            answer = await http.post(self._url, json=body, headers=self._headers)
            answer.raise_for_status()
        return _reply(answer.json()["choices"][0]["message"])


def model_from(environment: Mapping[str, str]) -> Model:
    """The model that the environment names: `OPENAI_API_KEY` or `OPENAI_BASE_URL`, else scripted."""
    key, base_url = environment.get("OPENAI_API_KEY"), environment.get("OPENAI_BASE_URL")
    if not key and not base_url:
        return ScriptedModel()
    name = environment.get("EARMARK_CHAT_MODEL", "gpt-4.1-mini")
    return ChatModel(base_url or "https://api.openai.com/v1", key or "none", name)


def _reply(message: dict[str, Any]) -> Reply:
    calls = message.get("tool_calls") or []
    if not calls:
        return Reply(text=message.get("content") or "")
    function = calls[0]["function"]
    arguments = function.get("arguments") or json.dumps({})
    return Reply(text=message.get("content") or "", tool=function["name"], arguments=arguments)
