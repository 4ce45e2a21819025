"""The addresses of sources and instruction directories."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.db.models.deletion import ProtectedError, RestrictedError
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api import answers, shapes
from knowledge.api.described import CHANGING, ENDING, MAKING, READING, listing
from knowledge.api.errors import STATUSES, NameTaken, StillUsed
from knowledge.api.names import Names
from knowledge.api.schedules import freshness
from knowledge.errors import FolderRefused
from knowledge.folders import segments
from knowledge.indexing.filing import file_directory
from knowledge.indexing.writing import ensure_directory
from knowledge.models import InstructionDirectory, Source, SourceKind
from knowledge.reserved import is_reserved, refuse_reserved
from knowledge.shelving.errors import NotOurs
from tenants.api.described import LISTED
from tenants.api.errors import VersionChanged, VersionMissing
from tenants.api.paging import page_of
from tenants.api.views import TenantAPIView
from tenants.auditing import Change, note
from tenants.locking import lock_organization
from tenants.models import Role


class PlaceView(TenantAPIView):
    """What sources and directories share."""

    statuses = STATUSES

    def told(self, place: Any, names: Names) -> dict[str, Any]:
        """Return a place as it is told."""
        raise NotImplementedError

    def shown(self, place: Any, names: Names) -> dict[str, Any]:
        """Return a place with what changes by itself, which its ETag does not follow."""
        return self.told(place, names)

    def answer(self, place: Any, status: int = 200) -> Response:
        """Return a place; its ETag is a hash of what is told of it."""
        names = Names(place.organization_id)
        headers = {"ETag": _tag(self.told(place, names))}
        return Response(self.shown(place, names), status=status, headers=headers)

    def require_version(self, place: Any) -> None:
        """Go on only when If-Match names what is there.

        Raises: VersionMissing, VersionChanged
        """
        given = self.request.headers.get("If-Match")
        if given is None:
            raise VersionMissing
        body = self.told(place, Names(place.organization_id))
        if given.strip() != _tag(body):
            raise VersionChanged(sides={"yours": self.request.data, "theirs": body})

    def noted(self, place: Any, verb: str, before: str = "", after: str = "") -> None:
        """Write an act into the audit trail."""
        subject = "source" if isinstance(place, Source) else "directory"
        told = Change(
            f"{subject}.{verb}", subject, str(place.pk), {"name": before}, {"name": after}
        )
        note(place.organization_id, told, by=self.actor, at=self.at)


class SourceRows(PlaceView):
    """How sources are found and told."""

    def rows(self, organizations: list[int]) -> QuerySet[Source]:
        """Return the sources of these organizations."""
        rows = Source.objects.filter(organization_id__in=organizations)
        return rows.select_related("schedule")

    def told(self, place: Source, names: Names) -> dict[str, Any]:
        """Return a source as it is told."""
        own = {"slug": place.slug, "name": place.name, "kind": place.kind}
        return {"id": str(place.pk), "organization": names.slug, **own}

    def shown(self, place: Source, names: Names) -> dict[str, Any]:
        """Return a source with how fresh it is; null when nothing keeps it fresh."""
        schedule = getattr(place, "schedule", None)
        fresh = None if schedule is None else freshness(schedule, at=self.at)
        return {**self.told(place, names), "freshness": fresh}


class SourcesView(SourceRows):
    """Sources: list and make."""

    @extend_schema(
        operation_id="sources_list", responses=listing(answers.SourceAnswer), parameters=LISTED
    )
    def get(self, request: Request) -> Response:
        """List sources."""
        with self.context():
            page = page_of(self.rows(self.asked_organizations()), request, "slug", "id")
            names = {row.organization_id: Names(row.organization_id) for row in page.rows}
            shown = [self.shown(row, names[row.organization_id]) for row in page.rows]
            return Response(page.body(shown))

    @extend_schema(
        operation_id="sources_make", request=shapes.SourcePush, parameters=MAKING,
        responses={201: answers.SourceAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Make a source; its slug stays, because folder keys begin with it."""
        said = self.body(request, shapes.SourcePush)
        organization = self.organization(said.pop("organization", None), Role.EDITOR)
        refuse_reserved(said["slug"])

        def work() -> Response:
            made, is_new = Source.objects.get_or_create(
                organization=organization, slug=said["slug"],
                defaults={"name": said["name"], "kind": SourceKind.API},
            )  # fmt: skip
            if not is_new:
                raise NameTaken
            self.noted(made, "add", after=made.name)
            return self.answer(made, 201)

        return self.once(organization.pk, work)


class SourceView(SourceRows):
    """One source."""

    @extend_schema(operation_id="sources_read", responses=answers.SourceAnswer, parameters=READING)
    def get(self, _request: Request, pk: str) -> Response:
        """Read a source."""
        with self.context():
            return self.answer(self.find(self.rows(self.organizations()), pk))

    @extend_schema(
        operation_id="sources_rename", request=shapes.Renaming, parameters=CHANGING,
        responses=answers.SourceAnswer,
    )  # fmt: skip
    def patch(self, request: Request, pk: str) -> Response:
        """Give a source another name."""
        said = self.body(request, shapes.Renaming)
        with self.context():
            found = self.find(self.rows(self.organizations()), pk)
            self.require(Role.EDITOR, found.organization_id)
            return self.once(found.organization_id, lambda: self._rename(found, said.get("name")))

    def held(self, found: Source) -> Source:
        """Return a source as it is now, locked.

        Raises: NotFound
        """
        rows = self.rows([found.organization_id]).select_for_update(of=("self",), no_key=True)
        return self.find(rows, found.pk)

    def _rename(self, found: Source, name: str | None) -> Response:
        source = self.held(found)
        if is_reserved(source):
            raise NotOurs
        self.require_version(source)
        if name is None:
            return self.answer(source)
        self.noted(source, "change", source.name, name)
        source.name = name
        source.save(update_fields=["name"])
        return self.answer(source)

    @extend_schema(operation_id="sources_delete", parameters=ENDING, responses={204: None})
    def delete(self, _request: Request, pk: str) -> Response:
        """Delete a source that holds nothing, not even something deleted."""
        with self.context():
            found = self.find(self.rows(self.organizations()), pk)
            self.require(Role.EDITOR, found.organization_id)
            return self.once(found.organization_id, lambda: _deleted(self, self.held(found)))


