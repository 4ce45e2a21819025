"""HTML: the main text as Markdown, without navigation, scripts and what nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from typing import Any, Final, TypeAlias

import trafilatura
from lxml import etree, html
from markdownify import MarkdownConverter
from trafilatura.settings import use_config

from knowledge.ingestion.errors import NoText, TooDeep
from knowledge.ingestion.readers.encodings import decode
from knowledge.ingestion.readers.html_signs import drop_struck, part_digits
from knowledge.ingestion.readers.html_tables import escape_rules, spread_cells
from knowledge.ingestion.readers.parsed import ParsedText, hints, one_line, parsed, title_from_name

Element: TypeAlias = Any  # lxml has no types.

DECLARED: Final = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})""", re.I)
DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]*\?>")
UNSEEN: Final = (
    "//script|//style|//noscript|//template|//svg|//iframe|//object|//canvas|//comment()"
    "|//*[@hidden]|//*[@aria-hidden='true']"
    "|//*[contains(translate(@style, ' ', ''), 'display:none')]"
    "|//*[contains(translate(@style, ' ', ''), 'visibility:hidden')]"
)
AROUND: Final = (
    "//nav|//footer|//aside|//form|//button|//header[not(ancestor::article|ancestor::main)]"
)
CANONICAL: Final = "//link[@rel='canonical']/@href"
MAIN: Final = ("//main|//*[@role='main']", "//article|//*[@itemprop='articleBody']")
# A region that holds less of what is seen than this is a teaser, not the page.
ENOUGH: Final = 0.4
NEARLY_ALL: Final = 0.9
BODY: Final = re.compile(r"<body[\s>]", re.I)
# The parser ends these two at a paragraph inside, and <del> where it ends.
STRIKES: Final = re.compile(r"<(/?)(?:s|strike)(?=[\s>])", re.I)
BLANK_LINES: Final = re.compile(r"\n{3,}")


# Headings with hashes, no links or images, nothing escaped: it is read aloud, not rendered.
STYLE: Final[dict[str, Any]] = {
    "heading_style": "ATX",
    "bullets": "-",
    "strip": ["a", "img"],
    "table_infer_header": True,
    "escape_asterisks": False,
    "escape_underscores": False,
    "escape_misc": False,
}


def read_html(name: str, data: bytes) -> ParsedText:
    """Return the main text of a page or the whole of a fragment.

    Raises: BinaryContent, UnknownEncoding, TooDeep, NoText, TooLarge
    """
    declared = DECLARED.search(data[:4096])
    text = decode(data, declared=declared[1].decode("ascii", "replace") if declared else "")
    return page(text, title_from_name(name))


def page(text: str, fallback_title: str) -> ParsedText:
    """Return a page's main text with its own title, language and address where it says so.

    Raises: TooDeep, NoText, TooLarge
    """
    tree = _tree(text)
    title = _first(tree, "//title/text()")
    labels = hints(_first(tree, "/html/@lang"), _first(tree, CANONICAL))
    _keep_what_is_said(tree)
    _drop(tree, AROUND)
    body = _body(tree, is_page=bool(BODY.search(text)))
    headings = [heading.text_content() for heading in tree.iter("h1")]
    named = one_line(headings[0]) if len(headings) == 1 else ""
    return parsed(named or title or fallback_title, body, **labels)


def markdown_of(fragment: str) -> str:
    """Return a fragment of HTML as Markdown, whole; what nobody sees or is struck out is left out.

    Raises: TooDeep, NoText, TooLarge
    """
    tree = _tree(fragment)
    _keep_what_is_said(tree)
    return _markdown(tree)


def _tree(text: str) -> Element:
    parser = html.HTMLParser(huge_tree=True)
    try:
        plain = STRIKES.sub(r"<\1del", DECLARATION.sub("", text))
        tree = html.document_fromstring(plain, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise NoText from error
    # The parser drops what lies deeper than it goes, and says so here only.
    if any("depth" in entry.message for entry in parser.error_log):
        raise TooDeep
    return tree


def _keep_what_is_said(tree: Element) -> None:
    """What HTML says by its looks is put into words and signs that Markdown keeps."""
    _drop(tree, UNSEEN)
    drop_struck(tree)
    part_digits(tree)
    spread_cells(tree)
    escape_rules(tree)


def _drop(tree: Element, path: str) -> None:
    for element in tree.xpath(path):
        if element.getparent() is not None:
            element.drop_tree()


def _first(tree: Element, path: str) -> str:
    found = tree.xpath(path)
    return one_line(str(found[0])) if found else ""


def _length(tree: Element) -> int:
    return len("".join(tree.itertext()).split())


def _body(tree: Element, *, is_page: bool) -> str:
    seen = _length(tree)
    for region in _regions(tree, is_page=is_page):
        if _length(region) >= ENOUGH * seen:
            return _markdown(region)
    return _markdown(tree)


def _regions(tree: Element, *, is_page: bool) -> Iterator[Element]:
    for path in MAIN:
        named = tree.xpath(path)
        if len(named) == 1:
            yield named[0]
    if is_page:
        yield _smallest_holding(tree, _main_lines(tree))


def _smallest_holding(tree: Element, lines: list[str]) -> Element:
    """The library tells which lines matter and loses some structure, so take the element itself."""
    inner = [child for child in tree if isinstance(child.tag, str) and lines]
    for child in inner:
        words = _squeezed(child.text_content())
        if sum(line in words for line in lines) >= NEARLY_ALL * len(lines):
            return _smallest_holding(child, lines)
    return tree


def _main_lines(tree: Element) -> list[str]:
    found = trafilatura.extract(
        html.tostring(tree, encoding="unicode"),
        output_format="txt",
        include_comments=False,
        favor_recall=True,
        config=_settings(),
    )
    lines = (_squeezed(line.lstrip("-*•0123456789. ")) for line in (found or "").splitlines())
    return [line for line in lines if line and "|" not in line]


def _squeezed(text: str) -> str:
    return "".join(text.split())


@cache
def _settings() -> ConfigParser:
    """Help articles are short; by default the library gives up their structure for that."""
    settings = use_config()
    settings.set("DEFAULT", "MIN_EXTRACTED_SIZE", "30")
    settings.set("DEFAULT", "MIN_OUTPUT_SIZE", "1")
    return settings


class _Converter(MarkdownConverter):
    """The library's, with more of the elements that stand by themselves."""

    convert_summary = convert_details = convert_dialog = convert_figure = convert_option = (
        convert_main
    ) = convert_header = convert_footer = convert_aside = convert_address = convert_center = (
        convert_fieldset
    ) = convert_legend = MarkdownConverter.convert_div  # type: ignore[attr-defined]


def _markdown(tree: Element) -> str:
    _drop(tree, "//head")
    try:
        text: str = _Converter(**STYLE).convert(html.tostring(tree, encoding="unicode"))
    except RecursionError as error:
        raise TooDeep from error
    return BLANK_LINES.sub("\n\n", text)
