"""Truth rows as the API tells them: the same names come in and go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from knowledge.api.names import Names
from knowledge.models import IndexState, Instruction, Item

Truth = Item | Instruction


def states_of(rows: Sequence[Truth]) -> Mapping[UUID, IndexState]:
    """Return the index states of rows.

    Cost: one statement.
    """
    found = IndexState.objects.filter(
        organization_id__in={row.organization_id for row in rows},
        asset_id__in=[row.pk for row in rows],
    )
    return {state.asset_id: state for state in found}


def shown_item(item: Item, names: Names, state: IndexState | None) -> dict[str, Any]:
    """Return an item as the API tells it."""
    return {
        "id": str(item.pk),
        "organization": names.slug,
        "source": item.source.slug,
        "external_id": item.external_id,
        "kind": item.kind,
        **content_of_item(item, names),
        **_about(item, state),
    }


def shown_instruction(row: Instruction, names: Names, state: IndexState | None) -> dict[str, Any]:
    """Return an instruction as the API tells it."""
    return {
        "id": str(row.pk),
        "organization": names.slug,
        "external_id": row.external_id,
        **content_of_instruction(row, names),
        **_about(row, state),
    }


def content_of_item(item: Item, names: Names) -> dict[str, Any]:
    """Return what may be changed of an item."""
    return {
        "title": item.title,
        "body": item.body,
        "folder": item.folder_key.partition("/")[2],
        "language": item.language,
        "url": item.url,
        "review_status": item.review_status,
        "metadata": item.metadata,
        **_gates(item, names),
        "agents": names.shown(item.agent_restricted, item.agents, "agents"),
    }


def content_of_instruction(row: Instruction, names: Names) -> dict[str, Any]:
    """Return what may be changed of an instruction."""
    place = row.directory_id
    return {
        "title": row.title,
        "body": row.body,
        "directory": names.directories[place] if place else "",
        "language": row.language,
        "status": row.status,
        **_gates(row, names),
    }


def _gates(row: Truth, names: Names) -> dict[str, Any]:
    return {
        "visibility": row.visibility,
        "channels": names.shown(row.channel_restricted, row.channels),
        "segments": names.shown(row.segment_restricted, row.segments, "segments"),
        "jurisdictions": names.shown(row.jurisdiction_restricted, row.jurisdictions),
        "valid_from": written(row.valid_from),
        "valid_until": written(row.valid_until),
    }


def _about(row: Truth, state: IndexState | None) -> dict[str, Any]:
    return {
        "version": row.lock_version,
        "deleted_at": written(row.deleted_at),
        "updated_at": written(row.updated_at),
        "index": _index(state),
    }


def _index(state: IndexState | None) -> dict[str, Any]:
    if state is None:
        return {"state": "pending", "code": "", "reason": ""}
    behind = state.applied_generation < state.desired_generation
    waiting = {IndexState.Status.LIVE.value: IndexState.Status.PENDING.value}
    word = waiting.get(state.status, state.status) if behind else IndexState.Status.LIVE.value
    # A failure stands until the next attempt, whatever was live before.
    word = state.status if state.status == IndexState.Status.FAILED else word
    return {"state": str(word), "code": state.last_error_code, "reason": state.last_error}


def written(at: datetime | None) -> str | None:
    """Return an instant in UTC as the API writes it."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
