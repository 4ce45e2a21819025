"""Make the contract's OpenAPI file out of the code, and notice when the two part ways."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.urls import include, path
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

from tenants.errors import EarmarkError
from voiceapi.contract import VERSION, directory

BASE_PATH: Final = f"internal/voice/v{VERSION}/"
# Facts of a call may be anything; everything else holds only what the contract names.
_OPEN: Final = frozenset({"Call", "TurnCall"})
# What readers are told, apart from what goes over the wire.
_PROSE: Final = frozenset(
    {"description", "summary", "title", "examples", "operationId", "tags", "links"}
)


class ContractStale(EarmarkError):
    """The published contract is not what the code says: run `manage.py contract --write`."""

    code = "contract_stale"


class WireChanged(EarmarkError):
    """What goes over the wire has changed: raise VERSION, and say so in the changelog."""

    code = "wire_changed"


class ServiceKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a service key is sent."""

    target_class = "voiceapi.authentication.ServiceKeyAuthentication"
    name = "serviceKey"

    def get_security_definition(self, _auto_schema: AutoSchema) -> dict[str, Any]:
        """Say it in OpenAPI's words."""
        return {"type": "http", "scheme": "bearer", "description": "`<kid>.<secret>`"}


def document() -> dict[str, Any]:
    """Return the contract as the code has it."""
    generator = SchemaGenerator(  # type: ignore[no-untyped-call]
        patterns=[path(BASE_PATH, include("voiceapi.urls"))]
    )
    schema: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    _link(schema)
    for name, shape in schema["components"]["schemas"].items():
        if shape.get("type") == "object" and name not in _OPEN:
            shape["additionalProperties"] = False
    return schema


def _link(schema: dict[str, Any]) -> None:
    """Say what the id of a new session is good for: search, renew, end."""
    opened = schema["paths"][f"/{BASE_PATH}sessions"]["post"]["responses"]["201"]
    opened["links"] = {
        name: {"operationId": name, "parameters": {"session": "$response.body#/session"}}
        for name in ("search_knowledge", "renew_session", "end_session")
    }


def written(document_: dict[str, Any]) -> str:
    """Return the text of the file."""
    return json.dumps(document_, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def fingerprint(document_: dict[str, Any]) -> str:
    """Return a hash over what goes over the wire; wording does not count."""
    bare = json.dumps(_bare(document_), sort_keys=True)
    return "sha256:" + hashlib.sha256(bare.encode()).hexdigest()


def _bare(node: Any, *, names: bool = False) -> Any:
    """Drop prose; the names of properties are no prose, whatever they are called."""
    if isinstance(node, list):
        return [_bare(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _bare(child, names=name in {"properties", "schemas", "paths", "responses"})
        for name, child in node.items()
        if names or name not in _PROSE
    }


def check(document_: dict[str, Any] | None = None) -> None:
    """Compare code, file and the wire that this version stands for.

    Raises: WireChanged, ContractStale
    """
    now = document_ or document()
    if _released().get(str(VERSION), fingerprint(now)) != fingerprint(now):
        raise WireChanged
    if not _file().exists() or _file().read_text("utf-8") != written(now):
        raise ContractStale


def write(*, amend: bool = False) -> None:
    """Write the file, and for a new version the fingerprint of its wire.

    `amend` lets a version change that nobody speaks yet.
    Raises: WireChanged
    """
    now, released = document(), _released()
    if not amend and released.get(str(VERSION), fingerprint(now)) != fingerprint(now):
        raise WireChanged
    released[str(VERSION)] = fingerprint(now)
    directory().mkdir(parents=True, exist_ok=True)
    _file().write_text(written(now), "utf-8")
    _versions().write_text(json.dumps(released, indent=2) + "\n", "utf-8")


def _released() -> dict[str, str]:
    path_ = _versions()
    released: dict[str, str] = json.loads(path_.read_text("utf-8")) if path_.exists() else {}
    return released


def _versions() -> Path:
    return Path(settings.BASE_DIR) / "contracts" / "voice-versions.json"


def _file() -> Path:
    return directory() / "openapi.json"
