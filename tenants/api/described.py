"""What every address of the people's API shares in its OpenAPI document: headers, ids, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from tenants.api.paging import MOST, USUAL
from tenants.api.repeating import HEADER, LONGEST_KEY, PRINTABLE

_WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_REFUSED: Final = {
    400: "The body, a parameter or a header is malformed or not as described.",
    401: "The token or session is missing, unknown, revoked or expired.",
    403: "You do not have the role that this needs, or a browser sent no CSRF token.",
    404: "There is nothing here that you may see.",
    409: "What is there now does not allow it.",
    412: "Somebody else changed it after you read it; `sides` holds both.",
    413: "The body is too large.",
    415: "The body is not JSON in UTF-8.",
    422: "It is well formed and cannot be done, or the Idempotency-Key was used for something else.",
    428: "If-Match is missing.",
    503: "The server is busy or its database is away. See Retry-After.",
}
_ALWAYS: Final = (400, 401, 403, 404, 503)
_RESPONSES: Final = "#/components/responses/"
_HEADERS: Final = {401: "WWW-Authenticate", 503: "Retry-After"}

IF_MATCH: Final = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True,
    description="The ETag of the version that is changed.",
)  # fmt: skip
KEY: Final = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": f"^{PRINTABLE}$"},
    OpenApiParameter.HEADER, description="Sent twice, it is done once; kept for 24 hours.",
)  # fmt: skip
ETAG: Final = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, required=True, response=[200, 201, 202],
    description="The version that was read; a change of it says so in If-Match.",
)  # fmt: skip
DELETED: Final = OpenApiParameter(
    "deleted", bool, OpenApiParameter.QUERY, description="true: what was deleted, instead."
)
_ID: Final = OpenApiParameter("id", OpenApiTypes.UUID, OpenApiParameter.PATH)


def filters(*names: str) -> list[OpenApiParameter]:
    """Return query parameters that narrow a list."""
    return [OpenApiParameter(name, str, OpenApiParameter.QUERY) for name in names]


LISTED: Final = [
    *filters("organization", "cursor"),
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL},
        OpenApiParameter.QUERY,
    ),
]  # fmt: skip


class Refusal(serializers.Serializer[Any]):
    """What was refused."""

    code = serializers.CharField(help_text="One of the codes in docs/errors.md.")
    message = serializers.CharField()
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What is wrong, by the path of the field or the name of the header.",
    )


class Sides(serializers.Serializer[Any]):
    """What was sent, and what is there."""

    yours = serializers.JSONField(allow_null=True)
    theirs = serializers.JSONField(allow_null=True)


class RefusalWithSides(Refusal):
    """What was refused; `sides` where two wrote at once."""

    sides = Sides(required=False)


class RefusalAnswer(serializers.Serializer[Any]):
    """The body of every refusal."""

    error = RefusalWithSides()


class DescribedSchema(AutoSchema):
    """Adds to an operation what its view says without saying it: the type of ids, and refusals.

    Shape: of a view it reads `statuses`, for what errors from below are told with, and `stale`.
    """

    def get_override_parameters(self) -> list[Any]:
        """Say that an id in an address is a UUID."""
        given: list[Any] = super().get_override_parameters()
        return [*given, _ID] if "{id}" in self.path else given

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Return the operation with everything that it may refuse."""
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            self.resolve_serializer(RefusalAnswer, "response")
            for status in sorted(set(self._refuses(operation))):
                operation["responses"][str(status)] = {"$ref": f"{_RESPONSES}{_name(status)}"}
        return operation

    def _refuses(self, operation: dict[str, Any]) -> Iterator[int]:
        view: Any = self.view
        parameters = {one["name"]: one for one in operation.get("parameters", ())}
        yield from _ALWAYS
        yield from (int(status) for status in operation["responses"] if int(status) >= 400)
        if "requestBody" in operation:
            yield from (413, 415)
        if "If-Match" in parameters:
            yield view.stale
            yield from (428,) if parameters["If-Match"].get("required") else ()
        if HEADER in parameters:
            # Whether a key is used again is asked of the whole request, so the body is read.
            yield from (413, 415, 422)
        if self.method in _WRITES:
            yield from (int(status) for status in view.statuses.values())


def refusals() -> dict[str, Any]:
    """Return what every refusal is told with, for the components of the document."""
    return {_name(status): _response(status) for status in _REFUSED}


def _name(status: int) -> str:
    return f"Refused{status}"


def _response(status: int) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": _REFUSED[status],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RefusalAnswer"}}},
    }
    if status in _HEADERS:
        response["headers"] = {_HEADERS[status]: {"required": True, "schema": {"type": "string"}}}
    return response
