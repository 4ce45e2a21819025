"""The one item through which an answer is served, kept in step with what is live."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from golden.content import content_of
from golden.models import AnswerVersion, AssetKind, GoldenAnswer
from knowledge.folders import folder_key
from knowledge.indexing.writing import ItemContent, Limit, change, write_item
from knowledge.models import Dataset, Item, ItemKind, ParseStatus, Source, SourceKind
from knowledge.reserved import GOLDEN
from tenants.auditing import Actor, Change, note

SOURCE_SLUG: Final = GOLDEN
BY: Final = Actor.process("golden")
# An answer gets a new owner without being published again.
NOT_HEARD: Final = frozenset({"uploader_id"})


def serve(golden: GoldenAnswer, version: AnswerVersion, *, at: datetime) -> None:
    """Write the live version's text and gates into the answer's item; rules have none."""
    if golden.kind == AssetKind.RULE:
        return
    source = ensure_source(golden.organization_id, at=at)
    golden.item_id = write_item(_content(golden, version, source.pk), at=at).id


def says_otherwise(golden: GoldenAnswer) -> bool:
    """Whether the item of a live answer, or where it is, is not as its publish left it."""
    version, item = golden.published_version, golden.item
    if version is None or item is None or golden.kind == AssetKind.RULE:
        return False
    wanted = _content(golden, version, item.source_id).columns()
    is_other = any(getattr(item, name) != wanted[name] for name in wanted.keys() - NOT_HEARD)
    return is_other or item.source.kind != SourceKind.GOLDEN


def _content(golden: GoldenAnswer, version: AnswerVersion, source_id: UUID) -> ItemContent:
    content = content_of(version)
    return ItemContent(
        organization_id=golden.organization_id,
        source_id=source_id,
        external_id=str(golden.pk),
        title=content.question,
        body=content.answer,
        folder_key=folder_key(SOURCE_SLUG, content.folder),
        language=content.language,
        gates=content.gates(),
        agents=Limit(content.agent_restricted, content.agents),
        kind=ItemKind.GOLDEN,
        dataset=Dataset.DEFAULT,
        parse_status=ParseStatus.INGESTED,
        published_version=version.pk,
        leads_until=_review_due(golden),
        phrasings=content.paraphrases,
        uploader_id=golden.owner_id,
        source_tag=SOURCE_SLUG,
        metadata={
            "kind": "golden",
            "golden_asset_id": str(golden.pk),
            "golden_version_id": str(version.pk),
        },
    )


def unserve(golden: GoldenAnswer, *, at: datetime) -> None:
    """Take the answer out of every search from the next one on."""
    if golden.item_id is None:
        return
    item = Item.objects.select_for_update(of=("self",), no_key=True).get(pk=golden.item_id)
    change(item, at=at, published_version=None, parse_status=ParseStatus.PENDING)


def lead_until(golden: GoldenAnswer, *, at: datetime) -> None:
    """Tell the item when the answer becomes overdue; the organization decides what follows."""
    if golden.item_id is None:
        return
    item = Item.objects.select_for_update(of=("self",), no_key=True).get(pk=golden.item_id)
    change(item, at=at, leads_until=_review_due(golden))


def _review_due(golden: GoldenAnswer) -> datetime | None:
    if golden.verified_at is None:
        return None
    return golden.verified_at + timedelta(days=golden.review_days)


def ensure_source(organization_id: int, *, at: datetime) -> Source:
    """Return the organization's source of golden answers.

    One that somebody made before its name was reserved is taken over: what is in it stays as it is.
    """
    source, _ = Source.objects.get_or_create(
        organization_id=organization_id,
        slug=SOURCE_SLUG,
        defaults={"name": "Golden answers", "kind": SourceKind.GOLDEN},
    )
    if source.kind != SourceKind.GOLDEN:
        _take_over(source, at=at)
    return source


def _take_over(source: Source, *, at: datetime) -> None:
    before, source.kind = source.kind, SourceKind.GOLDEN
    # Several answers may be published first at once; one of them says so.
    rows = Source.objects.filter(organization_id=source.organization_id, pk=source.pk, kind=before)
    if rows.update(kind=source.kind):
        told = Change(
            "source.take_over", "source", str(source.pk), {"kind": before}, {"kind": source.kind}
        )
        note(source.organization_id, told, by=BY, at=at)
