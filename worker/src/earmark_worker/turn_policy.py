"""Does this turn need a search? Anything the caller asks for does; courtesies and keys do not."""

from earmark_worker.languages.folding import words
from earmark_worker.languages.number_words import vocabularies
from earmark_worker.languages.phrases import answer_words, courtesies
from earmark_worker.languages.spoken_digits import hear
from earmark_worker.redaction import redact
from earmark_worker.turns import Speaker, TurnView

_LONGEST_ANSWER = 3


def needs_search(view: TurnView, *, answering_survey: bool = False) -> bool:
    """Whether the newest turn is the caller's, asks for something and nothing answered it yet.

    A tool output after the caller's turn, of any status, counts as its search.
    """
    newest = view.newest
    if newest is None or newest.speaker is not Speaker.CALLER or answering_survey:
        return False
    return is_substantive(newest.text)


def is_substantive(text: str) -> bool:
    """Whether a caller's words ask for something (a long number does, "yes, thank you" does not)."""
    if redact(text).lengths:
        return True
    said = words(text)
    return not _is_short_answer(said) and not _only_courtesies(said)


def _only_courtesies(said: tuple[str, ...]) -> bool:
    return not _without(said, courtesies())


def _is_short_answer(said: tuple[str, ...]) -> bool:
    rest = _without(said, courtesies() | answer_words())
    return len(rest) <= _LONGEST_ANSWER and all(_is_number(word) for word in rest)


def _without(said: tuple[str, ...], phrases: frozenset[tuple[str, ...]]) -> list[str]:
    longest = max(map(len, phrases))
    rest, position = [], 0
    while position < len(said):
        step = _phrase_length(said, position, phrases, longest)
        if step == 0:
            rest.append(said[position])
        position += max(step, 1)
    return rest


def _phrase_length(
    said: tuple[str, ...], position: int, phrases: frozenset[tuple[str, ...]], longest: int
) -> int:
    for length in range(min(longest, len(said) - position), 0, -1):
        if said[position : position + length] in phrases:
            return length
    return 0


def _is_number(word: str) -> bool:
    return word.isnumeric() or any(hear(word, table) for table in vocabularies())
