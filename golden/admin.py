"""Puts the pages of this package into the admin site."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext

from golden.models import PublishRequest
from golden.staff.checking import show_checks
from golden.staff.correcting import write_correction
from golden.staff.corrections import decide_correction, list_corrections
from golden.staff.covering import show_coverage
from golden.staff.deciding import decide
from golden.staff.editing import edit_answer, new_answer
from golden.staff.indexing import compare_index, retry
from golden.staff.moving import export_answers, import_answers
from golden.staff.reading import compare_versions, list_answers, review_queue, show_answer
from tenants.admin_authority import authority_of
from tenants.admin_site import Notice, our_site
from tenants.models import Role

_ONE = "golden/<uuid:golden_id>/"


def _waiting(request: HttpRequest) -> list[Notice]:
    mine = authority_of(request).organizations(Role.APPROVER)
    waiting = PublishRequest.objects.filter(organization_id__in=mine, status="open")
    count = waiting.exclude(requested_by_id=request.user.pk).count()
    if not count:
        return []
    sentence = ngettext("{n} answer waits for approval.", "{n} answers wait for approval.", count)
    return [Notice(sentence.format(n=count), reverse("admin:golden_queue"))]


site = our_site()
site.add_page("golden/", list_answers, "golden_list")
site.add_page("golden/new/", new_answer, "golden_new")
site.add_page("golden-queue/", review_queue, "golden_queue")
site.add_page("golden-coverage/", show_coverage, "golden_coverage")
site.add_page("golden-import/", import_answers, "golden_import")
site.add_page("golden-export/<slug:form>/", export_answers, "golden_export")
site.add_page("golden-correct/<uuid:search_id>/", write_correction, "golden_correct")
site.add_page("golden-corrections/", list_corrections, "golden_corrections")
site.add_page(
    "golden-corrections/<uuid:item_id>/<slug:name>/", decide_correction, "golden_decide_correction"
)
site.add_page("golden-index/", compare_index, "golden_compare_index")
site.add_page(_ONE, show_answer, "golden_answer")
site.add_page(f"{_ONE}edit/", edit_answer, "golden_edit")
site.add_page(f"{_ONE}compare/", compare_versions, "golden_compare")
site.add_page(f"{_ONE}retry/", retry, "golden_retry")
site.add_page(f"{_ONE}checks/", show_checks, "golden_checks")
site.add_page(f"{_ONE}<slug:name>/", decide, "golden_decide")
site.add_watch(_waiting)
site.add_section(
    gettext_lazy("Golden answers"),
    [
        (gettext_lazy("Answers"), "admin:golden_list", ""),
        (gettext_lazy("Domain rules"), "admin:golden_list", "?kind=rule"),
        (gettext_lazy("Waiting for approval"), "admin:golden_queue", ""),
        (gettext_lazy("Corrections"), "admin:golden_corrections", ""),
        (gettext_lazy("Coverage"), "admin:golden_coverage", ""),
        (gettext_lazy("Import and export"), "admin:golden_import", ""),
    ],
)
