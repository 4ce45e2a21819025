"""The two entries of DATABASES: the application role and the role that owns the tables."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured

from config.database.limits import LIMITS
from config.embedded import addresses
from config.env import env_bool, env_database
from config.places import Purpose

ENGINE: Final = "config.database"
_CONNECT_SECONDS: Final = 3
# A host that has vanished is noticed within nine seconds, also by who only waits for an answer.
_ALIVE: Final = {
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 5000,
}


def databases(*, embedded: Purpose | None, use_environment: bool = True) -> dict[str, Any]:
    """DATABASES from the environment, else for the embedded server of that purpose."""
    given = env_database("DATABASE_URL") if use_environment else None
    if given is not None:
        entries = {"default": given, "owner": env_database("DATABASE_OWNER_URL")}
    elif embedded is None:
        raise ImproperlyConfigured("DATABASE_URL (or DATABASE_URL_FILE) is required in production.")
    else:
        entries = {**addresses(embedded)}
    return {
        alias: _complete(alias, entry, embedded if given is None else None)
        for alias, entry in entries.items()
        if entry is not None
    }


def _complete(alias: str, entry: dict[str, Any], embedded: Purpose | None) -> dict[str, Any]:
    options = {
        "application_name": f"earmark-{alias}",
        "connect_timeout": _CONNECT_SECONDS,
        "options": LIMITS[alias],
        # Of several hosts, and of an address that has become a standby's, only what takes writes.
        "target_session_attrs": "read-write",
        **_ALIVE,
        "prepare_threshold": 0 if env_bool("EARMARK_PREPARED_STATEMENTS") else None,
        **entry.get("OPTIONS", {}),
    }
    return {
        **entry,
        "ENGINE": ENGINE,
        "OPTIONS": options,
        "CONN_MAX_AGE": 60 if alias == "default" else 0,
        "CONN_HEALTH_CHECKS": True,
        "EMBEDDED": embedded,
    }
