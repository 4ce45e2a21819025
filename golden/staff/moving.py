"""Answers in from a file and out into one; a file with one wrong line changes nothing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from golden.bulk.columns import COLUMNS
from golden.bulk.exporting import as_csv, as_json_lines, exported
from golden.bulk.importing import import_rows
from golden.bulk.reading import MOST_BYTES, read_rows
from golden.errors import ImportRefused
from golden.staff.asking import act_of, in_own_organizations, organization_of, shown
from tenants.admin_site import own_transaction
from tenants.models import Organization, Role


class FileForm(forms.Form):
    """The file."""

    file = forms.FileField(label=gettext_lazy("CSV or JSON lines"))

    def clean_file(self) -> Any:
        """Refuse what is too large before it is read."""
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(_("It is larger than 2 MB."))
        return file


@own_transaction
def import_answers(request: HttpRequest) -> HttpResponse:
    """Ask for a file; make drafts of all its answers or tell what is wrong in which line."""
    with in_own_organizations(request):
        organization = organization_of(request, Role.AUTHOR)
    form = FileForm(request.POST or None, request.FILES or None)
    wrong: dict[int, str] = {}
    if form.is_valid():
        try:
            rows = read_rows(form.cleaned_data["file"].read())
            new, changed = import_rows(organization, rows, act_of(request))
        except ImportRefused as refusal:
            wrong = refusal.data["lines"]
        else:
            told = _("%(new)s new drafts, %(changed)s changed ones. Nothing that is live changed.")
            messages.success(request, told % {"new": new, "changed": changed})
            address = f"{reverse('admin:golden_list')}?organization={organization.slug}"
            return HttpResponseRedirect(f"{address}&status=draft")
    with in_own_organizations(request):
        return _page(request, organization, form, wrong)


def _page(
    request: HttpRequest, organization: Organization, form: FileForm, wrong: dict[int, str]
) -> HttpResponse:
    context = {
        "organization": organization,
        "form": form,
        "wrong": sorted(wrong.items()),
        "columns": COLUMNS,
    }
    status = 422 if wrong else 200
    return shown(request, "import.html", _("Import and export"), context, status=status)


def export_answers(request: HttpRequest, form: str) -> HttpResponse:
    """Give every answer in use, drafts before what is live, as a file."""
    writers = {
        "csv": (as_csv, "text/csv; charset=utf-8"),
        "jsonl": (as_json_lines, "application/jsonl; charset=utf-8"),
    }
    if form not in writers:
        raise Http404
    organization = organization_of(request)
    write, kind = writers[form]
    response = HttpResponse(write(exported(organization.pk)), content_type=kind)
    name = f"golden-answers-{organization.slug}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
