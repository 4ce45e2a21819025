"""The addresses of work on many items: begin it, follow it, cancel it, undo it."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api import answers, shapes
from knowledge.api.described import DOING, listing
from knowledge.api.errors import STATUSES
from knowledge.folders import folder_key, segments
from knowledge.models import BulkAction, BulkEntry, BulkJob, Item
from knowledge.shelving.folders import items_in
from knowledge.shelving.jobs import Order, cancel, start, start_chosen, undo
from tenants.api.described import LISTED
from tenants.api.paging import page_of
from tenants.api.views import TenantAPIView
from tenants.models import Organization, Role


def told(job: BulkJob, organization: str) -> dict[str, Any]:
    """Return a job as it is told."""
    plain = ("action", "label", "status", "total", "done", "unchanged", "refused")
    return {
        "id": str(job.pk),
        "organization": organization,
        **{name: getattr(job, name) for name in plain},
        "undoes": str(job.undoes_id) if job.undoes_id else None,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
    }


class JobRows(TenantAPIView):
    """How jobs are found."""

    statuses = STATUSES

    def rows(self, organizations: list[int]) -> QuerySet[BulkJob]:
        """Return the jobs of these organizations."""
        rows = BulkJob.objects.filter(organization_id__in=organizations)
        return rows.select_related("organization")

    def found(self, pk: str, role: str = Role.VIEWER) -> BulkJob:
        """Return a job for someone with the role; needs the context open."""
        job = self.find(self.rows(self.organizations()), pk)
        self.require(role, job.organization_id)
        return job

    def answer(self, job: BulkJob, status: int = 200) -> Response:
        """Return a job."""
        return Response(told(job, job.organization.slug), status=status)


class JobsView(JobRows):
    """Jobs: list and begin."""

    @extend_schema(
        operation_id="jobs_list", responses=listing(answers.JobAnswer), parameters=LISTED
    )
    def get(self, request: Request) -> Response:
        """List jobs, newest first."""
        with self.context():
            rows = self.rows(self.asked_organizations())
            page = page_of(rows, request, "-started_at", "id")
            return Response(page.body([told(job, job.organization.slug) for job in page.rows]))

    @extend_schema(
        operation_id="jobs_start", request=shapes.JobStart, parameters=DOING,
        responses={202: answers.JobAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Begin to move, delete, restore, publish or unpublish items; each has its own outcome."""
        said = self.body(request, shapes.JobStart)
        organization = self.organization(said.get("organization"), Role.EDITOR)
        return self.once(organization.pk, lambda: self._started(organization, said))

    def _started(self, organization: Organization, said: dict[str, Any]) -> Response:
        number = organization.pk
        who: dict[str, Any] = {"by": self.actor, "at": self.at}
        target = _key(said["target"]) if "target" in said else ""
        order = Order(said["action"], said.get("folder", ""), target)
        if "items" in said:
            seen = {one["id"]: one["version"] for one in said["items"]}
            return self.answer(start_chosen(number, order, seen, **who), 202)
        rows: QuerySet[Item] = items_in(number, _key(said["folder"]))
        rows = rows.filter(deleted_at__isnull=said["action"] != BulkAction.RESTORE)
        return self.answer(start(number, order, rows, **who), 202)


class JobView(JobRows):
    """One job."""

    @extend_schema(operation_id="jobs_read", responses=answers.JobAnswer)
    def get(self, _request: Request, pk: str) -> Response:
        """Read how far a job is."""
        with self.context():
            return self.answer(self.found(pk))


class JobItemsView(JobRows):
    """The items of a job."""

    @extend_schema(
        operation_id="jobs_items", responses=listing(answers.JobItemAnswer), parameters=LISTED[1:]
    )
    def get(self, request: Request, pk: str) -> Response:
        """List what became of every item."""
        with self.context():
            job = self.found(pk)
            entries = BulkEntry.objects.filter(organization_id=job.organization_id, job=job)
            page = page_of(entries, request, "id")
            shown = [
                {"item": str(entry.item_id), "outcome": entry.outcome, "code": entry.code}
                for entry in page.rows
            ]
            return Response(page.body(shown))


class JobCancelView(JobRows):
    """The end of a job before its time."""

    @extend_schema(
        operation_id="jobs_cancel", request=None, parameters=DOING, responses=answers.JobAnswer
    )
    def post(self, _request: Request, pk: str) -> Response:
        """Take up no further item; what is done stays."""
        with self.context():
            job = self.found(pk, Role.EDITOR)
            return self.once(job.organization_id, lambda: self._cancelled(job))

    def _cancelled(self, job: BulkJob) -> Response:
        cancel(job, by=self.actor, at=self.at)
        return self.answer(self.rows([job.organization_id]).get(pk=job.pk))


class JobUndoView(JobRows):
    """The way back of a job."""

    @extend_schema(
        operation_id="jobs_undo", request=None, parameters=DOING,
        responses={202: answers.JobAnswer},
    )  # fmt: skip
    def post(self, _request: Request, pk: str) -> Response:
        """Give every item what it had before; what was changed since then is left alone."""
        with self.context():
            job = self.found(pk, Role.EDITOR)
            return self.once(
                job.organization_id,
                lambda: self.answer(undo(job, by=self.actor, at=self.at), 202),
            )


def _key(text: str) -> str:
    source, *names = segments(text) or ("",)
    return folder_key(source, "/".join(names))
