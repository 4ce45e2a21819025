"""The addresses of the voice API, below the path of a contract version."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path

from voiceapi import views

app_name = "voiceapi"


def addresses(version: int) -> list[URLPattern]:
    """Return every address as a version has it; a later version puts what it changes before these."""
    opened = "sessions/<str:session>"
    return [
        path("sessions", views.SessionsView.as_view(version=version), name="sessions"),
        path(f"{opened}/renew", views.RenewView.as_view(version=version), name="renew"),
        path(f"{opened}/end", views.EndView.as_view(version=version), name="end"),
        path(
            f"{opened}/tools/knowledge-search",
            views.SearchView.as_view(version=version),
            name="search",
        ),
        path("contract", views.ContractView.as_view(version=version), name="contract"),
        path("ready", views.ReadyView.as_view(version=version), name="ready"),
        re_path(
            r"^(?P<rest>[\s\S]*)\Z", views.NothingView.as_view(version=version), name="nothing"
        ),
    ]


urlpatterns = addresses(1)
