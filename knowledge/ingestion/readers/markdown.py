"""Markdown: kept as written; the title is the first heading, labels come from the front matter."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.ingestion.errors import Malformed
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.parsed import ParsedText, hints, parsed, title_from_name

# A front matter is bounded, so that a page of text between two rules is not taken for one.
FRONT_MATTER: Final = re.compile(
    r"\A---[ \t]*\r?\n(?P<yaml>.{0,32768}?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M
)
HEADING_SEARCH: Final = 64 * 1024
LABELS: Final = frozenset(
    {
        "url", "lang", "channels", "segments", "jurisdictions", "visibility", "valid_from",
        "valid_until", "metadata",
    }
)  # fmt: skip
WORDS: Final = frozenset({"text", "code_inline"})
BREAKS: Final = frozenset({"softbreak", "hardbreak"})


def read_markdown(name: str, data: bytes) -> ParsedText:
    """Return the text without its front matter.

    Raises: BinaryContent, UnknownEncoding, Malformed, NoText, TooLarge
    """
    front, body = split_front_matter(decode(data))
    title = front.get("title") or first_heading(body) or title_from_name(name)
    labels = {key: value for key, value in front.items() if key in LABELS}
    labels |= hints(str(labels.pop("lang", "")), str(labels.pop("url", "")))
    return parsed(str(title), body, **labels)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return what a YAML block at the top says, and the text below it.

    Raises: Malformed
    """
    match = FRONT_MATTER.match(text)
    if match is None:
        return {}, text
    try:
        said = yaml.safe_load(match["yaml"])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Malformed("Its front matter is not YAML.") from error
    if not isinstance(said, dict):
        return {}, text
    return {str(key): value for key, value in said.items()}, text[match.end() :]


def first_heading(text: str) -> str:
    """Return the text of the first heading, or "" when there is none near the top."""
    parser = MarkdownIt("commonmark")
    tokens = parser.parse(text[:HEADING_SEARCH])
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            words = _words(inline)
            if words:
                return words
    return ""


def _words(inline: Token) -> str:
    children = inline.children or ()
    parts = (
        child.content if child.type in WORDS else " "
        for child in children
        if child.type in WORDS | BREAKS
    )
    return "".join(parts).strip()
