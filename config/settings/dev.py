"""Settings of `make run`: the embedded server unless DATABASE_URL is set, plain HTTP on this machine."""

from __future__ import annotations

from config.database.entries import databases
from config.embedded import local_secret
from config.env import env_bool, env_list, env_secret
from config.settings.base import *  # noqa: F403

DEBUG = env_bool("DEBUG")
SECRET_KEY = env_secret("SECRET_KEY") or local_secret("secret_key")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS") or ["localhost", "127.0.0.1", "[::1]"]
DATABASES = databases(embedded="run")
if not MAIL_SERVER:  # noqa: F405
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
