"""The addresses of imports: how far they are, what became of each file, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api import fresh_shapes
from knowledge.api.described import DOING, listing
from knowledge.api.errors import STATUSES
from knowledge.api.showing import written
from knowledge.ingestion.recording import COUNTED
from knowledge.ingestion.uploads import cancel, pause, resume
from knowledge.models import ImportFailure, ImportRun, ImportUpload
from knowledge.sources.controlling import try_again
from tenants.api.described import LISTED, filters
from tenants.api.paging import page_of
from tenants.api.views import TenantAPIView
from tenants.models import Role

MOST_FAILURES: Final = 200
PostT = TypeVar("PostT", bound=Callable[..., Response])


class ImportRows(TenantAPIView):
    """How imports are found and told."""

    statuses = STATUSES

    def rows(self, organizations: list[int]) -> QuerySet[ImportRun]:
        """Return the imports of these organizations."""
        rows = ImportRun.objects.filter(organization_id__in=organizations)
        return rows.select_related("source", "organization")

    def whole(self, run: ImportRun, status: int = 200) -> Response:
        """Return an import with its files and what failed."""
        uploads = ImportUpload.objects.filter(run=run).defer("content")
        failures = ImportFailure.objects.filter(run=run).order_by("path", "line", "id")
        body = shown_import(run) | {
            "files": [_shown_file(upload) for upload in uploads],
            "failures": [_shown_failure(failure) for failure in failures[:MOST_FAILURES]],
        }
        return Response(body, status=status)


class ImportsView(ImportRows):
    """Imports, newest first."""

    @extend_schema(
        operation_id="imports_list", responses=listing(fresh_shapes.ImportAnswer),
        parameters=[*LISTED, *filters("source", "status")],
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """List imports, newest first."""
        with self.context():
            rows = self.rows(self.asked_organizations())
            for name, column in (("source", "source__slug"), ("status", "status")):
                if name in request.query_params:
                    rows = rows.filter(**{column: request.query_params[name]})
            page = page_of(rows, request, "-started_at", "id")
            return Response(page.body([shown_import(run) for run in page.rows]))


class ImportView(ImportRows):
    """One import."""

    @extend_schema(operation_id="imports_read", responses=fresh_shapes.WholeImportAnswer)
    def get(self, _request: Request, pk: str) -> Response:
        """Read how far an import is, with its files and at most 200 failures."""
        with self.context():
            return self.whole(self.find(self.rows(self.organizations()), pk))


class ImportActView(ImportRows):
    """Something that is done to an import; doing it twice is doing it once."""

    act: ClassVar[Callable[..., Any]]

    def done(self, pk: str) -> Response:
        """Do it, for someone who may edit."""
        with self.context():
            found = self.find(self.rows(self.organizations()), pk)
            self.require(Role.EDITOR, found.organization_id)
            return self.once(found.organization_id, lambda: self._do(found))

    def _do(self, run: ImportRun) -> Response:
        type(self).act(run, by=self.actor, at=self.at)
        run.refresh_from_db()
        return self.whole(run)


def _doing(name: str) -> Callable[[PostT], PostT]:
    return extend_schema(
        operation_id=f"imports_{name}", request=None, parameters=DOING,
        responses=fresh_shapes.WholeImportAnswer,
    )  # fmt: skip


class ImportPauseView(ImportActView):
    """Pausing."""

    act = staticmethod(pause)

    @_doing("pause")
    def post(self, _request: Request, pk: str) -> Response:
        """Take up nothing more of a running import until it is resumed."""
        return self.done(pk)


class ImportResumeView(ImportActView):
    """Going on."""

    act = staticmethod(resume)

    @_doing("resume")
    def post(self, _request: Request, pk: str) -> Response:
        """Go on with a paused import."""
        return self.done(pk)


class ImportCancelView(ImportActView):
    """Giving up."""

    act = staticmethod(cancel)

    @_doing("cancel")
    def post(self, _request: Request, pk: str) -> Response:
        """Give up what is not in yet; what is in stays."""
        return self.done(pk)


class ImportRetryView(ImportActView):
    """Trying again."""

    act = staticmethod(try_again)

    @_doing("retry")
    def post(self, _request: Request, pk: str) -> Response:
        """Try again what failed: files, the import of a command, or the look at a source."""
        return self.done(pk)


def shown_import(run: ImportRun) -> dict[str, Any]:
    """Return an import as the API tells it."""
    return {
        "id": str(run.pk),
        "organization": run.organization.slug,
        "source": run.source.slug if run.source else None,
        "label": run.label,
        "status": run.status,
        "reason": (run.details or {}).get("reason", ""),
        "counts": {name: getattr(run, name) for name in ("total", *COUNTED)},
        "started_at": written(run.started_at),
        "finished_at": written(run.finished_at),
    }


def _shown_file(upload: ImportUpload) -> dict[str, Any]:
    plain = ("name", "size", "outcome", "counts", "reason")
    return {name: getattr(upload, name) for name in plain}


def _shown_failure(failure: ImportFailure) -> dict[str, Any]:
    return {name: getattr(failure, name) for name in ("path", "line", "code", "reason")}
