"""What an admin has picked for an agent, and whether picks restrict it."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _

from knowledge.models import Category, Instruction, InstructionDirectory, Item
from tenants.base import TenantModel
from tenants.isolation import TenantForeignKey
from tenants.models import PhoneAgent


class Mode(models.TextChoices):
    """A category is searched whole, or only where picked."""

    ALL = "all"
    SELECTED = "selected"


class AgentScope(TenantModel):
    """The stored mode of one category of one agent; without this row nothing is searchable."""

    agent = models.ForeignKey(PhoneAgent, on_delete=models.CASCADE, related_name="scopes")
    category = models.CharField(max_length=16, choices=Category)
    mode = models.CharField(max_length=16, choices=Mode, default=Mode.ALL)
    version = models.BigIntegerField(default=1)
    # From this version on folders have the keys that they have now.
    moved_version = models.BigIntegerField(null=True, blank=True, editable=False)
    changed_at = models.DateTimeField(null=True, blank=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "agent", "category"], name="scopes_scope_once"
            ),
            TenantForeignKey(
                column="agent_id",
                to="tenants.PhoneAgent",
                on_delete="CASCADE",
                name="scopes_scope_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent} {_(self.category)}: {_(self.mode)}"


class Pick(TenantModel):
    """Something an admin ticked for an agent."""

    agent = models.ForeignKey(PhoneAgent, on_delete=models.CASCADE)

    class Meta:
        abstract = True


def _pick_constraints(name: str, column: str, to: str) -> list[models.BaseConstraint]:
    return [
        models.UniqueConstraint(
            fields=["organization", "agent", column.removesuffix("_id")], name=f"scopes_{name}_once"
        ),
        TenantForeignKey(
            column="agent_id",
            to="tenants.PhoneAgent",
            on_delete="CASCADE",
            name=f"scopes_{name}_agent",
        ),
        TenantForeignKey(column=column, to=to, on_delete="CASCADE", name=f"scopes_{name}_target"),
    ]


class InstructionPick(Pick):
    """One instruction."""

    instruction = models.ForeignKey(Instruction, on_delete=models.CASCADE)

    class Meta:
        constraints = _pick_constraints(
            "instruction_pick", "instruction_id", "knowledge.Instruction"
        )

    def __str__(self) -> str:
        return f"{self.agent}: {self.instruction}"


class DirectoryPick(Pick):
    """A directory with everything below it, now and later."""

    directory = models.ForeignKey(InstructionDirectory, on_delete=models.CASCADE)

    class Meta:
        constraints = _pick_constraints(
            "directory_pick", "directory_id", "knowledge.InstructionDirectory"
        )

    def __str__(self) -> str:
        return f"{self.agent}: {self.directory}"


class ItemPick(Pick):
    """One item, wherever it is filed later."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE)

    class Meta:
        constraints = _pick_constraints("item_pick", "item_id", "knowledge.Item")

    def __str__(self) -> str:
        return f"{self.agent}: {self.item}"


class FolderPick(Pick):
    """A folder key with every item in it or below it, now and later."""

    folder_key = models.CharField(max_length=1000, db_collation="C")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "agent", "folder_key"], name="scopes_folder_pick_once"
            ),
            TenantForeignKey(
                column="agent_id",
                to="tenants.PhoneAgent",
                on_delete="CASCADE",
                name="scopes_folder_pick_agent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent}: {self.folder_key}"


class Unasked(models.TextChoices):
    """Why a look could not ask by vectors everywhere; what was not asked has not passed.

    no_space    nothing was ever indexed, so no search has vectors
    no_vectors  a canary has none in the space that is searched
    """

    NO_SPACE = "no_space"
    NO_VECTORS = "no_vectors"


class CanaryLook(TenantModel):
    """What the newest probe for canaries came to in one organization; one row each, written over."""

    at = models.DateTimeField()
    searches = models.PositiveIntegerField()
    # Where what was found that must not be, and what the probe should have found and did not.
    leaks = models.JSONField(default=list)
    missed = models.JSONField(default=list)
    leaked_at = models.DateTimeField(null=True, blank=True)
    # From how many places each leg was asked; the newest instant at which the dense one was, whole.
    lexical_searches = models.PositiveIntegerField(default=0, db_default=0)
    dense_searches = models.PositiveIntegerField(default=0, db_default=0)
    dense_at = models.DateTimeField(null=True, blank=True)
    unasked = models.CharField(
        max_length=16, choices=Unasked, blank=True, default="", db_default=""
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization"], name="scopes_look_once"),
        ]

    def __str__(self) -> str:
        return f"{self.organization} at {self.at}"

    @property
    def is_whole(self) -> bool:
        """Whether both legs were asked; a process of the release before knows one, and leaves `dense_at`."""
        return self.dense_at == self.at
