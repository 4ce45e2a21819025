"""Contents, audiences and histories in words, for the people who decide about answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from golden.content import Content
from golden.models import AnswerVersion, GoldenAnswer
from knowledge.text.comparing import Compared, compare
from tenants.models import AuditEntry, PhoneAgent, Segment

VERBS: Final = {
    "golden.create": gettext_lazy("{who} began this answer with a draft."),
    "golden.import": gettext_lazy("{who} imported a draft."),
    "golden.save_draft": gettext_lazy("{who} changed the draft."),
    "golden.discard_draft": gettext_lazy("{who} threw the draft away; what was live stayed."),
    "golden.request_publish": gettext_lazy("{who} asked that the draft goes live."),
    "golden.publish": gettext_lazy("{who} published version {version}."),
    "golden.approve": gettext_lazy("{who} approved version {version}, which made it live."),
    "golden.reject": gettext_lazy("{who} declined the request."),
    "golden.override": gettext_lazy("{who} published version {version} without approval."),
    "golden.roll_back": gettext_lazy("{who} made version {version} live again."),
    "golden.archive": gettext_lazy("{who} archived the answer; nothing of it is served any more."),
    "golden.restore": gettext_lazy("{who} brought the answer back as a draft."),
    "golden.verify": gettext_lazy("{who} checked that what is live still holds."),
    "golden.assign": gettext_lazy("{who} set the owner and the review interval of {days} days."),
    "golden.retry_index": gettext_lazy("{who} let the index try again."),
    "golden.serve_again": gettext_lazy("{who} had it said again as it was published."),
}


@dataclass(frozen=True)
class Told:
    """One line of a history."""

    at: datetime
    sentence: str
    reason: str
    seen: dict[str, Any]


def history(golden: GoldenAnswer) -> list[Told]:
    """Return what was done to an answer, newest first, as sentences.

    Cost: one statement.
    """
    entries = AuditEntry.objects.filter(
        organization_id=golden.organization_id, subject_type="golden", subject_id=str(golden.pk)
    )
    # Two verbs of one transaction carry one instant; asking comes before what it led to.
    order = {verb: place for place, verb in enumerate(VERBS)}
    listed = sorted(entries[:500], key=lambda e: (e.at, order.get(e.verb, 0)), reverse=True)
    return [_told(entry) for entry in listed]


def _told(entry: AuditEntry) -> Told:
    pattern = str(VERBS.get(entry.verb, entry.verb))
    sentence = pattern.format(
        who=entry.actor_label,
        version=entry.after.get("version", "?"),
        days=entry.after.get("review_days", "?"),
    )
    return Told(entry.at, sentence, entry.reason, entry.after.get("seen", {}))


@dataclass(frozen=True)
class Names:
    """The names of what answers can be limited to."""

    segments: Mapping[Any, str]
    agents: Mapping[Any, str]


def names_in(organization_id: int) -> Names:
    """Return the names of an organization's segments and agents.

    Cost: two statements.
    """
    return Names(
        dict(Segment.objects.filter(organization_id=organization_id).values_list("pk", "name")),
        dict(PhoneAgent.objects.filter(organization_id=organization_id).values_list("pk", "name")),
    )


def audience(content: Content, names: Names) -> list[str]:
    """Return for whom a content is, in sentences; without limits it is for every caller."""
    told = [
        _limit(_("agents"), content.agent_restricted, _named(content.agents, names.agents)),
        _limit(_("segments"), content.segment_restricted, _named(content.segments, names.segments)),
        _limit(_("channels"), content.channel_restricted, content.channels),
        _limit(_("countries"), content.jurisdiction_restricted, content.jurisdictions),
    ]
    told += [_validity(content)]
    if content.visibility != "public":
        told.append(_("It is internal: no caller hears it."))
    return [line for line in told if line] or [
        _("For every caller of every agent that may search it.")
    ]


def _named(ids: Sequence[Any], names: Mapping[Any, str]) -> list[str]:
    return [names.get(one, _("one that is gone")) for one in ids]


def _limit(what: str, restricted: bool, values: Sequence[str]) -> str:  # noqa: FBT001
    if not restricted:
        return ""
    if not values:
        return _("For no %(what)s at all: nobody hears it.") % {"what": what}
    return _("Only for these %(what)s: %(values)s.") % {"what": what, "values": ", ".join(values)}


def _validity(content: Content) -> str:
    first, last = content.valid_from, content.valid_until
    if first and last:
        return _("From %(first)s until %(last)s (UTC).") % {
            "first": date_format(first, "DATETIME_FORMAT"),
            "last": date_format(last, "DATETIME_FORMAT"),
        }
    if first:
        return _("From %s (UTC) on.") % date_format(first, "DATETIME_FORMAT")
    return _("Until %s (UTC).") % date_format(last, "DATETIME_FORMAT") if last else ""


def compared(left: Content | None, right: Content | None, names: Names) -> list[Compared]:
    """Return two contents side by side, part by part."""
    parts = zip(_parts(left, names), _parts(right, names), strict=True)
    return [compare(label, old, new) for (label, old), (_label, new) in parts]


def _parts(content: Content | None, names: Names) -> Iterable[tuple[str, str]]:
    yield _("Question"), content.question if content else ""
    yield _("Paraphrases"), "\n".join(content.paraphrases) if content else ""
    yield _("Answer"), content.answer if content else ""
    yield _("For whom"), "\n".join(audience(content, names)) if content else ""
    filed = f"{content.folder} {content.language}".strip() if content else ""
    yield _("Folder and language"), filed


def version_label(version: AnswerVersion | None) -> str:
    """Return a version's name."""
    return _("version %s") % version.number if version else _("nothing")


def seconds_label(seconds: int) -> str:
    """Return how long something takes to say."""
    return ngettext("about {n} second", "about {n} seconds", seconds).format(n=seconds)
