"""Instructions while they are written: the draft beside what is served, and what was served before."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from knowledge.tables.truth import GateColumns, Instruction, gate_constraints
from tenants.isolation import TenantForeignKey


class InstructionDraft(GateColumns):
    """The one draft of an instruction; no search reads it."""

    instruction = models.OneToOneField(Instruction, on_delete=models.CASCADE, related_name="draft")
    title = models.CharField(max_length=400)
    body = models.TextField()
    # What was served when it was begun, so that a change of that does not go unseen.
    base_digest = models.CharField(max_length=64)
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)

    class Meta:
        constraints: ClassVar = [
            TenantForeignKey(
                column="instruction_id",
                to="knowledge.Instruction",
                on_delete="CASCADE",
                name="knowledge_draft_instruction",
            ),
            *gate_constraints("knowledge_draft", agents=False),
        ]

    def __str__(self) -> str:
        return self.title


class InstructionVersion(GateColumns):
    """A text that was served; rows are only ever added."""

    instruction = models.ForeignKey(Instruction, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=400)
    body = models.TextField()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            TenantForeignKey(
                column="instruction_id",
                to="knowledge.Instruction",
                on_delete="CASCADE",
                name="knowledge_version_instruction",
            ),
            models.UniqueConstraint(
                fields=["organization", "instruction", "number"], name="knowledge_version_number"
            ),
            *gate_constraints("knowledge_version", agents=False),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.number})"
