"""Handing files in: the upload, its progress and what can be done about it; no script is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from knowledge.ingestion.limits import MEBIBYTE
from knowledge.ingestion.uploads import (
    LARGEST_SENDING,
    MOST_FILES,
    HandedIn,
    cancel,
    hand_in,
    pause,
    resume,
)
from knowledge.models import ImportFailure, ImportRun, ImportUpload, Source
from knowledge.reserved import IS_RESERVED
from knowledge.sources.controlling import can_be_tried_again, try_again
from tenants.admin_authority import actor_of, at_of, authority_of
from tenants.admin_site import our_site
from tenants.errors import EarmarkError
from tenants.models import Role

Status = ImportRun.Status
Verb = Callable[..., Any]
_ENDLESS: Final = frozenset({Status.RUNNING, Status.PAUSED})
# The verb, its label, and in which states it is offered.
VERBS: Final[dict[str, tuple[Verb, Any, frozenset[str]]]] = {
    "pause": (pause, gettext_lazy("Pause"), frozenset({Status.RUNNING})),
    "resume": (resume, gettext_lazy("Go on"), frozenset({Status.PAUSED})),
    "cancel": (cancel, gettext_lazy("Cancel"), frozenset({Status.RUNNING, Status.PAUSED})),
    "retry": (try_again, gettext_lazy("Try again what failed"), frozenset(Status) - _ENDLESS),
}
MOST_FAILURES: Final = 200


class ManyFiles(forms.ClearableFileInput):
    """A field for several files at once."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Return every file as it was sent."""
        sent = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in sent]


class UploadForm(forms.Form):
    """Which files, and where they go."""

    source = forms.ModelChoiceField(
        Source.objects.none(), label=gettext_lazy("Source"), empty_label=None
    )
    folder = forms.CharField(
        label=gettext_lazy("Folder"),
        required=False,
        max_length=1000,
        help_text=gettext_lazy(
            "The path below the source: cards/voyager. Empty for the source itself."
        ),
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    files = FilesField(  # type: ignore[assignment]
        label=gettext_lazy("Files"),
        help_text=format_lazy(
            gettext_lazy("Up to {most} files; archives count as one."), most=MOST_FILES
        ),
    )

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(*args)
        # A link from the browser names the folder.
        self.initial = {n: request.GET[n] for n in ("source", "folder") if n in request.GET}
        mine = authority_of(request).organizations(Role.EDITOR)
        field = self.fields["source"]
        assert isinstance(field, forms.ModelChoiceField)
        rows = Source.objects.filter(organization_id__in=mine).exclude(IS_RESERVED)
        field.queryset = rows.select_related("organization")
        field.label_from_instance = _label  # type: ignore[method-assign]


def _label(obj: Any) -> str:
    return f"{obj.organization} / {obj}"


def new_import(request: HttpRequest) -> HttpResponse:
    """Take files in; they are brought in by whoever works the queue."""
    if not authority_of(request).has_somewhere(Role.EDITOR):
        raise PermissionDenied
    form = UploadForm(request, *([request.POST, request.FILES] if request.method == "POST" else []))
    run = _handed_in(request, form) if form.is_valid() else None
    if run is not None:
        return HttpResponseRedirect(reverse("admin:import_progress", args=[run.pk]))
    context = {**our_site().each_context(request), "title": _("Import files"), "form": form}
    return TemplateResponse(request, "knowledge/import_new.html", context)


def import_progress(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show how far an import is; a script asks for the changing part alone."""
    run = _run(request, run_id)
    uploads = list(ImportUpload.objects.filter(run=run).defer("content"))
    done = sum(upload.outcome != ImportUpload.Outcome.WAITING for upload in uploads)
    can_edit = authority_of(request).has(Role.EDITOR, run.organization_id)
    context = {
        **our_site().each_context(request),
        "title": _("Import: %s") % run.label,
        "run": run,
        "uploads": uploads,
        "done": done,
        "is_moving": run.status == Status.RUNNING,
        "details": run.details or {},
        "failures": [] if uploads else list(_failures(run)),
        "verbs": _offered(run) if can_edit else [],
    }
    is_fragment = bool(getattr(request, "htmx", False))
    template = "knowledge/import_state.html" if is_fragment else "knowledge/import_progress.html"
    return TemplateResponse(request, template, context)


def import_do(request: HttpRequest, run_id: UUID, verb: str) -> HttpResponse:
    """Pause, go on, cancel or try again."""
    run = _run(request, run_id)
    if verb not in VERBS:
        raise Http404
    if not authority_of(request).has(Role.EDITOR, run.organization_id):
        raise PermissionDenied
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    VERBS[verb][0](run, by=actor_of(request), at=at_of(request))
    return HttpResponseRedirect(reverse("admin:import_progress", args=[run.pk]))


def _run(request: HttpRequest, run_id: UUID) -> ImportRun:
    seen = authority_of(request).organizations(Role.VIEWER)
    found = ImportRun.objects.filter(pk=run_id, organization_id__in=seen).first()
    if found is None:
        raise Http404
    return found


def _failures(run: ImportRun) -> QuerySet[ImportFailure]:
    rows = ImportFailure.objects.filter(run=run).order_by("path", "line", "id")
    return rows[:MOST_FAILURES]


def _offered(run: ImportRun) -> list[tuple[Any, str]]:
    again = can_be_tried_again(run)
    return [
        (label, reverse("admin:import_do", args=[run.pk, name]))
        for name, (_verb, label, states) in VERBS.items()
        if run.status in states and (name != "retry" or again)
    ]


def _handed_in(request: HttpRequest, form: UploadForm) -> ImportRun | None:
    told = form.cleaned_data
    if sum(file.size for file in told["files"]) > LARGEST_SENDING:
        form.add_error("files", _("Together more than %s MiB.") % (LARGEST_SENDING // MEBIBYTE))
        return None
    files = [HandedIn(file.name, file) for file in told["files"]]
    try:
        run = hand_in(
            told["source"], told["folder"], files, by=actor_of(request), at=at_of(request)
        )
    except EarmarkError as refusal:
        form.add_error(None, _(str(refusal)))
        return None
    told_of = ngettext("{n} file is handed in.", "{n} files are handed in.", len(files))
    messages.success(request, told_of.format(n=len(files)))
    return run


our_site().add_page("imports/new/", new_import, "import_new")
our_site().add_page("imports/<uuid:run_id>/", import_progress, "import_progress")
our_site().add_page("imports/<uuid:run_id>/do/<slug:verb>/", import_do, "import_do")
