"""The addresses that move, dissolve and empty folders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api import answers, shapes
from knowledge.api.described import DOING
from knowledge.api.errors import STATUSES
from knowledge.api.jobs import told
from knowledge.folders import folder_key, parent, segments
from knowledge.models import Source
from knowledge.shelving.folders import delete_folder, lift_folder, move_folder
from tenants.api.views import TenantAPIView
from tenants.models import Organization, Role
from tenants.refusals import NotFound


def key_in(organization_id: int, text: str) -> str:
    """Return the key that was written as source/path; needs the context open.

    Raises: FolderRefused, NotFound for a source that is not there
    """
    source, *names = segments(text) or ("",)
    if not Source.objects.filter(organization_id=organization_id, slug=source).exists():
        raise NotFound
    return folder_key(source, "/".join(names))


class FolderView(TenantAPIView):
    """What the verbs of folders share."""

    statuses = STATUSES

    def did(
        self,
        request: Request,
        shape: type[serializers.Serializer[Any]],
        verb: Callable[[Organization, str, dict[str, Any]], Response],
    ) -> Response:
        """Do a verb to the folder that the body names, once for each key."""
        said = self.body(request, shape)
        organization = self.organization(said.get("organization"), Role.EDITOR)

        def work() -> Response:
            return verb(organization, key_in(organization.pk, said["folder"]), said)

        return self.once(organization.pk, work)

    @property
    def who(self) -> dict[str, Any]:
        """Who acts, and when."""
        return {"by": self.actor, "at": self.at}


class FolderMoveView(FolderView):
    """Another key for a folder."""

    @extend_schema(
        operation_id="folders_move", request=shapes.FolderMove, parameters=DOING,
        responses=answers.FolderAnswer,
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Rename or move a folder within its source; the selections of agents follow."""
        return self.did(request, shapes.FolderMove, self._moved)

    def _moved(self, organization: Organization, key: str, said: dict[str, Any]) -> Response:
        new = key_in(organization.pk, said["to"])
        done = move_folder(organization.pk, key, new, **self.who)
        return Response({"folder": new, "items": done.items})


class FolderLiftView(FolderView):
    """A folder that goes, while what is in it stays."""

    @extend_schema(
        operation_id="folders_lift", request=shapes.FolderEnd, parameters=DOING,
        responses=answers.FolderAnswer,
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Move everything up; a selection of the folder itself stays and finds nothing."""
        return self.did(request, shapes.FolderEnd, self._lifted)

    def _lifted(self, organization: Organization, key: str, said: dict[str, Any]) -> Response:
        done = lift_folder(organization.pk, key, expected=said.get("expected"), **self.who)
        return Response({"folder": parent(key) or key, "items": done.items})


class FolderDeleteView(FolderView):
    """A folder that goes with what is in it."""

    @extend_schema(
        operation_id="folders_delete", request=shapes.FolderEnd, parameters=DOING,
        responses={202: answers.JobAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Delete every item in a folder and below it, restorable for thirty days."""
        return self.did(request, shapes.FolderEnd, self._deleted)

    def _deleted(self, organization: Organization, key: str, said: dict[str, Any]) -> Response:
        job = delete_folder(organization.pk, key, expected=said.get("expected"), **self.who)
        return Response(told(job, organization.slug), status=202)
