"""Settings of the tests: a server of their own, cheap passwords, nothing from the environment."""

from __future__ import annotations

from config.database.entries import databases
from config.settings.base import *  # noqa: F403

DEBUG = False
SECRET_KEY = "only-for-tests-" * 4
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
DATABASES = databases(embedded="test", use_environment=False)
# Between transactional tests the application role clears the tables; tests/database.py lets it.
DATABASE_ROUTERS = []
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
REDIS_URL = None
SINGLE_SIGN_ON = {}
EMBEDDING_MODEL = "local"
SOURCES_MAY_BE_PRIVATE = True
