"""What every address of the voice API shares: admission, key, contract, deadline, refusals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowledge.retrieval.deadline import Deadline
from tenants.patience import patient_for
from tenants.strict_json import StrictJSONParser
from tenants.wire_fields import validated
from voiceapi.admission import admitted
from voiceapi.authentication import HoldsServiceKey, ServiceKeyAuthentication
from voiceapi.contract import DEADLINE_HEADER, DEADLINE_MS, HEADER, VERSION, require_served
from voiceapi.errors import InvalidRequest, LengthMissing, Overloaded
from voiceapi.refusing import refuse, refuse_early

# What the way back may take, of the time that the client gives (milliseconds).
_WAY_BACK_MS: Final = 500
_LONGEST_NUMBER: Final = 9
# How long after its deadline a request still waits for the database, whatever it does there.
_GRACE_S: Final = 1.0
ResponseT = TypeVar("ResponseT", bound=HttpResponseBase)


class AlwaysJson(BaseContentNegotiation):
    """Answers are JSON whatever is asked for, so that a key is looked at before anything else."""

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


class OpenView(APIView):
    """An address that needs no key. `version` is the contract's that it belongs to."""

    version: int = VERSION
    authentication_classes: tuple[type[BaseAuthentication], ...] = ()
    permission_classes: tuple[type[BasePermission], ...] = ()
    parser_classes: tuple[type[BaseParser], ...] = (StrictJSONParser,)
    content_negotiation_class = AlwaysJson
    http_method_names = ["get", "head", "post"]

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Keep Django from logging refusals: its line holds the path, ours the route."""
        return unlogged(super().finalize_response(request, response, *args, **kwargs))

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        """Refuse everything in the contract's envelope."""
        return refuse


class AdmittedView(OpenView):
    """An address that takes one of the process's places and has a deadline."""

    at: datetime
    arrived: float

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Take a place or refuse at once."""
        self.arrived = time.monotonic()
        self.at = timezone.now()  # noqa: TID251 - the door
        try:
            with admitted(), patient_for(_patience(request)):
                return super().dispatch(request, *args, **kwargs)
        except Overloaded as error:
            return unlogged(refuse_early(error))

    def deadline(self, request: Request) -> Deadline:
        """Return the instant by which the answer is out: ours, or the client's if it is sooner.

        Raises: InvalidRequest
        """
        given = request.headers.get(DEADLINE_HEADER)
        milliseconds = DEADLINE_MS if given is None else _sooner(given.strip())
        return Deadline(self.arrived + milliseconds / 1000)


class KeyedView(AdmittedView):
    """An address for holders of a service key."""

    authentication_classes = (ServiceKeyAuthentication,)
    permission_classes = (HoldsServiceKey,)


class VoiceView(KeyedView):
    """An address for holders of a service key who speak a contract that is served."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Ask for the key first, then for the contract."""
        super().initial(request, *args, **kwargs)
        require_served(request.headers.get(HEADER), self.version)

    def body(self, request: Request, shape: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """Return the body as the shape says.

        Raises: InvalidRequest and its kin
        """
        if "Transfer-Encoding" in request.headers:
            raise LengthMissing
        return validated(shape, request.data)


def unlogged(response: ResponseT) -> ResponseT:
    """Mark a response as logged, as Django itself does."""
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _patience(request: HttpRequest) -> float:
    """Return how long it may wait for the database in all; what its header means is checked later."""
    try:
        milliseconds = _sooner(request.headers.get(DEADLINE_HEADER, str(DEADLINE_MS)).strip())
    except InvalidRequest:
        milliseconds = DEADLINE_MS
    return milliseconds / 1000 + _GRACE_S


def _sooner(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= _LONGEST_NUMBER):
        raise InvalidRequest(fields={DEADLINE_HEADER: ["Must be a whole number of milliseconds."]})
    return max(0, min(DEADLINE_MS, int(given) - _WAY_BACK_MS))
