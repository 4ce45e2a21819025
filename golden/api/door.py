"""What the addresses of answers share: which answers, at which version, told how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from django.db.models import QuerySet
from rest_framework.response import Response

from golden import errors
from golden.acting import Act
from golden.api.showing import (
    shown_answer,
    slugs_of,
)
from golden.models import GoldenAnswer
from tenants.api.versions import etag, named_version
from tenants.api.views import TenantAPIView
from tenants.errors import EarmarkError
from tenants.refusals import InvalidRequest


class GoldenView(TenantAPIView):
    """What the addresses of answers share."""

    statuses: ClassVar[Mapping[type[EarmarkError], int]] = {
        errors.AnswerNotThere: 404,
        errors.RoleMissing: 403,
        errors.ApproverIsRequester: 403,
        errors.AnswerChangedMeanwhile: 412,
        errors.ReasonMissing: 422,
        errors.GoldenError: 409,
    }

    def rows(self) -> QuerySet[GoldenAnswer]:
        """Return the answers that the caller may look at."""
        rows = GoldenAnswer.objects.select_related("organization", "published_version", "owner")
        return rows.filter(organization_id__in=self.organizations())

    def act(self, reason: str = "", expects: int | None = None) -> Act:
        """Return the act of the caller; it takes part in the transaction that keeps its answer."""
        return Act(self.actor, self.at, reason, expects, joins=True)

    def told(self, golden: GoldenAnswer, *, status: int = 200) -> Response:
        """Return an answer as it is now, with its ETag; needs the context open."""
        now = self.rows().get(pk=golden.pk)
        body = shown_answer(now, slugs_of(now.organization_id), at=self.at)
        headers = {"ETag": etag(now.lock_version)}
        if status == 201:
            headers["Location"] = f"/api/v1/golden-answers/{now.pk}"
        return Response(body, status=status, headers=headers)

    def changed(self, pk: str, role: str, work: Callable[[GoldenAnswer, int], object]) -> Response:
        """Do a verb at the version that was read, once for each Idempotency-Key."""
        with self.context():
            golden = self.find(self.rows(), pk)
        self.require(role, golden.organization_id)
        version = named_version(self.request)
        expects = -1 if version is None else version

        def done() -> Response:
            work(golden, expects)
            return self.told(golden)

        try:
            return self.once(golden.organization_id, done)
        except errors.ContentRefused as refusal:
            raise invalid(refusal) from None


def invalid(refusal: errors.ContentRefused) -> InvalidRequest:
    """Return the refusal as it is told: each reason beside its field."""
    return InvalidRequest(fields={name: [text] for name, text in refusal.data["fields"].items()})
