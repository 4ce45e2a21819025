"""What a runtime may send, field by field."""

from __future__ import annotations

from typing import Any, Final

from django.core.validators import RegexValidator

from tenants.wire_fields import Several, StrictSerializer, Text, Truth, Whole
from voiceapi.fields import CallFacts, QueryText

MOST_QUERIES: Final = 4
LONGEST_CONTEXT: Final = 1000
MOST_RESULTS: Final = 10
USUAL_RESULTS: Final = 5
MOST_PINS: Final = 5
MOST_ADOPTED: Final = 20
MOST_DYNAMIC: Final = 10
MOST_ADDITIONS: Final = 10
LONGEST_ADDITION: Final = 2000
_NAME: Final = 50
_ID: Final = 64
_COUNTRY: Final = RegexValidator(r"^[A-Za-z]{2}\Z", "Must be a country code of two letters.")
_CHANNEL: Final = RegexValidator(r"^[a-z0-9_-]{1,32}\Z", "Must be a lower-case name, like phone.")
_LANGUAGE: Final = RegexValidator(
    r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z", "Must be a language tag, like en or ar-AE."
)


def _ids(most: int) -> Several:
    return Several(child=Text(max_length=_ID), max_length=most, default=list)


def _fact(**kwargs: Any) -> Text:
    return Text(required=False, allow_null=True, **kwargs)


class Named(StrictSerializer):
    """Every call names the organization and the agent that it speaks for."""

    organization = Text(max_length=_NAME)
    agent = Text(max_length=_NAME)


class Call(CallFacts):
    """Facts of the call; other keys are dropped."""

    id = _fact(max_length=200)
    channel = _fact(validators=[_CHANNEL])
    country = _fact(validators=[_COUNTRY])
    language = _fact(max_length=16, validators=[_LANGUAGE])


class TurnCall(CallFacts):
    """Facts of the call, checked and otherwise without effect: the session's own decide who may hear what.

    Other keys are dropped.
    """

    channel = _fact(validators=[_CHANNEL])
    country = _fact(validators=[_COUNTRY])
    language = _fact(max_length=16, validators=[_LANGUAGE])


class ContactName(StrictSerializer):
    """The caller, as the organization's CRM names them."""

    external_id = Text(max_length=200)


class SessionRequest(Named):
    """Open a session for one call."""

    call = Call(required=False, allow_null=True, default=None)
    contact = ContactName(required=False, allow_null=True, default=None)
    dynamic_instructions = _ids(MOST_DYNAMIC)
    additions = Several(
        child=Text(max_length=LONGEST_ADDITION), max_length=MOST_ADDITIONS, default=list
    )


class RenewRequest(Named):
    """Keep a session alive."""


class EndRequest(Named):
    """End a session; says which speculative searches were executed after all."""

    adopted = _ids(MOST_ADOPTED)


class Turn(StrictSerializer):
    """What the caller is doing right now: focuses excerpts, `call` excepted; never searched or embedded."""

    utterance = Text(required=False, allow_blank=True, default="", max_length=LONGEST_CONTEXT)
    structured_value_digits = Whole(
        required=False, allow_null=True, default=None, min_value=0, max_value=999
    )
    call = TurnCall(required=False, allow_null=True, default=None)


class SearchRequest(Named):
    """Search with one to four standalone queries."""

    queries = Several(child=QueryText(), min_length=1, max_length=MOST_QUERIES)
    turn_context = Turn(required=False, allow_null=True, default=None)
    follows = Text(required=False, allow_null=True, default=None, max_length=_ID)
    pinned = _ids(MOST_PINS)
    speculative = Truth(default=False)
    adopted = _ids(MOST_ADOPTED)
    limit = Whole(default=USUAL_RESULTS, min_value=1, max_value=MOST_RESULTS)
