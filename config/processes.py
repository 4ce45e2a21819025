"""What another process of this machine is."""

from __future__ import annotations

import subprocess
from pathlib import Path


def command_line(pid: int) -> str:
    """The command line of a live process; empty when there is none. Works without /proc too."""
    if Path("/proc/self").exists():
        try:
            return (
                Path(f"/proc/{pid}/cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode(errors="replace")
            )
        except OSError:
            return ""
    done = subprocess.run(  # noqa: S603
        ["/bin/ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
