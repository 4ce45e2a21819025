"""An item as staff may look at it safely: no active content of a document ever reaches the page."""

from __future__ import annotations

from typing import Any, Final

import nh3
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

from knowledge.indexing.texts import text_of_item
from knowledge.models import Item, Visibility
from tenants.models import AuditEntry, PhoneAgent, Segment

LONGEST_SHOWN: Final = 200_000
MOST_PASSAGES: Final = 100
MOST_ENTRIES: Final = 20
MOST_AGENTS: Final = 20
# No pictures: fetching one tells its server who reads the page.
_TAGS: Final = {
    "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em",
    "strong", "s", "table", "thead", "tbody", "tr", "th", "td", "a",
}  # fmt: skip
_HEADINGS: Final = {1: 3, 2: 4, 3: 5}
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def safe_html(text: str) -> SafeString:
    """Return a document's Markdown as harmless HTML; its headings stand below the page's own."""
    tokens = _MARKDOWN.parse(text[:LONGEST_SHOWN])
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{_HEADINGS.get(int(token.tag[1:]), 6)}"
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    cleaned = nh3.clean(
        html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )  # fmt: skip
    return mark_safe(cleaned)  # noqa: S308 - cleaned in the line above


def passages_of(item: Item) -> list[str]:
    """Return the slices of an item that an agent would be given."""
    passages = text_of_item(item).passages()[:MOST_PASSAGES]
    return [passage.text(item.body).strip() for passage in passages]


def gates_of(item: Item) -> list[str]:
    """Return in words whom an item is kept for; empty when it is for everybody at any time.

    Cost: up to two statements.
    """
    told = [_("For internal use, never said to a caller")] if _is_internal(item) else []
    if item.channel_restricted:
        told.append(_("Only on these channels: {names}").format(names=_names(item.channels)))
    if item.segment_restricted:
        names = Segment.objects.filter(pk__in=item.segments).values_list("name", flat=True)
        told.append(_("Only callers in these segments: {names}").format(names=_names(names)))
    if item.jurisdiction_restricted:
        told.append(_("Only for these countries: {names}").format(names=_names(item.jurisdictions)))
    if item.agent_restricted:
        agents = PhoneAgent.objects.filter(pk__in=item.agents).values_list("name", flat=True)
        told.append(_("Only for these agents: {names}").format(names=_names(agents)))
    return told


def _is_internal(item: Item) -> bool:
    return item.visibility == Visibility.INTERNAL


def _names(values: Any) -> str:
    return ", ".join(str(value) for value in values) or _("none, so nobody finds it")


def history_of(item: Item) -> list[AuditEntry]:
    """Return what was done to an item, newest first."""
    entries = AuditEntry.objects.filter(
        organization_id=item.organization_id, subject_type="item", subject_id=str(item.pk)
    )
    return list(entries.order_by("-at", "-id")[:MOST_ENTRIES])


def agents_of(item: Item) -> list[PhoneAgent]:
    """Return agents as whom a search may be tried."""
    agents = PhoneAgent.objects.filter(organization_id=item.organization_id, is_active=True)
    return list(agents.order_by("name", "pk")[:MOST_AGENTS])
