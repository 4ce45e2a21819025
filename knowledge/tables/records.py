"""What was learnt about a corpus, what was searched, and what was brought in."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from knowledge.tables.derived import EmbeddingSpace
from knowledge.tables.truth import Source
from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey


class CalibrationProfile(TenantModel):
    """Corpus statistics and the relevance rule of one organization in one embedding space.

    Versioned and recorded with each search: what a search computes with never depends on
    whatever the tables hold at that moment.
    """

    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE)
    version = models.PositiveIntegerField()
    passages = models.PositiveIntegerField(default=0)
    cosine_deviation = models.FloatField()
    languages = ArrayField(models.CharField(max_length=16), default=list)
    parameters = models.JSONField(default=dict)
    fitted_at = models.DateTimeField()
    is_active = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_profile_key"),
            models.UniqueConstraint(
                fields=["organization", "space", "version"], name="knowledge_profile_version"
            ),
            models.UniqueConstraint(
                fields=["organization", "space"],
                condition=models.Q(is_active=True),
                name="knowledge_profile_one_active",
            ),
        ]

    def __str__(self) -> str:
        return f"profile {self.version}"


class CorpusTerm(models.Model):
    """In how many passages a token occurs, by profile; reached only through its profile."""

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey("tenants.Organization", on_delete=models.PROTECT)
    profile = models.ForeignKey(CalibrationProfile, on_delete=models.CASCADE)
    token = models.BigIntegerField()
    passages = models.IntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["profile", "token"], name="knowledge_term_once"),
            TenantForeignKey(
                column="profile_id",
                to="knowledge.CalibrationProfile",
                on_delete="CASCADE",
                name="knowledge_term_profile",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.token}: {self.passages}"


class SearchRecord(TenantModel):
    """One search: what was asked (redacted), what came back and why; kept for the retention time."""

    at = models.DateTimeField()
    door = models.CharField(max_length=16, default="voice")
    agent = models.ForeignKey("tenants.PhoneAgent", null=True, on_delete=models.SET_NULL)
    session_id = models.UUIDField(null=True, blank=True)
    status = models.CharField(max_length=24)
    degraded = ArrayField(models.CharField(max_length=16), default=list)
    queries = models.JSONField(default=list)
    instruction_mode = models.CharField(max_length=16)
    knowledge_mode = models.CharField(max_length=16)
    # What the agent could search at that moment, and how it was asked beside the queries.
    scope = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    asked = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    candidates = models.JSONField(default=dict)
    results = models.JSONField(default=list)
    timings_ms = models.JSONField(default=dict)
    profile_version = models.PositiveIntegerField(null=True)
    space = models.CharField(max_length=200, blank=True, db_default="")
    digest = models.CharField(max_length=80, blank=True)
    speculative = models.BooleanField(default=False)
    adopted = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["-at", "id"]
        indexes: ClassVar = [
            models.Index(fields=["organization", "-at"], name="knowledge_record_recent"),
            models.Index(
                fields=["organization", "session_id", "-at"], name="knowledge_record_session"
            ),
            # Of what is rare: callers' answered searches are most of the table, and in neither.
            models.Index(
                fields=["organization", "status", "-at"],
                condition=~models.Q(status="ok"),
                name="knowledge_record_status",
            ),
            models.Index(
                fields=["organization", "door", "-at"],
                condition=~models.Q(door="voice"),
                name="knowledge_record_door",
            ),
        ]
        constraints: ClassVar = [
            TenantForeignKey(
                column="agent_id",
                to="tenants.PhoneAgent",
                on_delete="SET NULL (agent_id)",
                name="knowledge_record_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.status}"


class ImportRun(TenantModel):
    """One run of bringing content in, with its counts."""

    class Status(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        CANCELLED = "cancelled"
        DONE = "done"
        FAILED = "failed"

    source = models.ForeignKey(Source, null=True, blank=True, on_delete=models.PROTECT)
    label = models.CharField(max_length=400)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT
    )
    status = models.CharField(max_length=16, choices=Status, default=Status.RUNNING)
    total = models.PositiveIntegerField(default=0)
    created = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    pruned = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    # How far it is in bytes, what lay beside documents and was left, and why it ended as it did.
    details = models.JSONField(null=True, blank=True)
    # What it was asked to do, where that can be done again, and since when somebody wants it again.
    request = models.JSONField(null=True, blank=True)
    again_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-started_at", "id"]
        indexes: ClassVar = [
            models.Index(
                fields=["organization", "again_at"],
                condition=models.Q(again_at__isnull=False),
                name="knowledge_run_again",
            )
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_run_key"),
            TenantForeignKey(
                column="source_id", to="knowledge.Source", name="knowledge_run_source"
            ),
        ]

    def __str__(self) -> str:
        return self.label


class ImportFailure(TenantModel):
    """A file or row that could not be brought in, with the reason; the rest went on."""

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="failures")
    path = models.CharField(max_length=1000)
    line = models.PositiveIntegerField(null=True, blank=True)
    code = models.CharField(max_length=64)
    reason = models.TextField()
    at = models.DateTimeField(db_default=Now())
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-at", "id"]
        constraints: ClassVar = [
            TenantForeignKey(
                column="run_id",
                to="knowledge.ImportRun",
                on_delete="CASCADE",
                name="knowledge_failure_run",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
