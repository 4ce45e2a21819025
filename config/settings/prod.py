"""Settings of production: refuses to start half configured or open."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from config.database.entries import databases
from config.env import env_bool
from config.settings.base import *  # noqa: F403
from config.settings.guards import allowed_hosts, secret_key

if env_bool("DEBUG"):
    raise ImproperlyConfigured("DEBUG must not be set in production.")
DEBUG = False
SECRET_KEY = secret_key()
ALLOWED_HOSTS = allowed_hosts()
DATABASES = databases(embedded=None)

SECURE_SSL_REDIRECT = True
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
if TRUSTED_PROXIES:  # noqa: F405
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
STATIC_ROOT = BASE_DIR / "staticfiles"  # noqa: F405
WHITENOISE_USE_FINDERS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
