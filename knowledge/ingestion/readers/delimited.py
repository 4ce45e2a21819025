"""Delimited tables: questions with their answers one by one, anything else as one table."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from knowledge.errors import KnowledgeError
from knowledge.ingestion.errors import Malformed, NoText, RowRefused
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.html import markdown_of
from knowledge.ingestion.readers.nesting import Inner
from knowledge.ingestion.readers.parsed import (
    FailedPart,
    ParsedText,
    Reading,
    one_line,
    parsed,
    title_from_name,
)
from knowledge.ingestion.readers.tables import markdown_table

ReadT = TypeVar("ReadT")
SAMPLE: Final = 16 * 1024
DELIMITERS: Final = ",;\t|"
LONGEST_FIELD: Final = 10 * 1024 * 1024
# A row of its own below the last one, unless a quote is still open there.
END: Final = "end"
QUOTE: Final = '"'
NAMES: Final[Mapping[str, frozenset[str]]] = {
    "question": frozenset({"question", "questions", "q", "title", "subject", "prompt"}),
    "answer": frozenset({"answer", "answers", "a", "body", "content", "response", "text"}),
    "id": frozenset({"id", "key", "external_id", "article_id"}),
    "folder": frozenset({"folder", "category", "section", "topic"}),
    "url": frozenset({"url", "link"}),
    "lang": frozenset({"lang", "language", "locale"}),
    **{
        gate: frozenset({gate})
        for gate in (
            "visibility", "channels", "segments", "jurisdictions", "valid_from", "valid_until"
        )
    },
}  # fmt: skip
LISTS: Final = frozenset({"channels", "segments", "jurisdictions"})
MARKUP: Final = re.compile(r"</?(?:p|br|div|ul|ol|li|h[1-6]|table|strong|em|b|i|a)\b[^>]*>", re.I)


def read_delimited(name: str, data: bytes, _inner: Inner) -> Iterator[Reading]:
    """Yield each answer, or the whole as a table.

    Raises: BinaryContent, UnknownEncoding, Malformed, NoText, TooLarge
    """
    text = decode(data)
    csv.field_size_limit(LONGEST_FIELD)
    delimiter = _delimiter(name, text)
    _refuse_open_quotes(text, delimiter)
    rows = _rows(text, delimiter)
    header = next(rows, [])
    columns = _columns(header)
    if {"question", "answer"} <= columns.keys():
        yield from _answers(rows, columns, len(header))
    else:
        yield parsed(title_from_name(name), markdown_table([header, *rows]))


def _refuse_open_quotes(text: str, delimiter: str) -> None:
    """A quote left open takes the rows below it for its own, up to the next quote or to the end.

    Within a line the library's lenience stays; what goes over several is quoted as it should be.
    """
    lines, start = [*io.StringIO(text, newline=""), END], 0
    rows = csv.reader(lines, delimiter=delimiter)
    for end in _read(rows.line_num for _ in rows):
        if not _is_well_quoted(lines[start + 1 : end], delimiter):
            raise Malformed(f"A quote in the row of line {start + 1} is not closed.")
        start = end


def _is_well_quoted(rest: Sequence[str], delimiter: str) -> bool:
    """Whether the further lines of a row, which begin inside of quotes, end outside of them."""
    try:
        for _ in csv.reader([QUOTE, *rest] if rest else (), delimiter=delimiter, strict=True):
            pass
    except csv.Error:
        return False
    return True


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return _read(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def _read(rows: Iterable[ReadT]) -> Iterator[ReadT]:
    try:
        yield from rows
    except csv.Error as error:
        raise Malformed("Its rows cannot be told apart.") from error


def _delimiter(name: str, text: str) -> str:
    if name.lower().endswith(".tsv"):
        return "\t"
    try:
        return csv.Sniffer().sniff(text[:SAMPLE], DELIMITERS).delimiter
    except csv.Error:
        first = text[:SAMPLE].partition("\n")[0]
        return max(DELIMITERS, key=first.count)


def _columns(header: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, title in enumerate(header):
        known = title.strip().lower().replace(" ", "_")
        for key, names in NAMES.items():
            if known in names:
                found.setdefault(key, place)
    return found


def _answers(
    rows: Iterable[list[str]], columns: Mapping[str, int], width: int
) -> Iterator[Reading]:
    for number, row in enumerate(rows, start=2):
        said = {key: row[place].strip() for key, place in columns.items() if place < len(row)}
        if not any(said.values()):
            continue
        question = said.get("question", "")
        key = said.get("id") or _key(question)
        try:
            _refuse_more(row[width:])
            yield replace(_answer(said, question, key), line=number)
        except KnowledgeError as error:
            yield FailedPart(error, line=number, key=key)


def _refuse_more(beyond: Sequence[str]) -> None:
    """An answer with a comma and no quotes would lose what follows the comma."""
    if any(cell.strip() for cell in beyond):
        raise RowRefused("The row has more cells than the first one.")


def _answer(said: dict[str, str], question: str, key: str) -> ParsedText:
    if not question:
        raise NoText("The row has no question.")
    answer = said.get("answer", "")
    text = markdown_of(answer) if MARKUP.search(answer) else answer
    found = parsed(question, text, **_labels(said))
    return replace(found, key=key, folder=said.get("folder", ""))


def _labels(said: Mapping[str, str]) -> dict[str, Any]:
    plain = {key: value for key, value in said.items() if key in NAMES and value}
    for key in ("question", "answer", "id", "folder"):
        plain.pop(key, None)
    return {key: _list(value) if key in LISTS else value for key, value in plain.items()}


def _list(value: str) -> list[str]:
    return [part.strip() for part in re.split(r"[;,|]", value) if part.strip()]


def _key(question: str) -> str:
    """A question without an id is known by its words, so that its answer may change."""
    return "q-" + hashlib.sha256(one_line(question).casefold().encode()).hexdigest()[:32]
