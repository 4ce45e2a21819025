"""Reading one page: bounded in size and time, with conditions, never led to a private address."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self
from urllib.parse import urljoin

import httpx2

from knowledge.ingestion.limits import MEBIBYTE
from knowledge.sources.addresses import host_of, public_address
from knowledge.sources.errors import PageUnavailable

AGENT: Final = "Earmark"
LARGEST_PAGE: Final = 10 * MEBIBYTE
PAGE_SECONDS: Final = 30.0
MOST_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_TIMEOUT: Final = httpx2.Timeout(10.0)


@dataclass(frozen=True)
class Fetched:
    """What came back; `url` is where it was found after redirects."""

    url: str
    status: int
    body: bytes = b""
    kind: str = ""
    etag: str = ""
    last_modified: str = ""


class Fetcher:
    """Reads pages; cookies and proxies of the environment play no part."""

    def __init__(self, *, verify: ssl.SSLContext | bool = True) -> None:
        self._client = httpx2.Client(
            trust_env=False,
            verify=verify,
            timeout=_TIMEOUT,
            # Two hosts may share an address: a connection made for one is not used for the other.
            limits=httpx2.Limits(max_keepalive_connections=0),
            headers={"User-Agent": AGENT, "Accept-Encoding": "gzip"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def get(self, url: str, conditions: dict[str, str] | None = None) -> Fetched:
        """Return the page, or that it has not changed.

        Raises: AddressRefused, PageUnavailable
        """
        for _ in range(MOST_REDIRECTS + 1):
            try:
                fetched = self._once(url, conditions or {})
            except (ValueError, httpx2.InvalidURL) as error:
                raise PageUnavailable("Its address, or where it leads, cannot be read.") from error
            if fetched.status not in _REDIRECTS:
                return fetched
            url = fetched.url
        raise PageUnavailable("It redirects too often.")

    def _once(self, url: str, conditions: dict[str, str]) -> Fetched:
        # The connection goes to the address that was checked; name and certificate stay the host's.
        host = public_address(url)
        pinned = httpx2.URL(url).copy_with(host=host)
        request = self._client.build_request(
            "GET",
            pinned,
            headers={**conditions, "Host": httpx2.URL(url).netloc.decode("ascii")},
            extensions={"sni_hostname": host_of(url), "timeout": _TIMEOUT.as_dict()},
        )
        try:
            response = self._client.send(request, stream=True)
            try:
                return _read(url, response)
            finally:
                response.close()
        except httpx2.HTTPError as error:
            raise PageUnavailable(f"It did not answer: {type(error).__name__}.") from error
        finally:
            self._client.cookies.clear()


def _read(url: str, response: httpx2.Response) -> Fetched:
    headers = response.headers
    if response.status_code in _REDIRECTS:
        return Fetched(urljoin(url, headers.get("Location", "")), response.status_code)
    body = _bounded(response) if response.status_code == 200 else b""
    return Fetched(
        url,
        response.status_code,
        body,
        headers.get("Content-Type", "").partition(";")[0].strip().lower(),
        headers.get("ETag", "")[:400],
        headers.get("Last-Modified", "")[:100],
    )


def _bounded(response: httpx2.Response) -> bytes:
    ends, parts, size = time.monotonic() + PAGE_SECONDS, [], 0
    # As they come: waiting for a larger part would let a server that drips decide how long it takes.
    for part in response.iter_bytes():
        size += len(part)
        if size > LARGEST_PAGE:
            raise PageUnavailable(f"It is larger than {LARGEST_PAGE // MEBIBYTE} MiB.")
        if time.monotonic() > ends:
            raise PageUnavailable(f"It took longer than {PAGE_SECONDS:.0f} s.")
        parts.append(part)
    return b"".join(parts)
