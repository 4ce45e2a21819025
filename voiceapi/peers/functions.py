"""The tool in the shape in which chat completion APIs take function tools."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from voiceapi.door import KeyedView
from voiceapi.tool import TOOL


def function_tool() -> dict[str, Any]:
    """Return the one tool, as `tools` of a chat completion request lists it."""
    return {"type": "function", "function": TOOL}


@extend_schema(exclude=True)
class FunctionToolsView(KeyedView):
    """`GET /integrations/openai/tools`: what to hand to a model; the search itself is the voice API's."""

    def get(self, _request: Request) -> Response:
        """Answer with the tool in a list."""
        return Response({"tools": [function_tool()]})
