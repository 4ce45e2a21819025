"""Writes every answer or rule in use as CSV or JSON lines, in the columns that importing reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from golden.bulk.columns import COLUMNS, LIMITS, NOBODY, slugs_of
from golden.content import Content, content_of
from golden.models import AssetKind, GoldenAnswer


def exported(organization_id: int, *, kind: str = AssetKind.ANSWER) -> list[dict[str, Any]]:
    """Return every answer, or rule, that is in use, its draft if it has one, as the columns of a file.

    Cost: three statements; needs the organization's context.
    """
    slugs = slugs_of(organization_id)
    names = {pk: slug for known in (slugs.agents, slugs.segments) for slug, pk in known.items()}
    rows = GoldenAnswer.objects.filter(
        organization_id=organization_id, kind=kind, archived_at=None
    ).select_related("published_version", "draft")
    told = []
    for row in rows.order_by("created_at", "id"):
        newest = getattr(row, "draft", None) or row.published_version
        if newest is not None:
            told.append({"id": str(row.pk), **_cells(content_of(newest), names)})
    return told


def _cells(content: Content, names: Mapping[Any, str]) -> dict[str, Any]:
    cells: dict[str, Any] = {
        field.name: getattr(content, field.name)
        for field in fields(content)
        if field.name in COLUMNS
    }
    for column, gate in LIMITS.items():
        restricted = getattr(content, f"{gate}_restricted")
        values = [names.get(one, one) for one in cells[column]]
        cells[column] = [str(one) for one in values] if restricted else None
    for name in ("valid_from", "valid_until"):
        cells[name] = cells[name].isoformat() if cells[name] else None
    return cells | {"paraphrases": list(content.paraphrases)}


def as_json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the rows as CSV that spreadsheets open as what it is, with a byte order mark.

    A cell that a spreadsheet would take for a formula begins with a space, which importing drops.
    """
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, COLUMNS)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(name, row.get(name)) for name in COLUMNS})
    return "\ufeff" + file.getvalue()


def _cell(name: str, value: Any) -> str:
    if isinstance(value, list):
        joined = "\n".join(value) if name == "paraphrases" else " ".join(value)
        value = joined or (NOBODY if name in LIMITS else "")
    text = "" if value is None else str(value)
    dangerous = text[:1] in {"=", "+", "@"} or (text[:1] == "-" and text != NOBODY)
    return f" {text}" if dangerous else text
