"""Dify's External Knowledge API: an agent is a knowledge base named `organization/agent`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scopes.asking import Asked
from tenants.keys import KeyRefused
from tenants.wire_fields import validated
from voiceapi.answers import STATUS, written
from voiceapi.authentication import holder_of
from voiceapi.door import KeyedView
from voiceapi.errors import InvalidRequest, NotFound
from voiceapi.peers.asking import Peer, ask_for_peer, fitting, named_by, relevances
from voiceapi.refusing import refuse
from voiceapi.sessions import CallNote

DOOR: Final = "dify"
CHANNEL: Final = "chat"
_AUTHORIZATION_FORM: Final = 1001
_AUTHORIZATION_FAILED: Final = 1002
_NO_KNOWLEDGE: Final = 2001
_LONGEST: Final = 100_000


class RetrievalSetting(serializers.Serializer[Any]):
    """How many records, and how relevant each has to be."""

    top_k = serializers.IntegerField(min_value=1)
    score_threshold = serializers.FloatField(
        min_value=0, max_value=1, required=False, allow_null=True, default=0.0
    )


class Retrieval(serializers.Serializer[Any]):
    """What Dify sends; fields that it may add later are let be."""

    knowledge_id = serializers.CharField(max_length=200)
    query = serializers.CharField(max_length=_LONGEST, allow_blank=True)
    retrieval_setting = RetrievalSetting()
    metadata_condition = serializers.JSONField(required=False, allow_null=True, default=None)


@extend_schema(exclude=True)
class RetrievalView(KeyedView):
    """`POST {endpoint}/retrieval`."""

    def post(self, request: Request) -> Response:
        """Answer with records, best first; with none when nothing fits."""
        sent = validated(Retrieval, request.data)
        _refuse_condition(sent["metadata_condition"])
        query = fitting(sent["query"])
        if not query:
            return Response({"records": []})
        setting = sent["retrieval_setting"]
        named, call = named_by(sent["knowledge_id"]), CallNote(DOOR, CHANNEL)
        asked = ask_for_peer(
            Peer(holder_of(request), named, call, DOOR),
            (query,),
            at=self.at,
            deadline=self.deadline(request),
            limit=setting["top_k"],
        )
        return _answer(asked, setting["score_threshold"] or 0.0)

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        """Refuse in Dify's words."""
        return _refuse


def _answer(asked: Asked, threshold: float) -> Response:
    status = STATUS[asked.answer.status]
    if status != 200:
        return Response({"error_code": status, "error_msg": asked.answer.guidance}, status=status)
    pairs = zip(asked.answer.results, relevances(asked), strict=True)
    guidance = asked.answer.guidance or ""
    records = [_record(result, score, guidance) for result, score in pairs if score >= threshold]
    return Response({"records": records})


def _record(result: Any, score: float, guidance: str) -> dict[str, Any]:
    until = result.valid_until
    return {
        "content": result.content,
        "score": score,
        "title": result.title,
        "metadata": {
            "type": result.type,
            "id": result.id,
            "url": result.url or "",
            "valid_until": written(until) if until else "",
            "guidance": guidance,
        },
    }


def _refuse_condition(condition: Any) -> None:
    """A narrowing field is never silently ignored; scopes are picked in Earmark."""
    if isinstance(condition, dict) and not condition.get("conditions"):
        return
    if condition is not None:
        raise InvalidRequest(fields={"metadata_condition": ["Not supported: pick the scope here."]})


def _refuse(raised: Exception, context: dict[str, Any]) -> Response:
    told = refuse(raised)
    error = told.data["error"]
    code, status = told.status_code, told.status_code
    if error["code"] == KeyRefused.code:
        code, status = _authorization(context["request"]), 403
    elif error["code"] == NotFound.code:
        code = _NO_KNOWLEDGE
    retry = {"Retry-After": told["Retry-After"]} if "Retry-After" in told else None
    return Response({"error_code": code, "error_msg": error["message"]}, status, headers=retry)


def _authorization(request: Request) -> int:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    is_formed = scheme.lower() == "bearer" and token.strip()
    return _AUTHORIZATION_FAILED if is_formed else _AUTHORIZATION_FORM
