"""Parameters and lists of the content API, for its OpenAPI document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers


def _header(name: str, description: str, *, required: bool = False) -> OpenApiParameter:
    return OpenApiParameter(
        name, str, OpenApiParameter.HEADER, required=required, description=description
    )


def filters(*names: str) -> list[OpenApiParameter]:
    """Return query parameters that narrow a list."""
    return [OpenApiParameter(name, str, OpenApiParameter.QUERY) for name in names]


LISTED = [
    *filters("organization", "cursor"),
    OpenApiParameter("limit", int, OpenApiParameter.QUERY, description="1 to 200, usually 50."),
]
PUSHING = [_header("Idempotency-Key", "Sent twice, it is done once; kept for 24 hours.")]
CHANGING = [
    _header("If-Match", "The ETag of the version that is changed.", required=True),
    *PUSHING,
]


def listing(shape: type[serializers.Serializer[Any]]) -> Any:
    """Return the shape of a page of rows."""
    name = shape.__name__.removesuffix("Answer")
    return inline_serializer(
        f"{name}Page",
        {"results": shape(many=True), "next": serializers.CharField(allow_null=True)},
    )
