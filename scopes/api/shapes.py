"""What the scope API takes and answers."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from knowledge.folders import LONGEST_KEY
from knowledge.models import Category
from knowledge.retrieval.types import CategoryName
from tenants.wire_fields import Id, Several, StrictSerializer, Text

MOST_PICKS: Final = 20_000
ROOTS: Final[dict[str, CategoryName]] = {"instructions": "instruction", "knowledge": "knowledge"}


def _ids() -> Several:
    return Several(child=Id(), max_length=MOST_PICKS, default=list)


class InstructionPicks(StrictSerializer):
    """What is picked of instructions; a directory covers everything in it now and later."""

    instructions = _ids()
    directories = _ids()


class KnowledgePicks(StrictSerializer):
    """What is picked of knowledge; a folder covers everything in it now and later."""

    items = _ids()
    folders = Several(child=Text(max_length=LONGEST_KEY), max_length=MOST_PICKS, default=list)


PICKS: Final[dict[str, tuple[type[StrictSerializer], str, str]]] = {
    Category.INSTRUCTION: (InstructionPicks, "instructions", "directories"),
    Category.KNOWLEDGE: (KnowledgePicks, "items", "folders"),
}


class EffectiveAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """What the picks come to now: `searchable` is `all`, `some` or `nothing`."""

    mode = serializers.ChoiceField(["all", "selected"])
    searchable = serializers.ChoiceField(["all", "some", "nothing"])


class _RootAnswer(serializers.Serializer):  # type: ignore[type-arg]
    version = serializers.IntegerField()
    effective = EffectiveAnswer()
    changed_at = serializers.DateTimeField(allow_null=True)
    changed_by = serializers.CharField(allow_null=True)


class InstructionScopeAnswer(_RootAnswer):
    """The scope over instructions."""

    picks = InstructionPicks()


class KnowledgeScopeAnswer(_RootAnswer):
    """The scope over knowledge."""

    picks = KnowledgePicks()


class ScopeAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """The scope of an agent; each root has a version of its own."""

    agent = serializers.UUIDField()
    organization = serializers.CharField()
    instructions = InstructionScopeAnswer()
    knowledge = KnowledgeScopeAnswer()
