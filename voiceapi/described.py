"""How each address reads in the published contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from voiceapi import requests, shapes
from voiceapi.contract import DEADLINE_HEADER, HEADER

Shape = type[serializers.Serializer[Any]]

_CONTRACT: Final = OpenApiParameter(
    HEADER, int, OpenApiParameter.HEADER, required=True,
    description="The version of the contract that you speak.",
)  # fmt: skip
_DEADLINE: Final = OpenApiParameter(
    DEADLINE_HEADER, {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    OpenApiParameter.HEADER,
    description="Milliseconds that you will wait; the server answers half a second sooner.",
)  # fmt: skip
_SESSION: Final = OpenApiParameter(
    "session", str, OpenApiParameter.PATH, description="The id from bootstrap."
)
_REQUEST_ID: Final = OpenApiParameter(
    "X-Request-Id", str, OpenApiParameter.HEADER, response=True,
    description="The name of this request in the server's log: yours, or a new one.",
)  # fmt: skip
_REFUSALS: Final = {
    400: "A header is missing, or the body is malformed or not as the contract says.",
    401: "The service key is missing, malformed, unknown, revoked or expired.",
    404: "There is nothing here that this key may see.",
    405: "This address does not take that method.",
    409: "The contract version asked for is not served.",
    411: "The body came without a Content-Length.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "More requests than this key, organization or session may make. See Retry-After.",
    500: "The server made a mistake; its log says which.",
    503: "The server is busy or its database is away. See Retry-After.",
    504: "The deadline passed.",
}
_LIMITED: Final = 429
View = Callable[..., Any]


def _refused(*statuses: int) -> dict[int, OpenApiResponse]:
    return {
        status: OpenApiResponse(shapes.RefusalEnvelope, _REFUSALS[status]) for status in statuses
    }


def _spoken(
    name: str,
    shape: Shape,
    answers: dict[int, OpenApiResponse],
    *,
    session: bool = True,
    limited: bool = True,
) -> Callable[[View], View]:
    refusals = _refused(*(status for status in _REFUSALS if limited or status != _LIMITED))
    return extend_schema(
        operation_id=name,
        request={"application/json": shape},
        responses={**refusals, **answers},
        parameters=[_CONTRACT, _DEADLINE, _REQUEST_ID, *([_SESSION] if session else [])],
    )


open_session: Final = _spoken(
    "open_session",
    requests.SessionRequest,
    {201: OpenApiResponse(shapes.SessionOpened, "The session is open.")},
    session=False,
)
renew_session: Final = _spoken(
    "renew_session",
    requests.RenewRequest,
    {200: OpenApiResponse(shapes.SessionRenewed, "The session lives on.")},
)
end_session: Final = _spoken(
    "end_session",
    requests.EndRequest,
    {200: OpenApiResponse(shapes.SessionEnded, "The session is over.")},
    limited=False,
)
search: Final = _spoken(
    "search_knowledge",
    requests.SearchRequest,
    {
        200: OpenApiResponse(shapes.SearchAnswer, "`ok`, `no_match` or `restricted_empty`."),
        503: OpenApiResponse(shapes.SearchOrRefusal, "`unavailable`, or the server is busy."),
        504: OpenApiResponse(shapes.SearchAnswer, "`timeout`."),
    },
)
contract: Final = extend_schema(
    operation_id="get_contract",
    responses={
        **_refused(500),
        200: OpenApiResponse(shapes.ContractAnswer, "What this server speaks."),
    },
    parameters=[_REQUEST_ID],
)
ready: Final = extend_schema(
    operation_id="get_ready",
    responses={
        **_refused(500),
        200: OpenApiResponse(shapes.ReadyAnswer, "Every check passed."),
        503: OpenApiResponse(shapes.RefusalEnvelope, "Some checks failed; `fields` names them."),
    },
    parameters=[
        _REQUEST_ID,
        OpenApiParameter("version", str, description="The contract version that you need."),
    ],
)
