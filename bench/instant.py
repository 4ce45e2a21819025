"""An embedding service that answers at once: `python -m bench.instant PORT`."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from zlib import crc32

import numpy as np

from bench.data import DIMENSIONS, SEED, unit

# Ready before anybody asks: what is measured is the one who asks.
DIRECTIONS: Final = 251


class Instant(BaseHTTPRequestHandler):
    """Answers as the OpenAI embeddings API does."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer with one of the ready directions for each text."""
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = (
            f'{{"object":"embedding","index":{index},"embedding":{_READY[crc32(text.encode()) % DIRECTIONS]}}}'
            for index, text in enumerate(texts)
        )
        usage = f'"usage":{{"prompt_tokens":{len(texts)},"total_tokens":{len(texts)}}}'
        body = f'{{"object":"list","model":"bench","data":[{",".join(rows)}],{usage}}}'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


def _ready() -> list[str]:
    chance = np.random.default_rng(SEED)
    rows = unit(chance.standard_normal((DIRECTIONS, DIMENSIONS)).astype(np.float32))
    return [json.dumps(row.astype(float).round(6).tolist(), separators=(",", ":")) for row in rows]


_READY: Final = _ready()

if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Instant).serve_forever()
