"""No run of four or more digits leaves the process, written in any script or spoken as words."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from earmark_worker.languages.folding import fold, is_han
from earmark_worker.languages.number_words import NumberWords, vocabularies
from earmark_worker.languages.spoken_digits import Heard, hear, written
from earmark_worker.product_codes import code_length, declared_spans

SHORTEST_SECRET = 4
_LONGEST_MARKED = 999
_UNSENDABLE = "\0"
_GAP_PUNCTUATION = frozenset(".,/()_\\·…~*#+|'\"’،٫٬、，−")


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
    text = "".join(char for char in text if char not in _UNSENDABLE and not _is_surrogate(char))
    atoms = list(_atoms(text))
    protected = declared_spans(text, code_patterns)
    spans = _merged([s for table in vocabularies() for s in _spans(text, atoms, table)])
    kept = [s for s in spans if not any(a <= s.start and s.end <= b for a, b in protected)]
    return Redacted(text=_replaced(text, kept), lengths=tuple(s.length for s in kept))


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


@lru_cache(maxsize=4096)
def digits_of(char: str) -> str:
    """The ASCII digits a character stands for: of any script, raised, circled or bracketed.

    Source: Unicode Character Database, Numeric_Type; Unicode Standard Annex 15 for ⑫ and ⒈.
    """
    value = unicodedata.digit(char, None)
    if value is not None:
        return str(value)
    if unicodedata.category(char) != "No":
        return ""
    plain = unicodedata.normalize("NFKC", char).strip("().")
    return plain if plain.isascii() and plain.isdigit() else ""


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
    if digits_of(char):
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
        return Heard(digits="".join(map(digits_of, atom.text)))
    return hear(fold(atom.text), table) if atom.kind in ("word", "han") else None


def _continues(atom: _Atom, table: NumberWords) -> bool:
    return atom.kind == "gap" or fold(atom.text) in table.connectors


def _closed(text: str, run: list[tuple[_Atom, Heard]], table: NumberWords) -> Iterator[_Span]:
    rest = run[_code_atoms(text, run) :]
    if all(heard.magnitude is not None or heard.repeat is not None for _, heard in rest):
        return
    length = len(written([heard for _, heard in rest], table))
    if length >= SHORTEST_SECRET:
        yield _Span(rest[0][0].start, rest[-1][0].end, length)


def _code_atoms(text: str, run: list[tuple[_Atom, Heard]]) -> int:
    if not run or any(heard.digits is None for _, heard in run):
        return 0
    atoms = [atom for atom, _ in run]
    gaps = [text[a.end : b.start] for a, b in pairwise(atoms)]
    return code_length(text[: atoms[0].start], [heard.digits or "" for _, heard in run], gaps)


def _merged(spans: list[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = _Span(last.start, max(last.end, span.end), max(last.length, span.length))
        else:
            merged.append(span)
    return merged
