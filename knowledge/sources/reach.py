"""How far a source reaches: which addresses lie below another one, whatever way they are written."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from knowledge.sources.addresses import host_of, port_of, split
from knowledge.sources.errors import AddressRefused, SourceMisconfigured


@dataclass(frozen=True)
class Place:
    """An address as it is compared: letter case, encoding and a port that goes without saying are gone.

    Shape: `origin` is scheme, host and port.
    """

    origin: tuple[str, str, int]
    path: str


def place_of(url: str) -> Place:
    """Return where an address is.

    Raises: AddressRefused
    """
    parts = split(url)
    return Place((parts.scheme, host_of(url), port_of(parts)), _path(parts.path or "/"))


def prefix_of(url: str) -> Place:
    """Return the place below which a site lies.

    Raises: SourceMisconfigured, AddressRefused
    """
    place, parts = place_of(url), urlsplit(url)
    if parts.query or parts.fragment:
        raise SourceMisconfigured('"prefix" has nothing behind ? or #.')
    return place


def lies_below(url: str, prefix: Place) -> bool:
    """Whether an address is the prefix, or lies below it; /help holds neither /help-old nor /help/../press."""
    try:
        place = place_of(url)
    except AddressRefused:
        return False
    below = prefix.path.removesuffix("/") + "/"
    is_below = place.path == prefix.path or place.path.startswith(below)
    return place.origin == prefix.origin and is_below


def _path(path: str) -> str:
    """Return a path with nothing encoded.

    Some servers decode before they look for dots, some twice: what goes up for any of them is refused.
    """
    plain = unquote(path, errors="surrogateescape")
    while plain != path:
        path, plain = plain, unquote(plain, errors="surrogateescape")
    plain = plain.replace("\\", "/")
    # Some servers take a name to end at a semicolon.
    if any(name.partition(";")[0] == ".." for name in plain.split("/")):
        raise AddressRefused
    return plain
