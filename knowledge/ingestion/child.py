"""The process that reads untrusted files; it is told paths and answers with texts."""

from __future__ import annotations

import os
from typing import Any, Final

from knowledge.ingestion.confinement import allow_for_one_file, confine
from knowledge.ingestion.errors import ReaderCrashed, ReaderOutOfMemory, Unreadable
from knowledge.ingestion.frames import Closed, Inbox, packed
from knowledge.ingestion.readers.parsed import FailedPart, Reading
from knowledge.ingestion.reading import read_file

TEXT: Final = ("title", "body", "part", "folder", "key", "line", "labels")


def main() -> None:
    """Answer until the importer closes the pipe."""
    answers = _own_output()
    inbox = Inbox(0)
    confine()
    while True:
        try:
            question = inbox.receive()
        except Closed:
            return
        allow_for_one_file()
        _send(answers, _answer(question, answers))


def _own_output() -> int:
    """Keep the pipe for answers and give libraries that print nowhere to print to."""
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def _answer(question: dict[str, Any], answers: int) -> dict[str, Any]:
    try:
        for reading in read_file(question["path"], question["name"]):
            _send(answers, _message(reading))
    except Unreadable as error:
        return {"end": True, "code": error.code, "reason": str(error)}
    except MemoryError:
        return {"end": True, "code": ReaderOutOfMemory.code, "reason": str(ReaderOutOfMemory())}
    # Whatever a library raises is about this file alone.
    except Exception as error:
        reason = f"The reader could not make sense of it ({type(error).__name__})."
        return {"end": True, "code": ReaderCrashed.code, "reason": reason}
    return {"end": True}


def _message(reading: Reading) -> dict[str, Any]:
    if isinstance(reading, FailedPart):
        return {
            "code": reading.error.code,
            "reason": str(reading.error),
            "part": reading.part,
            "line": reading.line,
            "key": reading.key,
        }
    return {name: getattr(reading, name) for name in TEXT}


def _send(answers: int, message: dict[str, Any]) -> None:
    data = memoryview(packed(message))
    while data:
        data = data[os.write(answers, data) :]


if __name__ == "__main__":
    main()
