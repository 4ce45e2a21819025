"""The names that people and programs use for what rows hold by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from knowledge.indexing.writing import NO_LIMIT, Limit, only
from knowledge.models import InstructionDirectory
from tenants.models import Organization, PhoneAgent, Segment
from tenants.refusals import InvalidRequest


@dataclass(frozen=True)
class Names:
    """Slugs and paths of one organization.

    Cost: one statement for each kind that is asked for; needs the context open.
    """

    organization_id: int

    @cached_property
    def slug(self) -> str:
        """The organization's own name on the wire."""
        return Organization.objects.get(pk=self.organization_id).slug

    @cached_property
    def segments(self) -> Mapping[str, UUID]:
        """Segments by slug."""
        rows = Segment.objects.filter(organization_id=self.organization_id)
        return dict(rows.values_list("slug", "pk"))

    @cached_property
    def agents(self) -> Mapping[str, UUID]:
        """Agents by slug."""
        rows = PhoneAgent.objects.filter(organization_id=self.organization_id)
        return dict(rows.values_list("slug", "pk"))

    @cached_property
    def directories(self) -> Mapping[UUID, str]:
        """Paths of instruction directories by id."""
        rows = InstructionDirectory.every.filter(organization_id=self.organization_id)
        known = {row.pk: row for row in rows}
        return {pk: _path(pk, known) for pk in known}

    def limit(self, said: Sequence[str] | None, known: str = "") -> Limit:
        """Return the limit that a list stands for: none for null, nobody for the empty list.

        Raises: InvalidRequest for a name that is not known
        """
        if said is None:
            return NO_LIMIT
        if not known:
            return only(*set(said))
        ids: Mapping[str, UUID] = getattr(self, known)
        missing = [name for name in said if name not in ids]
        if missing:
            raise InvalidRequest(fields={known: [f'There is no "{missing[0][:60]}".']})
        return only(*{ids[name] for name in said})

    def shown(self, restricted: bool, values: Sequence[Any], known: str = "") -> list[str] | None:  # noqa: FBT001
        """Return the list that stands for a limit; what has no name any more is shown by its id."""
        if not restricted:
            return None
        if not known:
            return [str(value) for value in values]
        slugs = {pk: slug for slug, pk in getattr(self, known).items()}
        return sorted(slugs.get(value, str(value)) for value in values)


def _path(pk: UUID, known: Mapping[UUID, InstructionDirectory]) -> str:
    names: list[str] = []
    place: UUID | None = pk
    while place is not None:
        names.append(known[place].name)
        place = known[place].parent_id
    return "/".join(reversed(names))
