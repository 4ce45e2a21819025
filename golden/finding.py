"""Lists of answers: by status, owner, index and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from golden.keeping import is_overdue, overdue
from golden.models import AnswerDraft, AssetKind, GoldenAnswer, PublishRequest
from knowledge.models import IndexState

# Any: the rows are annotated with whether they have a draft and an open request.
Keep = Callable[[Any, datetime], Any]
STATUSES: Final[Mapping[str, Keep]] = {
    "live": lambda rows, _at: rows.filter(published_version__isnull=False),
    "draft": lambda rows, _at: rows.filter(has_draft=True),
    "requested": lambda rows, _at: rows.filter(is_requested=True),
    "overdue": lambda rows, at: overdue(rows, at=at),
}
LABELS: Final = {
    "live": _("Live"),
    "draft": _("With a draft"),
    "requested": _("Waiting for approval"),
    "overdue": _("Overdue"),
    "archived": _("Archived"),
}


@dataclass(frozen=True)
class Wanted:
    """What a list shows.

    index  a status of the index: pending, retrying or failed.
    """

    organization_id: int
    kind: str = AssetKind.ANSWER
    status: str = ""
    owner_id: int | None = None
    index: str = ""
    words: str = ""


def answers(wanted: Wanted, *, at: datetime) -> QuerySet[GoldenAnswer]:
    """Return the answers that are wanted, the last changed first."""
    rows = _all(wanted.organization_id).filter(kind=wanted.kind)
    if wanted.status == "archived":
        rows = rows.filter(archived_at__isnull=False)
    else:
        rows = rows.filter(archived_at=None)
        rows = STATUSES[wanted.status](rows, at) if wanted.status in STATUSES else rows
    if wanted.owner_id is not None:
        rows = rows.filter(owner_id=wanted.owner_id)
    if wanted.index:
        rows = rows.filter(item_id__in=_indexed(wanted).values("asset_id"))
    return _worded(rows, wanted.words.strip())


def _all(organization_id: int) -> QuerySet[GoldenAnswer]:
    drafts = AnswerDraft.objects.filter(golden=OuterRef("pk"))
    requests = PublishRequest.objects.filter(golden=OuterRef("pk"), status="open")
    return (
        GoldenAnswer.objects.filter(organization_id=organization_id)
        .select_related("published_version", "draft", "owner", "organization")
        .annotate(has_draft=Exists(drafts), is_requested=Exists(requests))
    )


def _indexed(wanted: Wanted) -> QuerySet[IndexState]:
    states = IndexState.objects.filter(organization_id=wanted.organization_id)
    if wanted.index == "pending":
        return states.filter(applied_generation__lt=F("desired_generation"), status="pending")
    return states.filter(status=wanted.index)


def _worded(rows: QuerySet[GoldenAnswer], words: str) -> QuerySet[GoldenAnswer]:
    for word in words.split()[:8]:
        rows = rows.filter(
            Q(published_version__question__icontains=word)
            | Q(published_version__answer__icontains=word)
            | Q(draft__question__icontains=word)
            | Q(draft__answer__icontains=word)
        )
    return rows


def title_of(golden: GoldenAnswer) -> str:
    """Return the question that an answer is known by."""
    if golden.published_version is not None:
        return golden.published_version.question
    last = getattr(golden, "draft", None) or golden.versions.first()
    return last.question if last else str(golden.pk)


def standing(golden: GoldenAnswer, *, at: datetime) -> list[tuple[str, str]]:
    """Return where an answer stands: (kind of chip, words), the most important first."""
    if golden.archived_at is not None:
        return [("failed", str(_("Archived")))]
    chips = [_liveness(golden, at)]
    if getattr(golden, "is_requested", False):
        chips.append(("updating", str(_("Waiting for approval"))))
    elif getattr(golden, "has_draft", False) and golden.published_version_id:
        chips.append(("updating", str(_("Draft beside it"))))
    if is_overdue(golden, at=at):
        chips.append(("failed", str(_("Overdue"))))
    return chips


def _liveness(golden: GoldenAnswer, at: datetime) -> tuple[str, str]:
    live = golden.published_version
    if live is None:
        return "updating", str(_("Draft"))
    if live.valid_until is not None and live.valid_until <= at:
        return "failed", str(_("Expired"))
    if live.valid_from is not None and live.valid_from > at:
        return "updating", str(_("Scheduled"))
    return "live", str(_("Live"))


@dataclass(frozen=True)
class Counters:
    """How many answers want somebody."""

    live: int
    drafts: int
    requested: int
    overdue: int
    archived: int
    index_pending: int
    index_failed: int


def counters(organization_id: int, *, at: datetime) -> Counters:
    """Return the counters of an organization's answers.

    Cost: seven short counts.
    """
    everything = _all(organization_id).filter(kind=AssetKind.ANSWER)
    rows = everything.filter(archived_at=None)
    items = everything.exclude(item=None).values("item_id")
    states = IndexState.objects.filter(organization_id=organization_id, asset_id__in=items)
    behind = states.filter(applied_generation__lt=F("desired_generation"))
    return Counters(
        live=STATUSES["live"](rows, at).count(),
        drafts=STATUSES["draft"](rows, at).count(),
        requested=STATUSES["requested"](rows, at).count(),
        overdue=STATUSES["overdue"](rows, at).count(),
        archived=everything.filter(archived_at__isnull=False).count(),
        index_pending=behind.exclude(status="failed").count(),
        index_failed=states.filter(status="failed").count(),
    )
