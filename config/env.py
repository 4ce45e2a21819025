"""Typed readers of the environment: a malformed value stops the start and names its variable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.variables import VARIABLES

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"", "0", "false", "no", "off"})
_POSTGRES: Final = frozenset({"postgres", "postgresql"})
# How a mail server is spoken to: TLS begun in the open, TLS from the start, or none at all.
_MAIL_PORTS: Final = {"smtp": 587, "smtps": 465, "smtp+plain": 25}


def inherited() -> dict[str, str]:
    """Everything, for a process that we start."""
    return dict(os.environ)


def env_optional(name: str) -> str | None:
    """The value, its default, or None. An empty value counts as not set."""
    return os.environ.get(name, "").strip() or VARIABLES[name].default


def env_str(name: str) -> str:
    """The value or its default.

    Raises: ImproperlyConfigured when there is neither.
    """
    value = env_optional(name)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set. {VARIABLES[name].meaning}")
    return value


def env_choice(name: str, choices: frozenset[str]) -> str:
    """The value, which must be one of `choices`."""
    value = env_str(name)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(sorted(choices))}.")
    return value


def env_bool(name: str) -> bool:
    """True for 1, true, yes, on; False for 0, false, no, off."""
    value = env_str(name).lower()
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} must be 1 or 0 (or true, false, yes, no, on, off).")
    return value in _TRUE


def env_int(name: str, *, low: int = 0, high: int = 2**31 - 1) -> int:
    """A whole number from `low` to `high`."""
    value = env_str(name)
    if not (value.isascii() and value.isdigit() and low <= int(value) <= high):
        raise ImproperlyConfigured(f"{name} must be a whole number from {low} to {high}.")
    return int(value)


def env_list(name: str) -> list[str]:
    """The values between commas, without empty ones."""
    return [part.strip() for part in (env_optional(name) or "").split(",") if part.strip()]


def env_secret(name: str) -> str | None:
    """The secret from NAME, or from the file that NAME_FILE names.

    Raises: ImproperlyConfigured when both are set, or the file cannot be read. Never shows the value.
    """
    direct, path = os.environ.get(name, "").strip(), os.environ.get(f"{name}_FILE", "").strip()
    if direct and path:
        raise ImproperlyConfigured(f"Set {name} or {name}_FILE, not both.")
    if not path:
        return direct or VARIABLES[name].default
    try:
        value = Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"{name}_FILE cannot be read: {type(error).__name__}."
        ) from error
    if not value:
        raise ImproperlyConfigured(f"{name}_FILE is empty.")
    return value


def env_url(name: str, *, schemes: frozenset[str]) -> str | None:
    """An address with one of `schemes` and a host; may be given as a secret."""
    value = env_secret(name) if VARIABLES[name].secret else env_optional(name)
    if value is None:
        return None
    parts = _split(name, value)
    if parts.scheme not in schemes or not (parts.hostname or parts.scheme == "unix"):
        raise ImproperlyConfigured(f"{name} must look like {min(schemes)}://host.")
    return value


def env_database(name: str) -> dict[str, Any] | None:
    """The entry of DATABASES that a PostgreSQL address means, or None when it is not set.

    Shape: postgresql://user:password@host:port/name?option=value; a socket folder goes in ?host=.
    """
    value = env_secret(name)
    if value is None:
        return None
    parts = _split(name, value)
    database = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in _POSTGRES or not database or not parts.username:
        raise ImproperlyConfigured(
            f"{name} must look like postgresql://user:password@host:5432/name."
        )
    options = dict(parse_qsl(parts.query))
    return {
        "NAME": database,
        "USER": unquote(parts.username),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }


def env_mail(name: str) -> dict[str, Any] | None:
    """The settings that the address of a mail server means, or None when it is not set.

    Shape: smtp://user:password@host:587 (STARTTLS), smtps://… (TLS), smtp+plain://… (neither);
           `none` for none, so that a secret's file need not be empty.
    """
    value = env_secret(name)
    if value is None or value == "none":
        return None
    parts = _split(name, value)
    if parts.scheme not in _MAIL_PORTS or not parts.hostname:
        raise ImproperlyConfigured(f"{name} must look like smtp://user:password@host:587.")
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or _MAIL_PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }


def _split(name: str, value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is not a valid address.") from error
    return parts
