"""Sources that are kept fresh: when and how, what was found last time, and each page's own state."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxValueValidator
from django.db import models

from knowledge.tables.records import ImportRun
from knowledge.tables.truth import Source
from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey


class SyncKind(models.TextChoices):
    """Where the content of a source comes from."""

    SITE = "site", "A site: its sitemap, or links below the first address"
    URLS = "urls", "A list of addresses"
    FOLDER = "folder", "A folder on the server"
    GIT = "git", "The tracked Markdown of a Git checkout on the server"
    ZENDESK = "zendesk", "An export of Zendesk Guide (JSON)"
    INTERCOM = "intercom", "An export of Intercom articles (JSON)"
    CSV = "csv", "A table of questions and answers (CSV)"


class SourceSchedule(TenantModel):
    """How a source is kept fresh, and how that went."""

    class Outcome(models.TextChoices):
        NEVER = "never", "Never run"
        DONE = "done", "Up to date"
        UNCERTAIN = "uncertain", "Up to date; what has gone is not known"
        NEEDS_CONFIRMATION = "needs_confirmation", "Needs confirmation"
        FAILED = "failed", "Failed"

    source = models.OneToOneField(Source, on_delete=models.CASCADE, related_name="schedule")
    kind = models.CharField(max_length=16, choices=SyncKind)
    config = models.JSONField(default=dict, blank=True)
    every_minutes = models.PositiveIntegerField(
        default=1440,
        validators=[MaxValueValidator(525_600)],
        help_text="0: only when somebody asks.",
    )
    is_active = models.BooleanField(default=True)
    next_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    last_run_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_done_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_run = models.ForeignKey(
        ImportRun, null=True, blank=True, editable=False, on_delete=models.SET_NULL
    )
    last_outcome = models.CharField(
        max_length=24, choices=Outcome, default=Outcome.NEVER, editable=False
    )
    last_reason = models.TextField(blank=True, editable=False)
    last_changes = models.JSONField(default=dict, blank=True, editable=False)
    asked_removals = models.PositiveIntegerField(default=0, editable=False)
    confirmed_removals = models.PositiveIntegerField(default=0, editable=False)
    # So many that are gone stay, because somebody said so; more are asked about.
    refused_removals = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    class Meta:
        verbose_name = "source schedule"
        ordering: ClassVar = ["source__slug", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_schedule_key"),
            TenantForeignKey(
                column="source_id",
                to="knowledge.Source",
                on_delete="CASCADE",
                name="knowledge_schedule_source",
            ),
            TenantForeignKey(
                column="last_run_id",
                to="knowledge.ImportRun",
                on_delete="SET NULL (last_run_id)",
                name="knowledge_schedule_run",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["organization", "next_run_at"],
                condition=models.Q(is_active=True),
                name="knowledge_schedule_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.source}: {self.get_kind_display()}"


class SourcePage(TenantModel):
    """What was last seen of one page, so that the next look asks only for what changed."""

    schedule = models.ForeignKey(SourceSchedule, on_delete=models.CASCADE, related_name="pages")
    url = models.CharField(max_length=2000)
    etag = models.CharField(max_length=400, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)
    content_sha256 = models.CharField(max_length=64, blank=True)
    links = models.JSONField(default=list, blank=True)
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "schedule", "url"], name="knowledge_page_once"
            ),
            TenantForeignKey(
                column="schedule_id",
                to="knowledge.SourceSchedule",
                on_delete="CASCADE",
                name="knowledge_page_schedule",
            ),
        ]

    def __str__(self) -> str:
        return self.url


class ImportedFile(TenantModel):
    """What a file held when it was last brought in, so that the same file is not parsed again.

    `digest` is of its bytes, how they are read and where they go; `rows` are the ids it gave, each
    with the version that its item had afterwards.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="imported_files")
    name = models.CharField(max_length=400)
    digest = models.CharField(max_length=64)
    rows = models.JSONField(default=dict)
    read_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "source", "name"], name="knowledge_imported_once"
            ),
            TenantForeignKey(
                column="source_id",
                to="knowledge.Source",
                on_delete="CASCADE",
                name="knowledge_imported_source",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ImportUpload(TenantModel):
    """A file that somebody handed in; its bytes are kept until it is in, or no longer wanted."""

    class Outcome(models.TextChoices):
        WAITING = "waiting", "Waiting"
        DONE = "done", "Done"
        PARTLY = "partly", "Partly"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="uploads")
    folder = models.CharField(max_length=1000, blank=True)
    name = models.CharField(max_length=400)
    size = models.PositiveIntegerField()
    content = models.BinaryField()
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.WAITING)
    counts = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["name", "id"]
        constraints: ClassVar = [
            TenantForeignKey(
                column="run_id",
                to="knowledge.ImportRun",
                on_delete="CASCADE",
                name="knowledge_upload_run",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["organization", "run"],
                condition=models.Q(outcome="waiting"),
                name="knowledge_upload_waiting",
            )
        ]

    def __str__(self) -> str:
        return self.name


class UsageEntry(TenantModel):
    """What an organization's texts cost on one day with one model."""

    day = models.DateField()
    provider = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    texts = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    calls = models.BigIntegerField(default=0)
    failed_calls = models.BigIntegerField(default=0, db_default=0)
    question_calls = models.BigIntegerField(default=0, db_default=0)
    question_tokens = models.BigIntegerField(default=0, db_default=0)
    cost_micros = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name_plural = "usage"
        ordering: ClassVar = ["-day", "provider", "model"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "day", "provider", "model"], name="knowledge_usage_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.provider} {self.model}"


class ProviderPause(models.Model):
    """Until when every process leaves a provider alone; it belongs to no organization."""

    provider = models.CharField(max_length=400, primary_key=True)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.provider
