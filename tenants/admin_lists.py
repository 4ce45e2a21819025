"""Lists that stay fast when there are many rows: one organization at a time, counted up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from tenants.admin_authority import authority_of, organizations_seen
from tenants.models import Role

MOST_COUNTED: Final = 10_000
MOST_AT_ONCE: Final = 1_000
ORGANIZATION: Final = "organization"


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts at most so many rows; further ones are reached by searching or filtering."""

    @cached_property
    def count(self) -> int:
        """Return the number of rows, or the most that are counted."""
        return min(self._seen, MOST_COUNTED)

    @property
    def is_capped(self) -> bool:
        """Whether there are more rows than pages."""
        return self._seen > MOST_COUNTED

    @cached_property
    def _seen(self) -> int:
        # The order stays in the statement, so that the list's own index answers it.
        rows: Any = self.object_list
        return int(rows.values("pk")[: MOST_COUNTED + 1].count())


class FilteredList(ChangeList):
    """A list that is asked in any address, whatever stands there."""

    def get_filters(self, request: HttpRequest) -> Any:
        """Return the filters; what no column can hold is no condition."""
        if any("\0" in value for _name, told in request.GET.lists() for value in told):
            raise IncorrectLookupParameters
        return super().get_filters(request)


class PagedList(FilteredList):
    """A list that finds its page by the narrow index, then fetches those rows and what is beside them."""

    def get_results(self, request: HttpRequest) -> None:
        """Fetch the page; whole rows are read for it alone, however far down it is."""
        super().get_results(request)
        ids = list(self.result_list.values_list("pk", flat=True))
        whole = self.queryset.order_by().defer(*getattr(self.model_admin, "list_defer", ()))
        by_id = whole.in_bulk(ids)
        rows = [by_id[one] for one in ids if one in by_id]
        beside = getattr(self.model_admin, "beside", None)
        if beside is not None:
            beside(request, rows)
        self.result_list = rows


class OrganizationFilter(admin.SimpleListFilter):
    """One organization at a time, the first unless another is chosen in the address."""

    title = _("organization")
    parameter_name = ORGANIZATION

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer a choice only where there is one."""
        seen = organizations_seen(request, Role.VIEWER)
        return [(found.slug, found.name) for found in seen] if len(seen) > 1 else []

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Leave out "All": a list over every organization could use no index."""
        chosen = self.value() or str(self.lookup_choices[0][0])
        for slug, name in self.lookup_choices:
            yield {
                "selected": chosen == slug,
                "query_string": changelist.get_query_string({self.parameter_name: slug}),
                "display": name,
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows of the chosen organization."""
        return queryset.filter(organization_id=chosen_organization(request))


def chosen_organization(request: HttpRequest) -> int | None:
    """Return the organization that a list shows: named in the address, else the first."""
    seen = organizations_seen(request, Role.VIEWER)
    # One that is named and not theirs is none: a page of it that is still open must not write elsewhere.
    slug = request.GET.get(ORGANIZATION) or None
    return next((found.pk for found in seen if slug in {found.slug, None}), None)


def rows_with(request: HttpRequest, role: str, queryset: QuerySet[Any]) -> list[Model]:
    """Return the chosen rows of organizations in which the person has a role, as many as one act may touch."""
    mine = queryset.filter(organization_id__in=authority_of(request).organizations(role))
    return list(mine[:MOST_AT_ONCE])
