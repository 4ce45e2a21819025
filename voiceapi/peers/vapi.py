"""Vapi's custom knowledge base: a webhook that is signed, asked with what the caller said last."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from django.core.exceptions import RequestDataTooBig
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.retrieval.types import Answer
from scopes.asking import Asked
from tenants.keys import verify_signed
from voiceapi.answers import STATUS, search_headers
from voiceapi.door import AdmittedView
from voiceapi.errors import BodyTooLarge, InvalidRequest, MalformedBody
from voiceapi.finding import Named
from voiceapi.peers.asking import Peer, ask_for_peer, fitting, relevances
from voiceapi.refusing import refuse
from voiceapi.sessions import USUAL_CHANNEL, CallNote

DOOR: Final = "vapi"
SIGNATURE: Final = "X-Vapi-Signature"
REQUEST: Final = "knowledge-base-request"
CHAT: Final = "chat"
MOST_BYTES: Final = 1024 * 1024
_LONGEST_NAME: Final = 200


@extend_schema(exclude=True)
class KnowledgeBaseView(AdmittedView):
    """`POST /integrations/vapi/{key id}/{organization}/{agent}`, signed for the key."""

    # The signature is over the bytes, so they are read here and by no parser.
    parser_classes = ()

    def post(self, request: Request, kid: str, organization: str, agent: str) -> Response:
        """Answer with documents, best first; with none when nothing fits."""
        raw = _bytes(request)
        signature = request.headers.get(SIGNATURE, "")
        holder = verify_signed(kid, raw, signature, at=self.at)
        message = _message(raw)
        query = fitting(_last_said(message))
        if not query:
            return Response({"documents": []})
        peer = Peer(holder, Named(organization, agent), _call(message), DOOR)
        asked = ask_for_peer(peer, (query,), at=self.at, deadline=self.deadline(request))
        return _answer(asked)

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        """Refuse with one sentence."""
        return _refuse


def _bytes(request: Request) -> bytes:
    try:
        raw: bytes = request._request.body
    except RequestDataTooBig:
        raise BodyTooLarge from None
    except (OSError, ValueError):
        # The client has gone, or its Content-Length is no number.
        raise MalformedBody from None
    if len(raw) > MOST_BYTES:
        raise BodyTooLarge
    return raw


def _message(raw: bytes) -> dict[str, Any]:
    try:
        sent = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise MalformedBody from None
    message = _object(sent, "message")
    if message.get("type") != REQUEST:
        raise InvalidRequest(fields={"message.type": [f"Must be {REQUEST}."]})
    return message


def _last_said(message: dict[str, Any]) -> str:
    """Return the caller's last words; what the assistant said is no question."""
    said = message.get("messages")
    for one in reversed(said if isinstance(said, list) else []):
        if isinstance(one, dict) and one.get("role") == "user":
            return _text(one.get("content"))
    return ""


def _call(message: dict[str, Any]) -> CallNote:
    call, chat = _object(message, "call"), _object(message, "chat")
    customer = _object(call, "customer") or _object(message, "customer")
    return CallNote(
        call_id=_name(call.get("id") or chat.get("id")) or DOOR,
        channel=CHAT if chat and not call else USUAL_CHANNEL,
        contact=_name(customer.get("externalId")) or None,
    )


def _answer(asked: Asked) -> Response:
    status = STATUS[asked.answer.status]
    if status != 200:
        headers = search_headers(asked.answer)
        return Response({"error": asked.answer.guidance}, status=status, headers=headers)
    pairs = zip(_contents(asked.answer), asked.answer.results, relevances(asked), strict=True)
    documents = [
        {"content": content, "similarity": score, "uuid": result.id}
        for content, result, score in pairs
    ]
    return Response({"documents": documents})


def _contents(answer: Answer) -> list[str]:
    """Return what the model is given: content is all that it sees, so title and guidance stand in it."""
    texts = ["\n\n".join(filter(None, (one.title, one.content))) for one in answer.results]
    if answer.guidance and texts:
        texts[0] = f"{answer.guidance}\n\n{texts[0]}"
    return texts


def _refuse(raised: Exception, _context: dict[str, Any]) -> Response:
    told = refuse(raised)
    retry = {"Retry-After": told["Retry-After"]} if "Retry-After" in told else None
    return Response({"error": told.data["error"]["message"]}, told.status_code, headers=retry)


def _object(value: Any, name: str) -> dict[str, Any]:
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _text(value: Any) -> str:
    """Return a text without what no database keeps."""
    if not isinstance(value, str):
        return ""
    return value.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")


def _name(value: Any) -> str:
    return _text(value)[:_LONGEST_NAME]
