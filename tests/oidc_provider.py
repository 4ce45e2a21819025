"""An OpenID Connect provider on this machine: signs with a key of its own what a test lets it say."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT = "earmark-tests"


@dataclass
class Provider:
    """What it says: `claims` of the person, `token` beside the usual of its token."""

    port: int = 0
    claims: dict[str, Any] = field(default_factory=dict)
    token: dict[str, Any] = field(default_factory=dict)
    nonce: str = ""
    status: int = 200
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    key: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048)
    )

    def settings(self) -> dict[str, Any]:
        address = f"http://127.0.0.1:{self.port}"
        return {
            "OIDC_OP_AUTHORIZATION_ENDPOINT": f"{address}/authorize",
            "OIDC_OP_TOKEN_ENDPOINT": f"{address}/token",
            "OIDC_OP_USER_ENDPOINT": f"{address}/user",
            "OIDC_OP_JWKS_ENDPOINT": f"{address}/keys",
        }

    def said(self, path: str) -> dict[str, Any]:
        if path == "/keys":
            public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]}
        if path == "/user":
            return self.claims
        return {"access_token": "a", "token_type": "Bearer", "id_token": self._id_token()}

    def _id_token(self) -> str:
        now = int(time.time())
        usual = {"iss": "tests", "sub": "1", "aud": CLIENT, "iat": now, "exp": now + 300}
        told = {**usual, "nonce": self.nonce, **self.token}
        return jwt.encode(told, self.key, algorithm="RS256", headers={"kid": "one"})


@contextmanager
def provider() -> Iterator[Provider]:
    """Serve a provider until the block ends."""
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            made.asked.append(parse_qs(sent.decode()))
            self._answer()

        def _answer(self) -> None:
            body = json.dumps(made.said(self.path)).encode()
            self.send_response(made.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
