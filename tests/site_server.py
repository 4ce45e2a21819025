"""A web site on this machine that a test changes as it goes."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = """<!doctype html><html lang="en"><head><title>{title}</title></head><body>
<nav><a href="/">Home</a> menu menu</nav><main><article><h1>{title}</h1>
<p>{text} This sentence makes the article long enough to be taken for the main text of its page.</p>
</article></main>{links}</body></html>"""


@dataclass
class Site:
    """Pages by path; an answer may be a text, a status, or a redirect."""

    port: int = 0
    pages: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    etags: bool = True
    delay_s: float = 0.0
    hosts: list[str] = field(default_factory=list)
    # Of pages that are not HTML.
    kinds: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def page(self, path: str, text: str, *links: str) -> None:
        shown = "".join(f'<a href="{link}">{link}</a>' for link in links)
        title = path.rpartition("/")[2] or "Home"
        self.pages[path] = PAGE.format(title=title.title(), text=text, links=shown)

    def sitemap(self, *paths: str) -> None:
        inner = "".join(f"<url><loc>{self.address}{path}</loc></url>" for path in paths)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        self.pages["/sitemap.xml"] = f'<urlset xmlns="{space}">{inner}</urlset>'
        self.pages["/robots.txt"] = f"User-agent: *\nSitemap: {self.address}/sitemap.xml\n"

    def statuses(self, path: str) -> list[int]:
        return [status for asked, status in self.asked if asked == path]


@contextmanager
def site(port: int = 0) -> Iterator[Site]:
    """Serve a site until the block ends; 0 is any port that is free."""
    made = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(made.delay_s)
            made.hosts.append(self.headers.get("Host", ""))
            answer = made.pages.get(self.path, 404)
            status, headers, body = _answer(made, answer, self.headers.get("If-None-Match"))
            if self.path in made.kinds:
                headers["Content-Type"] = made.kinds[self.path]
            made.asked.append((self.path, status))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    made.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(made: Site, answer: Any, condition: str | None) -> tuple[int, dict[str, str], bytes]:
    if isinstance(answer, int):
        return answer, {}, b""
    if isinstance(answer, tuple):
        status, location = answer
        return status, {"Location": location}, b""
    body = answer.encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {"Content-Type": "text/html; charset=utf-8"} | ({"ETag": tag} if made.etags else {})
    if made.etags and condition == tag:
        return 304, headers, b""
    return 200, headers, body
