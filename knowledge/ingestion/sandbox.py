"""Reading untrusted files in a child with limits: a poisonous file kills the child alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from knowledge.ingestion.errors import (
    ReaderCrashed,
    ReaderOutOfMemory,
    ReaderTimedOut,
    Unreadable,
    unreadable,
)
from knowledge.ingestion.frames import Closed, Inbox, Late, packed
from knowledge.ingestion.limits import READER_WALL_SECONDS
from knowledge.ingestion.readers.parsed import FailedPart, ParsedText, Reading

ROOT: Final = Path(__file__).resolve().parents[2]
FILES_PER_CHILD: Final = 500
GOODBYE_SECONDS: Final = 2


class Sandbox:
    """One child that reads file after file, started anew when it dies."""

    def __init__(
        self, *, wall_seconds: float = READER_WALL_SECONDS, child: str = "knowledge.ingestion.child"
    ) -> None:
        self._wall_seconds = wall_seconds
        self._module = child
        self._child: subprocess.Popen[bytes] | None = None
        self._inbox = Inbox(-1)
        self._files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def read(self, path: str, name: str) -> Iterator[Reading]:
        """Yield every text in a file as the child finds it.

        Raises: Unreadable
        """
        finished = False
        try:
            self._ask(path, name)
            while not (answer := self._inbox.receive(self._deadline())).get("end"):
                yield _reading(answer)
            finished = True
        except Late as error:
            raise ReaderTimedOut from error
        except (Closed, BrokenPipeError) as error:
            raise self._cause_of_death() from error
        finally:
            if not finished:
                self._end()
        if answer.get("code") == ReaderOutOfMemory.code:
            self._end()
        if "code" in answer:
            raise _named(answer)

    def _deadline(self) -> float:
        # Counted from the last answer: what the importer does with a text is not the child's time.
        return time.monotonic() + self._wall_seconds

    def _ask(self, path: str, name: str) -> None:
        if self._child is None or self._child.poll() is not None or self._files >= FILES_PER_CHILD:
            self._end()
            self._start()
        self._files += 1
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.write(packed({"path": path, "name": name}))

    def _start(self) -> None:
        self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-s", "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=ROOT,
            env=_environment(),
            start_new_session=True,
        )
        assert self._child.stdout is not None
        self._inbox = Inbox(self._child.stdout.fileno())
        self._files = 0

    def _cause_of_death(self) -> Unreadable:
        assert self._child is not None
        code = self._child.wait()
        if code == -signal.SIGXCPU:
            return ReaderTimedOut()
        return ReaderOutOfMemory() if code == -signal.SIGKILL else ReaderCrashed()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        child.kill()
        child.wait(GOODBYE_SECONDS)


def _environment() -> dict[str, str]:
    """Nothing of ours: no secrets, no home."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _reading(answer: dict[str, Any]) -> Reading:
    part, key = str(answer.get("part", "")), str(answer.get("key", ""))
    said = answer.get("line")
    line = said if isinstance(said, int) else None
    if "code" in answer:
        return FailedPart(_named(answer), part, line, key)
    return ParsedText(
        title=str(answer.get("title", "")),
        body=str(answer.get("body", "")),
        part=part,
        folder=str(answer.get("folder", "")),
        key=key,
        line=line,
        labels=dict(answer.get("labels") or {}),
    )


def _named(answer: dict[str, Any]) -> Unreadable:
    return unreadable(str(answer["code"]), str(answer.get("reason", "")))
