"""Work on many items at once: what was asked for, and what became of each item."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from knowledge.tables.truth import Item
from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey


class BulkAction(models.TextChoices):
    """What is done to each item."""

    MOVE = "move"
    DELETE = "delete"
    RESTORE = "restore"
    PUBLISH = "publish"
    UNPUBLISH = "unpublish"
    UNDO = "undo"
    REREAD = "reread"


class BulkJob(TenantModel):
    """One action on many items; it goes on after a kill where the last batch ended."""

    class Status(models.TextChoices):
        RUNNING = "running"
        CANCELLED = "cancelled"
        DONE = "done"

    action = models.CharField(max_length=16, choices=BulkAction)
    target = models.CharField(max_length=1000, blank=True)
    label = models.CharField(max_length=400)
    undoes = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT
    )
    actor_label = models.CharField(max_length=200)
    status = models.CharField(max_length=16, choices=Status, default=Status.RUNNING)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-started_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_job_key"),
            TenantForeignKey(
                column="undoes_id",
                to="knowledge.BulkJob",
                on_delete="SET NULL (undoes_id)",
                name="knowledge_job_undoes",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "-started_at"], name="knowledge_job_recent"),
            models.Index(
                fields=["organization", "started_at"],
                condition=models.Q(status="running"),
                name="knowledge_job_running",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.label}"

    @property
    def handled(self) -> int:
        """Return how many items have an outcome."""
        return self.done + self.unchanged + self.refused


class BulkEntry(TenantModel):
    """One item of a job: `version` is the one that was seen, and once done the one it was left at."""

    class Outcome(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        UNCHANGED = "unchanged"
        REFUSED = "refused"

    job = models.ForeignKey(BulkJob, on_delete=models.CASCADE, related_name="entries")
    item = models.ForeignKey(Item, on_delete=models.CASCADE)
    version = models.BigIntegerField()
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.WAITING)
    code = models.CharField(max_length=64, blank=True)
    # The columns as they were, by which the job is undone.
    before = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "job", "item"], name="knowledge_entry_once"
            ),
            TenantForeignKey(
                column="job_id",
                to="knowledge.BulkJob",
                on_delete="CASCADE",
                name="knowledge_entry_job",
            ),
            TenantForeignKey(
                column="item_id",
                to="knowledge.Item",
                on_delete="CASCADE",
                name="knowledge_entry_item",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["organization", "job", "item"],
                condition=models.Q(outcome="waiting"),
                name="knowledge_entry_waiting",
            ),
            models.Index(fields=["job", "outcome"], name="knowledge_entry_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.outcome}"
