"""What a runtime is sent, field by field; the published contract is made from this."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from knowledge.retrieval.types import SearchStatus
from scopes.models import Mode
from voiceapi.tool import NAME

_FIELDS: dict[str, Any] = {
    "type": "object",
    "description": "What is wrong, by the path of the field or the name of the header or check.",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "description": "The JSON schema of the tool's arguments, to hand to a model as it is.",
    "additionalProperties": True,
}


class Shape(serializers.Serializer[Any]):
    """An object of the contract, with nothing in it that the contract does not name."""


@extend_schema_field(_FIELDS)
class FieldErrors(serializers.DictField):
    """Complaints by field."""


@extend_schema_field(_PARAMETERS)
class ToolParameters(serializers.DictField):
    """A JSON schema."""


class Refusal(Shape):
    """Why a request was refused."""

    code = serializers.CharField(help_text="One of the codes in docs/errors.md.")
    message = serializers.CharField(help_text="One sentence for a person who reads a log.")
    fields = FieldErrors()  # type: ignore[assignment]


class RefusalEnvelope(Shape):
    """The body of every refusal."""

    error = Refusal()


class Contract(Shape):
    """The contract that this address speaks."""

    version = serializers.IntegerField()
    hash = serializers.RegexField(r"^sha256:[0-9a-f]{64}$", help_text="Of the OpenAPI file.")


class ContractAnswer(Contract):
    """The contract, and who may speak it."""

    served = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Every version that the server speaks, each below a path of its own.",
    )
    oldest_worker = serializers.CharField(help_text="The oldest worker version that is accepted.")


class ReadyAnswer(Shape):
    """Every check passed."""

    ready = serializers.BooleanField()
    version = serializers.IntegerField()
    checks = serializers.ListField(child=serializers.CharField())


class Tool(Shape):
    """The tool to register with the model, under this name."""

    name = serializers.ChoiceField([NAME])
    description = serializers.CharField()
    parameters = ToolParameters()


class InstructionScope(Shape):
    """What the agent may search of instructions, as picked; descendants are not listed."""

    mode = serializers.ChoiceField(Mode.values)
    instructions = serializers.ListField(child=serializers.CharField())
    directories = serializers.ListField(child=serializers.CharField())


class KnowledgeScope(Shape):
    """What the agent may search of knowledge, as picked; descendants are not listed."""

    mode = serializers.ChoiceField(Mode.values)
    items = serializers.ListField(child=serializers.CharField())
    folders = serializers.ListField(child=serializers.CharField())


class ScopeSnapshot(Shape):
    """The scope at bootstrap, for audit; no search relies on it."""

    captured_at = serializers.DateTimeField()
    instructions = InstructionScope()
    knowledge = KnowledgeScope()


class SessionRenewed(Shape):
    """A session that lives on."""

    session = serializers.CharField(help_text="The id to search with.")
    expires_at = serializers.DateTimeField(help_text="Four hours after the last use.")
    contract = Contract()


class SessionOpened(SessionRenewed):
    """All that a runtime needs to take a call."""

    prompt = serializers.CharField(allow_blank=True)
    tools = Tool(many=True)
    scope = ScopeSnapshot()
    fallback = serializers.CharField(
        allow_blank=True, help_text="What to say when nothing fits; empty when none is configured."
    )
    deadline_ms = serializers.IntegerField(help_text="The longest that a search takes.")
    code_patterns = serializers.ListField(
        child=serializers.CharField(),
        help_text="Shapes of product codes that redaction leaves alone: A a letter, # a digit.",
    )


class SessionEnded(Shape):
    """A session that is over."""

    session = serializers.CharField()
    ended_at = serializers.DateTimeField()


class SearchResult(Shape):
    """A short passage that the agent may speak from."""

    KINDS: ClassVar = ["golden", "instruction", "knowledge"]

    type = serializers.ChoiceField(KINDS)
    id = serializers.CharField()
    chunk = serializers.IntegerField(
        allow_null=True, help_text="Which passage of a knowledge item it is; null for the others."
    )
    title = serializers.CharField()
    content = serializers.CharField()
    url = serializers.CharField(allow_null=True)
    valid_until = serializers.DateTimeField(allow_null=True)


class SearchAnswer(Shape):
    """The one envelope of every status."""

    status = serializers.ChoiceField([status.value for status in SearchStatus])
    search = serializers.CharField(help_text="The id to send as `follows` or `adopted`.")
    digest = serializers.RegexField(
        r"^sha256:[0-9a-f]{64}$", help_text="Equal when two searches returned the same passages."
    )
    degraded = serializers.ListField(
        child=serializers.ChoiceField(["dense", "lexical"]),
        help_text="The legs that did not run, when there are results all the same.",
    )
    guidance = serializers.CharField(allow_null=True, help_text="A sentence for the model.")
    results = SearchResult(many=True)


SearchOrRefusal = PolymorphicProxySerializer(
    component_name="SearchOrRefusal",
    serializers=[SearchAnswer, RefusalEnvelope],
    resource_type_field_name=None,
)
"""What comes with 503 and 504: the search's own envelope, or a refusal before it began."""
