"""Truth rows: instructions and items with their gates, and the containers they are filed in."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from uuid_utils.compat import uuid7

from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey


class Visibility(models.TextChoices):
    """Who content is meant for; voice serves public content only."""

    PUBLIC = "public"
    INTERNAL = "internal"


class GateColumns(TenantModel):
    """The gates that instructions and items share.

    Each restriction is a stored fact: `..._restricted` with an empty list matches nobody.
    """

    language = models.CharField(max_length=16, blank=True)
    visibility = models.CharField(max_length=16, choices=Visibility, default=Visibility.PUBLIC)
    channel_restricted = models.BooleanField(default=False)
    channels = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    segment_restricted = models.BooleanField(default=False)
    segments = ArrayField(models.UUIDField(), default=list, blank=True)
    jurisdiction_restricted = models.BooleanField(default=False)
    jurisdictions = ArrayField(models.CharField(max_length=2), default=list, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class Gated(GateColumns):
    """A truth row: its gates, and how far the index is to follow.

    Ids ascend with time: what comes in together lies together in every index, and a search that
    reads a folder reads few pages.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True)
    generation = models.BigIntegerField(default=1, editable=False)
    content_hash = models.CharField(max_length=64, blank=True, editable=False)
    lock_version = models.BigIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True


def gate_constraints(prefix: str, *, agents: bool) -> list[models.CheckConstraint]:
    """Return the checks that a non-empty list always restricts."""
    gates = {"channel": "channels", "segment": "segments", "jurisdiction": "jurisdictions"}
    if agents:
        gates["agent"] = "agents"
    return [
        models.CheckConstraint(
            condition=models.Q(**{f"{gate}_restricted": True}) | models.Q(**{column: []}),
            name=f"{prefix}_{gate}_list_restricts",
        )
        for gate, column in gates.items()
    ]


class LiveDirectories(models.Manager["InstructionDirectory"]):
    """The directories that were not deleted."""

    def get_queryset(self) -> models.QuerySet[InstructionDirectory]:
        """Leave out what was deleted; picks of it stay, and cover nothing that is served."""
        return super().get_queryset().filter(deleted_at=None)


