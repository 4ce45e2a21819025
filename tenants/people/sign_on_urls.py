"""Addresses of single sign-on; there are none without a provider."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from tenants.people.signing_on import refused

urlpatterns: list[URLPattern | URLResolver] = [
    path("refused/", refused, name="sign_on_refused"),
    path("", include("mozilla_django_oidc.urls")),
]
