"""From what was asked to what both legs look for; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from knowledge.retrieval.spelled import with_codes
from knowledge.retrieval.types import Focus, Query
from knowledge.text.keys import question_key, token_keys
from knowledge.text.languages import guess_language
from knowledge.text.normalising import match_key
from knowledge.text.redaction import redact
from knowledge.text.refusals import is_refusal
from knowledge.text.tokens import query_tokens
from knowledge.text.values import digit_counts


def understand(
    texts: Sequence[str], *, organization_id: int, code_patterns: Iterable[str] = ()
) -> tuple[Query, ...]:
    """Redact, collapse duplicates and split into tokens.

    Shape: at most one query for each text; texts that normalise alike are one.
    """
    shapes = tuple(code_patterns)
    redacted = [redact(text, shapes) for text in texts]
    distinct = {match_key(text): text for text in reversed(redacted) if match_key(text)}
    ordered = sorted(distinct, key=[match_key(text) for text in redacted].index)
    return tuple(_query(distinct[key], key, organization_id) for key in ordered)


def focus_on(
    queries: Sequence[Query],
    utterance: str,
    digits: int | None,
    *,
    code_patterns: Iterable[str] = (),
) -> Focus:
    """Return what excerpts are to be about: the queries, the caller's last words, a value's length.

    Units: digits, as given; else as the last count that the texts speak of.
    """
    spoken = redact(utterance, tuple(code_patterns))
    texts = [*(query.text for query in queries), spoken]
    words = frozenset(word for text in texts for word in query_tokens(text))
    told = [count.digits for text in texts for count in digit_counts(text)]
    return Focus(words, digits if digits is not None else (told[-1] if told else None))


def _query(text: str, normalised: str, organization_id: int) -> Query:
    language = guess_language(text) or ""
    tokens = query_tokens(with_codes(text), language or None)
    codes = [token for token in tokens if any(character.isdigit() for character in token)]
    return Query(
        text=text,
        normalised=normalised,
        language=language,
        tokens=token_keys(organization_id, tokens),
        codes=token_keys(organization_id, codes),
        whole=question_key(organization_id, text),
        refuses=is_refusal(text),
    )
