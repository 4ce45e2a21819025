"""Puts the pages of this package into the admin site."""

from __future__ import annotations

from search.experiment import show_experiment
from search.views import search_as_agent
from tenants.admin_site import our_site

our_site().add_page("agents/<uuid:agent_id>/search/", search_as_agent, "search_as_agent")
our_site().add_page("agents/<uuid:agent_id>/experiment/", show_experiment, "experiment")
