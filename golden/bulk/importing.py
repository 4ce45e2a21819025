"""Makes drafts of the answers of a file, of all of them or of none; nothing that is live changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from golden.acting import Act, locked, refuse_archived, require
from golden.bulk.columns import LIMITS, NOBODY, Slugs, slugs_of
from golden.bulk.reading import Row
from golden.content import Content
from golden.drafting import begin, keep
from golden.errors import AnswerNotThere, ContentRefused, GoldenError, ImportRefused
from golden.models import AssetKind
from tenants.isolation import organization_context
from tenants.models import Organization, Role


def import_rows(
    organization: Organization, rows: Iterable[Row], act: Act, *, kind: str = AssetKind.ANSWER
) -> tuple[int, int]:
    """Make a draft of every row, or of none; return how many are new and how many were changed.

    A row with an id changes the draft of that answer or rule; one of the other kind is not there.
    Raises: RoleMissing, ImportRefused with every line that is wrong
    """
    require(act, Role.AUTHOR, organization.pk)
    wrong: dict[int, str] = {}
    counts = [0, 0]
    with organization_context(organization.pk, durable=not act.joins):
        slugs = slugs_of(organization.pk)
        for row in rows:
            try:
                counts[_kept(organization, row, slugs, act, kind)] += 1
            except ContentRefused as refusal:
                wrong[row.line] = _sentence(refusal)
            except GoldenError as refusal:
                wrong[row.line] = _(str(refusal))
        if wrong:
            raise ImportRefused(lines=wrong)
    return counts[0], counts[1]


def _sentence(refusal: ContentRefused) -> str:
    return " ".join(f"{name}: {reason}" for name, reason in refusal.data["fields"].items())


def _kept(organization: Organization, row: Row, slugs: Slugs, act: Act, kind: str) -> int:
    """Return 0 for a new draft and 1 for a changed one."""
    content = _content(row.said, slugs)
    named = row.said.get("id") or ""
    if not named:
        begin(organization, content, act, kind=kind)
        return 0
    golden = locked(organization.pk, _uuid(named))
    if golden.kind != kind:
        raise AnswerNotThere
    refuse_archived(golden)
    keep(golden, content, act)
    golden.lock_version += 1
    golden.updated_at = act.at
    golden.save()
    return 1


def _uuid(text: Any) -> UUID:
    try:
        return UUID(str(text))
    except ValueError:
        raise ContentRefused(fields={"id": _("It is not an id.")}) from None


def _content(said: Mapping[str, Any], slugs: Slugs) -> Content:
    values: dict[str, Any] = {
        name: _text(said, name) for name in ("question", "answer", "language", "folder")
    }
    values["visibility"] = _text(said, "visibility") or "public"
    if values["visibility"] not in {"public", "internal"}:
        raise ContentRefused(fields={"visibility": _("It is public or internal.")})
    values["paraphrases"] = tuple(_several(said, "paraphrases", lines=True))
    for column, gate in LIMITS.items():
        values |= _limit(said, column, gate, slugs)
    for name in ("valid_from", "valid_until"):
        values[name] = _moment(said, name)
    return Content(**values)


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name) or ""
    if not isinstance(value, str):
        raise ContentRefused(fields={name: _("It is not a text.")})
    return value.strip()


def _several(said: Mapping[str, Any], name: str, *, lines: bool = False) -> list[str]:
    """Return a list: of JSON as it is; in a cell one a line, names also parted by spaces."""
    value = said.get(name) or ""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [one.strip() for one in value if one.strip()]
    if not isinstance(value, str):
        raise ContentRefused(fields={name: _("It is not a list of texts.")})
    parts = value.splitlines() if lines else value.replace(",", " ").split()
    return [one.strip() for one in parts if one.strip()]


def _limit(said: Mapping[str, Any], column: str, gate: str, slugs: Slugs) -> dict[str, Any]:
    names = _several(said, column)
    nobody = names == [NOBODY] or said.get(column) == []
    values = [] if nobody else names
    known: Mapping[str, UUID] | None = getattr(slugs, column, None)
    if known is not None and set(values) - set(known):
        unknown = ", ".join(sorted(set(values) - set(known)))
        raise ContentRefused(fields={column: _("There is no %s.") % unknown})
    ids = tuple(known[one] if known is not None else one for one in values)
    return {f"{gate}_restricted": nobody or bool(values), column: ids}


def _moment(said: Mapping[str, Any], name: str) -> datetime | None:
    text = _text(said, name)
    try:
        moment = parse_datetime(text) if text else None
    except ValueError:
        moment = None
    if text and (moment is None or moment.tzinfo is None):
        raise ContentRefused(fields={name: _("Write it like 2026-01-31T09:00:00Z.")})
    return moment
