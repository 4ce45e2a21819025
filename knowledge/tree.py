"""Sources, virtual folders and items. A folder exists as long as an item is filed in it or below."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from knowledge.errors import FolderRefused
from knowledge.folders import ancestors, leaf, prefix_range, segments, source_slug
from knowledge.models import Dataset, Item, ItemKind, ParseStatus, ReviewStatus, Source
from knowledge.places import CONTAINER, MOST_COUNTED, ROW, Entry, Place, Step

MOST_HELD: Final = 100
MOST_FOLDERS: Final = 20_000

# A loose scan of the index over (organization, folder_key): one probe for each folder, whatever it
# holds. A folder's keys may lie in two runs ("a", then "a b", then "a/x"), so one that was met by
# its own key is not told again, and after a run the scan jumps behind it.
_CHILDREN: Final = """
WITH RECURSIVE met(at, child) AS (
  (SELECT x.folder_key COLLATE "C", ({child}) COLLATE "C" FROM knowledge_item x
    WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL
      AND x.folder_key >= %(low)s AND x.folder_key < %(high)s
    ORDER BY x.folder_key {order} LIMIT 1)
  UNION ALL
  SELECT n.at, n.child FROM met CROSS JOIN LATERAL (
    SELECT x.folder_key COLLATE "C" AS at, ({child}) COLLATE "C" AS child FROM knowledge_item x
     WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL
       AND x.folder_key >= {low} AND x.folder_key < {high}
     ORDER BY x.folder_key {order} LIMIT 1) n
) SELECT met.at, met.child FROM met
   WHERE met.at = met.child OR (
     SELECT x.folder_key FROM knowledge_item x
      WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL
        AND x.folder_key >= met.child AND x.folder_key < (met.child || chr(1)) COLLATE "C"
      ORDER BY x.folder_key LIMIT 1) IS NULL
   LIMIT %(limit)s
"""
_CHILD: Final = "%(base)s || split_part(substr(x.folder_key, length(%(base)s) + 1), '/', 1)"
_NEXT: Final = "(met.child || CASE WHEN met.at = met.child THEN chr(1) ELSE '0' END) COLLATE \"C\""
_BEFORE: Final = "(met.child || CASE WHEN met.at = met.child THEN '' ELSE '/' END) COLLATE \"C\""
_FORWARD: Final = _CHILDREN.format(child=_CHILD, order="", low=_NEXT, high="%(high)s")
_BACKWARD: Final = _CHILDREN.format(child=_CHILD, order="DESC", low="%(low)s", high=_BEFORE)

# Ranges ordered by the index's own column, also for one key: an equality may be read as a scan of
# the whole table when a folder holds most of it.
_HELD: Final = """
SELECT f.key, (SELECT count(*) FROM (
  (SELECT 1 FROM knowledge_item x WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL
      AND x.folder_key >= f.key COLLATE "C" AND x.folder_key < (f.key || chr(1)) COLLATE "C"
    ORDER BY x.folder_key LIMIT %(most)s)
  UNION ALL
  (SELECT 1 FROM knowledge_item x WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL
      AND x.folder_key >= (f.key || '/') COLLATE "C" AND x.folder_key < (f.key || '0') COLLATE "C"
    ORDER BY x.folder_key LIMIT %(most)s)
  LIMIT %(most)s) AS held)
  FROM unnest(%(keys)s::text[]) AS f(key)
