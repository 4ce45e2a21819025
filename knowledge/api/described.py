"""Parameters and lists of the content API, for its OpenAPI document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers

from tenants.api.described import ETAG, IF_MATCH, KEY

READING = [ETAG]
DOING = [KEY]
MAKING = [KEY, ETAG]
ENDING = [IF_MATCH, KEY]
CHANGING = [IF_MATCH, KEY, ETAG]
PUSHING = [
    OpenApiParameter(
        "If-Match", str, OpenApiParameter.HEADER,
        description="The ETag of the version that is replaced; without it, what is pushed counts.",
    ),
    *MAKING,
]  # fmt: skip


def listing(shape: type[serializers.Serializer[Any]]) -> Any:
    """Return the shape of a page of rows."""
    name = shape.__name__.removesuffix("Answer")
    return inline_serializer(
        f"{name}Page",
        {"results": shape(many=True), "next": serializers.CharField(allow_null=True)},
    )
