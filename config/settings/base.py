"""What every way of running Earmark shares."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from csp.constants import NONE, SELF

from config.env import (
    env_bool,
    env_choice,
    env_int,
    env_list,
    env_mail,
    env_optional,
    env_secret,
    env_str,
    env_url,
)
from config.settings.single_sign_on import single_sign_on

BASE_DIR: Final = Path(__file__).resolve().parent.parent.parent
LOG_LEVELS: Final = frozenset({"DEBUG", "INFO", "WARNING", "ERROR"})

INSTALLED_APPS = [
    "tenants.admin_config.EarmarkAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "csp",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "tenants",
    "knowledge",
    "scopes",
    "golden",
    "search",
    "voiceapi",
    "config",
]

MIDDLEWARE = [
    "config.requests.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.requests.PageLanguageMiddleware",
    "config.crowding.PagesYieldMiddleware",
    "config.bodies.BodySizeMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "tenants.User"
DATABASE_ROUTERS = ["config.database.router.OwnerMigrates"]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# People sign in to the admin; axes counts wrong passwords per name and address, so that nobody can
# lock an administrator out from elsewhere.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "tenants.sign_in.SignInBackend",
]
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25
# Names and addresses of everybody who ever mistyped are no business of one organization.
AXES_ENABLE_ADMIN = False
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "config.requests.client_address"
TRUSTED_PROXIES = env_int("EARMARK_TRUSTED_PROXIES", high=9)
LOGIN_URL = "admin:login"
SECOND_FACTOR_REQUIRED = env_bool("EARMARK_SECOND_FACTOR_REQUIRED")
OTP_TOTP_ISSUER = "Earmark"

# Long enough to read the mail, too short to be found in a mailbox much later.
PASSWORD_RESET_TIMEOUT = 3600

MAIL_SERVER = env_mail("EMAIL_URL")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if MAIL_SERVER else 'dummy'}.EmailBackend"
globals().update(MAIL_SERVER or {})
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env_str("EMAIL_FROM")

SINGLE_SIGN_ON = single_sign_on()
if SINGLE_SIGN_ON:
    globals().update(SINGLE_SIGN_ON)
    INSTALLED_APPS.append("mozilla_django_oidc")
    AUTHENTICATION_BACKENDS.append("tenants.people.signing_on.SignOnBackend")

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ar", "العربية")]
LOCALE_PATHS = [BASE_DIR / "locale"]
# One way to write numbers and instants, whatever the language.
FORMAT_MODULE_PATH = "config.formats"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT: Path | None = None
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
# What browsers and crawlers ask for at the top: an icon, and to be left alone.
WHITENOISE_ROOT = BASE_DIR / "webroot"

SESSION_COOKIE_AGE = 8 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# A script sends the token of this moment: one in the page is stale after signing in elsewhere.
CSRF_COOKIE_HTTPONLY = False
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
DATA_UPLOAD_MAX_NUMBER_FILES = 100
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_PERMISSIONS = 0o600

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    # With no authentication this refuses everything: a view has to say who may enter.
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Earmark voice API",
    "DESCRIPTION": "Scoped, verified knowledge for voice agents.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}

# The threads left over refuse what is too much while the others work.
VOICE_CONCURRENCY = env_int("EARMARK_VOICE_CONCURRENCY", high=1024) or max(
    1, env_int("EARMARK_WEB_THREADS", low=1, high=256) - 2
)
# Pages leave callers half of the threads, and connections enough for them to take turns at.
_THREADS: Final = env_int("EARMARK_WEB_THREADS", low=1, high=256)
_CONNECTIONS: Final = env_int("EARMARK_WEB_CONNECTIONS", high=256) or _THREADS
PAGE_CONCURRENCY = env_int("EARMARK_PAGE_CONCURRENCY", high=256) or max(
    1, min(_THREADS // 2, _CONNECTIONS - 2)
)
PAGE_STATEMENT_TIMEOUT = "8s"
# Requests a minute, by whose they are; a quarter of them may come at once.
VOICE_RATES = {
    "session": env_int("EARMARK_SESSION_RATE", high=1_000_000),
    "organization": env_int("EARMARK_ORGANIZATION_RATE", high=1_000_000),
    "key": env_int("EARMARK_KEY_RATE", high=1_000_000),
}
# What `manage.py mcp` searches with; the server itself needs none.
SERVICE_KEY = env_secret("EARMARK_SERVICE_KEY")
METRICS_TOKEN = env_secret("EARMARK_METRICS_TOKEN")
METRICS_FOLDER = env_optional("PROMETHEUS_MULTIPROC_DIR")
REDIS_URL = env_url("REDIS_URL", schemes=frozenset({"redis", "rediss", "unix"}))

# A message may be lost or come twice: it only says that something is due. Its visibility timeout is
# longer than any task may run, so that no task runs twice at once; what a killed worker had taken is
# looked for every five seconds, not every hundred.
CELERY_BROKER_URL = (REDIS_URL or "memory://").replace("unix://", "redis+socket://")
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 300,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 5,
    "socket_connect_timeout": 1,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_DEFAULT_QUEUE = "earmark"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
# No soft limit: tasks watch the clock themselves, and an error in the middle of one says nothing.
CELERY_TASK_TIME_LIMIT = 120
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20.0
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Reading a site takes long and must hold up neither the index nor what a person waits for, so each has a
# queue of its own.
CELERY_TASK_ROUTES = {
    "knowledge.sync_sources": {"queue": "sources"},
    "knowledge.import_uploads": {"queue": "staff"},
    "knowledge.work_bulk": {"queue": "staff"},
}
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "knowledge.sweep", "schedule": 15.0, "options": {"expires": 15}},
    "reconcile": {"task": "knowledge.reconcile", "schedule": 600.0, "options": {"expires": 600}},
    "spaces": {"task": "knowledge.fill_spaces", "schedule": 5.0, "options": {"expires": 5}},
    "refit": {"task": "knowledge.refit", "schedule": 15.0, "options": {"expires": 15}},
    "uploads": {"task": "knowledge.import_uploads", "schedule": 5.0, "options": {"expires": 5}},
    "bulk": {"task": "knowledge.work_bulk", "schedule": 5.0, "options": {"expires": 5}},
    "purge": {"task": "knowledge.purge", "schedule": 3600.0, "options": {"expires": 3600}},
    "sources": {"task": "knowledge.sync_sources", "schedule": 60.0, "options": {"expires": 60}},
    "forget": {"task": "voiceapi.forget_old", "schedule": 3600.0, "options": {"expires": 3600}},
    "tidy": {"task": "voiceapi.tidy_up", "schedule": 3600.0, "options": {"expires": 3600}},
    "canaries": {"task": "voiceapi.look_for_leaks", "schedule": 60.0, "options": {"expires": 60}},
}
# What the drain does now and then for packages above it: name -> (function of an instant, seconds).
DRAIN_CHORES = {
    "forget": ("voiceapi.retention.forget_old", 3600.0),
    "purge": ("knowledge.shelving.purging.purge_deleted", 3600.0),
    "tidy": ("voiceapi.tidying.tidy_up", 3600.0),
    "canaries": ("scopes.probing.look_everywhere", 60.0),
}
# What tells and carries the folders that agents have selected, for the rung below scopes.
FOLDER_PICKS = "scopes.carrying.FolderPicks"

# Sources are fetched from public addresses only; the tests have a server of their own on this machine.
SOURCES_MAY_BE_PRIVATE = False
SOURCE_FOLDERS = env_list("EARMARK_SOURCE_FOLDERS")

# What was measured last, for the page of runs and drift.
RUNS_FOLDER = env_optional("EARMARK_RUNS") or str(BASE_DIR / ".earmark" / "runs")

EMBEDDING_MODEL = env_str("EARMARK_EMBEDDING_MODEL")
EMBEDDING_DIMENSIONS = env_int("EARMARK_EMBEDDING_DIMENSIONS", high=4000)
EMBEDDING_PRICE = env_str("EARMARK_EMBEDDING_PRICE")
OPENAI_API_KEY = env_secret("OPENAI_API_KEY")
OPENAI_BASE_URL = env_url("OPENAI_BASE_URL", schemes=frozenset({"https", "http"}))

LOG_LEVEL = env_choice("EARMARK_LOG_LEVEL", LOG_LEVELS)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "config.logs.RequestIdFilter"}},
    "formatters": {"json": {"()": "config.logs.JsonLines"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "json",
            "filters": ["request"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    # Statements carry item bodies and utterances; they are never logged.
    "loggers": {
        "django.db.backends": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
        # One line for every call of an embedding service says nothing that the metrics do not.
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
    },
}
