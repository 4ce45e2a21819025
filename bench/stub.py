"""An embedding service that takes 150 ms and knows nothing: `python -m bench.stub PORT`."""

from __future__ import annotations

import base64
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from zlib import crc32

import numpy as np

from bench.data import DIMENSIONS, Floats

LATENCY_S: Final = 0.15


class Stub(BaseHTTPRequestHandler):
    """Answers as the OpenAI embeddings API does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Wait, then answer with a direction made of each text."""
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(LATENCY_S)
        texts = [sent["input"]] if isinstance(sent["input"], str) else sent["input"]
        written = _packed if sent.get("encoding_format") == "base64" else _vector
        data = [
            {"object": "embedding", "index": index, "embedding": written(text)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        told = {"object": "list", "data": data, "model": sent["model"], "usage": usage}
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Takes many at once."""

    request_queue_size = 256


def _vector(text: str) -> list[float]:
    told: list[float] = _direction(text).tolist()
    return told


def _packed(text: str) -> str:
    return base64.b64encode(_direction(text).tobytes()).decode()


def _direction(text: str) -> Floats:
    chance = np.random.default_rng(crc32(text.encode()))
    vector = chance.standard_normal(DIMENSIONS, dtype=np.float32)
    return vector / np.float32(np.linalg.norm(vector))


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Stub).serve_forever()
