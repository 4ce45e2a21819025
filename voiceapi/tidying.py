"""What nobody needs any more and nothing else deletes: once an hour, so many rows of each kind at a time."""

from __future__ import annotations

from datetime import datetime

from knowledge.ingestion.tidying import forget_imports
from scopes.tidying import forget_directories
from tenants.models import Organization
from tenants.rounds import for_each
from tenants.tidying import forget_invitations, forget_sign_ins


def tidy_up(at: datetime) -> dict[str, int]:
    """Delete what is old of every organization, and of signing in; what is left goes the next time.

    Shape:  slug -> how many rows
    Raises: RoundIncomplete
    """

    def tidy(organization: Organization) -> int:
        return (
            forget_imports(organization, at=at)
            + forget_directories(organization.pk, at=at)
            + forget_invitations(organization.pk, at=at)
        )

    forget_sign_ins(at)
    return for_each("tidying", Organization.objects.all(), tidy)