class DirectoryRows(PlaceView):
    """How directories are found and told."""

    def rows(self, organizations: list[int]) -> QuerySet[InstructionDirectory]:
        """Return the directories of these organizations."""
        return InstructionDirectory.objects.filter(organization_id__in=organizations)

    def told(self, place: InstructionDirectory, names: Names) -> dict[str, Any]:
        """Return a directory as it is told."""
        own = {"path": names.directories[place.pk], "name": place.name}
        return {"id": str(place.pk), "organization": names.slug, **own}


class DirectoriesView(DirectoryRows):
    """Directories: list and make."""

    @extend_schema(
        operation_id="directories_list", responses=listing(answers.DirectoryAnswer),
        parameters=LISTED,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """List directories by name, each with its path."""
        with self.context():
            page = page_of(self.rows(self.asked_organizations()), request, "name", "id")
            names = {row.organization_id: Names(row.organization_id) for row in page.rows}
            shown = [self.told(row, names[row.organization_id]) for row in page.rows]
            return Response(page.body(shown))

    @extend_schema(
        operation_id="directories_make", request=shapes.DirectoryPush, parameters=MAKING,
        responses={200: answers.DirectoryAnswer, 201: answers.DirectoryAnswer},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Make a directory at a path, with those above it; one that is there is returned."""
        said = self.body(request, shapes.DirectoryPush)
        organization = self.organization(said.get("organization"), Role.EDITOR)
        return self.once(organization.pk, lambda: self._make(organization.pk, said["path"]))

    def _make(self, organization_id: int, path: str) -> Response:
        before = set(self.rows([organization_id]).values_list("pk", flat=True))
        made = ensure_directory(organization_id, path)
        if made is None:
            raise FolderRefused
        if made.pk in before:
            return self.answer(made)
        self.noted(made, "add", after=made.name)
        return self.answer(made, 201)


class DirectoryView(DirectoryRows):
    """One directory."""

    @extend_schema(
        operation_id="directories_read", responses=answers.DirectoryAnswer, parameters=READING
    )
    def get(self, _request: Request, pk: str) -> Response:
        """Read a directory."""
        with self.context():
            return self.answer(self.find(self.rows(self.organizations()), pk))

    @extend_schema(
        operation_id="directories_rename", request=shapes.Renaming, parameters=CHANGING,
        responses=answers.DirectoryAnswer,
    )  # fmt: skip
    def patch(self, request: Request, pk: str) -> Response:
        """Give a directory another name; what is filed in it is matched by the new one."""
        said = self.body(request, shapes.Renaming)
        with self.context():
            found = self.find(self.rows(self.organizations()), pk)
            self.require(Role.EDITOR, found.organization_id)
            return self.once(found.organization_id, lambda: self._rename(found, said.get("name")))

    def held(self, found: InstructionDirectory) -> InstructionDirectory:
        """Return a directory as it is now, in a tree that stands still.

        Raises: NotFound
        """
        lock_organization(found.organization_id)
        return self.find(self.rows([found.organization_id]), found.pk)

    def _rename(self, found: InstructionDirectory, name: str | None) -> Response:
        place = self.held(found)
        self.require_version(place)
        if name is None:
            return self.answer(place)
        beside = self.rows([place.organization_id]).filter(parent=place.parent_id)
        if beside.filter(name__in=segments(name)).exclude(pk=place.pk).exists():
            raise NameTaken
        before = place.name
        file_directory(place, name=name, parent=place.parent, at=self.at)
        self.noted(place, "change", before, place.name)
        return self.answer(place)

    @extend_schema(operation_id="directories_delete", parameters=ENDING, responses={204: None})
    def delete(self, _request: Request, pk: str) -> Response:
        """Delete a directory that holds nothing and that no agent's scope names."""
        with self.context():
            found = self.find(self.rows(self.organizations()), pk)
            self.require(Role.EDITOR, found.organization_id)
            return self.once(found.organization_id, lambda: _deleted(self, self.held(found)))


def _deleted(view: PlaceView, place: Source | InstructionDirectory) -> Response:
    view.require_version(place)
    view.noted(place, "delete", before=place.name)
    # A pick keeps its directory: losing it would open or close a scope unseen.
    if isinstance(place, InstructionDirectory) and _is_picked(place):
        raise StillUsed
    if isinstance(place, Source) and is_reserved(place):
        raise NotOurs
    try:
        with transaction.atomic():
            place.delete()
            # What was filed there at this instant is found out now, not when all of it is over.
            connection.check_constraints()
    except (ProtectedError, RestrictedError, IntegrityError):
        raise StillUsed from None
    return Response(None, status=204)


def _is_picked(place: InstructionDirectory) -> bool:
    picks: Any = getattr(place, "directorypick_set", None)
    return picks is not None and picks.exists()


def _tag(body: dict[str, Any]) -> str:
    text = "\n".join(f"{key}={value}" for key, value in sorted(body.items()))
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
