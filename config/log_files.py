"""Logs of processes that run for months: of one that has grown too long its end is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

KEPT: Final = 1_000_000


def shorten(log: Path, most: int) -> None:
    """Keep only the end of a log longer than `most` bytes; whoever appends to it goes on.

    What is written in this very moment may be lost.
    """
    try:
        descriptor = os.open(log, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        size = os.fstat(descriptor).st_size
        if size > most:
            end = os.pread(descriptor, min(KEPT, most), size - min(KEPT, most))
            os.ftruncate(descriptor, 0)
            os.write(descriptor, end.partition(b"\n")[2])
    finally:
        os.close(descriptor)
