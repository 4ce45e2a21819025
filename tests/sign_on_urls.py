"""Every address of an installation with single sign-on."""

from __future__ import annotations

from django.urls import include, path

from config import urls

urlpatterns = [
    path("people/sign-on/", include("tenants.people.sign_on_urls")),
    *urls.urlpatterns,
]
