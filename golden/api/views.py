"""Answers, their drafts, versions and index, for programs; each translates and decides nothing."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from golden import drafting, errors
from golden.api import shapes
from golden.api.door import GoldenView, invalid
from golden.api.showing import (
    content_from,
    shown_answer,
    shown_content,
    shown_sync,
    shown_version,
    slugs_of,
)
from golden.finding import Wanted, answers
from golden.models import GoldenAnswer
from golden.publishing import once_live
from tenants.api.described import ETAG, IF_MATCH, KEY, LISTED, filters
from tenants.api.errors import VersionChanged
from tenants.api.paging import page_of
from tenants.models import Organization, Role
from tenants.refusals import NotFound

_LISTED: Final = [*LISTED, *filters("kind", "status", "q")]
_PAGE: Final = inline_serializer(
    "GoldenAnswerPage",
    {"results": shapes.GoldenAnswerAnswer(many=True), "next": serializers.CharField(allow_null=True)},
)  # fmt: skip


class AnswersView(GoldenView):
    """Answers: list, and begin."""

    @extend_schema(operation_id="golden_answers_list", responses=_PAGE, parameters=_LISTED)
    def get(self, request: Request) -> Response:
        """List the answers of an organization, the last changed first; `status` narrows it."""
        asked = request.query_params
        organization = self.organization(asked.get("organization"))
        kind = "rule" if asked.get("kind") == "rule" else "answer"
        wanted = Wanted(
            organization.pk, kind, status=asked.get("status", ""), words=asked.get("q", "")
        )
        with self.context():
            page = page_of(answers(wanted, at=self.at), request, "-updated_at", "id")
            slugs = slugs_of(organization.pk)
            return Response(page.body([shown_answer(r, slugs, at=self.at) for r in page.rows]))

    @extend_schema(
        operation_id="golden_answers_begin", request=shapes.NewAnswer, parameters=[KEY, ETAG],
        responses={201: shapes.GoldenAnswerAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Begin an answer with a draft; nobody hears it yet."""
        said = self.body(request, shapes.NewAnswer)
        organization = self.organization(said.pop("organization", None), Role.AUTHOR)
        kind = said.pop("kind")
        try:
            return self.once(organization.pk, lambda: self._begun(organization, said, kind))
        except errors.ContentRefused as refusal:
            raise invalid(refusal) from None

    def _begun(self, organization: Organization, said: dict[str, Any], kind: str) -> Response:
        content = content_from(said, slugs_of(organization.pk))
        made = drafting.create_answer(organization, content, self.act(), kind=kind)
        return self.told(made, status=201)


class AnswerView(GoldenView):
    """One answer."""

    @extend_schema(
        operation_id="golden_answers_read", responses=shapes.GoldenAnswerAnswer, parameters=[ETAG]
    )
    def get(self, _request: Request, pk: str) -> Response:
        """Read an answer: what is live, the draft beside it, and where it stands."""
        with self.context():
            return self.told(self.find(self.rows(), pk))


class DraftView(GoldenView):
    """The draft of an answer."""

    @extend_schema(
        operation_id="golden_answers_save_draft", request=shapes.AnswerContent,
        parameters=[IF_MATCH, KEY, ETAG], responses=shapes.GoldenAnswerAnswer,
    )  # fmt: skip
    def put(self, request: Request, pk: str) -> Response:
        """Save the whole draft; at a version that is no longer there, both texts come back."""
        said = self.body(request, shapes.AnswerContent)

        def work(golden: GoldenAnswer, expects: int) -> None:
            slugs = slugs_of(golden.organization_id)
            try:
                drafting.save_draft(
                    golden.organization_id, golden.pk, content_from(said, slugs), self.act(),
                    lock_version=expects,
                )  # fmt: skip
            except errors.DraftChangedMeanwhile as conflict:
                theirs = shown_content(conflict.data["theirs"], slugs)
                raise VersionChanged(sides={"yours": request.data, "theirs": theirs}) from None

        return self.changed(pk, Role.AUTHOR, work)

    @extend_schema(
        operation_id="golden_answers_discard_draft", parameters=[IF_MATCH, KEY, ETAG],
        responses={200: shapes.GoldenAnswerAnswer},
    )  # fmt: skip
    def delete(self, _request: Request, pk: str) -> Response:
        """Throw the draft away; what is live stays."""
        return self.changed(
            pk,
            Role.AUTHOR,
            lambda golden, expects: drafting.discard_draft(
                golden.organization_id, golden.pk, self.act("", expects)
            ),
        )


class VersionsView(GoldenView):
    """The versions of an answer."""

    @extend_schema(
        operation_id="golden_answers_versions", responses=shapes.VersionAnswer(many=True)
    )
    def get(self, _request: Request, pk: str) -> Response:
        """List every version, the newest first; none is ever changed or deleted."""
        with self.context():
            golden = self.find(self.rows(), pk)
            slugs = slugs_of(golden.organization_id)
            once = set(once_live(golden).values_list("pk", flat=True))
            return Response(
                [shown_version(v, slugs, was_live=v.pk in once) for v in golden.versions.all()]
            )


class SyncView(GoldenView):
    """How far the index is."""

    @extend_schema(operation_id="golden_answers_sync", responses=shapes.SyncAnswer)
    def get(self, _request: Request, pk: str) -> Response:
        """Tell whether searches rank the answer in full yet; 404 where nothing is indexed."""
        with self.context():
            told = shown_sync(self.find(self.rows(), pk))
        if told is None:
            raise NotFound
        return Response(told)
