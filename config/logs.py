"""Log lines as JSON: what happened and to which request, never what was said."""

from __future__ import annotations

import logging
import re
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

# Django's warnings quote the address of a request; what follows these is the secret of a link.
_SECRET_LINKS: Final = re.compile(r"(/people/(?:join|password)/)\S+")
REQUEST_ID: Final[ContextVar[str]] = ContextVar("request_id", default="")


class RequestIdFilter(logging.Filter):
    """Stamps each record with the id of the request that caused it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always keeps the record."""
        record.request_id = REQUEST_ID.get()
        return True


class JsonLines(JsonFormatter):
    """One JSON object a line. Of an exception only class and place are kept: its text may quote data."""

    def __init__(self) -> None:
        super().__init__(
            "{asctime}{levelname}{name}{message}{request_id}",
            style="{",
            # Django's errors carry the request, whose address may carry what somebody searched for.
            reserved_attrs=[*RESERVED_ATTRS, "request"],
            rename_fields={"asctime": "at", "levelname": "level", "name": "logger"},
        )

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """The fields of a line, without secrets of links."""
        log_data["message"] = _SECRET_LINKS.sub(r"\1…", str(log_data.get("message", "")))
        return super().process_log_record(log_data)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802
        """The moment in UTC, ISO 8601."""
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's own name
        """Class names and frames of the chain, without messages or source lines."""
        lines: list[str] = []
        error = ei[1]
        while error is not None and len(lines) < 100:
            frames = traceback.extract_tb(error.__traceback__)
            lines.append(type(error).__name__)
            lines.extend(f"  {f.filename}:{f.lineno} {f.name}" for f in frames[-20:])
            error = error.__cause__ or error.__context__
        return "\n".join(lines)
