"""The verbs of folders: rename, move, move everything up, delete all.

A folder is the key that its items carry, so a new key is one statement, and selections follow it
in the same transaction. No key is ever taken that is in use: whoever selected one of two folders
would find the other's items too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from knowledge.errors import FolderRefused
from knowledge.folders import (
    folder_key,
    is_within,
    leaf,
    moved,
    parent,
    prefix_range,
    segments,
    source_slug,
)
from knowledge.models import BulkAction, BulkJob, Item, Source
from knowledge.reserved import is_reserved
from knowledge.shelving.errors import (
    FolderChanged,
    FolderGone,
    FolderInUse,
    NotOurs,
    SourceFilesIt,
    StaysInSource,
)
from knowledge.shelving.items import fresh_sources
from knowledge.shelving.jobs import Order, start
from knowledge.shelving.picks import folder_picks
from knowledge.shelving.tracing import instant_of_move
from tenants.auditing import Actor, Change, note

_REFILE: Final = """
UPDATE knowledge_item
   SET folder_key = %(new)s || substr(folder_key, length(%(old)s) + 1),
       lock_version = lock_version + 1, updated_at = %(at)s
 WHERE organization_id = %(organization)s
   AND (folder_key = %(old)s COLLATE "C"
        OR (folder_key >= %(low)s COLLATE "C" AND folder_key < %(high)s COLLATE "C"))
"""
_BELOW: Final = """
SELECT DISTINCT split_part(substr(folder_key, length(%(low)s) + 1), '/', 1) FROM knowledge_item
 WHERE organization_id = %(organization)s
   AND folder_key >= %(low)s COLLATE "C" AND folder_key < %(high)s COLLATE "C"
"""
_DEEPEST: Final = """
SELECT folder_key FROM knowledge_item
 WHERE organization_id = %(organization)s
   AND (folder_key = %(old)s COLLATE "C"
        OR (folder_key >= %(low)s COLLATE "C" AND folder_key < %(high)s COLLATE "C"))
 ORDER BY {measure} DESC LIMIT 1
"""
# A hundred thousand items take longer than any statement of a page may.
_PATIENCE: Final = "SET LOCAL statement_timeout = '5min'"
_MEASURES: Final = (
    "octet_length(folder_key)",
    "length(folder_key)",
    "length(folder_key) - length(replace(folder_key, '/', ''))",
)


@dataclass(frozen=True)
class Refiled:
    """How many items carry another key now, and the job that matches them by the new name."""

    items: int
    rereading: BulkJob | None = None


def items_in(organization_id: int, key: str) -> QuerySet[Item]:
    """Return every item filed in a folder or below it, deleted ones too."""
    low, high = prefix_range(key)
    return Item.objects.filter(
        Q(folder_key=key) | Q(folder_key__gte=low, folder_key__lt=high),
        organization_id=organization_id,
    )


def rename_folder(organization_id: int, key: str, name: str, *, by: Actor, at: datetime) -> Refiled:
    """Give a folder another name in its place; selections of it and below follow.

    Raises: FolderRefused, FolderGone, FolderInUse, NotOurs, SourceFilesIt
    """
    above = parent(key)
    if above is None or len(segments(name)) != 1:
        raise FolderRefused("A folder has one name, without a separator; a source keeps its own.")
    path = f"{above.partition('/')[2]}/{name}"
    return move_folder(organization_id, key, folder_key(source_slug(key), path), by=by, at=at)


def move_folder(organization_id: int, key: str, new: str, *, by: Actor, at: datetime) -> Refiled:
    """Make `new` the key of a folder, with everything in it; selections of it and below follow.

    Expects the organization's context. Cost: one statement for the items, however many.
    Raises: FolderRefused, FolderGone, FolderInUse, StaysInSource, NotOurs, SourceFilesIt
    """
    _opened(organization_id, key)
    if new == key:
        return Refiled(0)
    if parent(key) is None or is_within(new, key):
        raise FolderRefused("A folder cannot lie inside itself, and a source stays where it is.")
    if source_slug(new) != source_slug(key):
        raise StaysInSource
    _refuse_in_use(organization_id, new)
    return _filed(organization_id, key, new, by=by, at=at)


def lift_folder(
    organization_id: int, key: str, *, expected: int | None = None, by: Actor, at: datetime
) -> Refiled:
    """Move everything in a folder up by one and let the folder go.

    Selections below it follow; a selection of the folder itself stays, and finds nothing: it
    restricts as before.
    Raises: FolderRefused, FolderGone, FolderInUse, FolderChanged, NotOurs, SourceFilesIt
    """
    _opened(organization_id, key, expected=expected)
    above = parent(key)
    if above is None:
        raise FolderRefused("A source stays where it is.")
    names = _names_below(organization_id, key)
    for name in names:
        _refuse_in_use(organization_id, f"{above}/{name}")
    return _filed(organization_id, key, above, names=names, by=by, at=at)


def delete_folder(
    organization_id: int, key: str, *, expected: int | None = None, by: Actor, at: datetime
) -> BulkJob:
    """Begin to delete every item in a folder and below it, restorable for thirty days.

    Selections of it stay and find nothing: they restrict as before.
    Raises: FolderGone, FolderChanged, NotOurs
    """
    _opened(organization_id, key, expected=expected, refiles=False)
    rows = items_in(organization_id, key).filter(deleted_at=None)
    _note(organization_id, "delete", key, {}, by=by, at=at)
    return start(organization_id, Order(BulkAction.DELETE, key), rows, by=by, at=at)


def _opened(
    organization_id: int, key: str, *, expected: int | None = None, refiles: bool = True
) -> Source:
    """Lock the folder's source, so that two verbs do not take one key."""
    rows = Source.objects.select_for_update(no_key=True).filter(organization_id=organization_id)
    source = rows.filter(slug=source_slug(key)).first()
    live = items_in(organization_id, key).filter(deleted_at=None)
    if source is None or not live.exists():
        raise FolderGone
    if is_reserved(source):
        raise NotOurs
    if refiles and source.pk in fresh_sources(organization_id):
        raise SourceFilesIt
    if expected is not None and live.count() != expected:
        raise FolderChanged
    return source


