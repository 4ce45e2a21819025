"""Work on many items as its pages show it: what was just done with its undo, progress, outcomes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from knowledge.browser import words
from knowledge.browser.rooms import Visit, editing, visit
from knowledge.models import BulkAction, BulkEntry, BulkJob
from knowledge.shelving.jobs import cancel, undo
from knowledge.shelving.working import work
from tenants.admin_authority import at_of
from tenants.admin_site import own_transaction
from tenants.errors import EarmarkError

MOST_JOBS: Final = 50
MOST_REFUSED: Final = 50
# Small jobs are done when the page comes back; what is left is somebody else's.
PATIENCE_S: Final = 1.5


@dataclass(frozen=True)
class Notice:
    """A job in words, with the buttons that are offered for it."""

    job: BulkJob
    title: str
    address: str
    says: str
    counts: str
    verbs: list[tuple[str, str, str]]

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self.job.status == BulkJob.Status.RUNNING


def notice_of(seen: Visit, job: BulkJob) -> Notice:
    """Return a job in words."""
    slug = seen.organization.slug
    verbs = [
        (name, label, reverse("admin:browse_job_do", args=[slug, job.pk, name]))
        for name, label in _offered(job)
        if seen.may_change
    ]
    address = reverse("admin:browse_job", args=[slug, job.pk])
    return Notice(job, words.title(job), address, words.job(job), words.counts(job), verbs)


def notice_in(seen: Visit) -> Notice | None:
    """Return the job that the address says was just begun."""
    with suppress(ValueError):
        pk = UUID(seen.request.GET.get("job", ""))
        job = BulkJob.objects.filter(organization_id=seen.organization_id, pk=pk).first()
        return notice_of(seen, job) if job else None
    return None


def _offered(job: BulkJob) -> list[tuple[str, str]]:
    if job.status == BulkJob.Status.RUNNING:
        return [("cancel", _("Cancel"))]
    is_undone = BulkJob.objects.filter(undoes=job).exists()
    if job.done and not is_undone and job.action != BulkAction.REREAD:
        return [("undo", _("Undo"))]
    return []


def work_now(seen: Visit, job: BulkJob) -> None:
    """Do a small job before the page comes back; needs no context open."""
    work(seen.organization_id, job.pk, clock=lambda: seen.at, seconds=PATIENCE_S)


def back_to(seen: Visit, job: BulkJob, address: str) -> HttpResponse:
    """Return to where a job was asked for, which tells what was done; to its own page while it runs."""
    with seen.context():
        job.refresh_from_db()
    if job.status == BulkJob.Status.RUNNING:
        return HttpResponseRedirect(
            reverse("admin:browse_job", args=[seen.organization.slug, job.pk])
        )
    separator = "&" if "?" in address else "?"
    return HttpResponseRedirect(f"{address}{separator}job={job.pk}")


@require_GET
def jobs_page(request: HttpRequest, organization: str) -> HttpResponse:
    """List what was done to many items, newest first."""
    seen = visit(request, organization)
    rows = BulkJob.objects.select_related("undoes").filter(organization_id=seen.organization_id)[
        :MOST_JOBS
    ]
    notices = [notice_of(seen, job) for job in rows]
    return seen.shown("jobs", _("Work on many items"), notices=notices)


@require_GET
def job_page(request: HttpRequest, organization: str, job_id: UUID) -> HttpResponse:
    """Show how far a job is and what was refused; a script asks for the changing part alone."""
    seen = visit(request, organization)
    job = _job(seen, job_id)
    refused = BulkEntry.objects.filter(job=job, outcome=BulkEntry.Outcome.REFUSED)
    lines = [
        (entry.item, str(words.REFUSALS.get(entry.code, entry.code)))
        for entry in refused.select_related("item")[:MOST_REFUSED]
    ]
    is_fragment = bool(getattr(request, "htmx", False))
    return seen.shown(
        "job_state" if is_fragment else "job",
        words.title(job),
        notice=notice_of(seen, job),
        refused=lines,
        more_refused=max(0, job.refused - len(lines)),
    )


@own_transaction
@require_POST
def job_do(request: HttpRequest, organization: str, job_id: UUID, verb: str) -> HttpResponse:
    """Cancel a job, or undo it."""
    seen = editing(request, organization)
    if verb not in {"cancel", "undo"}:
        raise Http404
    with seen.context():
        job = _job(seen, job_id)
    made = _did(seen, job, verb)
    if made is None:
        return HttpResponseRedirect(reverse("admin:browse_job", args=[organization, job.pk]))
    work_now(seen, made)
    return back_to(seen, made, reverse("admin:browse_job", args=[organization, made.pk]))


def _did(seen: Visit, job: BulkJob, verb: str) -> BulkJob | None:
    try:
        with seen.context():
            if verb == "undo":
                return undo(job, by=seen.actor, at=at_of(seen.request))
            cancel(job, by=seen.actor, at=seen.at)
    except EarmarkError as refusal:
        messages.error(seen.request, words.refusal(refusal))
    return None


def _job(seen: Visit, job_id: UUID) -> BulkJob:
    job = BulkJob.objects.filter(organization_id=seen.organization_id, pk=job_id).first()
    if job is None:
        raise Http404
    return job
