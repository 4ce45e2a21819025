"""Lists in pages that never repeat or skip a row, however the rows change meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet
from rest_framework.request import Request

from tenants.api.errors import CursorRefused
from tenants.refusals import InvalidRequest

USUAL: Final = 50
MOST: Final = 200
_SALT: Final = "tenants.api.paging"
RowT = TypeVar("RowT", bound=Model)


@dataclass(frozen=True)
class Page(Generic[RowT]):
    """Some rows in order, and where to go on; None at the end."""

    rows: list[RowT]
    following: str | None

    def body(self, shown: Sequence[Any]) -> dict[str, Any]:
        """Return the body of a list whose rows are shown like this."""
        return {"results": list(shown), "next": self.following}


def page_of(rows: QuerySet[RowT], request: Request, *keys: str) -> Page[RowT]:
    """Return the page that the request asks for by `limit` and `cursor`.

    Shape:  keys are columns that order the rows, the last one unique, `-` for descending.
    Raises: CursorRefused, InvalidRequest
    Cost:   one statement.
    """
    limit = _limit(request)
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(_after(_opened(cursor, keys), keys))
    found = list(rows.order_by(*keys)[: limit + 1])
    following = _sealed(found[limit - 1], keys) if len(found) > limit else None
    return Page(found[:limit], following)


def _limit(request: Request) -> int:
    given = request.query_params.get("limit", str(USUAL))
    if not (given.isascii() and given.isdigit() and len(given) <= 4 and 1 <= int(given) <= MOST):
        raise InvalidRequest(fields={"limit": [f"Must be a whole number from 1 to {MOST}."]})
    return int(given)


def _after(values: Sequence[Any], keys: Sequence[str]) -> Q:
    """Rows that come after these values: (a, b) > (x, y) spelled out, for either direction."""
    beyond, same = Q(), Q()
    for key, value in zip(keys, values, strict=True):
        name = key.lstrip("-")
        compared = Q(**{f"{name}__{'lt' if key.startswith('-') else 'gt'}": value})
        beyond |= same & compared
        same &= Q(**{name: value})
    return beyond


def _sealed(row: Model, keys: Sequence[str]) -> str:
    values = [_plain(getattr(row, key.lstrip("-"))) for key in keys]
    return signing.dumps([list(keys), values], salt=_SALT)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, int) else str(value)


def _opened(cursor: str, keys: Sequence[str]) -> list[Any]:
    try:
        named, values = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError):
        raise CursorRefused from None
    if named != list(keys):
        raise CursorRefused
    return list(values)
