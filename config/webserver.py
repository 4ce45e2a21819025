"""gunicorn's settings: `gunicorn -c python:config.webserver config.wsgi`."""

from __future__ import annotations

from typing import Any

from prometheus_client.multiprocess import mark_process_dead

from config.env import env_int, env_optional

worker_class = "gthread"
workers = env_int("EARMARK_WEB_WORKERS", low=1, high=64)
threads = env_int("EARMARK_WEB_THREADS", low=1, high=256)
# A request of a voice runtime ends within 5.5 s; a worker that is told to stop lets it.
graceful_timeout = 6
control_socket_disable = True
# One import for all workers, and a server that cannot be imported ends at once.
preload_app = True
# gunicorn's own lines in the same form as all others, and without the texts of exceptions.
logconfig_dict = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "config.logs.JsonLines"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {"gunicorn.error": {"handlers": ["stderr"], "level": "INFO", "propagate": False}},
}


def child_exit(_server: Any, worker: Any) -> None:
    """Take the gauges of a worker that has ended out of the shared metrics."""
    if env_optional("PROMETHEUS_MULTIPROC_DIR"):
        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
