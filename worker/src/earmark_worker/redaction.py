"""No run of four or more digits leaves the process, written in any script or spoken as words."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from earmark_worker.languages.folding import fold, is_han
from earmark_worker.languages.number_words import NumberWords, vocabularies
from earmark_worker.languages.spoken_digits import Heard, hear, written

SHORTEST_SECRET = 4
_LONGEST_MARKED = 999
_LONGEST_CODE = 5
_GAP_PUNCTUATION = frozenset(".,/()_\\·…~*#+|'\"’،٫٬、，−")
_CODE_BEFORE = re.compile(r"[A-Za-z]{2,}-?$")
_CODE_AFTER = re.compile(r"^-?[A-Za-z]{2,}")


@dataclass(frozen=True)
class Redacted:
    """A text that may leave the process, and how long each value taken out of it was.

    Shape: `lengths` in the order of the text.
    """

    text: str
    lengths: tuple[int, ...]


@dataclass(frozen=True)
class _Atom:
    kind: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    length: int


def redact(text: str, *, code_patterns: Sequence[str] = ()) -> Redacted:
    """Replace every structured value by its digit count; product codes stay readable.

    Cost: linear in the text for each of eight vocabularies; texts are at most 1,000 characters.
    """
    atoms = list(_atoms(text))
    protected = _protected(text, code_patterns)
    spans = _merged([s for table in vocabularies() for s in _spans(text, atoms, table)])
    kept = [s for s in spans if not any(a <= s.start and s.end <= b for a, b in protected)]
    return Redacted(text=_replaced(text, kept), lengths=tuple(s.length for s in kept))


def _replaced(text: str, spans: list[_Span]) -> str:
    pieces, position = [], 0
    for span in spans:
        pieces += [text[position : span.start], _marker(span.length)]
        position = span.end
    return "".join([*pieces, text[position:]])


def _marker(length: int) -> str:
    return f"[{min(length, _LONGEST_MARKED)}-digit structured value]"


def _atoms(text: str) -> Iterator[_Atom]:
    kinds = _kinds(text)
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or kinds[index] != kinds[start] or kinds[start] in ("han", "stop"):
            yield _Atom(kinds[start], start, index, text[start:index])
            start = index


def _kinds(text: str) -> list[str]:
    kinds: list[str] = []
    for char in text:
        kinds.append(_kind(char, kinds[-1] if kinds else "gap"))
    return kinds


def _kind(char: str, before: str) -> str:
    if unicodedata.digit(char, None) is not None:
        return "digit"
    category = unicodedata.category(char)
    if is_han(char):
        return "han"
    if category[0] == "L" or ((category[0] == "M" or category == "Cf") and before == "word"):
        return "word"
    if category[0] in "MZ" or category in ("Cf", "Cc", "Pd", "Pc") or char in _GAP_PUNCTUATION:
        return "gap"
    return "stop"


def _spans(text: str, atoms: list[_Atom], table: NumberWords) -> Iterator[_Span]:
    run: list[tuple[_Atom, Heard]] = []
    for atom in atoms:
        heard = _heard(atom, table)
        if heard is not None:
            run.append((atom, heard))
        elif not run or not _continues(atom, table):
            yield from _closed(text, run, table)
            run = []
    yield from _closed(text, run, table)


def _heard(atom: _Atom, table: NumberWords) -> Heard | None:
    if atom.kind == "digit":
        return Heard(digits="".join(str(unicodedata.digit(char)) for char in atom.text))
    return hear(fold(atom.text), table) if atom.kind in ("word", "han") else None


def _continues(atom: _Atom, table: NumberWords) -> bool:
    return atom.kind == "gap" or fold(atom.text) in table.connectors


def _closed(text: str, run: list[tuple[_Atom, Heard]], table: NumberWords) -> Iterator[_Span]:
    if all(heard.magnitude is not None or heard.repeat is not None for _, heard in run):
        return
    length = len(written([heard for _, heard in run], table))
    if length >= SHORTEST_SECRET and not _is_product_code(text, [atom for atom, _ in run]):
        yield _Span(run[0][0].start, run[-1][0].end, length)


def _is_product_code(text: str, run: list[_Atom]) -> bool:
    if len(run) > 1 or run[0].kind != "digit" or len(run[0].text) > _LONGEST_CODE:
        return False
    before, after = text[: run[0].start], text[run[0].end :]
    return bool(_CODE_BEFORE.search(before) or _CODE_AFTER.search(after))


def _protected(text: str, patterns: Sequence[str]) -> list[tuple[int, int]]:
    return [match.span() for pattern in patterns for match in _matches(pattern, text)]


def _matches(pattern: str, text: str) -> list[re.Match[str]]:
    try:
        return list(re.finditer(pattern, text))
    except re.error:
        return []


def _merged(spans: list[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = _Span(last.start, max(last.end, span.end), max(last.length, span.length))
        else:
            merged.append(span)
    return merged
