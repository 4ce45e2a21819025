"""Keeping answers true: who owns one, how often it is looked at again, and what is overdue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.utils.translation import gettext as _

from golden.acting import Act, changing, locked, require, tell
from golden.content import content_of
from golden.errors import ContentRefused, NothingPublished
from golden.models import GoldenAnswer
from golden.serving import lead_until, says_otherwise, serve
from tenants.access import roles_in
from tenants.isolation import organization_context
from tenants.models import Role, User

LONGEST_INTERVAL_DAYS: Final = 3_650
_ONE_DAY: Final = timedelta(days=1)


@dataclass(frozen=True)
class Care:
    """Who looks after an answer, and after how many days at the latest they look again."""

    owner_id: int | None
    review_days: int


def verify(organization_id: int, golden_id: UUID, act: Act) -> GoldenAnswer:
    """Say that what is live still holds; the review interval begins anew.

    Raises: RoleMissing, NothingPublished
    """
    require(act, Role.AUTHOR, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        if golden.published_version_id is None:
            raise NothingPublished
        golden.verified_at = act.at
        lead_until(golden, at=act.at)
        tell(golden, "golden.verify", act)
    return golden


def assign(organization_id: int, golden_id: UUID, care: Care, act: Act) -> GoldenAnswer:
    """Give an answer an owner and a review interval.

    Raises: RoleMissing, ContentRefused
    """
    require(act, Role.AUTHOR, organization_id)
    with changing(organization_id, golden_id, act) as golden:
        _refuse(care, organization_id)
        before = {"owner": golden.owner_id, "review_days": golden.review_days}
        golden.owner_id, golden.review_days = care.owner_id, care.review_days
        lead_until(golden, at=act.at)
        after = {"owner": care.owner_id, "review_days": care.review_days, "was": before}
        tell(golden, "golden.assign", act, facts=after)
    return golden


def _refuse(care: Care, organization_id: int) -> None:
    if not 1 <= care.review_days <= LONGEST_INTERVAL_DAYS:
        most = _("Between 1 and %s days.") % LONGEST_INTERVAL_DAYS
        raise ContentRefused(fields={"review_days": most})
    if care.owner_id is None:
        return
    owner = User.objects.filter(pk=care.owner_id).first()
    if not roles_in(owner, organization_id):
        raise ContentRefused(fields={"owner": _("This person is not a member.")})


def serve_again(organization_id: int, act: Act) -> int:
    """Have live answers said as they were published where something else stands in their items.

    Shape: how many said something else.
    Raises: RoleMissing
    Cost:   one statement when none does.
    """
    require(act, Role.PUBLISHER, organization_id)
    rows = GoldenAnswer.objects.select_related("published_version", "item__source")
    with organization_context(organization_id):
        live = rows.filter(organization_id=organization_id, published_version__isnull=False)
        wanted = [golden.pk for golden in live.order_by("pk") if says_otherwise(golden)]
    return sum(_serve_again(organization_id, pk, act) for pk in wanted)


def _serve_again(organization_id: int, golden_id: UUID, act: Act) -> bool:
    with organization_context(organization_id):
        golden = locked(organization_id, golden_id)
        version = golden.published_version
        # Read again: it may have been published while we waited for the answer.
        if version is None or not says_otherwise(golden):
            return False
        serve(golden, version, at=act.at)
        tell(golden, "golden.serve_again", act, after=content_of(version))
    return True


def overdue(answers: QuerySet[GoldenAnswer], *, at: datetime) -> QuerySet[GoldenAnswer]:
    """Keep the answers that are live and were not looked at for longer than their interval."""
    days = ExpressionWrapper(F("review_days") * _ONE_DAY, output_field=DurationField())
    return answers.filter(
        published_version__isnull=False, archived_at=None, verified_at__lte=at - days
    )


def is_overdue(golden: GoldenAnswer, *, at: datetime) -> bool:
    """Whether a live answer was not looked at for longer than its interval."""
    due = due_at(golden)
    return golden.published_version_id is not None and due is not None and due <= at


def due_at(golden: GoldenAnswer) -> datetime | None:
    """Return when a live answer has to be looked at again."""
    if golden.verified_at is None:
        return None
    return golden.verified_at + timedelta(days=golden.review_days)
