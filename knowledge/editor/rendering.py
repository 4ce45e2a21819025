"""Markdown as a page may show it: no script, no style, nothing fetched from elsewhere."""

from __future__ import annotations

from typing import Final

import nh3
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

_TAGS: Final = {
    "a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
# The page has headings of its own around a text, so those inside begin at the fourth.
_LOWER: Final = {"h1": "h4", "h2": "h5", "h3": "h6", "h4": "h6", "h5": "h6", "h6": "h6"}
_markdown: Final = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def rendered(text: str) -> SafeString:
    """Return a text as HTML without active content; pictures are left out, links say where they lead."""
    tokens = _markdown.parse(text)
    for token in tokens:
        token.tag = _LOWER.get(token.tag, token.tag)
    html: str = _markdown.renderer.render(tokens, _markdown.options, {})
    clean = nh3.clean(
        html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto", "tel"}
    )
    return SafeString(clean)
