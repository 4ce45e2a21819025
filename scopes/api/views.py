"""The scope of a phone agent: explicit picks apart from what they come to, one root at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.retrieval.types import Everything, Selection
from scopes.api import shapes
from scopes.api.errors import PicksMissing, PicksUnknown, ScopeVersionChanged
from scopes.errors import PickRefused, ScopeChangedMeanwhile
from scopes.models import AgentScope
from scopes.resolution import allowlist_for
from scopes.selecting import Picks, explicit_picks, select
from tenants.api.described import ETAG, IF_MATCH
from tenants.api.versions import etag, named_version
from tenants.api.views import TenantAPIView
from tenants.errors import EarmarkError
from tenants.isolation import organization_context
from tenants.models import PhoneAgent, Role
from tenants.refusals import NotFound
from tenants.strict_json import StrictJSONParser

_MEBIBYTE: Final = 1024 * 1024
_ROOT: Final = OpenApiParameter(
    "root", str, OpenApiParameter.PATH, enum=["instructions", "knowledge"]
)
_PICKS: Final = PolymorphicProxySerializer(
    "ScopePicks", [shapes.InstructionPicks, shapes.KnowledgePicks], None
)
_ANSWER: Final = PolymorphicProxySerializer(
    "ScopeRootAnswer", [shapes.InstructionScopeAnswer, shapes.KnowledgeScopeAnswer], None
)


class PicksParser(StrictJSONParser):
    """As many picks as a scope may have."""

    most_bytes = 4 * _MEBIBYTE


class _ScopesView(TenantAPIView):
    parser_classes = (PicksParser,)
    statuses: ClassVar[Mapping[type[EarmarkError], int]] = {PickRefused: 422}
    stale = 409

    def agents(self) -> QuerySet[PhoneAgent]:
        """Return the agents that the caller may see."""
        seen = self.organizations(Role.VIEWER)
        return PhoneAgent.objects.select_related("organization").filter(organization_id__in=seen)

    def agent(self, pk: str) -> PhoneAgent:
        """Return the agent.

        Raises: NotFound
        """
        with self.context():
            return self.find(self.agents(), pk)

    def told(self, agent: PhoneAgent) -> dict[str, dict[str, Any]]:
        """Return both roots as they are stored and as they come out."""
        with organization_context(agent.organization_id):
            stored = AgentScope.objects.filter(
                organization_id=agent.organization_id, agent=agent
            ).select_related("changed_by")
            allowlist = allowlist_for(agent, contact=None, channel="", country=None, at=self.at)
            by_category = {scope.category: scope for scope in stored}
            return {
                name: _root(agent, by_category[category], allowlist.scope(category))
                for name, category in shapes.ROOTS.items()
                if category in by_category
            }


def _root(agent: PhoneAgent, scope: AgentScope, limit: Everything | Selection) -> dict[str, Any]:
    picks = explicit_picks(agent, scope.category)
    _shape, rows, containers = shapes.PICKS[scope.category]
    vacant = isinstance(limit, Selection) and limit.is_vacant
    return {
        "version": scope.version,
        "picks": {
            rows: sorted(map(str, picks.rows)),
            containers: sorted(map(str, picks.containers)),
        },
        "effective": {
            "mode": "all" if isinstance(limit, Everything) else "selected",
            "searchable": "all"
            if isinstance(limit, Everything)
            else "nothing"
            if vacant
            else "some",
        },
        "changed_at": scope.changed_at,
        "changed_by": str(scope.changed_by) if scope.changed_by else None,
    }


class ScopeView(_ScopesView):
    """The whole scope of an agent."""

    @extend_schema(operation_id="scope_read", responses=shapes.ScopeAnswer)
    def get(self, _request: Request, pk: str) -> Response:
        """Read both roots of an agent's scope."""
        agent = self.agent(pk)
        about = {"agent": str(agent.pk), "organization": agent.organization.slug}
        return Response({**about, **self.told(agent)})


class ScopeRootView(_ScopesView):
    """One root of the scope of an agent."""

    @extend_schema(operation_id="scope_root_read", responses=_ANSWER, parameters=[_ROOT, ETAG])
    def get(self, _request: Request, pk: str, root: str) -> Response:
        """Read one root; its version is the ETag."""
        return self._answer(self.agent(pk), root)

    @extend_schema(
        operation_id="scope_root_replace", request=_PICKS, responses=_ANSWER,
        parameters=[_ROOT, IF_MATCH, ETAG],
    )  # fmt: skip
    def put(self, request: Request, pk: str, root: str) -> Response:
        """Make these the picks of a root; at least one, and each of them there."""
        agent = self._changeable(pk, root)
        shape, rows, containers = shapes.PICKS[shapes.ROOTS[root]]
        said = self.body(request, shape)
        picks = Picks(frozenset(said[rows]), frozenset(said[containers]))
        if not picks:
            raise PicksMissing
        self._select(agent, root, picks)
        return self._answer(agent, root)

    @extend_schema(
        operation_id="scope_root_clear", responses={200: _ANSWER},
        parameters=[_ROOT, IF_MATCH, ETAG],
    )  # fmt: skip
    def delete(self, _request: Request, pk: str, root: str) -> Response:
        """Clear a root: everything of its kind is searchable again."""
        agent = self._changeable(pk, root)
        self._select(agent, root, Picks())
        return self._answer(agent, root)

    def _changeable(self, pk: str, root: str) -> PhoneAgent:
        agent = self.agent(pk)
        if root not in shapes.ROOTS:
            raise NotFound
        self.require(Role.ADMIN, agent.organization_id)
        return agent

    def _select(self, agent: PhoneAgent, root: str, picks: Picks) -> None:
        version = named_version(self.request)
        category = shapes.ROOTS[root]
        try:
            select(agent, category, picks, version=version or 0, by=self.actor, at=self.at)
        except ScopeChangedMeanwhile:
            sides = {"yours": self.request.data, "theirs": self.told(agent).get(root)}
            raise ScopeVersionChanged(sides=sides) from None
        except PickRefused as refusal:
            raise PicksUnknown(fields=_named(root, picks, refusal.data["refused"])) from None

    def _answer(self, agent: PhoneAgent, root: str) -> Response:
        told = self.told(agent).get(root)
        if told is None:
            raise NotFound
        return Response(told, headers={"ETag": etag(told["version"])})


def _named(root: str, picks: Picks, refused: list[str]) -> dict[str, list[str]]:
    _shape, rows, containers = shapes.PICKS[shapes.ROOTS[root]]
    known_rows = set(map(str, picks.rows))
    named: dict[str, list[str]] = {}
    for one in refused:
        named.setdefault(rows if one in known_rows else containers, []).append(one)
    return named
