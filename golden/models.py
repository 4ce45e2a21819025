"""Golden answers and domain rules: what staff decided to say, and every version of it."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from knowledge.models import Item, Visibility
from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey

LONGEST_ANSWER = 1_200


class AssetKind(models.TextChoices):
    """An answer is searched; a rule is put into the prompt of the agents it applies to."""

    ANSWER = "answer"
    RULE = "rule"


class AnswerContent(TenantModel):
    """What a draft and a version both hold: words, applicability and validity."""

    question = models.CharField(max_length=400)
    paraphrases = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    answer = models.TextField(max_length=LONGEST_ANSWER)
    language = models.CharField(max_length=16, blank=True)
    folder = models.CharField(max_length=700, blank=True)
    visibility = models.CharField(max_length=16, choices=Visibility, default=Visibility.PUBLIC)
    channel_restricted = models.BooleanField(default=False)
    channels = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    segment_restricted = models.BooleanField(default=False)
    segments = ArrayField(models.UUIDField(), default=list, blank=True)
    jurisdiction_restricted = models.BooleanField(default=False)
    jurisdictions = ArrayField(models.CharField(max_length=2), default=list, blank=True)
    agent_restricted = models.BooleanField(default=False)
    agents = ArrayField(models.UUIDField(), default=list, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class GoldenAnswer(TenantModel):
    """One answer through all its versions; `published_version` points at what is live."""

    kind = models.CharField(max_length=16, choices=AssetKind, default=AssetKind.ANSWER)
    item = models.OneToOneField(Item, null=True, blank=True, on_delete=models.PROTECT)
    published_version = models.ForeignKey(
        "AnswerVersion", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT
    )
    review_days = models.PositiveSmallIntegerField(default=180)
    verified_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    lock_version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar = ["-updated_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="golden_answer_key"),
            TenantForeignKey(column="item_id", to="knowledge.Item", name="golden_answer_item"),
            TenantForeignKey(
                column="published_version_id", to="golden.AnswerVersion", name="golden_answer_live"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "-updated_at", "id"], name="golden_answer_recent"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class AnswerDraft(AnswerContent):
    """The draft that is edited beside what is live; at most one for each answer."""

    golden = models.OneToOneField(GoldenAnswer, on_delete=models.CASCADE, related_name="draft")
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    changed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            TenantForeignKey(
                column="golden_id",
                to="golden.GoldenAnswer",
                on_delete="CASCADE",
                name="golden_draft_answer",
            ),
        ]

    def __str__(self) -> str:
        return self.question


class AnswerVersion(AnswerContent):
    """One frozen version; the database refuses any change of it."""

    golden = models.ForeignKey(GoldenAnswer, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="golden_version_key"),
            models.UniqueConstraint(
                fields=["organization", "golden", "number"], name="golden_version_number"
            ),
            TenantForeignKey(
                column="golden_id", to="golden.GoldenAnswer", name="golden_version_answer"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.question}"


class PublishRequest(TenantModel):
    """Somebody asks that exactly this version goes live."""

    class Status(models.TextChoices):
        OPEN = "open"
        APPROVED = "approved"
        REJECTED = "rejected"
        INVALIDATED = "invalidated"

    golden = models.ForeignKey(GoldenAnswer, on_delete=models.CASCADE, related_name="requests")
    version = models.ForeignKey(AnswerVersion, on_delete=models.PROTECT)
    content_hash = models.CharField(max_length=64)
    status = models.CharField(max_length=16, choices=Status, default=Status.OPEN)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    requested_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-requested_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "golden"],
                condition=models.Q(status="open"),
                name="golden_request_one_open",
            ),
            TenantForeignKey(
                column="golden_id",
                to="golden.GoldenAnswer",
                on_delete="CASCADE",
                name="golden_request_answer",
            ),
            TenantForeignKey(
                column="version_id", to="golden.AnswerVersion", name="golden_request_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} ({self.status})"


class Publication(TenantModel):
    """A version went live, or ceased to be; rows are only ever added."""

    golden = models.ForeignKey(GoldenAnswer, on_delete=models.PROTECT, related_name="publications")
    version = models.ForeignKey(AnswerVersion, null=True, on_delete=models.PROTECT)
    verb = models.CharField(max_length=32)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-at", "id"]
        constraints: ClassVar = [
            TenantForeignKey(
                column="golden_id", to="golden.GoldenAnswer", name="golden_publication_answer"
            ),
            TenantForeignKey(
                column="version_id", to="golden.AnswerVersion", name="golden_publication_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.version}"
