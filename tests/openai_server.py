"""A server that speaks the OpenAI embeddings API on loopback, and misbehaves on request.

In a test: `with OpenAIServer() as server: server.behave("rate_limited", retry_after=7)`.
As a process: `python -m tests.openai_server --port 8001 [--behaviour silent]`; then
POST {"behaviour": "...", "times": 3} to /behaviour, GET /counts.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import json
import socket
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self, get_args

import numpy as np

Behaviour = Literal[
    "normal",  # vectors in order
    "reversed",  # complete, but last index first
    "gapped",  # one vector and its index missing
    "repeated",  # the same index twice
    "rate_limited",  # 429 with Retry-After
    "broken",  # 500
    "unavailable",  # 503
    "forbidden",  # 401
    "refused",  # 400; like all refusals its message quotes the input
    "error_body",  # 200 with an error inside
    "empty",  # 200 with an empty list
    "short",  # every vector one dimension short
    "not_a_number",  # NaN in the first vector
    "zeros",  # the first vector all zero
    "truncated",  # Content-Length kept, JSON cut in the middle
    "hung_up",  # the connection closed after half the body
    "html",  # a proxy's page
    "silent",  # takes the request and never answers
    "drip",  # one byte every 50 ms
]
Embed = Callable[[Sequence[str], str], Sequence[Sequence[float]]]
DIMENSIONS = 384
DRIP_S = 0.05
REFUSALS: dict[str, tuple[int, str]] = {
    "rate_limited": (429, "rate_limit_exceeded"),
    "broken": (500, "server_error"),
    "unavailable": (503, "overloaded"),
    "forbidden": (401, "invalid_api_key"),
    "refused": (400, "invalid_input"),
}
FIXED: dict[str, bytes] = {
    "error_body": b'{"error": {"message": "internal", "type": "server_error"}}',
    "empty": b'{"object": "list", "data": []}',
    "html": b"<html><body>Welcome</body></html>",
}


@dataclass(frozen=True)
class Order:
    """How to answer the next requests."""

    behaviour: Behaviour = "normal"
    retry_after: str = "1"
    delay_s: float = 0.0


def local_vectors(texts: Sequence[str], model: str) -> Sequence[Sequence[float]]:
    """The local model, without prefixes of its own but those of E5."""
    from knowledge.embedding.selection import embedder_from_settings

    embedder = embedder_from_settings({})
    embed = embedder.embed_queries if "query" in model else embedder.embed_passages
    return [vector.tolist() for vector in embed(texts, deadline_s=60)]


def instant_vectors(texts: Sequence[str], model: str) -> Sequence[Sequence[float]]:
    """Random but repeatable directions, at no cost: for tests of everything around the vectors."""
    return [_direction(text).tolist() for text in texts]


def _direction(text: str) -> np.ndarray:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return np.random.default_rng(int.from_bytes(digest)).standard_normal(DIMENSIONS)


class OpenAIServer:
    """The server and what it has seen: `calls`, `inputs` (how often each text was asked), `bodies`."""

    def __init__(self, embed: Embed = instant_vectors, port: int = 0) -> None:
        self.embed = embed
        self.calls = 0
        self.inputs: Counter[str] = Counter()
        self.bodies: deque[dict[str, Any]] = deque(maxlen=100)
        self.authorizations: deque[str] = deque(maxlen=100)
        # A text that holds this is refused, and whatever is sent beside it.
        self.poison = ""
        self.stopping = threading.Event()
        self._orders: deque[Order] = deque()
        self._standing = Order()
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def behave(
        self,
        behaviour: Behaviour = "normal",
        *,
        times: int | None = None,
        retry_after: float | str = 1,
        delay_s: float = 0.0,
    ) -> None:
        """From now on, or for the next `times` requests only."""
        order = Order(behaviour, str(retry_after), delay_s)
        with self._lock:
            if times is None:
                self._standing = order
                self._orders.clear()
            else:
                self._orders.extend([order] * times)

    def counts(self) -> dict[str, Any]:
        with self._lock:
            texts, twice = sum(self.inputs.values()), sum(n > 1 for n in self.inputs.values())
            return {"calls": self.calls, "texts": texts, "asked_twice": twice}

    def seen(self, body: dict[str, Any], authorization: str) -> Order:
        texts = body.get("input", [])
        with self._lock:
            self.calls += 1
            self.inputs.update([texts] if isinstance(texts, str) else texts)
            self.bodies.append(body)
            self.authorizations.append(authorization)
            if self.poison and any(self.poison in text for text in texts):
                return Order("refused")
            return self._orders.popleft() if self._orders else self._standing

    def serve_forever(self) -> None:
        self._http.serve_forever()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.hang_up()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], owner: OpenAIServer) -> None:
        super().__init__(address, _Handler)
        self.owner = owner
        self.open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        if self.path == "/counts":
            self._json(200, self.server.owner.counts())
        else:
            self._json(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/behaviour":
            body["behaviour"] = body.get("behaviour", "normal")
            self.server.owner.behave(body.pop("behaviour"), **body)
            self._json(200, {})
            return
        owner = self.server.owner
        order = owner.seen(body, self.headers.get("Authorization", ""))
        owner.stopping.wait(order.delay_s)
        if order.behaviour in REFUSALS:
            self._refuse(order, body)
        elif order.behaviour in FIXED:
            self._send(200, FIXED[order.behaviour])
        else:
            whole = json.dumps(self._reply(body, order.behaviour)).encode()
            getattr(self, f"_{order.behaviour}", self._whole)(whole)

    def _refuse(self, order: Order, body: dict[str, Any]) -> None:
        status, code = REFUSALS[order.behaviour]
        error = {"message": f"I cannot embed {body['input']}", "type": code, "code": code}
        headers = {"Retry-After": order.retry_after} if status == 429 else {}
        self._json(status, {"error": error}, headers)

    def _whole(self, whole: bytes) -> None:
        self._send(200, whole)

    def _truncated(self, whole: bytes) -> None:
        self._send(200, whole[: len(whole) // 2])

    def _hung_up(self, whole: bytes) -> None:
        self._head(200, len(whole))
        self.wfile.write(whole[: len(whole) // 2])
        self.close_connection = True

    def _silent(self, _: bytes) -> None:
        self.server.owner.stopping.wait()
        self.close_connection = True

    def _drip(self, whole: bytes) -> None:
        self._head(200, len(whole))
        for at in range(len(whole)):
            if self.server.owner.stopping.wait(DRIP_S):
                break
            self.wfile.write(whole[at : at + 1])
            self.wfile.flush()
        self.close_connection = True

    def _reply(self, body: dict[str, Any], behaviour: Behaviour) -> dict[str, Any]:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        rows = np.array(self.server.owner.embed(texts, body["model"]), np.float32)
        rows = rows[:, : body.get("dimensions", rows.shape[1])]
        rows = _spoilt(rows, behaviour)
        as_text = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": i,
                "embedding": _base64(row) if as_text else row.tolist(),
            }
            for i, row in enumerate(rows)
        ]
        tokens = sum(len(text.split()) for text in texts)
        return {
            "object": "list",
            "model": body["model"],
            "data": _reordered(data, behaviour),
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def _json(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(body).encode(), headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, length: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        kind = {"Content-Type": "application/json", "Content-Length": str(length)}
        for name, value in {**kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()


def _spoilt(rows: np.ndarray, behaviour: Behaviour) -> np.ndarray:
    if behaviour == "short":
        return rows[:, :-1]
    if behaviour == "not_a_number":
        rows[0, 0] = np.nan
    if behaviour == "zeros":
        rows[0] = 0
    return rows


def _reordered(data: list[dict[str, Any]], behaviour: Behaviour) -> list[dict[str, Any]]:
    if behaviour == "reversed":
        return data[::-1]
    if behaviour == "gapped":
        return data[:-2] + data[-1:]
    if behaviour == "repeated":
        return [{**entry, "index": 0} for entry in data]
    return data


def _base64(row: np.ndarray) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--behaviour", choices=get_args(Behaviour), default="normal")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--vectors", choices=["instant", "local"], default="instant")
    options = parser.parse_args()
    embed = local_vectors if options.vectors == "local" else instant_vectors
    server = OpenAIServer(embed, options.port)
    server.behave(options.behaviour, delay_s=options.delay)
    sys.stdout.write(f"{server.base_url}\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
