"""The addresses of the knowledge browser in the admin, and its line in the list of everything."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from knowledge.browser import doing, jobs, views
from tenants.admin_site import our_site

_IN: Final = "browse/<slug:organization>/"


def add_browser() -> None:
    """Add the pages to the site."""
    site = our_site()
    site.add_page("browse/", views.organizations, "browse_organizations")
    site.add_page(_IN, views.browse, "browse")
    site.add_page(f"{_IN}items/<uuid:item_id>/", views.item_page, "browse_item")
    site.add_page(f"{_IN}folder/", doing.folder_page, "browse_folder")
    site.add_page(f"{_IN}do/", doing.do, "browse_do")
    site.add_page(f"{_IN}jobs/", jobs.jobs_page, "browse_jobs")
    site.add_page(f"{_IN}jobs/<uuid:job_id>/", jobs.job_page, "browse_job")
    site.add_page(f"{_IN}jobs/<uuid:job_id>/do/<slug:verb>/", jobs.job_do, "browse_job_do")
    site.add_section(
        gettext_lazy("Browse"), [(gettext_lazy("Knowledge"), "admin:browse_organizations", "")]
    )
