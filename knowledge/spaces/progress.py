"""How far the spaces are: what each organization has in them, lacks, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Max, Min, Q

from knowledge.indexing.backoff import MOST_ATTEMPTS
from knowledge.models import CalibrationProfile, Document, EmbeddingSpace, SpaceGap
from tenants.isolation import organization_context
from tenants.models import Organization

_FAILED: Final = Q(attempts__gte=MOST_ATTEMPTS)


@dataclass(frozen=True)
class Progress:
    """One organization's part of a space, in assets; `failed` of the missing ones are not tried any more."""

    organization: Organization
    assets: int
    missing: int
    failed: int
    reason: str
    profile_version: int | None

    @property
    def filled(self) -> int:
        """How many assets have all their vectors."""
        return max(0, self.assets - self.missing)

    @property
    def percent(self) -> int:
        """How much of it is filled; 100 only when nothing is missing."""
        return 100 if not self.missing else min(99, 100 * self.filled // max(1, self.assets))

    @property
    def needs_profile(self) -> bool:
        """Whether there is something to search and nobody has measured it yet."""
        return bool(self.assets) and self.profile_version is None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "organization": self.organization.slug, "assets": self.assets, "filled": self.filled,
            "missing": self.missing, "failed": self.failed, "percent": self.percent,
            "profile_version": self.profile_version, "reason": self.reason,
        }  # fmt: skip


def progress(space: EmbeddingSpace, organizations: Iterable[Organization]) -> list[Progress]:
    """Return how far a space is, by organization.

    Cost: three statements for each organization.
    """
    return [_of(space, organization) for organization in organizations]


def _of(space: EmbeddingSpace, organization: Organization) -> Progress:
    own = {"organization_id": organization.pk}
    gaps = SpaceGap.objects.filter(**own, space=space).aggregate(
        missing=Count("pk"), failed=Count("pk", filter=_FAILED), reason=Min("error", filter=_FAILED)
    )
    with organization_context(organization.pk):
        assets = Document.objects.filter(**own).count()
        version = CalibrationProfile.objects.filter(**own, space=space, is_active=True).aggregate(
            version=Max("version")
        )["version"]
    if space.status == EmbeddingSpace.Status.CREATED:
        gaps["missing"] = assets
    return Progress(
        organization, assets, gaps["missing"], gaps["failed"], gaps["reason"] or "", version
    )