def _refuse_in_use(organization_id: int, key: str) -> None:
    is_picked = bool(folder_picks().within(organization_id, key))
    if is_picked or items_in(organization_id, key).exists():
        raise FolderInUse(folder=key)


def _refuse_picked(organization_id: int, key: str) -> None:
    if folder_picks().within(organization_id, key):
        raise FolderInUse(folder=key)


def _filed(
    organization_id: int,
    key: str,
    new: str,
    *,
    names: frozenset[str] = frozenset(),
    by: Actor,
    at: datetime,
) -> Refiled:
    values = _values(organization_id, key) | {"new": new, "at": at}
    with connection.cursor() as cursor:
        cursor.execute(_PATIENCE)
    _refuse_too_long(values, key, new)
    # What is refused only now has not been done, whatever follows in the caller's transaction.
    with transaction.atomic():
        rereading = _to_read_again(organization_id, key, new, by=by, at=at)
        with connection.cursor() as cursor:
            cursor.execute(_REFILE, values)
            count = cursor.rowcount
        # Held only from here on: filing many items takes long.
        selected = folder_picks().hold(organization_id)
        names = _refuse_picked_meanwhile(organization_id, key, new, names)
        moved_at = instant_of_move(organization_id, selected, at=at)
        _carry(organization_id, key, new, by=by, at=moved_at)
        told: dict[str, Any] = {"folder": new, "items": count}
        # What came up beside others, by name: whoever knows an older folder of that name is told so.
        told |= {"names": sorted(names)} if new == parent(key) else {}
        _note(organization_id, "move", key, told, by=by, at=moved_at)
    return Refiled(count, rereading)


def _refuse_picked_meanwhile(
    organization_id: int, key: str, new: str, names: frozenset[str]
) -> frozenset[str]:
    """Refuse keys that somebody selected while items were filed; return every name that came up."""
    if new != parent(key):
        _refuse_picked(organization_id, new)
        return names
    for name in names:
        _refuse_picked(organization_id, f"{new}/{name}")
    later = _names_picked(organization_id, key) - names
    for name in later:
        _refuse_in_use(organization_id, f"{new}/{name}")
    return names | later


def _carry(organization_id: int, key: str, new: str, *, by: Actor, at: datetime) -> None:
    moves = {
        picked: moved(picked, key, new)
        for picked in folder_picks().within(organization_id, key)
        # The folder that is let go keeps its selections; its parent does not inherit them.
        if not (picked == key and new == parent(key))
    }
    folder_picks().carry(organization_id, moves, by=by, at=at)


def _to_read_again(
    organization_id: int, key: str, new: str, *, by: Actor, at: datetime
) -> BulkJob | None:
    # Items are matched by their folder's own name; those further below keep theirs.
    filed = Item.objects.filter(organization_id=organization_id, folder_key=key)
    is_named_alike = leaf(new) == leaf(key) and bool(parent(new)) == bool(parent(key))
    if is_named_alike or not filed.exists():
        return None
    order = Order(BulkAction.REREAD, new)
    return start(organization_id, order, filed, by=by, at=at)


def _refuse_too_long(values: dict[str, Any], key: str, new: str) -> None:
    with connection.cursor() as cursor:
        for measure in _MEASURES:
            cursor.execute(_DEEPEST.format(measure=measure), values)
            found = cursor.fetchone()
            if found is not None:
                moved(found[0], key, new)


def _names_below(organization_id: int, key: str) -> frozenset[str]:
    with connection.cursor() as cursor:
        cursor.execute(_BELOW, _values(organization_id, key))
        filed = frozenset(name for (name,) in cursor.fetchall())
    return filed | _names_picked(organization_id, key)


def _names_picked(organization_id: int, key: str) -> frozenset[str]:
    low, _ = prefix_range(key)
    picked = folder_picks().within(organization_id, key) - {key}
    return frozenset(one[len(low) :].partition("/")[0] for one in picked)


def _values(organization_id: int, key: str) -> dict[str, Any]:
    low, high = prefix_range(key)
    return {"organization": organization_id, "old": key, "low": low, "high": high}


def _note(
    organization_id: int, verb: str, key: str, after: dict[str, Any], *, by: Actor, at: datetime
) -> None:
    change = Change(f"folder.{verb}", "folder", key[:200], {"folder": key}, after)
    note(organization_id, change, by=by, at=at)
