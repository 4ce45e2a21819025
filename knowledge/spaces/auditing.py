"""A space belongs to the installation: what is done with it stands in every organization's trail."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from knowledge.models import EmbeddingSpace
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Organization


def note_everywhere(
    verb: str, space: EmbeddingSpace, before: dict[str, Any], *, by: Actor, at: datetime
) -> None:
    """Note an act on a space, in the transaction that does it."""
    change = Change(verb, "embeddingspace", str(space.pk), before, {"space": space.key})
    for number in Organization.objects.order_by("pk").values_list("pk", flat=True):
        with organization_context(number):
            note(number, change, by=by, at=at)
