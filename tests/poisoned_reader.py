"""The reading child with a reader that does what its file is named after."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from knowledge.ingestion import child
from knowledge.ingestion.readers.parsed import ParsedText


def read_file(path: str, name: str) -> list[ParsedText]:
    POISONS[name.rpartition("/")[2]](Path(path))
    return [ParsedText(name, f"{os.getpid()}")]


def spin(_path: Path) -> None:
    while True:
        pass


def swallow(_path: Path) -> None:
    held = [bytearray(64 * 1024 * 1024) for _ in range(64)]
    raise AssertionError(len(held))


def deepen(_path: Path) -> None:
    deepen(_path)


def print_noise(_path: Path) -> None:
    sys.stdout.write("noise" * 10_000)
    sys.stderr.write("noise")
    sys.stdout.flush()
    os.write(1, b"noise")


POISONS: dict[str, Any] = {
    "fine": lambda _path: None,
    "abort": lambda _path: os.abort(),
    "exit": lambda _path: os._exit(0),
    "spin": spin,
    "sleep": lambda _path: time.sleep(60),
    "swallow": swallow,
    "deepen": deepen,
    "print": print_noise,
    "raise": lambda _path: dict[str, str]()["secret text"],
    "write": lambda path: path.write_text("new"),
    "connect": lambda _path: socket.create_connection(("127.0.0.1", 9)),
    "run": lambda _path: subprocess.run(["true"]),
    "environment": lambda _path: os.environ["SECRET_KEY"],
}

if __name__ == "__main__":
    setattr(child, "read_file", read_file)  # noqa: B010 - the name is not exported
    child.main()
