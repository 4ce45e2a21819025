"""Tokens as the index holds them: numbers keyed by the organization."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def token_key(organization_id: int, token: str) -> int:
    """Return the number under which one organization's index holds a token.

    Keyed, so that a posting list never mixes organizations and the index holds no vocabulary.
    Units: a signed 64-bit integer.
    """
    digest = blake2b(
        token.encode("utf-8", "surrogatepass"),
        digest_size=8,
        salt=organization_id.to_bytes(8, "big", signed=True),
    ).digest()
    return int.from_bytes(digest, "big", signed=True)


def token_keys(organization_id: int, tokens: Iterable[str]) -> frozenset[int]:
    """Return the numbers of several tokens."""
    return frozenset(token_key(organization_id, token) for token in tokens)
