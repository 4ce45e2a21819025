"""Why a row is or is not among what an agent may say: every gate with its verdict. Staff only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from knowledge.retrieval.eligibility import GATES, TABLES, Gate, allowlist_gate, parameters
from knowledge.retrieval.types import Allowlist, CategoryName


@dataclass(frozen=True)
class Verdict:
    """One gate's answer about one row, and the columns that decided it."""

    gate: str
    passes: bool
    because: dict[str, str]


def explain(category: CategoryName, asset_id: UUID, allowlist: Allowlist) -> list[Verdict] | None:
    """Return every gate's verdict on a row, or None when the organization has no such row.

    Cost: one statement.
    """
    gates = (*GATES[category], allowlist_gate(category, allowlist.scope(category)))
    row = _row(category, gates, asset_id, allowlist)
    if row is None:
        return None
    return [
        Verdict(gate.name, bool(passes), dict(zip(gate.columns, _texts(because), strict=True)))
        for gate, passes, because in zip(gates, row[0::2], row[1::2], strict=True)
    ]


def _row(
    category: CategoryName, gates: tuple[Gate, ...], asset_id: UUID, allowlist: Allowlist
) -> tuple[Any, ...] | None:
    selected = ", ".join(
        f"({gate.sql}), ARRAY[{', '.join(f'x.{c}::text' for c in gate.columns)}]::text[]"
        for gate in gates
    )
    sql = (
        f"SELECT {selected} FROM {TABLES[category]} x"
        " WHERE x.organization_id = %(organization)s AND x.id = %(asset)s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters(allowlist) | {"asset": asset_id})
        found: tuple[Any, ...] | None = cursor.fetchone()
    return found


def _texts(values: list[str | None]) -> list[str]:
    return ["" if value is None else value for value in values]


def names(verdicts: list[Verdict]) -> list[str]:
    """Return the gates that keep a row out."""
    return [verdict.gate for verdict in verdicts if not verdict.passes]
