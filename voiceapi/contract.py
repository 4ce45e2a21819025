"""Which contracts this server speaks, and what a worker must be able to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.urls import URLResolver, include, path

from voiceapi.errors import ContractMismatch, ContractMissing

VERSION: Final = 1
# Every version that is served, and the module of its addresses. The one before the newest stays for
# one release, so that workers can follow the server.
SERVED: Mapping[int, str] = {VERSION: "voiceapi.urls"}
OLDEST_WORKER: Final = "0.1.0"
DEADLINE_MS: Final = 5500
HEADER: Final = "X-Earmark-Contract"
DEADLINE_HEADER: Final = "X-Deadline-Ms"


def roots() -> list[URLResolver]:
    """Return the addresses of every version that is served, each below its own path."""
    return [root(version) for version in SERVED]


def root(version: int) -> URLResolver:
    """Return the addresses of one version."""
    return path(base_path(version), include(SERVED[version], namespace=f"voice-v{version}"))


def base_path(version: int) -> str:
    """Return what every address of a version begins with."""
    return f"internal/voice/v{version}/"


def require_served(asked: str | None, version: int) -> None:
    """Refuse a request that does not name the version of the address that it came to.

    Raises: ContractMissing, ContractMismatch
    """
    if asked is None or not asked.strip():
        raise ContractMissing
    if asked.strip() != str(version):
        raise ContractMismatch(fields={"served": [str(served) for served in SERVED]})


def is_served(asked: str) -> bool:
    """Whether a version, as it is written in a header, is served here."""
    return asked.strip() in {str(version) for version in SERVED}


def summary(version: int) -> dict[str, Any]:
    """Return what bootstrap says of the contract that it was asked under."""
    return {"version": version, "hash": _hash_of(directory(version) / "openapi.json")}


def directory(version: int) -> Path:
    """Return where a published contract lies."""
    return Path(settings.BASE_DIR) / "contracts" / f"voice-v{version}"


@lru_cache(maxsize=8)
def _hash_of(file: Path) -> str:
    """Return the hash of a published OpenAPI file, read once by each process."""
    return "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest()
