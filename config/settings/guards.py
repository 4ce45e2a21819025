"""What production refuses to start without."""

from __future__ import annotations

from typing import Final

from django.core.exceptions import ImproperlyConfigured

from config.env import env_list, env_secret

_SHORTEST: Final = 50
_FEWEST_CHARACTERS: Final = 10
_PLACEHOLDERS: Final = ("django-insecure", "change", "example", "secret-key", "only-for-tests")


def secret_key() -> str:
    """SECRET_KEY, long, varied and not a placeholder."""
    value = env_secret("SECRET_KEY")
    if not value:
        raise ImproperlyConfigured("SECRET_KEY (or SECRET_KEY_FILE) is required in production.")
    if len(value) < _SHORTEST or len(set(value)) < _FEWEST_CHARACTERS:
        raise ImproperlyConfigured(
            f"SECRET_KEY is too weak: give at least {_SHORTEST} random characters."
        )
    if any(word in value.lower() for word in _PLACEHOLDERS):
        raise ImproperlyConfigured("SECRET_KEY is a placeholder: give random characters.")
    return value


def allowed_hosts() -> list[str]:
    """ALLOWED_HOSTS, at least one and no wildcard."""
    hosts = env_list("ALLOWED_HOSTS")
    if not hosts or "*" in hosts:
        raise ImproperlyConfigured("ALLOWED_HOSTS must name the hosts of this server, without *.")
    return hosts
