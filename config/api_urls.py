"""The addresses of the people's API, below /api/v1/: one include for each app, then nothing."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path

from config.api_schema import SchemaView
from tenants.api.views import NothingView

APPS: list[URLPattern | URLResolver] = [
    path("", include("knowledge.api.urls")),
    path("", include("scopes.api.urls")),
    path("", include("golden.api.urls")),
]
urlpatterns: list[URLPattern | URLResolver] = [
    *APPS,
    path("schema", SchemaView.as_view(), name="api-schema"),
    re_path(r"^(?P<rest>[\s\S]*)\Z", NothingView.as_view(), name="api-nothing"),
]