"""

_FOLDERS: Final = """
WITH RECURSIVE met(at) AS (
  (SELECT x.folder_key FROM knowledge_item x
    WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL
    ORDER BY x.folder_key LIMIT 1)
  UNION ALL
  SELECT n.folder_key FROM met CROSS JOIN LATERAL (
    SELECT x.folder_key FROM knowledge_item x
     WHERE x.organization_id = %(organization)s AND x.deleted_at IS NULL AND x.folder_key > met.at
     ORDER BY x.folder_key LIMIT 1) n
) SELECT at FROM met LIMIT %(most)s
"""


class KnowledgeTree:
    """The knowledge of one organization. Expects its context."""

    def __init__(self, organization_id: int) -> None:
        self.organization_id = organization_id
        self._sources: dict[str, str] | None = None

    def source_names(self) -> dict[str, str]:
        """Return the names of the sources by slug, in their order."""
        if self._sources is None:
            rows = Source.objects.filter(organization_id=self.organization_id).order_by("slug")
            self._sources = dict(rows.values_list("slug", "name"))
        return self._sources

    def place(self, key: str) -> Place | None:
        """Return an opened folder; any canonical key below a source of the organization."""
        if not key:
            return Place("", "")
        if not _is_canonical(key) or source_slug(key) not in self.source_names():
            return None
        steps = self.steps_to(key)
        return Place(key, steps[-1].name, steps)

    def steps_to(self, key: str) -> tuple[Step, ...]:
        """Return the folders down to a folder, itself last."""
        return tuple(Step(CONTAINER + one, self.name(one)) for one in (*ancestors(key), key))

    def name(self, key: str) -> str:
        """Return a folder's own name; a source's is what staff call it."""
        return self.source_names().get(key, key) if "/" not in key else leaf(key)

    def folders_named(self, text: str) -> list[str]:
        """Return the keys of the folders and sources with a text in their name.

        Cost: a probe for each folder of the organization.
        """
        wanted = _plain(text)
        keys = {one for key in self._folder_keys() for one in (*ancestors(key), key)}
        keys |= set(self.source_names())
        return [key for key in sorted(keys) if wanted in _plain(self.name(key), leaf(key))]

    def _folder_keys(self) -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute(_FOLDERS, {"organization": self.organization_id, "most": MOST_FOLDERS})
            return [key for (key,) in cursor.fetchall()]

    def containers(
        self, place: Place, bound: tuple[str, ...] | None, *, backward: bool, limit: int
    ) -> list[Entry]:
        """Return the folders in a place; at the top, the sources."""
        if not place.key:
            return self._source_entries(bound, backward=backward, limit=limit)
        low, high = prefix_range(place.key)
        values: dict[str, Any] = {
            "organization": self.organization_id,
            "base": low, "low": low, "high": high, "limit": limit,
        }  # fmt: skip
        if bound is not None:
            values |= _resumed(bound[1], low, backward=backward)
        with connection.cursor() as cursor:
            cursor.execute(_BACKWARD if backward else _FORWARD, values)
            return [self.folder_entry(child, at, place.steps) for at, child in cursor.fetchall()]

    def folder_entry(self, key: str, at: str, steps: tuple[Step, ...]) -> Entry:
        """Return the line of a folder."""
        return Entry(CONTAINER + key, self.name(key), ("c", at), steps)

    def _source_entries(
        self, bound: tuple[str, ...] | None, *, backward: bool, limit: int
    ) -> list[Entry]:
        slugs = sorted(self.source_names(), reverse=backward)
        if bound is not None:
            slugs = [s for s in slugs if (s < bound[1] if backward else s > bound[1])]
        return [self.folder_entry(slug, slug, ()) for slug in slugs[:limit]]

    def rows(
        self, place: Place, bound: tuple[str, ...] | None, *, backward: bool, limit: int
    ) -> list[Entry]:
        """Return the items filed right in a folder, by title."""
        if not place.key:
            return []
        rows = self._filed(place).filter(_behind(bound, backward=backward))
        order = ("-title", "-id") if backward else ("title", "id")
        return [item_entry(row, place.steps) for row in rows.order_by(*order)[:limit]]

    def count_rows(self, place: Place) -> int:
        """Return how many items lie right in a folder, counted to one more than the most."""
        if not place.key:
            return 0
        ordered = self._filed(place).order_by("title", "id")
        return int(ordered.values("pk")[: MOST_COUNTED + 1].count())

    def _filed(self, place: Place) -> Any:
        return Item.objects.filter(
            organization_id=self.organization_id, folder_key=place.key, deleted_at=None
        ).only(*SHOWN)

    def fill(self, entries: Sequence[Entry]) -> None:
        """Say of folders how many items they hold, counted to a hundred."""
        folders = {entry.key[2:]: entry for entry in entries if entry.is_container}
        if not folders:
            return
        values: dict[str, Any] = {
            "organization": self.organization_id, "keys": list(folders), "most": MOST_HELD + 1,
        }  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute(_HELD, values)
            for key, held in cursor.fetchall():
                folders[key].holds = min(held, MOST_HELD)
                folders[key].holds_more = held > MOST_HELD


SHOWN: Final = (
    "id", "title", "folder_key", "deleted_at", "dataset", "kind", "published_version",
    "review_status", "parse_status",
)  # fmt: skip


def item_entry(row: Item, steps: tuple[Step, ...]) -> Entry:
    """Return the line of an item."""
    bound = ("r", row.title, str(row.pk))
    return Entry(f"{ROW}{row.pk}", row.title, bound, steps, item_state(row))


def item_state(row: Item) -> str:
    """Return why an item is not searched at all now, in a word that the page translates."""
    if row.deleted_at is not None:
        return "gone"
    if row.dataset == Dataset.CONVERSATIONS:
        return "never"
    if row.kind == ItemKind.GOLDEN and row.published_version is None:
        return "draft"
    if row.review_status != ReviewStatus.APPROVED:
        return "unapproved"
    parsed = row.parse_status in {ParseStatus.PARSED, ParseStatus.INGESTED}
    return "" if parsed else "unread"


def _plain(*texts: str) -> str:
    return "\n".join(unicodedata.normalize("NFC", text).casefold() for text in texts)


def _behind(bound: tuple[str, ...] | None, *, backward: bool) -> Q:
    if bound is None:
        return Q()
    title, row_id = bound[1], UUID(bound[2])
    if backward:
        return Q(title__lte=title) & (Q(title__lt=title) | Q(id__lt=row_id))
    return Q(title__gte=title) & (Q(title__gt=title) | Q(id__gt=row_id))


def _resumed(at: str, base: str, *, backward: bool) -> dict[str, str]:
    child = base + at[len(base) :].partition("/")[0]
    if backward:
        return {"high": child if at == child else child + "/"}
    return {"low": child + (chr(1) if at == child else "0")}


def _is_canonical(key: str) -> bool:
    try:
        return "/".join(segments(key)) == key
    except FolderRefused:
        return False
