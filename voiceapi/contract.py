"""Which contract this server speaks, and what a worker must be able to."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from voiceapi.errors import ContractMismatch, ContractMissing

VERSION: Final = 1
SERVED: Final = (VERSION,)
OLDEST_WORKER: Final = "0.1.0"
DEADLINE_MS: Final = 5500
HEADER: Final = "X-Earmark-Contract"
DEADLINE_HEADER: Final = "X-Deadline-Ms"


def require_served(asked: str | None) -> None:
    """Refuse a request that does not name a version served here.

    Raises: ContractMissing, ContractMismatch
    """
    if asked is None or not asked.strip():
        raise ContractMissing
    if not is_served(asked):
        raise ContractMismatch(fields={"served": [str(version) for version in SERVED]})


def is_served(asked: str) -> bool:
    """Whether a version, as it is written in a header, is served here."""
    return asked.strip() in {str(version) for version in SERVED}


def summary() -> dict[str, Any]:
    """Return what bootstrap says of the contract."""
    return {"version": VERSION, "hash": published_hash()}


def directory() -> Path:
    """Return where the published contract lies."""
    return Path(settings.BASE_DIR) / "contracts" / f"voice-v{VERSION}"


@lru_cache(maxsize=1)
def published_hash() -> str:
    """Return the hash of the published OpenAPI file, read once by each process."""
    return "sha256:" + hashlib.sha256((directory() / "openapi.json").read_bytes()).hexdigest()
