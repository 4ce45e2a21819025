"""The addresses of the voice API, below /internal/voice/v1/."""

from __future__ import annotations

from django.urls import path, re_path

from voiceapi import views

app_name = "voiceapi"
urlpatterns = [
    path("sessions", views.SessionsView.as_view(), name="sessions"),
    path("sessions/<str:session>/renew", views.RenewView.as_view(), name="renew"),
    path("sessions/<str:session>/end", views.EndView.as_view(), name="end"),
    path(
        "sessions/<str:session>/tools/knowledge-search", views.SearchView.as_view(), name="search"
    ),
    path("contract", views.ContractView.as_view(), name="contract"),
    path("ready", views.ReadyView.as_view(), name="ready"),
    re_path(r"^(?P<rest>[\s\S]*)\Z", views.NothingView.as_view(), name="nothing"),
]
