"""The addresses of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api import answers, shapes
from knowledge.api.described import CHANGING, DOING, PUSHING, READING, listing
from knowledge.api.keeping import Hand
from knowledge.api.names import Names
from knowledge.api.rows import BulkView, RowsView, RowView, pushed, require_pushed_version
from knowledge.api.showing import shown_item
from knowledge.folders import folder_key, prefix_range
from knowledge.indexing.writing import Written
from knowledge.models import IndexState, Item, Source
from tenants.api.described import DELETED, LISTED, RefusalAnswer, filters
from tenants.isolation import organization_context
from tenants.models import Role
from tenants.refusals import NotFound


class ItemRows:
    """How items are found and told."""

    content: ClassVar[type[serializers.Serializer[Any]]] = shapes.ItemContent

    def rows(self, organizations: Sequence[int]) -> QuerySet[Item]:
        """Return the items of these organizations."""
        return Item.objects.filter(organization_id__in=organizations).select_related("source")

    def shown(self, row: Item, names: Names, state: IndexState | None) -> dict[str, Any]:
        """Return an item as it is told."""
        return shown_item(row, names, state)

    def source(self, organization_id: int, slug: str) -> Source:
        """Return the source that things are pushed into.

        Raises: NotFound
        """
        found = Source.objects.filter(organization_id=organization_id, slug=slug).first()
        if found is None:
            raise NotFound
        return found


class ItemsView(ItemRows, RowsView[Item]):
    """Items: list and push."""

    @extend_schema(
        operation_id="items_list",
        responses={200: listing(answers.ItemAnswer), 422: RefusalAnswer},
        parameters=[*LISTED, DELETED, *filters("source", "folder", "external_id")],
    )
    def get(self, request: Request) -> Response:
        """List items by title; `deleted=true` lists those that were deleted instead."""
        with self.context():
            rows = self.rows(self.asked_organizations())
            rows = rows.filter(deleted_at__isnull=not self.asked_truth("deleted"))
            return self.listed(_filtered(rows, request))

    @extend_schema(
        operation_id="items_push", request=shapes.ItemPush, parameters=PUSHING,
        responses={200: answers.ItemAnswer, 201: answers.ItemAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Make an item or bring it up to date, by its name in its source."""
        said = self.body(request, shapes.ItemPush)
        organization = self.organization(said.pop("organization", None), Role.EDITOR)

        def work() -> Response:
            source = self.source(organization.pk, said.pop("source"))
            named = {"source": source, "external_id": said["external_id"]}
            rows = self.rows([organization.pk]).select_for_update(of=("self",), no_key=True)
            require_pushed_version(request, rows.filter(**named).first())
            written = self.hand(organization.pk).push_item(source, said)
            return pushed(self, organization, written)

        return self.once(organization.pk, work)


class ItemView(ItemRows, RowView[Item]):
    """One item."""

    @extend_schema(operation_id="items_read", responses=answers.ItemAnswer, parameters=READING)
    def get(self, _request: Request, pk: str) -> Response:
        """Read an item, deleted or not, with the state of its index entry."""
        return self.read(pk)

    @extend_schema(
        operation_id="items_change", request=shapes.ItemContent, parameters=CHANGING,
        responses=answers.ItemAnswer,
    )  # fmt: skip
    def patch(self, _request: Request, pk: str) -> Response:
        """Change what is said; the rest stays."""
        return self.changed(pk, "change")

    @extend_schema(
        operation_id="items_withdraw", parameters=CHANGING, responses={200: answers.ItemAnswer}
    )
    def delete(self, _request: Request, pk: str) -> Response:
        """Delete softly: gone from the next search, restorable."""
        return self.changed(pk, "withdraw")

    def write(self, hand: Hand, row: Item, said: Mapping[str, Any]) -> Written:
        """Change an item."""
        return hand.change_item(row, said)


class ItemRestoreView(ItemView):
    """The way back of a deleted item."""

    http_method_names = ["post"]

    @extend_schema(
        operation_id="items_restore", request=None, parameters=CHANGING,
        responses=answers.ItemAnswer,
    )  # fmt: skip
    def post(self, _request: Request, pk: str) -> Response:
        """Take the deletion back."""
        return self.changed(pk, "restore")


class ItemBulkView(ItemRows, BulkView[Item]):
    """Many items of one source."""

    row_shape = shapes.ItemRow

    @extend_schema(
        operation_id="items_bulk", request=shapes.ItemBulk, responses=answers.BulkAnswer,
        parameters=DOING,
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Push up to 500 items; a row that is refused leaves the others alone."""
        said = self.body(request, shapes.ItemBulk)
        organization = self.organization(said.get("organization"), Role.EDITOR)
        with organization_context(organization.pk):
            source = self.source(organization.pk, said["source"])
        hand = self.hand(organization.pk)
        return self.once(organization.pk, lambda: self.each(hand, source, said["rows"]))

    def push(self, hand: Hand, place: Source, said: Mapping[str, Any]) -> Written:
        """Push one item."""
        return hand.push_item(place, said)


def _filtered(rows: QuerySet[Item], request: Request) -> QuerySet[Item]:
    asked = request.query_params
    if "external_id" in asked:
        rows = rows.filter(external_id=asked["external_id"])
    if "source" not in asked:
        return rows
    rows = rows.filter(source__slug=asked["source"])
    if asked.get("folder"):
        key = folder_key(asked["source"], asked["folder"])
        low, high = prefix_range(key)
        below = rows.filter(folder_key__gte=low, folder_key__lt=high)
        return rows.filter(folder_key=key) | below
    return rows
