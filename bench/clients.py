"""Voice runtimes that ask one search after the other: `python -m bench.clients`, told by JSON on its input."""

from __future__ import annotations

import http.client
import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

# How long a refused client waits that is not told how long.
_PATIENCE_S: Final = 0.05
_NOTED_EVERY_S: Final = 2.0
# From here on a status alone does not say who refused: too many at once, or a search that failed.
_AMBIGUOUS: Final = 429
OVERLOADED: Final = "503 overloaded"


@dataclass
class Heard:
    """What came back.

    Shape: seconds by status, as "200" or "503 overloaded"; refused: ids of the requests that found no
           place; broken: how many had no answer at all.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    broken: int = 0

    def take(self, answer: http.client.HTTPResponse, body: bytes, seconds: float) -> None:
        """Remember one answer."""
        kind = kind_of(answer.status, body)
        self.seconds.setdefault(kind, []).append(seconds)
        if kind == OVERLOADED:
            self.refused.append(str(answer.headers["X-Request-Id"]))

    def counts(self) -> dict[str, int]:
        """Return how many came back of each kind."""
        return {kind: len(times) for kind, times in self.seconds.items()} | {"broken": self.broken}


def main() -> None:
    """Ask for as long as was said, and print what came back."""
    told = json.load(sys.stdin)
    heard = Heard()
    lock, ends = threading.Lock(), time.monotonic() + told["seconds"]
    threads = [
        threading.Thread(target=_ask, args=(told, number, ends, heard, lock))
        for number in range(told["clients"])
    ]
    if told["noted_in"]:
        threading.Thread(target=_note, args=(told, heard, lock), daemon=True).start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    json.dump(asdict(heard), sys.stdout)


def kind_of(status: int, body: bytes) -> str:
    """Return the status, and with it what the body says of a refusal: an error's code, a search's status."""
    if status < _AMBIGUOUS:
        return str(status)
    try:
        said = json.loads(body)
        return f"{status} {said['error']['code'] if 'error' in said else said['status']}"
    except (ValueError, KeyError, TypeError):
        return str(status)


def _note(told: dict[str, Any], heard: Heard, lock: Any) -> None:
    """Keep a file of what came back until now, for whoever watches a long run."""
    kept = Path(told["noted_in"])
    draft = kept.with_suffix(".draft")
    while True:
        time.sleep(_NOTED_EVERY_S)
        with lock:
            counts = heard.counts()
        draft.write_text(json.dumps(counts), "utf-8")
        draft.replace(kept)


def _words(number: int, asked: int) -> str:
    """Return a pair of words that comes once in a million, out of a thousand that are neither common nor rare.

    So no cache answers for the embedder, and what grows in an hour is not a cache of ever new words.
    """
    return f"word{2_000 + (number * 7919 + asked * 31) % 997} word{2_000 + asked % 1_009}"


def _turns(ends: float, pace: float) -> Iterator[int]:
    """Count the questions of one client, each when it is due; one that is late is asked at once."""
    began, asked = time.monotonic(), 0
    while True:
        time.sleep(max(0.0, began + asked * pace - time.monotonic()))
        if time.monotonic() >= ends:
            return
        asked += 1
        yield asked


def _ask(told: dict[str, Any], number: int, ends: float, heard: Heard, lock: Any) -> None:
    connection = http.client.HTTPConnection(
        "127.0.0.1", told["ports"][number % len(told["ports"])], timeout=30
    )
    path = told["paths"][number % len(told["paths"])]
    call = secrets.token_hex(4)
    for asked in _turns(ends, told["pace"]):
        words = f"{_words(number, asked)} call {call}"
        wanted = words if told["words"] == "query" else [words]
        body = json.dumps(told["body"] | {told["words"]: wanted}) if told["body"] else None
        began = time.perf_counter()
        try:
            connection.request("POST" if body else "GET", path, body, told["headers"])
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            with lock:
                heard.broken += 1
            time.sleep(_PATIENCE_S)
            continue
        taken = time.perf_counter() - began
        with lock:
            heard.take(answer, said, taken)
        if answer.status == 503:
            time.sleep(float(answer.headers.get("Retry-After") or _PATIENCE_S))
        if told["pace"]:
            # The server closes a connection that is quiet for long.
            connection.close()


if __name__ == "__main__":
    main()
