"""Settings of the product's own processes beside a test whose sites are on this machine."""

from __future__ import annotations

from config.settings.dev import *  # noqa: F403

SOURCES_MAY_BE_PRIVATE = True
