"""What the addresses of items and instructions share: list, push, read, change, withdraw, restore, bulk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from django.db import DataError, IntegrityError, transaction
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.errors import STATUSES
from knowledge.api.keeping import Hand
from knowledge.api.names import Names
from knowledge.api.showing import states_of
from knowledge.indexing.writing import Written
from knowledge.ingestion.errors import NotStored
from knowledge.models import IndexState, Instruction, Item
from tenants.api.errors import VersionChanged
from tenants.api.paging import page_of
from tenants.api.refusing import status_of
from tenants.api.versions import etag, named_version, require_version
from tenants.api.views import TenantAPIView
from tenants.errors import EarmarkError
from tenants.models import Organization, Role
from tenants.refusals import InvalidRequest, envelope
from tenants.strict_json import StrictJSONParser
from tenants.wire_fields import flatten, validated

RowT = TypeVar("RowT", Item, Instruction)
MEBIBYTE = 1024 * 1024


class ContentParser(StrictJSONParser):
    """One document at a time."""

    most_bytes = 4 * MEBIBYTE


class BulkParser(StrictJSONParser):
    """Many documents at a time."""

    most_bytes = 16 * MEBIBYTE


class RowsView(TenantAPIView, Generic[RowT]):
    """Truth rows of one kind."""

    parser_classes: tuple[type[BaseParser], ...] = (ContentParser,)
    statuses = STATUSES
    content: ClassVar[type[serializers.Serializer[Any]]]
    push_shape: ClassVar[type[serializers.Serializer[Any]]]

    def rows(self, organizations: Sequence[int]) -> QuerySet[RowT]:
        """Return the rows of these organizations."""
        raise NotImplementedError

    def shown(self, row: RowT, names: Names, state: IndexState | None) -> dict[str, Any]:
        """Return a row as it is told."""
        raise NotImplementedError

    def hand(self, organization_id: int) -> Hand:
        """Return who writes."""
        return Hand(Names(organization_id), self.actor, self.at)

    def told(self, row: RowT, names: Names | None = None) -> dict[str, Any]:
        """Return a row with its index state."""
        names = names or Names(row.organization_id)
        return self.shown(row, names, states_of([row]).get(row.pk))

    def answer(self, written_pk: Any, organization_id: int, status: int = 200) -> Response:
        """Return a row as it is now."""
        row = self.rows([organization_id]).get(pk=written_pk)
        headers = {"ETag": etag(row.lock_version)}
        return Response(self.told(row), status=status, headers=headers)

    def listed(self, rows: QuerySet[RowT]) -> Response:
        """Return a page of rows."""
        page = page_of(rows, self.request, "title", "id")
        states = states_of(page.rows)
        names = {number: Names(number) for number in {row.organization_id for row in page.rows}}
        shown = [self.shown(r, names[r.organization_id], states.get(r.pk)) for r in page.rows]
        return Response(page.body(shown))


class RowView(RowsView[RowT]):
    """One truth row."""

    def locked(self, pk: str) -> RowT:
        """Return the row, locked, for someone who may edit it.

        Raises: NotFound, RoleRequired
        """
        rows = self.rows(self.organizations()).select_for_update(of=("self",), no_key=True)
        row = self.find(rows, pk)
        self.require(Role.EDITOR, row.organization_id)
        return row

    def read(self, pk: str) -> Response:
        """Return the row with its ETag."""
        with self.context():
            row = self.find(self.rows(self.organizations()), pk)
            return Response(self.told(row), headers={"ETag": etag(row.lock_version)})

    def changed(self, pk: str, act: str) -> Response:
        """Change, withdraw or restore the version that If-Match names, once for each key."""
        with self.context():
            rows = self.rows(self.organizations())
            organization_id = self.find(rows, pk).organization_id
            self.require(Role.EDITOR, organization_id)
            return self.once(organization_id, lambda: self._act(pk, act, organization_id))

    def _act(self, pk: str, act: str, organization_id: int) -> Response:
        row, hand = self.locked(pk), self.hand(organization_id)
        named_version(self.request)
        said = self._said() if act == "change" else {}
        require_version(self.request, row.lock_version, self.told(row, hand.names))
        if act == "change":
            self.write(hand, row, said)
        elif act == "withdraw":
            hand.withdraw(row)
        else:
            hand.restore(row)
        return self.answer(row.pk, organization_id)

    def write(self, hand: Hand, row: RowT, said: Mapping[str, Any]) -> Written:
        """Change what is said of a row."""
        raise NotImplementedError

    def _said(self) -> dict[str, Any]:
        shape = self.content(data=self.request.data, partial=True)
        shape.is_valid(raise_exception=True)
        said: dict[str, Any] = shape.validated_data
        return said


class BulkView(RowsView[RowT]):
    """Many rows in one request, each with its own outcome."""

    parser_classes = (BulkParser,)
    row_shape: ClassVar[type[serializers.Serializer[Any]]]

    def each(self, hand: Hand, place: Any, rows: Sequence[Any]) -> Response:
        """Write every row in a savepoint of its own; say what became of each."""
        return Response({"results": [self._one(hand, place, row) for row in rows]})

    def _one(self, hand: Hand, place: Any, row: Any) -> dict[str, Any]:
        named = row.get("external_id") if isinstance(row, dict) else None
        told: dict[str, Any] = {"external_id": named if isinstance(named, str) else None}
        try:
            with transaction.atomic():
                written = self.push(hand, place, validated(self.row_shape, row))
        except Exception as raised:
            error = self._refusal(raised)
            return told | {"outcome": "refused", "id": None} | envelope(error)
        return told | {"outcome": written.outcome.value, "id": str(written.id), "error": None}

    def _refusal(self, raised: Exception) -> EarmarkError:
        if isinstance(raised, ValidationError):
            return InvalidRequest(fields=flatten(raised.detail))
        if isinstance(raised, DataError | IntegrityError):
            return NotStored()
        if isinstance(raised, EarmarkError) and status_of(raised, self.statuses) is not None:
            return raised
        raise raised

    def push(self, hand: Hand, place: Any, said: Mapping[str, Any]) -> Written:
        """Push one row."""
        raise NotImplementedError


def pushed(view: RowsView[Any], organization: Organization, written: Written) -> Response:
    """Return the answer to a push: 201 for what is new."""
    status = 201 if written.outcome.value == "created" else 200
    return view.answer(written.id, organization.pk, status)


def require_pushed_version(request: Request, row: Item | Instruction | None) -> None:
    """A push may name the version it means to replace; without If-Match the pusher is right.

    Raises: VersionChanged
    """
    if "If-Match" in request.headers:
        current = row.lock_version if row is not None else None
        if named_version(request) != current or current is None:
            raise VersionChanged(sides={"yours": request.data, "theirs": None})
