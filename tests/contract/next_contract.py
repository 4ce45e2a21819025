"""A contract version 2 as it might be: ended sessions are counted, everything else is as in version 1."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from voiceapi import requests, shapes
from voiceapi.urls import addresses
from voiceapi.views import EndView

app_name = "voiceapi"


class CountedEnd(shapes.SessionEnded):
    """A session that is over, and how many searches it made."""

    searches = serializers.IntegerField()


class CountedEndView(EndView):
    """End a session and say how many searches it made."""

    @extend_schema(
        operation_id="end_session",
        request={"application/json": requests.EndRequest},
        responses={200: CountedEnd},
    )
    def post(self, request: Request, *args: Any, **path: Any) -> Response:
        """Answer as version 1 does, with a number beside it."""
        answer: Response = super().post(request, *args, **path)
        answer.data["searches"] = 0
        return answer


urlpatterns = [
    path("sessions/<str:session>/end", CountedEndView.as_view(version=2), name="end"),
    *addresses(2),
]
