"""Buttons on the page of a row: each one a verb, sent by POST, with a role of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from tenants.admin_base import TenantAdmin
from tenants.errors import EarmarkError


def _always(_row: Any) -> bool:
    return True


def _nothing(_row: Any) -> str:
    return ""


@dataclass(frozen=True)
class Button:
    """What may be done to a row: the method of the admin that does it, and when it is offered.

    The method returns the sentence that tells what was done.
    Shape: `seen` is what of the row is decided about; the page sends it back, and it must be the same.
    """

    name: str
    label: Any
    role: str
    applies: Callable[[Any], bool] = _always
    seen: Callable[[Any], str] = _nothing


class ButtonAdmin(TenantAdmin):
    """A tenant admin with buttons and links on the page of a row."""

    buttons: ClassVar[Sequence[Button]] = ()
    change_form_template = "admin/change_form_with_buttons.html"

    def get_urls(self) -> list[URLPattern]:
        """Return the address of the buttons, then Django's."""
        address = path(
            "<path:object_id>/do/<slug:name>/",
            self.admin_site.admin_view(self.press),
            name=f"{self.opts.app_label}_{self.opts.model_name}_do",
        )
        return [address, *super().get_urls()]

    def press(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """Do what a button says."""
        obj = self.get_object(request, unquote(object_id))
        button = next((one for one in self.buttons if one.name == name), None)
        if button is None:
            raise Http404
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.may_press(request, button, obj):
            raise PermissionDenied
        self._hold(request, object_id)
        self._do(request, button, self.get_object(request, unquote(object_id)))
        return HttpResponseRedirect(self._page_of(obj))

    def may_press(self, request: HttpRequest, button: Button, obj: Any) -> bool:
        """Whether the person may do to this row what a button says."""
        return self._may(request, button.role, obj)

    def _do(self, request: HttpRequest, button: Button, obj: Any) -> None:
        if not button.applies(obj) or request.POST.get("seen", "") != button.seen(obj):
            messages.warning(request, _("Nothing was done: it has changed meanwhile."))
            return
        try:
            messages.success(request, getattr(self, button.name)(request, obj))
        except EarmarkError as refusal:
            messages.error(request, _(str(refusal)))

    def _page_of(self, obj: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[obj.pk])

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Offer the buttons that apply, to those who may press them."""
        obj = self.get_object(request, unquote(object_id))
        offered = [
            (button, reverse(self._address, args=[obj.pk, button.name]), button.seen(obj))
            for button in self.buttons
            if button.applies(obj) and self.may_press(request, button, obj)
        ]
        beside = {"buttons": offered, "links": self.links(obj), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, beside)

    @property
    def _address(self) -> str:
        return f"admin:{self.opts.app_label}_{self.opts.model_name}_do"

    def links(self, obj: Any) -> list[tuple[str, str]]:
        """Return pages about a row, as (label, address)."""
        return []
