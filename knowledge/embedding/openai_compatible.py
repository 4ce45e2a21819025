"""Embeddings from OpenAI, or from any server that speaks its API."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import openai

from knowledge.alarms import BREAKER_OPEN
from knowledge.embedding.answers import read_refusal, read_vectors
from knowledge.embedding.background import background
from knowledge.embedding.breaker import Breaker
from knowledge.embedding.metering import calling, spent
from knowledge.embedding.protocol import SpaceSpec, Vector
from knowledge.errors import EmbeddingFailed, EmbeddingTimeout, EmbeddingUnavailable

PROVIDER = "openai"
MOST_TEXTS = 128
MOST_TOKENS = 250_000  # OpenAI takes 300,000 in one request
# A provider that takes longer than this for a question, or than this rate for many texts, is late.
PATIENT_S = 1.0
TEXTS_A_SECOND = 8
NO_KEY = "none"  # servers of one's own often want none, the package insists on one

# At DEBUG the package logs the texts; at INFO its transport logs a line for each request.
for _noisy in ("openai", "httpx2"):
    logging.getLogger(_noisy).setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where embeddings come from and how to ask for them."""

    base_url: str
    api_key: str = NO_KEY
    asks_dimensions: bool = False
    encoding_format: Literal["float", "base64"] = "float"

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"


_BREAKERS: dict[str, Breaker] = {}
_CLIENTS: dict[tuple[int, Endpoint], openai.AsyncOpenAI] = {}


class OpenAICompatibleEmbedder:
    """An `Embedder` over HTTP. One attempt for each request; when to try again is the caller's decision.

    Raises: EmbeddingUnavailable at once while the breaker of the endpoint is open.
    """

    def __init__(
        self, space: SpaceSpec, endpoint: Endpoint, *, breaker: Breaker | None = None
    ) -> None:
        self._space = space
        self._endpoint = endpoint
        self._breaker = breaker or breaker_of(endpoint.base_url)

    @property
    def space(self) -> SpaceSpec:
        """The model, its dimensions and the prefixes."""
        return self._space

    def embed_queries(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what people ask."""
        return self._embed([self._space.query_prefix + text for text in texts], deadline_s)

    def embed_passages(self, texts: Sequence[str], *, deadline_s: float) -> list[Vector]:
        """Vectors of what is searched."""
        return self._embed([self._space.passage_prefix + text for text in texts], deadline_s)

    def token_count(self, texts: Sequence[str]) -> list[int]:
        """UTF-8 bytes: no tokenizer makes more tokens of a text, and which one it is we do not know."""
        prefix = self._space.passage_prefix
        return [len((prefix + text).encode("utf-8", "replace")) for text in texts]

    def _embed(self, texts: Sequence[str], deadline_s: float) -> list[Vector]:
        ends = time.monotonic() + deadline_s
        vectors: list[Vector] = []
        for batch in batches(texts):
            vectors += self._guarded(batch, ends - time.monotonic())
        return vectors

    def _guarded(self, batch: Sequence[str], budget_s: float) -> list[Vector]:
        if budget_s <= 0:
            raise EmbeddingTimeout
        wait = self._breaker.wait_s()
        if wait:
            raise EmbeddingUnavailable("The provider failed too often just now.", retry_after=wait)
        try:
            vectors = self._request(batch, budget_s)
        except EmbeddingTimeout:
            self._report(working=False if _had_time(batch, budget_s) else None)
            raise
        except EmbeddingFailed as error:
            # A refusal or a rate limit is a server at work, not one that is down.
            working = not error.retryable or error.data.get("status") == 429
            self._report(working=working)
            raise
        self._report(working=True)
        return vectors

    def _report(self, *, working: bool | None) -> None:
        if working is None:
            self._breaker.undecided()
        else:
            self._breaker.succeeded() if working else self._breaker.failed()
        BREAKER_OPEN.set(self._breaker.is_open)

    def _request(self, batch: Sequence[str], budget_s: float) -> list[Vector]:
        with calling(len(batch)):
            body = self._answer(batch, budget_s)
            spent(body)
            return read_vectors(body, count=len(batch), dimensions=self._space.dimensions)

    def _answer(self, batch: Sequence[str], budget_s: float) -> bytes:
        try:
            return background.run(self._post(batch), budget_s=budget_s)
        except TimeoutError:
            raise EmbeddingTimeout from None
        except openai.APIStatusError as error:
            raise read_refusal(error.status_code, error.body, error.response.headers) from None
        except openai.OpenAIError as error:
            raise EmbeddingUnavailable(_reason(error)) from None

    async def _post(self, batch: Sequence[str]) -> bytes:
        dimensions = self._space.dimensions if self._endpoint.asks_dimensions else openai.omit
        # Raw: the package would hide an incomplete answer behind its models.
        answer = await _client(self._endpoint).embeddings.with_raw_response.create(
            model=self._space.model,
            input=[sendable(text) for text in batch],
            dimensions=dimensions,
            encoding_format=self._endpoint.encoding_format,
        )
        return answer.content


def _had_time(batch: Sequence[str], budget_s: float) -> bool:
    """Whether a provider that works would have answered: otherwise the hurry was the caller's own."""
    return budget_s >= max(PATIENT_S, len(batch) / TEXTS_A_SECOND)


def sendable(text: str) -> str:
    """The text as JSON can carry it; no provider takes an empty one."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Requests of at most 128 texts and surely fewer tokens than a provider takes."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = len(text.encode("utf-8", "replace"))
        if batch and (len(batch) >= MOST_TEXTS or tokens + size > MOST_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch


def breaker_of(base_url: str) -> Breaker:
    """The one breaker of an endpoint in this process."""
    return _BREAKERS.setdefault(base_url, Breaker())


def _client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    # Connections belong to the loop they were opened on, and a forked child has a loop of its own.
    key = (os.getpid(), endpoint)
    if key not in _CLIENTS:
        _CLIENTS[key] = openai.AsyncOpenAI(
            base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, timeout=None
        )
    return _CLIENTS[key]


def _reason(error: openai.OpenAIError) -> str:
    if isinstance(error, openai.APIConnectionError):
        return "The provider cannot be reached, or broke off its answer."
    return "The provider did not answer in its protocol."
