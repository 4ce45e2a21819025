"""What scopes know of folders, asked from below: scopes stand above knowledge and are named in settings."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from tenants.auditing import Actor


class FolderPicks(Protocol):
    """The folders and items that agents have selected. Expects the organization's context."""

    def within(self, organization_id: int, key: str) -> set[str]:
        """Return the selected folders that are this one or lie below it."""

    def agents(self, organization_id: int, key: str) -> list[str]:
        """Return the names of the agents that have this folder or one below it selected."""

    def hold(self, organization_id: int) -> datetime | None:
        """Let nobody select knowledge until the transaction ends; return when somebody last did."""

    def carry(
        self, organization_id: int, moves: dict[str, str], *, by: Actor, at: datetime
    ) -> None:
        """Let selections follow folders to their new keys, which nobody has selected. Expects `hold`."""

    def removing(self, organization_id: int, items: Collection[UUID]) -> None:
        """Tell selections of these items that they are about to be removed for good."""


def folder_picks() -> FolderPicks:
    """Return what the settings name."""
    found: FolderPicks = import_string(settings.FOLDER_PICKS)()
    return found
