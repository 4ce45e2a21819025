"""Reads what an OpenAI-compatible server sent, and believes none of it."""

from __future__ import annotations

import base64
import binascii
import json
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from knowledge.embedding.protocol import Vector
from knowledge.embedding.vectors import checked
from knowledge.errors import (
    EmbeddingFailed,
    EmbeddingRejected,
    EmbeddingTimeout,
    EmbeddingUnavailable,
)

RETRYABLE = frozenset({409, 425, 429})
LONGEST_WAIT_S = 3600.0
_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,63}")


def read_vectors(body: bytes, *, count: int, dimensions: int) -> list[Vector]:
    """The vectors in the order of the texts, whatever the order of the answer.

    Raises: EmbeddingUnavailable when it is no complete answer, EmbeddingRejected for another dimension.
    """
    rows: list[npt.NDArray[np.float32] | None] = [None] * count
    for entry in _entries(body):
        index = entry.get("index")
        if type(index) is not int or not 0 <= index < count or rows[index] is not None:
            raise EmbeddingUnavailable(
                "An index of the answer belongs to no text, or to one twice."
            )
        rows[index] = _row(entry.get("embedding"))
    found = [row for row in rows if row is not None]
    if len(found) != count:
        raise EmbeddingUnavailable(f"The answer has {len(found)} vectors for {count} texts.")
    if len({row.size for row in found}) > 1:
        raise EmbeddingRejected("The vectors of one answer differ in length.")
    return checked(np.array(found), count=count, dimensions=dimensions)


def read_refusal(status: int, body: object, headers: Mapping[str, str]) -> EmbeddingFailed:
    """What a status other than 200 means for us."""
    message = f"The provider answered {status}{_named(body)}."
    wait = retry_after_s(headers)
    if status == 408:
        return EmbeddingTimeout(message, status=status, retry_after=wait)
    if status in RETRYABLE or status >= 500:
        return EmbeddingUnavailable(message, status=status, retry_after=wait)
    return EmbeddingRejected(message, status=status, retry_after=wait)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the provider asked us to wait, an hour at most."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            seconds = float(text) * unit
        except ValueError:
            seconds = _until(text) if name == "retry-after" else -1.0
        if 0 <= seconds < float("inf"):
            return min(seconds, LONGEST_WAIT_S)
    return None


def _until(date: str) -> float:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError):
        return -1.0


def _named(body: object) -> str:
    # Only a code: the message of a provider may quote the text.
    error = body.get("error", body) if isinstance(body, dict) else None
    code = error.get("code") or error.get("type") if isinstance(error, dict) else None
    return f" ({code})" if isinstance(code, str) and _CODE.fullmatch(code) else ""


def _entries(body: bytes) -> list[dict[str, Any]]:
    try:
        answer = json.loads(body)
    except ValueError:
        raise EmbeddingUnavailable("The answer is not JSON.") from None
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise EmbeddingUnavailable(f"The answer holds no vectors{_named(answer)}.")
    return data


def _row(embedding: object) -> npt.NDArray[np.float32]:
    try:
        if isinstance(embedding, str):
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
        row = np.array(embedding, dtype=np.float32)
    except (binascii.Error, ValueError, TypeError, OverflowError):
        row = np.empty((0, 0), np.float32)
    if row.ndim != 1:
        raise EmbeddingUnavailable("A vector of the answer is not a list of numbers.")
    return row
