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

from config.api_links import link
from tenants.api.described import refusals

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
    schema["components"]["responses"] = refusals()
    _close(schema)
    _allow_both(schema)
    link(schema, f"/{BASE_PATH}")
    return schema


def _close(schema: dict[str, Any]) -> None:
    """Say of what is sent that nothing else is taken; what is answered may grow."""
    components = schema["components"]["schemas"]
    sent = [
        operation["requestBody"]
        for methods in schema["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    for name in _named(sent, components):
        if components[name].get("type") == "object":
            components[name]["additionalProperties"] = False


def _allow_both(node: Any) -> None:
    """Take "any of" for "one of" where two fit: a text that may be blank by its pattern too, any value and null."""
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            _allow_both(child)
    alternatives = node.get("oneOf", ()) if isinstance(node, dict) else ()
    if {"maxLength": 0, "type": "string"} in alternatives or {} in alternatives:
        node["anyOf"] = node.pop("oneOf")


def _named(node: Any, components: dict[str, Any]) -> set[str]:
    """Return the components that a part of the document refers to, also through others."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, list):
            waiting += current
        elif isinstance(current, dict):
            waiting += current.values()
            name = str(current.get("$ref", "")).removeprefix("#/components/schemas/")
            if name in components and name not in found:
                found.add(name)
                waiting.append(components[name])
    return found


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
