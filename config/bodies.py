"""How large the body of a request of people may be, said before anything reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.contrib.auth.middleware import get_user
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from config.refused import API, OTHER_DOORS, refused
from knowledge.ingestion.uploads import LARGEST_SENDING
from tenants.refusals import BodyTooLarge, LengthMissing

MEBIBYTE: Final = 1024 * 1024
USUAL: Final = 4 * MEBIBYTE
# Around the files: the other fields, and the lines between the parts.
_AROUND: Final = MEBIBYTE
# Where whoever is signed in may send more, and how much; what reads it has bounds of its own.
UPLOADS: Final = {"/admin/imports/new/": LARGEST_SENDING + _AROUND}


class BodySizeMiddleware:
    """Refuses what is larger than a page takes; the check of forged forms would store it first.

    Cost: nothing but for an upload, where it asks who is signed in.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Go on, or refuse without having read a byte of the body."""
        if request.path_info.startswith(OTHER_DOORS):
            return self.get_response(request)
        if "Transfer-Encoding" in request.headers and not request.path_info.startswith(API):
            told = _("The browser did not say how much it sends.")
            return refused(request, LengthMissing(), told=told)
        if _length(request) > USUAL and _length(request) > _most(request):
            told = _("That is more than this page takes.")
            return refused(request, BodyTooLarge(), told=told)
        return self.get_response(request)


def _length(request: HttpRequest) -> int:
    told: str = request.META.get("CONTENT_LENGTH") or "0"
    return int(told) if told.isascii() and told.isdigit() else 0


def _most(request: HttpRequest) -> int:
    most = UPLOADS.get(request.path_info, USUAL)
    return most if most > USUAL and get_user(request).is_authenticated else USUAL
