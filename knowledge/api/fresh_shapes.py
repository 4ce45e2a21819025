"""What may be sent and what is answered about sources that are kept fresh and about imports."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from knowledge.api.shapes import Choice, Document
from knowledge.models import ImportRun, ImportUpload, SourceSchedule, SyncKind
from tenants.wire_fields import StrictSerializer, Truth, Whole

MOST_MINUTES: Final = 525_600


class ScheduleChange(StrictSerializer):
    """How a source is kept fresh; what is not said stays as it is."""

    kind = Choice(SyncKind.values, required=False)
    config = Document(
        required=False,
        help_text='site: start, prefix, sitemap; urls: urls; the others: path. {"start": "https://…"}',
    )
    every_minutes = Whole(
        min_value=0, max_value=MOST_MINUTES, required=False, help_text="0: only when asked."
    )
    is_active = Truth(required=False)


class ScheduleMade(ScheduleChange):
    """How a source is kept fresh from now on."""

    kind = Choice(SyncKind.values)
    config = Document()


class FreshnessAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """How fresh a source is, and how its last look went."""

    outcome = serializers.ChoiceField(SourceSchedule.Outcome.values)
    reason = serializers.CharField()
    age_seconds = serializers.IntegerField(allow_null=True)
    last_run_at = serializers.DateTimeField(allow_null=True)
    last_done_at = serializers.DateTimeField(allow_null=True)
    next_run_at = serializers.DateTimeField(allow_null=True)
    is_running = serializers.BooleanField()
    asked_removals = serializers.IntegerField()
    changes = serializers.DictField(child=serializers.IntegerField())


class ScheduleAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """How a source is kept fresh, and how that went."""

    kind = serializers.ChoiceField(SyncKind.values)
    config = serializers.DictField()
    every_minutes = serializers.IntegerField()
    is_active = serializers.BooleanField()
    freshness = FreshnessAnswer()


class ImportFileAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """A file that was handed in."""

    name = serializers.CharField()
    size = serializers.IntegerField()
    outcome = serializers.ChoiceField(ImportUpload.Outcome.values)
    counts = serializers.DictField(child=serializers.IntegerField())
    reason = serializers.CharField()


class ImportFailureAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """A file or row that could not be brought in."""

    path = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    code = serializers.CharField()
    reason = serializers.CharField()


class ImportAnswer(serializers.Serializer):  # type: ignore[type-arg]
    """An import, and how far it is."""

    id = serializers.UUIDField()
    organization = serializers.CharField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    label = serializers.CharField()  # type: ignore[assignment]
    status = serializers.ChoiceField(ImportRun.Status.values)
    reason = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField())
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class WholeImportAnswer(ImportAnswer):
    """An import with its files and failures."""

    files = ImportFileAnswer(many=True)
    failures = ImportFailureAnswer(many=True)
