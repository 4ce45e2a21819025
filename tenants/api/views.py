"""What every address of the people's API shares: who asks, what they may see, how it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from tenants.access import roles_by_organization
from tenants.api.authentication import BrowserAuthentication, TokenAuthentication
from tenants.api.described import DescribedSchema
from tenants.api.errors import RoleRequired
from tenants.api.refusing import refuse
from tenants.api.repeating import once
from tenants.auditing import Actor
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import Organization, Role, User
from tenants.refusals import InvalidRequest, NotFound
from tenants.strict_json import StrictJSONParser
from tenants.tokens import TokenHolder
from tenants.wire_fields import validated

RowT = TypeVar("RowT", bound=Model)


class AlwaysJson(BaseContentNegotiation):
    """Answers are JSON whatever is asked for."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return the JSON parser when JSON was sent."""
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == sent), None)

    def select_renderer(
        self, _request: Request, renderers: Iterable[BaseRenderer], _suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the JSON renderer."""
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class TenantAPIView(APIView):
    """An address for people and their programs; roles count in the organization of the object.

    Shape: `statuses` maps classes of errors from below to HTTP statuses, see tenants.api.refusing;
           `stale` is the status that says that somebody else changed it.
    """

    authentication_classes: tuple[type[BaseAuthentication], ...] = (
        TokenAuthentication,
        BrowserAuthentication,
    )
    permission_classes: tuple[type[BasePermission], ...] = (IsAuthenticated,)
    parser_classes: tuple[type[BaseParser], ...] = (StrictJSONParser,)
    content_negotiation_class = AlwaysJson
    statuses: ClassVar[Mapping[type[EarmarkError], int]] = {}
    stale: ClassVar[int] = 412
    schema = DescribedSchema()
    at: datetime

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Take the instant that everything in this request carries."""
        self.at = timezone.now()  # noqa: TID251 - the door
        return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what no column can hold before it is compared with one."""
        super().initial(request, *args, **kwargs)
        bad = [name for name, value in request.query_params.items() if "\0" in f"{name}{value}"]
        if bad:
            raise InvalidRequest(fields={bad[0]: ["Holds a NUL."]})

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Keep Django from logging refusals, and caches from keeping answers."""
        done = super().finalize_response(request, response, *args, **kwargs)
        done.headers.setdefault("Cache-Control", "no-store")
        done._has_been_logged = True  # type: ignore[attr-defined]
        return done

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        """Refuse everything in one envelope."""
        return lambda raised, _context: refuse(raised, self.statuses)

    @property
    def actor(self) -> Actor:
        """The person who acts, for the audit trail; of a token, its id too."""
        user = self.request.user
        assert isinstance(user, User)
        token = self.request.auth
        if isinstance(token, TokenHolder):
            return Actor(user.pk, f"{user.get_username()} ({token.kid})")
        return Actor.person(user)

    @cached_property
    def roles(self) -> dict[int, frozenset[str]]:
        """The caller's roles by organization; a token reaches one organization only.

        Cost: one statement for each request.
        """
        found = roles_by_organization(self.request.user)
        token = self.request.auth
        if isinstance(token, TokenHolder):
            return {number: found[number] for number in {token.organization_id} & set(found)}
        return found

    def organizations(self, role: str = Role.VIEWER) -> list[int]:
        """Return the ids of the organizations in which the caller has a role."""
        return sorted(number for number, held in self.roles.items() if role in held)

    def context(self, role: str = Role.VIEWER) -> AbstractContextManager[None]:
        """Open a transaction that sees the rows of the caller's organizations."""
        return organization_context(*self.organizations(role))

    def require(self, role: str, organization_id: int) -> None:
        """Go on only when the caller has the role there.

        Raises: NotFound where they have no role at all, RoleRequired
        """
        held = self.roles.get(organization_id)
        if not held:
            raise NotFound
        if role not in held:
            raise RoleRequired

    def organization(self, slug: str | None, role: str = Role.VIEWER) -> Organization:
        """Return the organization named; without a name, the only one the caller has.

        Raises: InvalidRequest when several would do, NotFound, RoleRequired
        """
        mine = Organization.objects.filter(pk__in=self.roles)
        if slug is None:
            found = list(mine[:2])
            if len(found) > 1:
                raise InvalidRequest(fields={"organization": ["Say which organization you mean."]})
        else:
            found = list(mine.filter(slug=slug))
        if not found:
            raise NotFound
        self.require(role, found[0].pk)
        return found[0]

    def asked_organizations(self, role: str = Role.VIEWER) -> list[int]:
        """Return the organizations that a list is about: all of the caller's, or `organization`.

        Raises: NotFound, RoleRequired
        """
        slug = self.request.query_params.get("organization")
        return self.organizations(role) if slug is None else [self.organization(slug, role).pk]

    def asked_truth(self, name: str) -> bool:
        """Return what a query parameter says, false where it is left out.

        Raises: InvalidRequest
        """
        said = self.request.query_params.get(name, "false")
        if said not in {"true", "false"}:
            raise InvalidRequest(fields={name: ["Must be true or false."]})
        return said == "true"

    def find(self, rows: QuerySet[RowT], pk: str | UUID) -> RowT:
        """Return the row; needs the context open.

        Raises: NotFound, the same for what is not there, is no id, or belongs to somebody else
        """
        try:
            wanted = pk if isinstance(pk, UUID) else UUID(pk)
        except ValueError:
            raise NotFound from None
        found = rows.filter(pk=wanted).first()
        if found is None:
            raise NotFound
        return found

    def body(self, request: Request, shape: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """Return the body as the shape says.

        Raises: InvalidRequest and its kin
        """
        return validated(shape, request.data)

    def once(self, organization_id: int, work: Callable[[], Response]) -> Response:
        """Do a write once for each Idempotency-Key, in the organization's own context.

        Raises: KeyReused, InvalidRequest, and what the work raises
        """
        with organization_context(organization_id):
            return once(self.request, organization_id, work, at=self.at)


@extend_schema(exclude=True)
class NothingView(TenantAPIView):
    """Every other address below the API: there is nothing here."""

    def get(self, _request: Request, **_path: str) -> Response:
        """Answer as for anything that is not there."""
        raise NotFound

    post = put = patch = delete = get
