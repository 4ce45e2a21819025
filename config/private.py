"""Files below `.earmark/` that only their owner may read."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_SH, flock
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
HOME: Final = ROOT / ".earmark"


def home() -> Path:
    """`.earmark` of this checkout, made when it is missing."""
    HOME.mkdir(mode=0o711, exist_ok=True)
    return HOME


def read_private(name: str) -> dict[str, Any]:
    """The object in `.earmark/<name>.json`; empty when there is none."""
    try:
        found: dict[str, Any] = json.loads((HOME / f"{name}.json").read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return found


def write_private(name: str, content: dict[str, Any]) -> None:
    """Replace `.earmark/<name>.json` as a whole, mode 600 from its first byte."""
    path = home() / f"{name}.json"
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2, ensure_ascii=False)
        file.write("\n")
    draft.replace(path)


def kept_secrets(name: str, *keys: str) -> dict[str, str]:
    """Random values for `keys`, made once and kept in `.earmark/<name>.json`."""
    with locked(f"{name}-secrets"):
        known = read_private(name)
        missing = [key for key in keys if key not in known]
        if missing:
            known.update({key: secrets.token_urlsafe(48) for key in missing})
            write_private(name, known)
    return {key: known[key] for key in keys}


@contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time; the lock goes with the process, however it ends."""
    descriptor = open_lock(name)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def open_lock(name: str, *, shared: bool = False) -> int:
    """A descriptor of `.earmark/<name>.lock`, with a shared lock when asked for."""
    descriptor = os.open(home() / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    if shared:
        flock(descriptor, LOCK_SH)
    return descriptor
