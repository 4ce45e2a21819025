"""Whether two results are the same guide for different products, and nobody said which; pure."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.folders import leaf
from knowledge.retrieval.types import Focus, Result
from knowledge.text.tokens import tokenise

ASK_WHICH = (
    "The first two results are the same guide for different products or places. Ask the caller"
    " which one is meant before you answer."
)
# Share of title words that two editions of one guide have in common.
ALIKE = 0.5


def are_siblings(results: Sequence[Result], focus: Focus) -> bool:
    """Whether the top two are editions of one guide, told apart by words that nobody has said."""
    if len(results) < 2 or results[0].type != results[1].type or results[0].type == "golden":
        return False
    first, second = (_words(result.title) for result in results)
    if len(first & second) < ALIKE * max(len(first), len(second)):
        return False
    named = [
        words | _words(leaf(r.place)) for words, r in zip((first, second), results, strict=True)
    ]
    telling = named[0] ^ named[1]
    return bool(telling) and not telling & focus.words


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in tokenise(text) if not word.startswith("~"))
