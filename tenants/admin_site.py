"""The admin site: every page sees the rows of its person's organizations and of no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, cast

from django.contrib import admin
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.translation import gettext_lazy as _

from tenants.admin_authority import authority_of
from tenants.isolation import organization_context
from tenants.models import Role, User
from tenants.sign_in import SignInForm, needs_second_factor

View = Callable[..., HttpResponseBase]
# What a person reaches who has yet to set up the second factor that is required of them.
_ABOUT_ONESELF: Final = frozenset({"second_factor", "login", "logout", "jsi18n"})
_SIGNED_OUT: Final = _("You are no longer signed in. Sign in again in another tab, then try again.")


@dataclass(frozen=True)
class Notice:
    """Something on the overview that a person should look at."""

    text: str
    url: str


Watch = Callable[[HttpRequest], list[Notice]]
# Pages of a section in the list of everything: label, name of the address, query.
Entries = Sequence[tuple[Any, str, str]]


def own_transaction(view: View) -> View:
    """Mark a view that opens its organization contexts itself, because its verbs are durable."""
    view.own_transaction = True  # type: ignore[attr-defined]
    return view


class EarmarkSite(admin.AdminSite):
    """Django's site with our name, pages of every app, and one organization context per request."""

    site_title = "Earmark"
    site_header = "Earmark"
    index_title = _("Overview")
    site_url = None
    enable_nav_sidebar = True
    login_form = SignInForm
    login_template = "admin/tenants/sign_in.html"

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self.disable_action("delete_selected")
        self._pages: list[tuple[str, View, str]] = []
        self._watches: list[Watch] = []
        self._sections: list[tuple[Any, Entries, str]] = []

    def add_page(self, route: str, view: View, name: str) -> None:
        """Add a page that belongs to no model."""
        self._pages.append((route, view, name))

    def add_watch(self, watch: Watch) -> None:
        """Add a source of what needs attention."""
        self._watches.append(watch)

    def add_section(self, name: Any, entries: Entries, role: str = Role.VIEWER) -> None:
        """List pages that belong to no model, for everybody who has a role in an organization."""
        self._sections.append((name, entries, role))

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return Django's list with our sections before it."""
        models = list(super().get_app_list(request, app_label))
        if app_label is not None:
            return models
        authority = authority_of(request)
        shown = [one for one in self._sections if authority.has_somewhere(one[2])]
        return [_section(name, entries) for name, entries, _role in shown] + models

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Our pages, then Django's; the redirect to any row of any table is left out."""
        ours = [path(route, self.admin_view(view), name=name) for route, view, name in self._pages]
        kept = [url for url in super().get_urls() if getattr(url, "name", "") != "view_on_site"]
        return [*ours, *kept]

    def admin_view(self, view: View, cacheable: bool = False) -> View:  # type: ignore[override]  # noqa: FBT001, FBT002
        """Serve inside the context; tell a script, unlike a browser, that it is signed out."""
        inside = view if getattr(view, "own_transaction", False) else _in_context(view)
        guarded: View = super().admin_view(inside, cacheable)

        @wraps(guarded)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if getattr(request, "htmx", False) and not self.has_permission(request):
                return HttpResponse(_SIGNED_OUT, status=401, content_type="text/plain")
            if needs_second_factor(request) and not _is_about_oneself(request):
                return redirect("admin:second_factor")
            return guarded(request, *args, **kwargs)

        return answer

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show what needs attention above the list of everything."""
        authority = authority_of(request)
        notices = [notice for watch in self._watches for notice in watch(request)]
        return super().index(
            request,
            {
                "notices": notices,
                "has_role": authority.has_somewhere(Role.VIEWER),
                **(extra_context or {}),
            },
        )

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Change one's own password; an account that is closed at that moment stays closed."""
        if request.method == "POST" and isinstance(request.user, User):
            rows = User.objects.select_for_update(no_key=True)
            request.user.refresh_from_db(from_queryset=rows)
        return super().password_change(request, extra_context)

    def autocomplete_view(self, request: HttpRequest) -> Any:
        """Offer rows under names that say where they are filed."""
        if "\0" in request.GET.get("term", ""):
            raise SuspiciousOperation
        return LabelledRows.as_view(admin_site=self)(request)


class LabelledRows(AutocompleteJsonView):
    """The answers of an autocomplete field."""

    def serialize_result(self, obj: Any, to_field_name: str) -> dict[str, Any]:
        """Return one row as the widget shows it."""
        label = getattr(self.model_admin, "label_of", str)
        return {**super().serialize_result(obj, to_field_name), "text": label(obj)}


def _section(name: Any, entries: Entries) -> dict[str, Any]:
    rows = [
        {"name": label, "object_name": f"page{place}", "admin_url": reverse(address) + query,
         "view_only": True}
        for place, (label, address, query) in enumerate(entries)
    ]  # fmt: skip
    # The label makes the ids of the rows, which must not be those of another section.
    label = entries[0][1].replace("admin:", "pages-")
    return {"name": name, "app_label": label, "app_url": rows[0]["admin_url"], "models": rows}


def _is_about_oneself(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.url_name in _ABOUT_ONESELF


def our_site() -> EarmarkSite:
    """Return the site of this installation, to which apps add their pages."""
    return cast(EarmarkSite, admin.site)


def _in_context(view: View) -> View:
    @wraps(view)
    def inside(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        seen = authority_of(request).organizations(Role.VIEWER)
        with organization_context(*seen):
            response = view(request, *args, **kwargs)
            # A template reads rows too, and outside the context there are none.
            if isinstance(response, TemplateResponse) and not response.is_rendered:
                response.render()
        return response

    return inside
