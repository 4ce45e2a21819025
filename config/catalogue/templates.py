"""Templates as a translator sees them: their sentences, and what no translate tag covers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.template import Template
from django.template.base import Lexer, Token, TokenType
from django.templatetags.i18n import BlockTranslateNode, TranslateNode


class Sentence(NamedTuple):
    """What is looked up: a text, its plural, and what it is about where that changes the words."""

    one: str
    many: str | None = None
    context: str | None = None


# Names that every language writes alike.
NAMES: Final = frozenset(
    {"Earmark", "UTC", "CSV", "JSON", "JSONL", "API", "URL", "HTTP", "OpenAPI", "Markdown"}
)
_SPOKEN: Final = frozenset({"alt", "title", "aria-label", "placeholder"})
_SILENT: Final = frozenset({"script", "style", "code"})
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_ENTITY: Final = re.compile(r"&\w+;")
_FALLBACK: Final = re.compile(r"""\|default(?:_if_none)?:(?:"([^"]*)"|'([^']*)')""")
_COUNTED: Final = re.compile(r"^blocktrans(?:late)?\b")


def sentences(path: Path) -> Iterator[Sentence]:
    """Return what the translate tags of a template say, as they look it up."""
    nodes = _nodes(path)
    for node in nodes.get_nodes_by_type(TranslateNode):
        text = node.filter_expression.var.literal
        if isinstance(text, str):
            yield Sentence(text.replace("%", "%%"), None, _context(node))
    for block in nodes.get_nodes_by_type(BlockTranslateNode):
        many = block.render_token_list(block.plural)[0] if block.plural else None
        yield Sentence(block.render_token_list(block.singular)[0], many, _context(block))


def _context(node: TranslateNode | BlockTranslateNode) -> str | None:
    named = node.message_context
    return None if named is None else str(named.var)


def _nodes(path: Path) -> Any:
    return Template(path.read_text(encoding="utf-8")).nodelist


def untranslated(path: Path) -> list[str]:
    """Return the English that a reader would see and no tag translates."""
    reader = _Reader()
    source = path.read_text(encoding="utf-8")
    tokens = Lexer(source).tokenize()
    reader.feed("".join(_outside_tags(tokens)))
    reader.close()
    return [*reader.found, *_fallbacks(tokens)]


def _outside_tags(tokens: Iterable[Token]) -> Iterator[str]:
    hidden = ""
    for token in tokens:
        words = token.contents.split()
        name = words[0] if words and token.token_type is TokenType.BLOCK else ""
        if hidden:
            hidden = "" if name == hidden else hidden
        elif _COUNTED.match(name) or name == "comment":
            hidden = f"end{name}"
        elif words[:2] == ["block", "bodyclass"]:
            hidden = "endblock"
        elif token.token_type is TokenType.TEXT:
            yield token.contents


def _fallbacks(tokens: Iterable[Token]) -> Iterator[str]:
    between = True
    for token in tokens:
        if token.token_type is TokenType.TEXT:
            opened, closed = token.contents.rfind("<"), token.contents.rfind(">")
            between = closed > opened if max(opened, closed) >= 0 else between
        elif token.token_type is TokenType.VAR and between:
            for double, single in _FALLBACK.findall(token.contents):
                if _is_english(double or single):
                    yield double or single


def _is_english(text: str) -> bool:
    return any(word not in NAMES for word in _WORD.findall(_ENTITY.sub(" ", text)))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        pressed = tag == "input" and ("type", "submit") in attrs
        for name, value in attrs:
            if value and (name in _SPOKEN or (pressed and name == "value")):
                self.handle_spoken(value)

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.handle_spoken(data)

    def handle_spoken(self, text: str) -> None:
        if _is_english(text):
            self.found.append(" ".join(text.split()))
