"""Tokens as the index holds them: numbers keyed by the organization."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from knowledge.text.normalising import match_key


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


def question_key(organization_id: int, question: str) -> int:
    """Return the number of a whole question: equal for questions that are asked alike.

    No token begins with an equals sign, so it is never the number of a word.
    """
    return token_key(organization_id, f"={match_key(question)}")


def token_keys(organization_id: int, tokens: Iterable[str]) -> frozenset[int]:
    """Return the numbers of several tokens."""
    return frozenset(token_key(organization_id, token) for token in tokens)
