"""Voice runtimes that ask one search after the other: `python -m bench.clients`, told by JSON on its input."""

from __future__ import annotations

import http.client
import json
import secrets
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Final

# How long a refused client waits that is not told how long.
_PATIENCE_S: Final = 0.05


@dataclass
class Heard:
    """What came back: seconds by status, and whatever was no answer at all."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    broken: int = 0


def main() -> None:
    """Ask for as long as was said, and print what came back."""
    told = json.load(sys.stdin)
    heard = Heard()
    lock, ends = threading.Lock(), time.monotonic() + told["seconds"]
    threads = [
        threading.Thread(target=_ask, args=(told, number, ends, heard, lock))
        for number in range(told["clients"])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    json.dump(asdict(heard), sys.stdout)


def _words(number: int, asked: int) -> str:
    """Return a pair of words that comes once in a million, out of a thousand that are neither common nor rare.

    So no cache answers for the embedder, and what grows in an hour is not a cache of ever new words.
    """
    return f"word{2_000 + (number * 7919 + asked * 31) % 997} word{2_000 + asked % 1_009}"


def _ask(told: dict[str, Any], number: int, ends: float, heard: Heard, lock: Any) -> None:
    connection = http.client.HTTPConnection(
        "127.0.0.1", told["ports"][number % len(told["ports"])], timeout=30
    )
    path = told["paths"][number % len(told["paths"])]
    asked, call = 0, secrets.token_hex(4)
    while time.monotonic() < ends:
        asked += 1
        words = f"{_words(number, asked)} call {call}"
        said = words if told["words"] == "query" else [words]
        body = json.dumps(told["body"] | {told["words"]: said}) if told["body"] else None
        began = time.perf_counter()
        try:
            connection.request("POST" if body else "GET", path, body, told["headers"])
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            with lock:
                heard.broken += 1
            continue
        with lock:
            heard.seconds.setdefault(answer.status, []).append(time.perf_counter() - began)
        if answer.status == 503:
            time.sleep(float(answer.headers.get("Retry-After") or _PATIENCE_S))
        if told["pace"]:
            # The server closes a connection that is quiet for long.
            connection.close()
            time.sleep(max(0.0, began + told["pace"] - time.perf_counter()))


if __name__ == "__main__":
    main()
