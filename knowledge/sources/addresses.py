"""Only public addresses of the web are read: a source must not lead into our own network."""

from __future__ import annotations

import ipaddress
import socket
from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from knowledge.sources.errors import AddressRefused, PageUnavailable

SCHEMES: Final = {"http": 80, "https": 443}


def public_address(url: str) -> str:
    """Return the network address to connect to for a URL; the caller connects to this one and no other.

    A name is looked up once: between a look-up for the check and another one for the connection
    it could come to mean something else.
    Raises: AddressRefused, PageUnavailable
    """
    parts = split(url)
    try:
        found = socket.getaddrinfo(parts.hostname, port_of(parts), type=socket.SOCK_STREAM)
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


def port_of(parts: SplitResult) -> int:
    """Return the port of an address."""
    return parts.port or SCHEMES.get(parts.scheme, 0)


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    inner = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    return all(each.is_global and not each.is_multicast for each in (address, inner) if each)
