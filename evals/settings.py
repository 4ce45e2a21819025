"""The settings of the tests, with the embedder that the environment asks for and without the admin's pages."""

from __future__ import annotations

from config.settings.base import EMBEDDING_MODEL as WANTED_MODEL
from config.settings.base import INSTALLED_APPS as EVERYTHING
from config.settings.test import *  # noqa: F403

EMBEDDING_MODEL = WANTED_MODEL
INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig" if name.startswith("tenants.admin") else name
    for name in EVERYTHING
]
