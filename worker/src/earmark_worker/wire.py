"""The messages of the voice contract, version 1, as the worker sends and reads them.

Requests are closed (a misspelt field is an error here, before the server says so); answers are
open, so that a newer server may add fields.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

CONTRACT_VERSION = 1
BASE_PATH = "/internal/voice/v1"

Status = Literal["ok", "no_match", "restricted_empty", "timeout", "unavailable"]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Call(_Request):
    """What is known about the telephone call."""

    id: str | None = None
    channel: str = "phone"
    country: str | None = None
    language: str | None = None


class Contact(_Request):
    """Who is calling, by the name the customer's own system gives them."""

    external_id: str


class OpenSession(_Request):
    """Opens a session for one call."""

    organization: str
    agent: str
    call: Call
    contact: Contact | None = None
    dynamic_instructions: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()


class ContractName(_Answer):
    """The contract the server speaks."""

    version: int
    hash: str


class Tool(_Answer):
    """A tool offered to the model, with the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class Session(_Answer):
    """An open session: the prompt, the tool and the words to fall back on."""

    session: str
    expires_at: datetime
    contract: ContractName
    prompt: str
    tools: tuple[Tool, ...]
    scope: dict[str, Any] = Field(default_factory=dict)
    fallback: str = ""
    deadline_ms: int = 5500
    code_patterns: tuple[str, ...] = ()


class Renewed(_Answer):
    """A session that lives on."""

    session: str
    expires_at: datetime
    contract: ContractName


class TurnContextBody(_Request):
    """The caller's turn, redacted, to focus excerpts with."""

    utterance: str = Field(default="", max_length=1000)
    structured_value_digits: int | None = Field(default=None, ge=0, le=999)
    call: dict[str, str] = Field(default_factory=dict)


class SearchRequest(_Request):
    """One search with one to four standalone queries."""

    organization: str
    agent: str
    queries: tuple[str, ...] = Field(min_length=1, max_length=4)
    turn_context: TurnContextBody | None = None
    follows: str | None = None
    pinned: tuple[str, ...] = Field(default=(), max_length=5)
    speculative: bool = False
    adopted: tuple[str, ...] = Field(default=(), max_length=20)
    limit: int = Field(default=5, ge=1, le=10)


class Result(_Answer):
    """A passage the agent may speak from."""

    type: Literal["golden", "instruction", "knowledge"]
    id: str
    chunk: int | None = None
    title: str
    content: str
    url: str | None = None
    valid_until: datetime | None = None


class SearchReply(_Answer):
    """What a search found, or why it found nothing."""

    status: Status
    search: str | None = None
    digest: str | None = None
    degraded: tuple[str, ...] = ()
    guidance: str | None = None
    results: tuple[Result, ...] = ()


class EndSession(_Request):
    """Closes a session and reports the last adopted searches."""

    organization: str
    agent: str
    adopted: tuple[str, ...] = Field(default=(), max_length=20)


class RenewSession(_Request):
    """Extends a session."""

    organization: str
    agent: str


class ErrorBody(_Answer):
    """What an error says."""

    code: str
    message: str = ""
    fields: dict[str, Any] | None = None


class ErrorReply(_Answer):
    """The envelope of every error."""

    error: ErrorBody


class ContractInfo(_Answer):
    """What the server says about the contract it serves, and which others it serves beside it."""

    version: int
    hash: str
    served: tuple[int, ...] = ()
    oldest_worker: str | None = None
