"""What the reading child gives up before it touches a file."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Any, Final

from knowledge.ingestion.limits import READER_CPU_SECONDS, READER_FILES, READER_MEMORY

DEEPEST_CALL: Final = 20_000
WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FORBIDDEN: Final = frozenset(
    {
        "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen",
        "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.mkdir", "os.rename",
        "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate",
    }
)  # fmt: skip


def confine() -> None:
    """Give up, for good, writing files, starting programs and speaking to the network."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (READER_FILES, READER_FILES))
    sys.setrecursionlimit(DEEPEST_CALL)
    sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    writes = event == "open" and isinstance(args[2], int) and args[2] & WRITING
    if writes or event in FORBIDDEN:
        raise PermissionError(f"A reader may not do this: {event}.")


def allow_for_one_file() -> None:
    """Set processor time and memory for the next file, beside what is used already."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + READER_CPU_SECONDS
    _lower(resource.RLIMIT_CPU, seconds)
    mapped = _mapped()
    if mapped:
        _lower(resource.RLIMIT_AS, mapped + READER_MEMORY)


def _lower(what: int, soft: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _mapped() -> int:
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()
