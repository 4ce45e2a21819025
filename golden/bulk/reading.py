"""Reads files of answers: CSV and JSON lines; what is wrong is told by line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from golden.bulk.columns import COLUMNS, NEEDED
from golden.errors import ImportRefused

MOST_BYTES: Final = 2 * 1024 * 1024
MOST_ROWS: Final = 2_000
_DELIMITERS: Final = ",;\t|"


@dataclass(frozen=True)
class Row:
    """One answer of a file, with the line it begins on."""

    line: int
    said: Mapping[str, Any]


def read_rows(raw: bytes) -> list[Row]:
    """Return the answers of a file: JSON lines when it begins with a brace, else CSV.

    Raises: ImportRefused with the lines that are wrong
    """
    if len(raw) > MOST_BYTES:
        raise ImportRefused(lines={0: _("It has more than %s MB.") % (MOST_BYTES // 1024 // 1024)})
    text = _decoded(raw)
    rows = list(_json_rows(text) if text.lstrip().startswith("{") else _csv_rows(text))
    if len(rows) > MOST_ROWS:
        raise ImportRefused(lines={0: _("It has more than %s answers.") % MOST_ROWS})
    return rows


def _decoded(raw: bytes) -> str:
    encoding = "utf-16" if raw[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ImportRefused(lines={line: _("It is not UTF-8.")}) from None
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise ImportRefused(lines={line: _("It holds a NUL character.")})
    return text


def _csv_rows(text: str) -> Iterator[Row]:
    header = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    _refuse_names(names)
    reader.fieldnames = names
    before = reader.line_num
    try:
        for told in reader:
            if any((value or "").strip() for value in told.values() if isinstance(value, str)):
                yield _csv_row(before + 1, told)
            before = reader.line_num
    except csv.Error as error:
        line = max(reader.line_num, before + 1)
        raise ImportRefused(lines={line: _("It cannot be read: %s.") % error}) from None


def _csv_row(line: int, told: Mapping[Any, Any]) -> Row:
    if None in told or any(value is None for value in told.values()):
        raise ImportRefused(lines={line: _("It has another number of cells than the first line.")})
    return Row(line, dict(told))


def _json_rows(text: str) -> Iterator[Row]:
    for line, written in enumerate(text.splitlines(), start=1):
        if not written.strip():
            continue
        try:
            told = json.loads(written)
        except (ValueError, RecursionError):
            raise ImportRefused(lines={line: _("It is not JSON.")}) from None
        if not isinstance(told, dict):
            raise ImportRefused(lines={line: _("It is not an object.")})
        _refuse_names(told, line, needed=False)
        yield Row(line, told)


def _refuse_names(names: Iterable[str], line: int = 1, *, needed: bool = True) -> None:
    listed = list(names)
    unknown = [name for name in listed if name not in COLUMNS]
    missing = [name for name in NEEDED if needed and name not in listed]
    twice = sorted({name for name in listed if listed.count(name) > 1})
    for wrong, told in (
        (unknown, _("Unknown: %s.")),
        (missing, _("Missing: %s.")),
        (twice, _("Twice: %s.")),
    ):
        if wrong:
            raise ImportRefused(lines={line: told % ", ".join(map(repr, wrong))})
