"""The processes that `make run` starts, watches and stops."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from config.env import inherited
from config.log_files import shorten
from config.private import ROOT, home, read_private, write_private
from config.processes import command_line

_RECORD: Final = "processes"
_LOG_BYTES: Final = 20_000_000
_PATIENCE: Final = 10.0
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_STEADY: Final = 60.0


@dataclass
class Child:
    """One process, in a group of its own so that Ctrl-C reaches only its supervisor."""

    name: str
    command: Sequence[str]
    keep_open: Sequence[int] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = _FIRST_PAUSE
    due: float = field(default=0.0)

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return home() / f"{self.name}.log"

    def start(self) -> None:
        """Start it and note its number for the next supervisor, in case this one is killed."""
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self.process = subprocess.Popen(  # noqa: S603
                self.command,
                cwd=ROOT,
                env={**inherited(), **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                pass_fds=self.keep_open,
                start_new_session=True,
            )
        finally:
            os.close(descriptor)
        self.started = time.monotonic()
        write_private(_RECORD, {**read_private(_RECORD), self.name: self.process.pid})

    def revive(self) -> bool:
        """Start it again when it has died and its pause is over. True when it was found dead."""
        shorten(self.log, _LOG_BYTES)
        if self.process is None or self.process.poll() is None:
            return False
        now = time.monotonic()
        if not self.due:
            steady = now - self.started > _STEADY
            self.pause = _FIRST_PAUSE if steady else min(self.pause * 2, _LONGEST_PAUSE)
            self.due = now + self.pause
            return True
        if now >= self.due:
            self.due = 0.0
            self.start()
        return False

    def tail(self) -> str:
        """The last lines of its log."""
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""


def stop_all(children: Sequence[Child]) -> None:
    """Ask each to end, then end the groups of those that do not."""
    running = [child.process for child in children if child.process]
    for process in running:
        _signal(process.pid, signal.SIGTERM)
    give_up = time.monotonic() + _PATIENCE
    for process in running:
        try:
            process.wait(max(0.0, give_up - time.monotonic()))
        except subprocess.TimeoutExpired:
            _signal(process.pid, signal.SIGKILL)
            process.wait()
    write_private(_RECORD, {})


def end_left_behind() -> list[str]:
    """End what a killed supervisor of this checkout left behind, and nothing else."""
    ours = {name: pid for name, pid in read_private(_RECORD).items() if _is_ours(pid)}
    for pid in ours.values():
        _signal(pid, signal.SIGTERM)
    give_up = time.monotonic() + _PATIENCE
    while any(_is_ours(pid) for pid in ours.values()) and time.monotonic() < give_up:
        time.sleep(0.05)
    for pid in filter(_is_ours, ours.values()):
        _signal(pid, signal.SIGKILL)
    write_private(_RECORD, {})
    return list(ours)


def _is_ours(pid: int) -> bool:
    # Numbers are used again: only a process that was started from this folder is one of ours.
    return f"{ROOT}/" in command_line(pid)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
