"""Make the contracts' OpenAPI files out of the code, and notice when the two part ways."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

from tenants.errors import EarmarkError
from voiceapi import contract
from voiceapi.contract import HEADER, VERSION, base_path, directory, root
from voiceapi.versions import record, require_same, require_told
from voiceapi.versions import release as mark_released

# Facts of a call may be anything; everything else holds only what the contract names.
_OPEN: Final = frozenset({"Call", "TurnCall"})
# What readers are told, apart from what goes over the wire.
_PROSE: Final = frozenset(
    {"description", "summary", "title", "examples", "operationId", "tags", "links"}
)


class ContractStale(EarmarkError):
    """The published contract is not what the code says: run `manage.py contract --write`."""

    code = "contract_stale"


class ServiceKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a service key is sent."""

    target_class = "voiceapi.authentication.ServiceKeyAuthentication"
    name = "serviceKey"

    def get_security_definition(self, _auto_schema: AutoSchema) -> dict[str, Any]:
        """Say it in OpenAPI's words."""
        return {"type": "http", "scheme": "bearer", "description": "`<kid>.<secret>`"}


def document(version: int = VERSION) -> dict[str, Any]:
    """Return the contract of a version as the code has it."""
    generator = SchemaGenerator(patterns=[root(version)])  # type: ignore[no-untyped-call]
    schema: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    _link(schema, version)
    _name(schema, version)
    for name, shape in schema["components"]["schemas"].items():
        if shape.get("type") == "object" and name not in _OPEN:
            shape["additionalProperties"] = False
    return schema


def _link(schema: dict[str, Any], version: int) -> None:
    """Say what the id of a new session is good for: search, renew, end."""
    opened = schema["paths"][f"/{base_path(version)}sessions"]["post"]["responses"]["201"]
    opened["links"] = {
        name: {"operationId": name, "parameters": {"session": "$response.body#/session"}}
        for name in ("search_knowledge", "renew_session", "end_session")
    }


def _name(schema: dict[str, Any], version: int) -> None:
    """Say which version it is; what else is served beside it changes no contract."""
    schema["info"]["version"] = str(version)
    for operations in schema["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == HEADER:
                    parameter["schema"]["enum"] = [version]


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


def check() -> None:
    """Compare code, file, wire and changelog of every version that is served.

    Raises: WireChanged, ContractStale, ChangelogSilent
    """
    for version in contract.SERVED:
        check_one(version, document(version))


def check_one(version: int, now: dict[str, Any]) -> None:
    """Compare what a version is now with its file, its wire and the changelog.

    Raises: WireChanged, ContractStale, ChangelogSilent
    """
    require_same(version, fingerprint(now))
    if not _file(version).exists() or _file(version).read_text("utf-8") != written(now):
        raise ContractStale
    require_told(version, fingerprint(now))


def write(*, amend: bool = False) -> None:
    """Write the file of every version that is served, and put down its wire.

    `amend` lets versions change that are not released.
    Raises: WireChanged, VersionReleased
    """
    for version in contract.SERVED:
        now = document(version)
        record(version, fingerprint(now), amend=amend)
        directory(version).mkdir(parents=True, exist_ok=True)
        _file(version).write_text(written(now), "utf-8")


def release() -> None:
    """Mark every version that is served as released, once all is as it should be.

    Raises: WireChanged, ContractStale, ChangelogSilent
    """
    check()
    for version in contract.SERVED:
        mark_released(version)


def _file(version: int) -> Path:
    return directory(version) / "openapi.json"
