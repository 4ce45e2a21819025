"""What the content API answers, for its OpenAPI document."""

from __future__ import annotations

from rest_framework import serializers

from knowledge.api import shapes
from knowledge.api.fresh_shapes import FreshnessAnswer
from tenants.api.described import Refusal


class IndexAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """How far the index is with a row."""

    state = serializers.ChoiceField(["pending", "live", "retrying", "failed"])
    code = serializers.CharField()
    reason = serializers.CharField()


class _About(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.UUIDField()
    organization = serializers.CharField()
    external_id = serializers.CharField()
    version = serializers.IntegerField()
    deleted_at = serializers.DateTimeField(allow_null=True)
    updated_at = serializers.DateTimeField()
    index = IndexAnswer()


class ItemAnswer(_About, shapes.ItemContent):
    """An item."""

    source = serializers.CharField()  # type: ignore[assignment]
    kind = serializers.CharField()


class InstructionAnswer(_About, shapes.InstructionContent):
    """An instruction."""


class SourceAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """A source."""

    id = serializers.UUIDField()
    organization = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()
    freshness = FreshnessAnswer(allow_null=True)


class DirectoryAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """An instruction directory."""

    id = serializers.UUIDField()
    organization = serializers.CharField()
    path = serializers.CharField()
    name = serializers.CharField()


class RowAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """What became of one row."""

    external_id = serializers.CharField(allow_null=True)
    outcome = serializers.ChoiceField(["created", "updated", "unchanged", "refused"])
    id = serializers.UUIDField(allow_null=True)
    error = Refusal(allow_null=True)


class BulkAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """What became of every row, in the order they were sent."""

    results = RowAnswer(many=True)


class FileAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """An instruction as a file."""

    path = serializers.CharField()
    text = serializers.CharField()


class FileOutcomeAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """What became of one file."""

    path = serializers.CharField()
    outcome = serializers.ChoiceField(["created", "updated", "unchanged", "refused"])
    reason = serializers.CharField()


class FilesAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """What became of every file."""

    results = FileOutcomeAnswer(many=True)


class FolderAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """Where a folder's items are filed now."""

    folder = serializers.CharField()
    items = serializers.IntegerField()


class JobAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """Work on many items, and how far it is."""

    id = serializers.UUIDField()
    organization = serializers.CharField()
    action = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    status = serializers.CharField(help_text="running, cancelled or done")
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    refused = serializers.IntegerField()
    undoes = serializers.UUIDField(allow_null=True)
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class JobItemAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """What became of one item of a job."""

    item = serializers.UUIDField()
    outcome = serializers.CharField(help_text="waiting, done, unchanged or refused")
    code = serializers.CharField(allow_blank=True)
