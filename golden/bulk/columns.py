"""The columns of a file of answers, and the names used in its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from tenants.models import PhoneAgent, Segment

COLUMNS: Final = (
    "id", "question", "paraphrases", "answer", "language", "folder", "visibility", "agents",
    "segments", "channels", "jurisdictions", "valid_from", "valid_until",
)  # fmt: skip
NEEDED: Final = ("question", "answer")
# An empty cell is no restriction; this one matches nobody.
NOBODY: Final = "-"
LIMITS: Final = {"agents": "agent", "segments": "segment", "channels": "channel",
                 "jurisdictions": "jurisdiction"}  # fmt: skip


@dataclass(frozen=True)
class Slugs:
    """Segments and agents by their names."""

    agents: Mapping[str, UUID]
    segments: Mapping[str, UUID]


def slugs_of(organization_id: int) -> Slugs:
    """Return the names of an organization.

    Cost: two statements.
    """
    own = {"organization_id": organization_id}
    return Slugs(
        dict(PhoneAgent.objects.filter(**own).values_list("slug", "pk")),
        dict(Segment.objects.filter(**own).values_list("slug", "pk")),
    )
