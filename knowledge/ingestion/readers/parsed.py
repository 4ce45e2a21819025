"""What every reader returns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from knowledge.errors import KnowledgeError
from knowledge.ingestion.errors import NoText, TooLarge
from knowledge.ingestion.limits import LONGEST_BODY, LONGEST_TITLE, LONGEST_URL
from knowledge.text.normalising import clean, strip_unstorable

LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,4}){0,2}")
ADDRESS: Final = re.compile(r"https?://[^\s/]")


@dataclass(frozen=True)
class ParsedText:
    """One text found in a file.

    `part` names it inside a file that holds several, `folder` its place below that file's own;
    `key` is its id in the system it was exported from. `labels` are what the file itself says
    about it, under the keys of an import row.
    """

    title: str
    body: str
    part: str = ""
    folder: str = ""
    key: str = ""
    line: int | None = None
    labels: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FailedPart:
    """One of the texts a file holds, which could not be read; the others could."""

    error: KnowledgeError
    part: str = ""
    line: int | None = None
    key: str = ""


Reading = ParsedText | FailedPart


def parsed(title: str, body: str, **labels: Any) -> ParsedText:
    """Return the text as it is stored.

    Raises: NoText, TooLarge
    """
    kept = clean(strip_unstorable(body)).strip()
    if not any(character.isalnum() for character in kept):
        raise NoText
    if len(kept) > LONGEST_BODY:
        raise TooLarge(f"Its text is longer than {LONGEST_BODY:,} characters.")
    return ParsedText(one_line(title), kept, labels={k: v for k, v in labels.items() if v})


def hints(language: str, url: str) -> dict[str, str]:
    """Return what a file says of its language and address, where it is of any use to us."""
    said = {}
    if LANGUAGE.fullmatch(language.strip()):
        said["lang"] = language.strip()
    if ADDRESS.match(url) and len(url) <= LONGEST_URL:
        said["url"] = url
    return said


def one_line(title: str) -> str:
    """Return a title without line breaks, at its longest."""
    words = " ".join(clean(strip_unstorable(title)).split())
    return words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1].rstrip() + "…"


def title_from_name(name: str) -> str:
    """Return the title a file without one goes by: its name, as words."""
    stem = name.rpartition("/")[2]
    head, dot, _ = stem.rpartition(".")
    words = one_line((head if dot and head else stem).replace("_", " ").replace("-", " "))
    return words[:1].upper() + words[1:]
