"""The addresses of the selector, below the address of a phone agent in the admin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.urls import URLPattern, path

from scopes.selector import copies, past, previews, views
from tenants.admin_site import EarmarkSite

_PAGES: Final[tuple[tuple[str, str, Callable[..., Any]], ...]] = (
    ("", "scope", views.scope_page),
    ("folder/", "scope_folder", views.folder_part),
    ("find/", "scope_find", views.find_part),
    ("review/", "scope_review", views.review_part),
    ("root/", "scope_root", views.root_part),
    ("save/", "scope_save", views.save_part),
    ("preview/", "scope_preview", previews.preview_part),
    ("history/", "scope_history", past.history_page),
    ("history/<uuid:entry>/", "scope_change", past.change_page),
    ("restore/", "scope_restore", past.restore),
    ("copy/", "scope_copy", copies.copy_page),
)


def selector_urls(site: EarmarkSite) -> list[URLPattern]:
    """Return the addresses; each is guarded by the site."""
    return [
        path(
            f"<path:object_id>/scope/{route}",
            site.admin_view(view),
            name=f"tenants_phoneagent_{name}",
        )
        for route, name, view in _PAGES
    ]
