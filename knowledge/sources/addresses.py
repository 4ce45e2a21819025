"""Only public addresses of the web are read: a source must not lead into our own network."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx2
from django.conf import settings

from knowledge.sources.errors import AddressRefused, PageUnavailable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")
SCHEMES: Final = {"http": 80, "https": 443}


def public_address(url: str) -> str:
    """Return the network address to connect to for a URL; the caller connects to this one and no other.

    A name is looked up once: between a look-up for the check and another one for the connection
    it could come to mean something else.
    Raises: AddressRefused, PageUnavailable
    """
    parts = split(url)
    try:
        found = socket.getaddrinfo(host_of(url), port_of(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise PageUnavailable(f"There is no host {parts.hostname}.") from error
    addresses = [str(each[4][0]) for each in found]
    if not settings.SOURCES_MAY_BE_PRIVATE and not all(map(_is_public, addresses)):
        raise AddressRefused
    return addresses[0]


def split(url: str) -> SplitResult:
    """Return the parts of a web address.

    Raises: AddressRefused
    """
    try:
        parts = urlsplit(url)
        port_of(parts)
    except ValueError as error:
        raise AddressRefused from error
    if parts.scheme not in SCHEMES or not parts.hostname or parts.username is not None:
        raise AddressRefused
    return parts


def host_of(url: str) -> str:
    """Return the host as it is looked up, compared and named in a certificate: ASCII, in lower case.

    Raises: AddressRefused
    """
    split(url)
    try:
        return httpx2.URL(url).raw_host.decode("ascii").lower()
    except httpx2.InvalidURL as error:
        raise AddressRefused from error


def port_of(parts: SplitResult) -> int:
    """Return the port of an address."""
    return parts.port or SCHEMES.get(parts.scheme, 0)


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    return all(each.is_global and not each.is_multicast for each in (address, *_inside(address)))


def _inside(address: Address) -> Iterator[Address]:
    """Yield the address of the older protocol that this one leads to."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _TRANSLATED:
            yield ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        yield from (each for each in (address.ipv4_mapped, address.sixtofour) if each)
