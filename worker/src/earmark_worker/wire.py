"""The messages of the voice contract, version 1, as the worker sends and reads them.

Requests are closed (a misspelt field is an error here, before the server says so); answers are
open, so that a newer server may add fields. Written by hand and held to the published contract, field
by field, by tests/contract (docs/decisions/0008-the-client-is-written-by-hand.md).
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

CONTRACT_VERSION = 1
BASE_PATH = "/internal/voice/v1"

Status = Literal["ok", "no_match", "restricted_empty", "timeout", "unavailable"]
Name = Annotated[str, Field(min_length=1, max_length=50)]
Id = Annotated[str, Field(min_length=1, max_length=64)]
External = Annotated[str, Field(min_length=1, max_length=200)]
Addition = Annotated[str, Field(min_length=1, max_length=2000)]
Query = Annotated[str, Field(min_length=1, max_length=500)]
Channel = Annotated[str, Field(min_length=1, pattern=r"^[a-z0-9_-]{1,32}$")]
Country = Annotated[str, Field(min_length=1, pattern=r"^[A-Za-z]{2}$")]
Language = Annotated[
    str, Field(min_length=1, max_length=16, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Call(_Request):
    """What is known about the telephone call."""

    id: External | None = None
    channel: Channel = "phone"
    country: Country | None = None
    language: Language | None = None


class Contact(_Request):
    """Who is calling, by the name the customer's own system gives them."""

    external_id: External


class OpenSession(_Request):
    """Opens a session for one call."""

    organization: Name
    agent: Name
    call: Call
    contact: Contact | None = None
    dynamic_instructions: tuple[Id, ...] = Field(default=(), max_length=10)
    additions: tuple[Addition, ...] = Field(default=(), max_length=10)


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


class TurnCall(_Request):
    """What is known about the call, again; the server checks it and nothing follows from it."""

    channel: Channel | None = None
    country: Country | None = None
    language: Language | None = None


class TurnContextBody(_Request):
    """The caller's turn, redacted, to focus excerpts with."""

    utterance: str = Field(default="", max_length=1000)
    structured_value_digits: int | None = Field(default=None, ge=0, le=999)
    call: TurnCall = TurnCall()


class SearchRequest(_Request):
    """One search with one to four standalone queries."""

    organization: Name
    agent: Name
    queries: tuple[Query, ...] = Field(min_length=1, max_length=4)
    turn_context: TurnContextBody | None = None
    follows: Id | None = None
    pinned: tuple[Id, ...] = Field(default=(), max_length=5)
    speculative: bool = False
    adopted: tuple[Id, ...] = Field(default=(), max_length=20)
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

    organization: Name
    agent: Name
    adopted: tuple[Id, ...] = Field(default=(), max_length=20)


class RenewSession(_Request):
    """Extends a session."""

    organization: Name
    agent: Name


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
