"""Which version a caller read, and whether it is still the one that is there."""

from __future__ import annotations

import re
from typing import Any, Final

from rest_framework.request import Request

from tenants.api.errors import VersionChanged, VersionMissing

_TAG: Final = re.compile(r'"(\d{1,18})"')


def etag(version: int) -> str:
    """Return the ETag of a version number."""
    return f'"{version}"'


def named_version(request: Request) -> int | None:
    """Return the version in If-Match; None when the header names none that we give out.

    Raises: VersionMissing
    """
    given = request.headers.get("If-Match")
    if given is None:
        raise VersionMissing
    match = _TAG.fullmatch(given.strip())
    return int(match[1]) if match else None


def require_version(request: Request, current: int, theirs: dict[str, Any]) -> None:
    """Go on only when If-Match names the current version; `theirs` is what is there now.

    Raises: VersionMissing, VersionChanged with both sides
    """
    if named_version(request) != current:
        raise VersionChanged(sides={"yours": request.data, "theirs": theirs})
