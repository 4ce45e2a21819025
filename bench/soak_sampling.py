"""One look at a running soak: memory of every process and every backend, connections, and what waits."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

_AGE: Final = """
SELECT coalesce(extract(epoch FROM now() - min(desired_at)), 0) FROM knowledge_indexstate
 WHERE desired_generation > applied_generation AND status <> 'failed'
"""
_BACKENDS: Final = """
SELECT pid FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_NAMES: Final = {b"gunicorn": "web", b"manage.py": "index", b"celery": "celery"}
BACKENDS: Final = "backends"


@dataclass(frozen=True)
class Sample:
    """One look.

    Units: seconds since the beginning; megabytes of all our processes together, shared pages counted
           once for each (PSS); megabytes that the backends of the database hold for themselves, with
           the plans they prepared, and without shared buffers: proportional memory of all kinds moves
           with how many backends touch the buffers, so theirs is the anonymous part (Pss_Anon). A page
           of the buffers that one backend alone touched counts as Private_Dirty, never as anonymous.
           Seconds that the oldest change has been waiting; answers until then, by kind.
    """

    at: float
    memory_mb: float
    backends_mb: float
    connections: int
    pending_s: float
    memory_of: dict[str, float]
    answers: dict[str, int] = field(default_factory=dict)


def sample(connection: psycopg.Connection, at: float, answers: dict[str, int]) -> Sample:
    """Look at the database that the connection is open in, and at every process we started."""
    backends = [pid for (pid,) in connection.execute(_BACKENDS).fetchall()]
    age = connection.execute(_AGE).fetchone()
    memory: dict[str, float] = defaultdict(float)
    for pid in _descendants(os.getpid()):
        memory[_name(pid)] += _megabytes(pid, "Pss")
    held = sum(_megabytes(pid, "Pss_Anon") for pid in backends)
    return Sample(
        at=round(at, 1),
        memory_mb=round(sum(memory.values()), 1),
        backends_mb=round(held, 1),
        connections=len(backends),
        pending_s=float(age[0]) if age else 0.0,
        memory_of={
            name: round(used, 1) for name, used in {**memory, BACKENDS: held}.items() if used
        },
        answers=answers,
    )


def _name(pid: int) -> str:
    """Return which of ours it is: the web server, the index process, Celery."""
    command = _command(pid).split(b"\0")
    return next((name for word, name in _NAMES.items() if word in command), "other")


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(number) for number in task.read_text().split()]
        except OSError:
            continue
        found += [one for child in children for one in (child, *_descendants(child))]
    return found


def _megabytes(pid: int, kind: str) -> float:
    # The clients keep every time they measured; they are not what is looked at.
    if b"bench." in _command(pid):
        return 0.0
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:")) / 1024


def _command(pid: int) -> bytes:
    # Whatever may not be read stops the soak: nothing grows in zeros. A process may have ended meanwhile.
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
