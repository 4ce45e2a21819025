"""Answers and rules in from a file and out into one; a file with one wrong line changes nothing."""

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
from golden.models import AssetKind
from golden.staff.asking import act_of, in_own_organizations, kind_of, organization_of, shown
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
    kind = kind_of(request)
    form = FileForm(request.POST or None, request.FILES or None)
    wrong: dict[int, str] = {}
    if form.is_valid():
        try:
            rows = read_rows(form.cleaned_data["file"].read())
            new, changed = import_rows(organization, rows, act_of(request), kind=kind)
        except ImportRefused as refusal:
            wrong = refusal.data["lines"]
        else:
            told = _("%(new)s new drafts, %(changed)s changed ones. Nothing that is live changed.")
            messages.success(request, told % {"new": new, "changed": changed})
            address = f"{reverse('admin:golden_list')}?organization={organization.slug}"
            return HttpResponseRedirect(f"{address}&status=draft&kind={kind}")
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
        "kind": kind_of(request),
    }
    is_rule = kind_of(request) == AssetKind.RULE
    title = _("Import and export of rules") if is_rule else _("Import and export")
    return shown(request, "import.html", title, context, status=422 if wrong else 200)


def export_answers(request: HttpRequest, form: str) -> HttpResponse:
    """Give every answer or rule in use, drafts before what is live, as a file."""
    writers = {
        "csv": (as_csv, "text/csv; charset=utf-8"),
        "jsonl": (as_json_lines, "application/jsonl; charset=utf-8"),
    }
    if form not in writers:
        raise Http404
    organization = organization_of(request)
    write, content_type = writers[form]
    response = HttpResponse(
        write(exported(organization.pk, kind=kind_of(request))), content_type=content_type
    )
    what = "domain-rules" if kind_of(request) == AssetKind.RULE else "golden-answers"
    name = f"{what}-{organization.slug}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
