"""What programs may send, field by field, and what they are told."""

from __future__ import annotations

from typing import Any, Final

from django.core.validators import RegexValidator
from rest_framework import serializers

from golden.content import LONGEST_PARAPHRASE, LONGEST_QUESTION, MOST_PARAPHRASES
from golden.models import AssetKind
from knowledge.models import Visibility
from tenants.wire_fields import Instant, Several, StrictSerializer, Text, Whole

LONGEST_TEXT: Final = 20_000
MOST_NAMES: Final = 200
_COUNTRY: Final = RegexValidator(r"^[A-Z]{2}\Z", "Must be a country code of two capital letters.")
_CHANNEL: Final = RegexValidator(r"^[a-z0-9_-]{1,32}\Z", "Must be a lower-case name, like phone.")
_LANGUAGE: Final = RegexValidator(
    r"^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)?\Z", "Must be a language tag, like en or ar-AE."
)


def _names(**kwargs: Any) -> Several:
    return Several(
        child=Text(**kwargs), max_length=MOST_NAMES, required=False, allow_null=True, default=None,
        help_text="null for no restriction; an empty list matches nobody.",
    )  # fmt: skip


class AnswerContent(StrictSerializer):
    """The whole content of a draft; what is left out is empty."""

    question = Text(max_length=LONGEST_QUESTION)
    answer = Text(max_length=LONGEST_TEXT)
    paraphrases = Several(
        child=Text(max_length=LONGEST_PARAPHRASE), max_length=MOST_PARAPHRASES, default=list
    )
    language = Text(max_length=16, allow_blank=True, default="", validators=[_LANGUAGE])
    folder = Text(max_length=700, allow_blank=True, default="")
    visibility = serializers.ChoiceField(Visibility.values, default=Visibility.PUBLIC.value)
    agents = _names(max_length=50)
    segments = _names(max_length=50)
    channels = _names(max_length=32, validators=[_CHANNEL])
    jurisdictions = _names(max_length=2, validators=[_COUNTRY])
    valid_from = Instant(default=None, allow_null=True)
    valid_until = Instant(default=None, allow_null=True)


class NewAnswer(AnswerContent):
    """An answer to begin with a draft."""

    organization = Text(max_length=50, required=False)
    kind = serializers.ChoiceField(AssetKind.values, default=AssetKind.ANSWER.value)


class Reason(StrictSerializer):
    """Why."""

    reason = Text(max_length=2_000, allow_blank=True, default="")


class RollBack(Reason):
    """To which version, by its number."""

    version = Whole(min_value=1)


class Care(Reason):
    """Who looks after it (a user name), and after how many days at the latest."""

    owner = Text(max_length=150, allow_null=True, default=None)
    review_days = Whole(min_value=1, max_value=3_650)


class VersionAnswer(serializers.Serializer[Any]):
    """One version."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    was_live = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    content = AnswerContent()


class GoldenAnswerAnswer(serializers.Serializer[Any]):
    """One answer: what is live, the draft beside it, and where it stands."""

    id = serializers.UUIDField()
    organization = serializers.CharField()
    kind = serializers.ChoiceField(AssetKind.values)
    version = serializers.IntegerField(help_text="The lock version, which is the ETag.")
    status = serializers.ChoiceField(["draft", "live", "archived"])
    live = VersionAnswer(allow_null=True)
    draft = AnswerContent(allow_null=True)
    open_request = serializers.UUIDField(allow_null=True)
    owner = serializers.CharField(allow_null=True)
    review_days = serializers.IntegerField()
    verified_at = serializers.DateTimeField(allow_null=True)
    overdue = serializers.BooleanField()
    updated_at = serializers.DateTimeField()
    generation = serializers.IntegerField(
        allow_null=True, help_text="What the index is asked for; see the sync resource."
    )


class SyncAnswer(serializers.Serializer[Any]):
    """Whether searches rank the answer in full yet; its text is served from the next search on."""

    generation = serializers.IntegerField()
    applied_generation = serializers.IntegerField()
    ranked_in_full = serializers.BooleanField()
    status = serializers.ChoiceField(["live", "pending", "retrying", "failed"])
    job = serializers.UUIDField(allow_null=True)
    attempts = serializers.IntegerField()
    next_attempt_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(allow_blank=True)
