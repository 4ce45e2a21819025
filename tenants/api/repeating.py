"""A write sent twice with one Idempotency-Key happens once and is answered twice the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from tenants.api.errors import KeyReused
from tenants.models import AnsweredRequest, User
from tenants.refusals import InvalidRequest

HEADER: Final = "Idempotency-Key"
LONGEST_KEY: Final = 200
PRINTABLE: Final = "[!-~]([ -~]*[!-~])?"
_PRINTABLE: Final = re.compile(PRINTABLE)
KEPT: Final = timedelta(hours=24)
# One statement decides who works: a second request waits here until the first has committed.
_CLAIM: Final = """
INSERT INTO tenants_answeredrequest AS a
  (id, organization_id, user_id, key, request_sha256, status, body, headers, at)
VALUES (gen_random_uuid(), %(organization)s, %(user)s, %(key)s, %(hash)s, 0, '', '{}', %(at)s)
ON CONFLICT (organization_id, user_id, key) DO UPDATE
  SET request_sha256 = excluded.request_sha256, at = excluded.at WHERE a.at < %(oldest)s
RETURNING id
"""


def once(
    request: Request, organization_id: int, work: Callable[[], Response], *, at: datetime
) -> Response:
    """Do the work and remember its answer, or give the answer remembered; needs the context open.

    Without the header it is simply done. What is refused is not remembered: it changed nothing.
    Raises: KeyReused, InvalidRequest, and what the work raises
    """
    key = request.headers.get(HEADER)
    if key is None:
        return work()
    if len(key) > LONGEST_KEY or not _PRINTABLE.fullmatch(key):
        raise InvalidRequest(fields={HEADER: ["Must have 1 to 200 printable ASCII characters."]})
    user = request.user
    assert isinstance(user, User)
    claim: dict[str, Any] = {
        "organization": organization_id, "user": user.pk, "key": key, "hash": _hash(request),
        "at": at, "oldest": at - KEPT,
    }  # fmt: skip
    kept = AnsweredRequest.objects.filter(organization_id=organization_id)
    if not _claimed(claim):
        return _replayed(kept.get(user=user, key=key), claim["hash"])
    response = work()
    kept.filter(at__lt=at - KEPT).delete()
    kept.filter(user=user, key=key).update(
        status=response.status_code, body=_text(response.data), headers=_headers(response)
    )
    return response


def _claimed(claim: dict[str, Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, claim)
        return cursor.fetchone() is not None


def _replayed(kept: AnsweredRequest, request_sha256: str) -> Response:
    if kept.request_sha256 != request_sha256:
        raise KeyReused
    headers = {**kept.headers, "Idempotency-Replayed": "true"}
    return Response(json.loads(kept.body), status=kept.status, headers=headers)


def _hash(request: Request) -> str:
    said = [request.method, request.get_full_path(), request.headers.get("If-Match"), request.data]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _text(data: Any) -> str:
    return json.dumps(data, cls=JSONEncoder, ensure_ascii=False)


def _headers(response: Response) -> dict[str, str]:
    return {name: response[name] for name in ("ETag", "Location") if name in response}
