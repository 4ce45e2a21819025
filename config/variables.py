"""Every environment variable of the product: its name, its meaning, its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Variable:
    """One environment variable. `default` is what is read when it is not set; None: there is none."""

    name: str
    meaning: str
    default: str | None = None
    secret: bool = False


VARIABLES: Final = {
    variable.name: variable
    for variable in (
        Variable("ALLOWED_HOSTS", "Host names the server answers to, separated by commas. Required in production."),
        Variable("CSRF_TRUSTED_ORIGINS", "Origins, with scheme, whose forms are accepted, separated by commas.", ""),
        Variable("DATABASE_OWNER_URL", "PostgreSQL address of the role that owns the tables. Needed only to migrate.", secret=True),
        Variable("DATABASE_URL", "PostgreSQL address of the application role. Without it the embedded server is used; required in production.", secret=True),
        Variable("DEBUG", "Show error pages with details. Refused in production.", "0"),
        Variable("EARMARK_EMBEDDING_DIMENSIONS", "Length of the vectors asked of the embedding model; 0 means the model's own length.", "0"),
        Variable("EARMARK_EMBEDDING_MODEL", "`local` for the model that ships with Earmark, or the name of a model at OPENAI_BASE_URL.", "local"),
        Variable("EARMARK_EMBEDDING_PRICE", "Price of a million tokens of the embedding model, as a number, for the cost that is shown.", "0"),
        Variable("EARMARK_KEY_RATE", "Requests a minute that one service key may make over the long run; 0 means no limit.", "12000"),
        Variable("EARMARK_LOG_LEVEL", "Lowest level that is logged: DEBUG, INFO, WARNING or ERROR.", "INFO"),
        Variable("EARMARK_METRICS_TOKEN", "Token that a reader of /metrics sends as a bearer token. Without it only this machine may read them.", secret=True),
        Variable("EARMARK_ORGANIZATION_RATE", "Requests of voice runtimes a minute that one organization may receive; 0 means no limit.", "12000"),
        Variable("EARMARK_PAGE_CONCURRENCY", "Requests of pages and of the REST API that one web process works on at once; 0 means half its threads, and two fewer than its connections.", "0"),
        Variable("EARMARK_PREPARED_STATEMENTS", "Whether the server keeps the plans of a search's statements; 0 for a pooler that loses them.", "1"),
        Variable("EARMARK_RUNS", "Folder with the figures of the last `make eval` and `make bench`, shown in the admin. Without it `.earmark/runs` of this checkout."),
        Variable("EARMARK_SECOND_FACTOR_REQUIRED", "Whether everybody in the admin has to set up a second factor.", "0"),
        Variable("EARMARK_SERVICE_KEY", "Service key with which `manage.py mcp` searches.", secret=True),
        Variable("EARMARK_SESSION_RATE", "Searches a minute that one call may make; 0 means no limit.", "600"),
        Variable("EARMARK_SOURCE_FOLDERS", "Folders on the server, each with a folder per organization that its sources may be read from, separated by commas. Without it no source reads files.", ""),
        Variable("EARMARK_TRACED_PERCENT", "Of 100 searches, how many are told to the collector at OTEL_EXPORTER_OTLP_ENDPOINT.", "100"),
        Variable("EARMARK_TRUSTED_PROXIES", "How many proxies in front of the server set X-Forwarded-For and X-Forwarded-Proto.", "0"),
        Variable("EARMARK_VOICE_CONCURRENCY", "Requests of voice runtimes that one web process works on at once; 0 means two fewer than its threads.", "0"),
        Variable("EARMARK_WEB_CONNECTIONS", "Database connections that the threads of one web process share; 0 means one for each thread.", "8"),
        Variable("EARMARK_WEB_THREADS", "Threads in each web process.", "16"),
        Variable("EARMARK_WEB_WORKERS", "Number of web processes.", "2"),
        Variable("EMAIL_FROM", "Sender of invitations and of links for a new password.", "earmark@localhost"),
        Variable("EMAIL_URL", "Mail server: smtp:// begins TLS, smtps:// is TLS, smtp+plain:// is neither. Without it nothing is sent, and links are given by hand; `make run` writes mail into its log.", secret=True),
        Variable("HOST", "Address `make run` listens on; 0.0.0.0 is every address of the machine.", "127.0.0.1"),
        Variable("OIDC_AUTHORIZATION_URL", "Single sign-on: where the provider asks people to sign in."),
        Variable("OIDC_CLIENT_ID", "Single sign-on: the name under which an OpenID Connect provider knows this installation. Without it people sign in with a password."),
        Variable("OIDC_CLIENT_SECRET", "Single sign-on: the secret of that name.", secret=True),
        Variable("OIDC_KEYS_URL", "Single sign-on: the keys with which the provider signs (JWKS)."),
        Variable("OIDC_TOKEN_URL", "Single sign-on: where a code is changed for a token."),
        Variable("OIDC_USER_URL", "Single sign-on: where the provider says whose mailbox it is."),
        Variable("OPENAI_API_KEY", "Key for the embedding service at OPENAI_BASE_URL.", secret=True),
        Variable("OPENAI_BASE_URL", "Address of OpenAI or of any server that speaks its API.", "https://api.openai.com/v1"),
        Variable("OTEL_EXPORTER_OTLP_ENDPOINT", "Address of an OpenTelemetry collector that takes OTLP over HTTP; spans go to /v1/traces below it. Without it nothing is sent."),
        Variable("OTEL_EXPORTER_OTLP_HEADERS", "Headers for the collector, as name=value, separated by commas.", secret=True),
        Variable("OTEL_SERVICE_NAME", "The name under which the collector knows this installation.", "earmark"),
        Variable("PORT", "Port of the web server. If it is taken, `make run` uses the next free one.", "8000"),
        Variable("PROMETHEUS_MULTIPROC_DIR", "Folder in which web processes share their metrics; empty it before each start. Without it each process shows its own."),
        Variable("REDIS_URL", "Redis address for Celery. Without it the drain process does all indexing.", secret=True),
        Variable("SECRET_KEY", "Key that signs sessions, at least 50 characters. Required in production.", secret=True),
    )
}  # fmt: skip
"""Shape: name -> Variable. A secret can also be given as NAME_FILE, the path of a file that holds it."""
