"""Every address of the product."""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from config.health import alive, ready
from voiceapi.contract import roots
from voiceapi.exposing import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("api/v1/", include("config.api_urls")),
    path("healthz", alive, name="alive"),
    path("readyz", ready, name="ready"),
    *roots(),
    path("integrations/", include("voiceapi.peers.urls")),
    path("language/", set_language, name="set_language"),
    path("people/", include("tenants.people.urls")),
    path("metrics", metrics, name="metrics"),
]
if settings.SINGLE_SIGN_ON:
    urlpatterns.insert(0, path("people/sign-on/", include("tenants.people.sign_on_urls")))
