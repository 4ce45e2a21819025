"""Derived rows: what is searched. They may lag; they never decide what is served."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey


class Category(models.TextChoices):
    """The two kinds of truth row; (category, id) names an asset."""

    INSTRUCTION = "instruction"
    KNOWLEDGE = "knowledge"


class LexicalEntry(models.Model):
    """The tokens of one passage, written in the transaction that writes the truth row.

    Not under row level security, where its GIN index could not be used: it is reached only
    through statements that join truth rows. Tokens are hashes keyed by the organization, so a
    posting list never mixes tenants and the index holds no vocabulary.
    """

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey("tenants.Organization", on_delete=models.PROTECT)
    category = models.CharField(max_length=16, choices=Category)
    asset_id = models.UUIDField()
    position = models.IntegerField()
    generation = models.BigIntegerField()
    start = models.IntegerField()
    end = models.IntegerField()
    section = models.TextField(blank=True)
    language = models.CharField(max_length=16, blank=True)
    tokens = ArrayField(models.BigIntegerField())

    class Meta:
        verbose_name_plural = "lexical entries"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "asset_id", "position"], name="knowledge_lexical_once"
            ),
        ]
        indexes: ClassVar = [GinIndex(fields=["tokens"], name="knowledge_lexical_tokens")]

    def __str__(self) -> str:
        return f"{self.category} {self.asset_id} #{self.position}"


class EmbeddingSpace(models.Model):
    """A model, its dimensions and prefixes, and the chunker: vectors of two are never compared."""

    class Status(models.TextChoices):
        """Where a space stands; it is kept filled while it is filling, active or kept.

        created   known, and nothing is in it yet
        filling   gets the vectors of what is there, and of every change
        active    is searched
        kept      was searched before, and can be again at once
        dropping  its vectors are being deleted
        retired   was replaced before anything was in it
        """

        CREATED = "created"
        FILLING = "filling"
        ACTIVE = "active"
        KEPT = "kept"
        DROPPING = "dropping"
        RETIRED = "retired"

    key = models.CharField(max_length=200, unique=True)
    provider = models.CharField(max_length=32)
    model = models.CharField(max_length=100)
    dimensions = models.PositiveIntegerField()
    query_prefix = models.CharField(max_length=200, blank=True, db_default="")
    passage_prefix = models.CharField(max_length=200, blank=True, db_default="")
    # Where its model is, and whether that server is told how long its vectors are to be.
    base_url = models.CharField(max_length=400, blank=True, db_default="")
    asks_dimensions = models.BooleanField(default=True, db_default=True)
    chunker_version = models.CharField(max_length=32)
    status = models.CharField(max_length=16, choices=Status, default=Status.CREATED)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    activated_at = models.DateTimeField(null=True, blank=True)
    left_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["status"],
                condition=models.Q(status="active"),
                name="knowledge_space_one_active",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Document(TenantModel):
    """The index document of one asset, with the id `organization:dataset:sha256`."""

    key = models.CharField(max_length=300)
    category = models.CharField(max_length=16, choices=Category)
    asset_id = models.UUIDField()
    dataset = models.CharField(max_length=16)
    generation = models.BigIntegerField()
    content_hash = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=240)
    applied_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_document_id"),
            models.UniqueConstraint(fields=["organization", "key"], name="knowledge_document_key"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "asset_id"], name="knowledge_document_asset"),
        ]

    def __str__(self) -> str:
        return self.key


class Chunk(TenantModel):
    """One passage of a document: a slice of the truth row's body, and what was embedded for it.

    Its id is deterministic from organization, truth row and position; -1 is the title.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    asset_id = models.UUIDField()
    position = models.IntegerField()
    start = models.IntegerField()
    end = models.IntegerField()
    section = models.TextField(blank=True)
    text_hash = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "id"], name="knowledge_chunk_key"),
            TenantForeignKey(
                column="document_id",
                to="knowledge.Document",
                on_delete="CASCADE",
                name="knowledge_chunk_document",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "text_hash"], name="knowledge_chunk_text"),
        ]

    def __str__(self) -> str:
        return f"{self.asset_id} #{self.position}"


class Vector(models.Model):
    """One chunk's vector in one space: narrow, read index-only, no row level security.

    Searched exactly: cost follows the scope, recall is 1, nothing needs vacuum to stay right. It has no
    index but the covering one and that of its chunk: any other could be taken for a search.
    """

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey(
        "tenants.Organization", on_delete=models.PROTECT, db_index=False
    )
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.PROTECT, db_index=False)
    asset_id = models.UUIDField()
    generation = models.BigIntegerField()
    position = models.IntegerField()
    chunk = models.ForeignKey(
        Chunk, on_delete=models.CASCADE, related_name="vectors", db_index=False
    )
    embedding = HalfVectorField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["chunk", "space"], name="knowledge_vector_only"),
            TenantForeignKey(
                column="chunk_id",
                to="knowledge.Chunk",
                on_delete="CASCADE",
                name="knowledge_vector_chunk",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.asset_id} #{self.position}"


class EmbeddedText(models.Model):
    """A vector that was paid for but not yet applied; kept so that no crash pays twice."""

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey("tenants.Organization", on_delete=models.PROTECT)
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE)
    text_hash = models.CharField(max_length=64)
    embedding = HalfVectorField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "space", "text_hash"], name="knowledge_embedded_once"
            ),
        ]

    def __str__(self) -> str:
        return self.text_hash


class SpaceGap(models.Model):
    """An indexed asset that a space has not all vectors of yet; filling deletes the row.

    Holds names only, like the other derived rows without row level security.
    """

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey("tenants.Organization", on_delete=models.CASCADE)
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE)
    category = models.CharField(max_length=16, choices=Category)
    asset_id = models.UUIDField()
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "space", "asset_id"], name="knowledge_gap_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["space", "organization", "next_attempt_at"], name="knowledge_gap_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.category} {self.asset_id}"


class IndexState(TenantModel):
    """The queue of record: one row per asset says what the index should hold and what it holds."""

    class Status(models.TextChoices):
        PENDING = "pending"
        LIVE = "live"
        RETRYING = "retrying"
        FAILED = "failed"

    category = models.CharField(max_length=16, choices=Category)
    asset_id = models.UUIDField(default=uuid.uuid4)
    desired_generation = models.BigIntegerField(default=0)
    applied_generation = models.BigIntegerField(default=0)
    desired_version = models.UUIDField(null=True, blank=True)
    applied_version = models.UUIDField(null=True, blank=True)
    document_key = models.CharField(max_length=300, blank=True)
    fingerprint = models.CharField(max_length=240, blank=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    last_error_code = models.CharField(max_length=64, blank=True)
    last_error = models.TextField(blank=True)
    desired_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "asset_id"], name="knowledge_state_asset"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(applied_generation__lt=models.F("desired_generation"))
                & ~models.Q(status="failed"),
                name="knowledge_state_due",
            ),
            models.Index(fields=["organization", "status"], name="knowledge_state_status"),
        ]

    def __str__(self) -> str:
        return f"{self.category} {self.asset_id}: {self.status}"
