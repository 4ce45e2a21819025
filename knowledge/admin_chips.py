"""The state of a row's index entry in words, shown in lists and on the row's own page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from knowledge.admin_reasons import told
from knowledge.models import IndexState


def attach_states(rows: Iterable[Any], *, at: datetime) -> None:
    """Give every row its index state and the instant it is looked at.

    Cost: one statement for all of them.
    """
    listed = list(rows)
    states = IndexState.objects.filter(
        organization_id__in={row.organization_id for row in listed},
        asset_id__in=[row.pk for row in listed],
    )
    by_asset = {state.asset_id: state for state in states}
    for row in listed:
        row.index_state = by_asset.get(row.pk)
        row.looked_at = at


def chip(state: IndexState | None, *, at: datetime) -> SafeString:
    """Return what the index holds, as a word with a border; the colour only repeats it."""
    kind, words = _words(state, at)
    return format_html('<span class="chip chip--{}">{}</span>', kind, words)


def _words(state: IndexState | None, at: datetime) -> tuple[str, str]:
    if state is None:
        return "updating", _("Updating")
    if state.status == IndexState.Status.FAILED:
        reason = state.last_error or state.last_error_code
        return "failed", _("Failed: %s") % told(reason) if reason else _("Failed")
    if state.applied_generation >= state.desired_generation:
        return "live", _("Live")
    if state.status == IndexState.Status.RETRYING:
        seconds = max(0, math.ceil((state.next_attempt_at - at).total_seconds()))
        return "retrying", _("Retrying in %s s") % seconds
    return "updating", _("Updating")
