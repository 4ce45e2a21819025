"""Puts the pages of this package into the admin site."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from search.experiment import show_experiment
from search.quality import show_quality
from search.views import search_as_agent
from tenants.admin_site import our_site

site = our_site()
site.add_page("agents/<uuid:agent_id>/search/", search_as_agent, "search_as_agent")
site.add_page("agents/<uuid:agent_id>/experiment/", show_experiment, "experiment")
site.add_page("quality/", show_quality, "quality")
site.add_section(
    _("Quality"),
    [(_("Runs and drift"), "admin:quality", ""), (_("Embedding spaces"), "admin:spaces", "")],
)
