"""Instructions in words: what differs, for whom they are, what was done to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.editor.holding import Held
from knowledge.editor.wording import Wording
from knowledge.indexing.writing import Limit
from knowledge.models import Instruction
from knowledge.text.comparing import Compared, compare
from tenants.models import AuditEntry, Segment

VERBS: Final = {
    "instruction.add": gettext_lazy("{who} made it."),
    "instruction.begin": gettext_lazy("{who} began it."),
    "instruction.push": gettext_lazy("{who} sent it over the API."),
    "instruction.change": gettext_lazy("{who} changed what is served, past the draft."),
    "instruction.status": gettext_lazy("{who} changed whether it is served."),
    "instruction.save_draft": gettext_lazy("{who} changed the draft."),
    "instruction.discard_draft": gettext_lazy("{who} threw the draft away; what was live stayed."),
    "instruction.draft_from_version": gettext_lazy("{who} made version {version} the draft."),
    "instruction.publish": gettext_lazy("{who} published version {version}."),
    "instruction.take_back": gettext_lazy("{who} took it back; it is served no longer."),
    "instruction.withdraw": gettext_lazy("{who} deleted it."),
    "instruction.restore": gettext_lazy("{who} restored it."),
    "instruction.move": gettext_lazy("{who} filed it elsewhere."),
    "instruction.retry_index": gettext_lazy("{who} let the index try again."),
}
_MOST_TOLD: Final = 200


@dataclass(frozen=True)
class Told:
    """One line of a history."""

    at: datetime
    sentence: str


def history(row: Instruction) -> list[Told]:
    """Return what was done to an instruction, newest first, as sentences.

    Cost: one statement.
    """
    entries = AuditEntry.objects.filter(
        organization_id=row.organization_id, subject_type="instruction", subject_id=str(row.pk)
    )
    return [Told(entry.at, _sentence(entry)) for entry in entries[:_MOST_TOLD]]


def _sentence(entry: AuditEntry) -> str:
    pattern = str(VERBS.get(entry.verb, entry.verb))
    return pattern.format(who=entry.actor_label, version=entry.after.get("version", "?"))


def segment_names(organization_id: int) -> Mapping[UUID, str]:
    """Return the names of an organization's segments.

    Cost: one statement.
    """
    rows = Segment.objects.filter(organization_id=organization_id)
    return dict(rows.values_list("pk", "name"))


def chips(it: Held) -> list[tuple[str, str]]:
    """Return how an instruction stands, as kinds and words."""
    if it.row.deleted_at is not None:
        return [("failed", _("Deleted"))]
    told = [("live", _("Live"))] if it.is_served else [("updating", _("Not published"))]
    return [*told, ("updating", _("Draft"))] if it.draft is not None else told


def compared(
    left: Wording | None, right: Wording | None, segments: Mapping[UUID, str]
) -> list[Compared]:
    """Return two wordings side by side, part by part."""
    parts = zip(_parts(left, segments), _parts(right, segments), strict=True)
    return [compare(label, old, new) for (label, old), (_label, new) in parts]


def _parts(wording: Wording | None, segments: Mapping[UUID, str]) -> Iterable[tuple[str, str]]:
    yield _("Title"), wording.title if wording else ""
    yield _("Text"), wording.body if wording else ""
    yield _("For whom"), "\n".join(audience(wording, segments)) if wording else ""
    yield _("Language"), wording.language if wording else ""


def audience(wording: Wording, segments: Mapping[UUID, str]) -> list[str]:
    """Return for whom a wording is, in sentences."""
    gates = wording.gates
    named = [str(segments.get(one, _("one that is gone"))) for one in gates.segments.values]
    told = [
        _limit(_("segments"), gates.segments, named),
        _limit(_("channels"), gates.channels, gates.channels.values),
        _limit(_("countries"), gates.jurisdictions, gates.jurisdictions.values),
        _validity(gates.valid_from, gates.valid_until),
        _("It is internal: no caller hears it.") if gates.visibility != "public" else "",
    ]
    return [line for line in told if line] or [_("For every caller, at any time.")]


def _limit(what: str, limit: Limit, values: Sequence[Any]) -> str:
    if not limit.restricted:
        return ""
    if not values:
        return _("For no %(what)s at all: nobody hears it.") % {"what": what}
    return _("Only for these %(what)s: %(values)s.") % {"what": what, "values": ", ".join(values)}


def _validity(first: datetime | None, last: datetime | None) -> str:
    if first and last:
        span = {
            "first": date_format(first, "DATETIME_FORMAT"),
            "last": date_format(last, "DATETIME_FORMAT"),
        }
        return _("From %(first)s until %(last)s (UTC).") % span
    if first:
        return _("From %s (UTC) on.") % date_format(first, "DATETIME_FORMAT")
    return _("Until %s (UTC).") % date_format(last, "DATETIME_FORMAT") if last else ""
