"""The OpenAPI document of the people's API, made out of the code and kept in contracts/api-v1/."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views import View
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

BASE_PATH: Final = "api/v1/"


class ApiTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a token is sent."""

    target_class = "tenants.api.authentication.TokenAuthentication"
    name = "apiToken"

    def get_security_definition(self, _auto_schema: AutoSchema) -> dict[str, Any]:
        """Say it in OpenAPI's words."""
        return {"type": "http", "scheme": "bearer", "description": "`<kid>.<secret>`"}


class BrowserScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a browser is known."""

    target_class = "tenants.api.authentication.BrowserAuthentication"
    name = "browserSession"

    def get_security_definition(self, _auto_schema: AutoSchema) -> dict[str, Any]:
        """Say it in OpenAPI's words."""
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


def document() -> dict[str, Any]:
    """Return the document as the code has it."""
    generator = SchemaGenerator(  # type: ignore[no-untyped-call]
        patterns=[path(BASE_PATH, include("config.api_urls"))]
    )
    schema: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    schema["info"] = {
        "title": "Earmark API",
        "version": "1",
        "description": "Content and its places, for people and their programs.",
    }
    return schema


def written(document_: dict[str, Any]) -> str:
    """Return the text of the file."""
    return json.dumps(document_, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def schema_file() -> Path:
    """Return where the document is kept."""
    return Path(settings.BASE_DIR) / "contracts" / "api-v1" / "openapi.json"


@cache
def _served() -> bytes:
    return schema_file().read_bytes()


class SchemaView(View):
    """The document, for everybody: it names no organization."""

    def get(self, _request: HttpRequest) -> HttpResponse:
        """Answer with the document that is kept."""
        return HttpResponse(_served(), content_type="application/vnd.oai.openapi+json")
