"""The address of embedding spaces: how far each is. They are changed by operators only, not through here."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.embedding.spaces import Status
from knowledge.models import EmbeddingSpace
from knowledge.spaces.progress import progress
from knowledge.spaces.switching import stands_in_the_way
from tenants.api.described import filters
from tenants.api.views import TenantAPIView
from tenants.models import Organization

READY = frozenset({Status.FILLING, Status.KEPT})


class SpaceProgressAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """How far a space is in one organization, in rows."""

    organization = serializers.CharField()
    assets = serializers.IntegerField()
    filled = serializers.IntegerField()
    missing = serializers.IntegerField()
    failed = serializers.IntegerField()
    percent = serializers.IntegerField()
    profile_version = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()


class SpaceAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """An embedding space, and how far it is in the organizations asked for."""

    key = serializers.CharField()
    status = serializers.CharField()
    model = serializers.CharField()
    dimensions = serializers.IntegerField()
    obstacle = serializers.CharField()
    organizations = SpaceProgressAnswer(many=True)


class SpacesAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """Every embedding space of the installation; there are two at most."""

    results = SpaceAnswer(many=True)


class SpacesView(TenantAPIView):
    """Embedding spaces: list."""

    @extend_schema(
        operation_id="embedding_spaces_list",
        responses=SpacesAnswer,
        parameters=filters("organization"),
    )
    def get(self, _request: Request) -> Response:
        """List embedding spaces with their progress; `obstacle` says why one is not switched to yet."""
        asked = Organization.objects.filter(pk__in=self.asked_organizations()).order_by("pk")
        spaces = EmbeddingSpace.objects.exclude(status=Status.RETIRED).order_by("pk")
        return Response({"results": [_told(space, list(asked)) for space in spaces]})


def _told(space: EmbeddingSpace, organizations: list[Organization]) -> dict[str, Any]:
    found = progress(space, organizations)
    return {
        "key": space.key,
        "status": space.status,
        "model": space.model,
        "dimensions": space.dimensions,
        "obstacle": stands_in_the_way(found) if space.status in READY else "",
        "organizations": [one.as_dict() for one in found],
    }
