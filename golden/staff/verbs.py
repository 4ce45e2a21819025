"""The verbs that staff can use on an answer: who may, when they apply, and what they will change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from golden import drafting, keeping, publishing
from golden.acting import Act
from golden.models import AssetKind, GoldenAnswer, PublishRequest
from tenants.models import Role


@dataclass(frozen=True)
class State:
    """What decides whether a verb applies."""

    has_draft: bool
    is_live: bool
    is_archived: bool
    request: PublishRequest | None


@dataclass(frozen=True)
class Verb:
    """One verb: its name, its button, the role it needs and when it applies."""

    name: str
    label: Any
    role: str
    applies: Callable[[State], bool]
    done: Any
    needs_reason: bool = False
    is_grave: bool = False


VERBS: Final = {
    verb.name: verb
    for verb in (
        Verb("request", gettext_lazy("Ask for publication"), Role.AUTHOR,
             lambda s: s.has_draft and s.request is None and not s.is_archived,
             gettext_lazy("Asked. Somebody else has to approve it.")),
        Verb("approve", gettext_lazy("Approve"), Role.APPROVER, lambda s: s.request is not None,
             gettext_lazy("Live. Searches hear it from the next one on.")),
        Verb("reject", gettext_lazy("Decline"), Role.APPROVER, lambda s: s.request is not None,
             gettext_lazy("Declined; the draft stays."), needs_reason=True),
        Verb("override", gettext_lazy("Publish without approval"), Role.PUBLISHER,
             lambda s: s.has_draft and not s.is_archived,
             gettext_lazy("Live. Searches hear it from the next one on."),
             needs_reason=True, is_grave=True),
        Verb("schedule", gettext_lazy("Schedule"), Role.AUTHOR,
             lambda s: (s.has_draft or s.is_live) and not s.is_archived,
             gettext_lazy("Kept in the draft. Ask for its publication now.")),
        Verb("roll-back", gettext_lazy("Roll back"), Role.PUBLISHER, lambda s: s.is_live,
             gettext_lazy("The earlier version is live again."), is_grave=True),
        Verb("discard", gettext_lazy("Throw the draft away"), Role.AUTHOR,
             lambda s: s.has_draft and not s.is_archived,
             gettext_lazy("The draft is gone; what is live stayed."), is_grave=True),
        Verb("verify", gettext_lazy("Still true"), Role.AUTHOR, lambda s: s.is_live,
             gettext_lazy("Verified; the review interval begins anew.")),
        Verb("assign", gettext_lazy("Owner and interval"), Role.AUTHOR, lambda s: not s.is_archived,
             gettext_lazy("Kept.")),
        Verb("archive", gettext_lazy("Archive"), Role.PUBLISHER, lambda s: not s.is_archived,
             gettext_lazy("Archived. It is gone from the next search."), is_grave=True),
        Verb("restore", gettext_lazy("Restore"), Role.PUBLISHER, lambda s: s.is_archived,
             gettext_lazy("It is back as a draft.")),
    )
}  # fmt: skip
# A list of versions offers this one for each of them.
_FROM_ELSEWHERE: Final = frozenset({"roll-back"})


def state_of(golden: GoldenAnswer, request: PublishRequest | None, *, has_draft: bool) -> State:
    """Return what decides which verbs apply."""
    archived, live = golden.archived_at is not None, golden.published_version_id is not None
    return State(has_draft, live, archived, request)


def offered(
    golden: GoldenAnswer, roles: frozenset[str], request: PublishRequest | None
) -> list[Verb]:
    """Return the verbs that apply to an answer and that these roles may use."""
    has_draft = bool(getattr(golden, "has_draft", False))
    state = state_of(golden, request, has_draft=has_draft)
    return [
        verb
        for verb in VERBS.values()
        if verb.role in roles and verb.applies(state) and verb.name not in _FROM_ELSEWHERE
    ]


def consequence(verb: str, golden: GoldenAnswer) -> str:
    """Return what a verb will change for callers."""
    rule = golden.kind == AssetKind.RULE
    goes_live = (
        _("From the next call on, this stands in the prompt of the agents named below.")
        if rule
        else _("From the next search on, callers who ask this hear the new text.")
    )
    return {
        "request": _("Nothing changes for callers yet: somebody else has to approve exactly this.")
        if golden.organization.approval_required
        else goes_live,
        "approve": goes_live,
        "reject": _("Nothing changes for callers. The author sees your reason."),
        "override": goes_live + " " + _("Nobody else has looked at it; your reason is kept."),
        "schedule": _("Nothing changes for callers until the draft is published."),
        "roll-back": _("From the next search on, callers hear the earlier text again."),
        "discard": _("Nothing changes for callers. The draft cannot be brought back."),
        "verify": _("Nothing changes in what is said; it is not overdue any more."),
        "assign": _("Nothing changes in what is said."),
        "archive": _("From the next search on, no caller hears it."),
        "restore": _("Nothing changes for callers: it comes back as a draft."),
    }[verb]


def carry_out(verb: str, golden: GoldenAnswer, act: Act, given: dict[str, Any]) -> None:
    """Use a verb.

    Raises: what the verb raises.
    """
    organization_id, pk = golden.organization_id, golden.pk
    doing: dict[str, Callable[[], object]] = {
        "request": lambda: publishing.request_publish(organization_id, pk, act),
        "approve": lambda: publishing.approve(organization_id, given["request"], act),
        "reject": lambda: publishing.reject(organization_id, given["request"], act),
        "override": lambda: publishing.override_publish(organization_id, pk, act),
        "roll-back": lambda: publishing.roll_back(organization_id, pk, given["version"], act),
        "discard": lambda: drafting.discard_draft(organization_id, pk, act),
        "verify": lambda: keeping.verify(organization_id, pk, act),
        "assign": lambda: keeping.assign(organization_id, pk, given["care"], act),
        "schedule": lambda: _schedule(organization_id, pk, act, given),
        "archive": lambda: publishing.archive(organization_id, pk, act),
        "restore": lambda: publishing.restore(organization_id, pk, act),
    }
    doing[verb]()


def _schedule(organization_id: int, pk: UUID, act: Act, given: dict[str, Any]) -> None:
    lock_version = act.expects if act.expects is not None else -1
    drafting.save_draft(organization_id, pk, given["content"], act, lock_version=lock_version)
