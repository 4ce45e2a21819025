"""What may be sent for items, instructions and their places, field by field."""

from __future__ import annotations

from typing import Any, Final

from django.core.validators import RegexValidator
from rest_framework import serializers

from knowledge.ingestion.limits import LONGEST_EXTERNAL_ID, LONGEST_TITLE, LONGEST_URL
from knowledge.models import InstructionStatus, ReviewStatus, Visibility
from knowledge.text.normalising import clean
from tenants.wire_fields import Id, Instant, Several, StrictSerializer, Text, Whole

LONGEST_BODY: Final = 1_000_000
MOST_ROWS: Final = 500
MOST_NAMES: Final = 200
_SLUG: Final = RegexValidator(r"^[a-z0-9][a-z0-9_-]{0,49}\Z", "Letters, digits and dashes, in lower case.")  # fmt: skip
_CHANNEL: Final = RegexValidator(r"^[a-z0-9_-]{1,32}\Z", "Must be a lower-case name, like phone.")
_COUNTRY: Final = RegexValidator(r"^[A-Z]{2}\Z", "Must be a country code of two capital letters.")
_LANGUAGE: Final = RegexValidator(r"^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)?\Z", "Must be a language tag, like en or ar-AE.")  # fmt: skip
# Python and ECMA-262, by which the document is read, differ on five signs of space and on the mark of order.
_SAID: Final = RegexValidator(r"[^\s\x1c-\x1f\x85\ufeff]", "Must not be blank.")


def _shown(text: str) -> None:
    """Refuse what is blank once it is stored: no pattern says which signs nobody sees."""
    if not clean(text).strip():
        raise serializers.ValidationError("Must not be blank.")


class Choice(serializers.ChoiceField):
    """One of a few words."""

    default_error_messages = {"invalid_choice": "Must be one of the words that the contract names."}


class Document(serializers.DictField):
    """Any JSON object."""


def _names(**kwargs: Any) -> Several:
    return Several(
        child=Text(**kwargs), max_length=MOST_NAMES, required=False, allow_null=True,
        help_text="null for no restriction; an empty list matches nobody.",
    )  # fmt: skip


def _instant() -> Instant:
    return Instant(required=False, allow_null=True)


class Content(StrictSerializer):
    """What items and instructions share; what is not said stays as it is."""

    title = Text(max_length=LONGEST_TITLE, validators=[_SAID, _shown])
    body = Text(max_length=LONGEST_BODY, validators=[_SAID, _shown])
    language = Text(max_length=16, required=False, allow_blank=True, validators=[_LANGUAGE])
    visibility = Choice(Visibility.values, required=False)
    channels = _names(max_length=32, validators=[_CHANNEL])
    segments = _names(max_length=50)
    jurisdictions = _names(max_length=2, validators=[_COUNTRY])
    valid_from = _instant()
    valid_until = _instant()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a time that never is."""
        start, end = attrs.get("valid_from"), attrs.get("valid_until")
        if start is not None and end is not None and start >= end:
            raise serializers.ValidationError({"valid_until": ["Must be after valid_from."]})
        return attrs


class ItemContent(Content):
    """An item's content."""

    folder = Text(max_length=1000, required=False, allow_blank=True)
    url = serializers.URLField(max_length=LONGEST_URL, required=False, allow_blank=True)
    agents = _names(max_length=50)
    review_status = Choice(ReviewStatus.values, required=False)
    metadata = Document(required=False)


class InstructionContent(Content):
    """An instruction's content."""

    directory = Text(max_length=1000, required=False, allow_blank=True)
    status = Choice(InstructionStatus.values, required=False)


class ItemRow(ItemContent):
    """An item with the name it has in its source."""

    external_id = Text(max_length=LONGEST_EXTERNAL_ID, validators=[_SAID])


class InstructionRow(InstructionContent):
    """An instruction with its own name."""

    external_id = Text(max_length=LONGEST_EXTERNAL_ID, validators=[_SAID])


class ItemPush(ItemRow):
    """One item to make or to bring up to date."""

    organization = Text(max_length=50, required=False)
    source = Text(max_length=50, validators=[_SLUG])  # type: ignore[assignment]


class InstructionPush(InstructionRow):
    """One instruction to make or to bring up to date."""

    organization = Text(max_length=50, required=False)


class Bulk(StrictSerializer):
    """Many rows; each is looked at by itself."""

    organization = Text(max_length=50, required=False)
    rows = Several(child=serializers.JSONField(allow_null=True), min_length=1, max_length=MOST_ROWS)


class ItemBulk(Bulk):
    """Many items of one source."""

    source = Text(max_length=50, validators=[_SLUG])  # type: ignore[assignment]


class InstructionBulk(Bulk):
    """Many instructions."""


class MarkdownFile(StrictSerializer):
    """An instruction as a file."""

    path = Text(max_length=1000)
    text = Text(max_length=LONGEST_BODY + 100_000)


class MarkdownFiles(StrictSerializer):
    """Instructions as files."""

    organization = Text(max_length=50, required=False)
    files = Several(child=MarkdownFile(), min_length=1, max_length=MOST_ROWS)


class SourcePush(StrictSerializer):
    """A source to make."""

    organization = Text(max_length=50, required=False)
    slug = Text(max_length=50, validators=[_SLUG])
    name = Text(max_length=200, validators=[_SAID])


class Renaming(StrictSerializer):
    """A new name; without one, nothing changes."""

    name = Text(max_length=200, validators=[_SAID], required=False)


class DirectoryPush(StrictSerializer):
    """A directory to make, with those above it."""

    organization = Text(max_length=50, required=False)
    path = Text(max_length=1000, validators=[_SAID])


class FolderMove(StrictSerializer):
    """A folder and the key it is to have: the source's slug, then the path."""

    organization = Text(max_length=50, required=False)
    folder = Text(max_length=1000, validators=[_SAID])
    to = Text(max_length=1000, validators=[_SAID])


class FolderEnd(StrictSerializer):
    """A folder that goes; `expected` is how many items it held when it was seen."""

    organization = Text(max_length=50, required=False)
    folder = Text(max_length=1000, validators=[_SAID])
    expected = Whole(min_value=0, max_value=10**9, required=False)


class SeenItem(StrictSerializer):
    """An item in the version that was seen."""

    id = Id()
    version = Whole(min_value=1, max_value=2**53)


class JobStart(StrictSerializer):
    """Work on many items: named one by one, or everything in a folder and below it."""

    organization = Text(max_length=50, required=False)
    action = Choice(["move", "delete", "restore", "publish", "unpublish"])
    items = Several(child=SeenItem(), min_length=1, max_length=MOST_ROWS, required=False)
    folder = Text(max_length=1000, required=False, validators=[_SAID])
    target = Text(max_length=1000, required=False, validators=[_SAID])

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take one way of naming items, and a target just when it is meant."""
        if ("items" in attrs) == ("folder" in attrs):
            raise serializers.ValidationError({"items": ["Name either items or a folder."]})
        if (attrs["action"] == "move") != ("target" in attrs):
            raise serializers.ValidationError({"target": ["Say where to, just when you move."]})
        return attrs
