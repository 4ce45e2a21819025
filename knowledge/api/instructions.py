"""The addresses of instructions, and their way out and in as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api import answers, shapes
from knowledge.api.described import CHANGING, DOING, PUSHING, READING, listing
from knowledge.api.instruction_files import imported
from knowledge.api.keeping import Hand
from knowledge.api.markdown import file_path, to_markdown
from knowledge.api.names import Names
from knowledge.api.rows import (
    BulkParser,
    BulkView,
    RowsView,
    RowView,
    pushed,
    require_pushed_version,
)
from knowledge.api.showing import shown_instruction
from knowledge.indexing.writing import Written
from knowledge.models import IndexState, Instruction
from tenants.api.described import DELETED, LISTED, filters
from tenants.api.paging import page_of
from tenants.models import Role


class InstructionRows:
    """How instructions are found and told."""

    content: ClassVar[type[serializers.Serializer[Any]]] = shapes.InstructionContent

    def rows(self, organizations: Sequence[int]) -> QuerySet[Instruction]:
        """Return the instructions of these organizations."""
        found = Instruction.objects.filter(organization_id__in=organizations)
        return found.select_related("directory")

    def shown(self, row: Instruction, names: Names, state: IndexState | None) -> dict[str, Any]:
        """Return an instruction as it is told."""
        return shown_instruction(row, names, state)


class InstructionsView(InstructionRows, RowsView[Instruction]):
    """Instructions: list and push."""

    @extend_schema(
        operation_id="instructions_list",
        responses=listing(answers.InstructionAnswer),
        parameters=[*LISTED, DELETED, *filters("external_id")],
    )
    def get(self, request: Request) -> Response:
        """List instructions by title; `deleted=true` lists those that were deleted instead."""
        asked = request.query_params
        with self.context():
            rows = self.rows(self.asked_organizations())
            rows = rows.filter(deleted_at__isnull=not self.asked_truth("deleted"))
            if "external_id" in asked:
                rows = rows.filter(external_id=asked["external_id"])
            return self.listed(rows)

    @extend_schema(
        operation_id="instructions_push", request=shapes.InstructionPush, parameters=PUSHING,
        responses={200: answers.InstructionAnswer, 201: answers.InstructionAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Make an instruction or bring it up to date, by its name."""
        said = self.body(request, shapes.InstructionPush)
        organization = self.organization(said.pop("organization", None), Role.EDITOR)

        def work() -> Response:
            rows = self.rows([organization.pk]).select_for_update(of=("self",), no_key=True)
            found = rows.filter(external_id=said["external_id"]).first()
            require_pushed_version(request, found)
            return pushed(self, organization, self.hand(organization.pk).push_instruction(said))

        return self.once(organization.pk, work)


class InstructionView(InstructionRows, RowView[Instruction]):
    """One instruction."""

    @extend_schema(
        operation_id="instructions_read", responses=answers.InstructionAnswer, parameters=READING
    )
    def get(self, _request: Request, pk: str) -> Response:
        """Read an instruction, deleted or not, with the state of its index entry."""
        return self.read(pk)

    @extend_schema(
        operation_id="instructions_change", request=shapes.InstructionContent, parameters=CHANGING,
        responses=answers.InstructionAnswer,
    )  # fmt: skip
    def patch(self, _request: Request, pk: str) -> Response:
        """Change what is said; the rest stays."""
        return self.changed(pk, "change")

    @extend_schema(
        operation_id="instructions_withdraw", parameters=CHANGING,
        responses={200: answers.InstructionAnswer},
    )  # fmt: skip
    def delete(self, _request: Request, pk: str) -> Response:
        """Delete softly: gone from the next search, restorable, picks kept."""
        return self.changed(pk, "withdraw")

    def write(self, hand: Hand, row: Instruction, said: Mapping[str, Any]) -> Written:
        """Change an instruction."""
        return hand.change_instruction(row, said)


class InstructionRestoreView(InstructionView):
    """The way back of a deleted instruction."""

    http_method_names = ["post"]

    @extend_schema(
        operation_id="instructions_restore", request=None, parameters=CHANGING,
        responses=answers.InstructionAnswer,
    )  # fmt: skip
    def post(self, _request: Request, pk: str) -> Response:
        """Take the deletion back."""
        return self.changed(pk, "restore")


class InstructionBulkView(InstructionRows, BulkView[Instruction]):
    """Many instructions."""

    row_shape = shapes.InstructionRow

    @extend_schema(
        operation_id="instructions_bulk", request=shapes.InstructionBulk,
        responses=answers.BulkAnswer, parameters=DOING,
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Push up to 500 instructions; a row that is refused leaves the others alone."""
        said = self.body(request, shapes.InstructionBulk)
        organization = self.organization(said.get("organization"), Role.EDITOR)
        hand = self.hand(organization.pk)
        return self.once(organization.pk, lambda: self.each(hand, None, said["rows"]))

    def push(self, hand: Hand, _place: None, said: Mapping[str, Any]) -> Written:
        """Push one instruction."""
        return hand.push_instruction(said)


class InstructionFilesView(InstructionRows, RowsView[Instruction]):
    """Instructions as Markdown files."""

    parser_classes = (BulkParser,)

    @extend_schema(
        operation_id="instructions_export",
        responses=listing(answers.FileAnswer),
        parameters=LISTED,
    )
    def get(self, request: Request) -> Response:
        """List live instructions as files; posting them again changes nothing."""
        with self.context():
            rows = self.rows(self.asked_organizations()).filter(deleted_at=None)
            page = page_of(rows, request, "title", "id")
            names = {number: Names(number) for number in {r.organization_id for r in page.rows}}
            told = [shown_instruction(row, names[row.organization_id], None) for row in page.rows]
            files = [{"path": file_path(each), "text": to_markdown(each)} for each in told]
            return Response(page.body(files))

    @extend_schema(
        operation_id="instructions_import",
        request=shapes.MarkdownFiles,
        responses=answers.FilesAnswer,
        parameters=DOING,
    )
    def post(self, request: Request) -> Response:
        """Bring files in by the names in their front matter, each with its own outcome."""
        said = self.body(request, shapes.MarkdownFiles)
        organization = self.organization(said.get("organization"), Role.EDITOR)

        def work() -> Response:
            files = [(each["path"], each["text"]) for each in said["files"]]
            told = imported(self.hand(organization.pk), files)
            return Response({"results": [asdict(each) for each in told]})

        return self.once(organization.pk, work)