class InstructionDirectory(TenantModel):
    """A folder of instructions; a pick of it covers everything below.

    Deleted softly, so that a pick of it keeps restricting. `every` has the deleted ones too.
    """

    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    name = models.CharField(max_length=200)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = LiveDirectories()
    every: ClassVar[models.Manager[InstructionDirectory]] = models.Manager()

    class Meta:
        verbose_name_plural = "instruction directories"
        ordering: ClassVar = ["name", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_directory_key"),
            models.UniqueConstraint(
                fields=["organization", "parent", "name"],
                name="knowledge_directory_name",
                condition=models.Q(deleted_at=None),
                nulls_distinct=False,
            ),
            TenantForeignKey(
                column="parent_id",
                to="knowledge.InstructionDirectory",
                name="knowledge_directory_parent",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class InstructionStatus(models.TextChoices):
    """Only a published instruction is ever searched."""

    DRAFT = "draft"
    PUBLISHED = "published"


class Instruction(Gated):
    """How an agent is to handle something; served from this row only."""

    directory = models.ForeignKey(
        InstructionDirectory, null=True, blank=True, on_delete=models.PROTECT
    )
    external_id = models.CharField(max_length=400)
    title = models.CharField(max_length=400)
    body = models.TextField()
    status = models.CharField(
        max_length=16, choices=InstructionStatus, default=InstructionStatus.DRAFT
    )

    class Meta:
        ordering: ClassVar = ["title", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "id"], name="knowledge_instruction_key"
            ),
            models.UniqueConstraint(
                fields=["organization", "external_id"], name="knowledge_instruction_external"
            ),
            TenantForeignKey(
                column="directory_id",
                to="knowledge.InstructionDirectory",
                name="knowledge_instruction_directory",
            ),
            *gate_constraints("knowledge_instruction", agents=False),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["organization", "directory", "title", "id"],
                name="knowledge_instruction_listing",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class SourceKind(models.TextChoices):
    """How content of a source comes in."""

    UPLOAD = "upload"
    SITE = "site"
    FOLDER = "folder"
    EXPORT = "export"
    API = "api"
    GOLDEN = "golden"


class Source(TenantModel):
    """A container of items; its slug is the first segment of their folder keys."""

    slug = models.SlugField()
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=16, choices=SourceKind, default=SourceKind.UPLOAD)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar = ["slug"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_source_key"),
            models.UniqueConstraint(fields=["organization", "slug"], name="knowledge_source_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class ItemKind(models.TextChoices):
    """What stands behind an item."""

    KNOWLEDGE = "knowledge"
    GOLDEN = "golden"
    CORRECTION = "correction"


class Dataset(models.TextChoices):
    """Where an item may be searched; conversations never reach voice."""

    DEFAULT = "default-kb"
    CONVERSATIONS = "conversations"
    CORRECTIONS = "corrections"


class ReviewStatus(models.TextChoices):
    """Whether staff let it be served."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


class ParseStatus(models.TextChoices):
    """Whether its text could be read."""

    PENDING = "pending"
    PARSED = "parsed"
    INGESTED = "ingested"
    FAILED = "failed"


class Item(Gated):
    """A piece of knowledge; a golden answer has exactly one, stable through its versions."""

    source = models.ForeignKey(Source, on_delete=models.PROTECT)
    external_id = models.CharField(max_length=400)
    kind = models.CharField(max_length=16, choices=ItemKind, default=ItemKind.KNOWLEDGE)
    dataset = models.CharField(max_length=16, choices=Dataset, default=Dataset.DEFAULT)
    review_status = models.CharField(
        max_length=16, choices=ReviewStatus, default=ReviewStatus.APPROVED
    )
    parse_status = models.CharField(max_length=16, choices=ParseStatus, default=ParseStatus.PARSED)
    published_version = models.UUIDField(null=True, blank=True, editable=False)
    leads_until = models.DateTimeField(null=True, blank=True, editable=False)
    title = models.CharField(max_length=400)
    body = models.TextField()
    phrasings = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    url = models.URLField(max_length=2000, blank=True)
    folder_key = models.CharField(max_length=1000, db_collation="C")
    uploader = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT
    )
    source_tag = models.CharField(max_length=200, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    agent_restricted = models.BooleanField(default=False)
    agents = ArrayField(models.UUIDField(), default=list, blank=True)
    domain = models.CharField(max_length=64, blank=True)
    entity_type = models.CharField(max_length=64, blank=True)
    entity_key = models.CharField(max_length=200, blank=True)
    source_as_of = models.DateTimeField(null=True, blank=True)
    corpus_digest = models.CharField(max_length=64, blank=True)
    observed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["title", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_item_key"),
            models.UniqueConstraint(
                fields=["organization", "source", "external_id"], name="knowledge_item_external"
            ),
            TenantForeignKey(
                column="source_id", to="knowledge.Source", name="knowledge_item_source"
            ),
            *gate_constraints("knowledge_item", agents=True),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["organization", "folder_key", "title", "id"],
                name="knowledge_item_listing",
            ),
            models.Index(
                fields=["organization", "-updated_at", "id"], name="knowledge_item_recent"
            ),
            models.Index(
                fields=["organization", "-deleted_at", "id"],
                condition=models.Q(deleted_at__isnull=False),
                name="knowledge_item_deleted",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class EntityAlias(TenantModel):
    """Another name of an entity that items are about."""

    entity_type = models.CharField(max_length=64)
    entity_key = models.CharField(max_length=200)
    alias = models.CharField(max_length=200)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "entity_type", "alias", "entity_key"],
                name="knowledge_alias_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.alias} → {self.entity_key}"
