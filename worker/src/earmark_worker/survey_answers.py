"""Reads a caller's words as the answer to the survey question that is open."""

from dataclasses import dataclass
from typing import Literal

from earmark_worker.languages.folding import words
from earmark_worker.languages.number_words import NumberWords, vocabularies
from earmark_worker.languages.spoken_digits import hear, written

_YES = frozenset(
    word
    for text in ("yes yeah yep sure نعم أيوه sí ja oui हाँ हां जी 是 对 好",)
    for word in words(text)
)
_NO = frozenset(word for text in ("no nope nah لا كلا nein non नहीं 不 没",) for word in words(text))


@dataclass(frozen=True)
class Question:
    """One question of a survey.

    Shape: `low` and `high` bound a rating; `choices` are the labels of a choice.
    """

    id: str
    text: str
    kind: Literal["rating", "choice", "yes_no", "text"] = "rating"
    low: int = 1
    high: int = 5
    choices: tuple[str, ...] = ()


def read_answer(question: Question, said: str) -> str | None:
    """The answer in its stored form, or None when the words do not answer the question."""
    if question.kind == "text":
        return said.strip() or None
    if question.kind == "yes_no":
        return _yes_or_no(said)
    number = _number(said)
    if question.kind == "choice":
        return _choice(question, said, number)
    return str(number) if number is not None and question.low <= number <= question.high else None


def _yes_or_no(said: str) -> str | None:
    heard = set(words(said))
    if heard & _NO:
        return "no"
    return "yes" if heard & _YES else None


def _choice(question: Question, said: str, number: int | None) -> str | None:
    if number is not None and 1 <= number <= len(question.choices):
        return question.choices[number - 1]
    heard = words(said)
    named = [c for c in question.choices if set(words(c)) <= set(heard)]
    return named[0] if len(named) == 1 else None


def _number(said: str) -> int | None:
    heard = words(said)
    digits = [word for word in heard if word.isdecimal()]
    if digits:
        return int(digits[0]) if len(set(digits)) == 1 or len(digits) == 1 else None
    spoken = {text for table in vocabularies() if (text := _spoken(heard, table))}
    return int(min(spoken, key=len)) if spoken else None


def _spoken(heard: tuple[str, ...], table: NumberWords) -> str:
    return written([number for word in heard if (number := hear(word, table))], table)
