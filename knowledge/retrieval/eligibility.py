"""Which truth rows a caller may hear: every gate once, as SQL over live rows.

A search ANDs the gates, staff's explanation selects them one by one; both read this list, so
they cannot disagree. `x` is the truth row. A gate that cannot be evaluated is false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from knowledge.retrieval.types import Allowlist, CategoryName, Everything, Scope

TABLES: Final[dict[CategoryName, str]] = {
    "instruction": "knowledge_instruction",
    "knowledge": "knowledge_item",
}


@dataclass(frozen=True)
class Gate:
    """One condition on a truth row, with the columns that decided it."""

    name: str
    sql: str
    columns: tuple[str, ...]


def _listed(gate: str, wanted: str, column: str) -> Gate:
    return Gate(
        gate,
        f"(NOT x.{gate}_restricted OR coalesce({wanted}, false))",
        (f"{gate}_restricted", column),
    )


_SHARED: Final = (
    Gate("deleted", "x.deleted_at IS NULL", ("deleted_at",)),
    Gate("visibility", "x.visibility = 'public'", ("visibility",)),
    _listed("channel", "%(channel)s = ANY(x.channels)", "channels"),
    _listed("segment", "x.segments && %(segments)s::uuid[]", "segments"),
    _listed("jurisdiction", "%(country)s::text = ANY(x.jurisdictions)", "jurisdictions"),
    Gate(
        "validity",
        "(x.valid_from IS NULL OR x.valid_from <= %(at)s)"
        " AND (x.valid_until IS NULL OR %(at)s < x.valid_until)",
        ("valid_from", "valid_until"),
    ),
)

GATES: Final[dict[CategoryName, tuple[Gate, ...]]] = {
    "instruction": (Gate("lifecycle", "x.status = 'published'", ("status",)), *_SHARED),
    "knowledge": (
        Gate(
            "lifecycle",
            "x.review_status = 'approved' AND x.parse_status IN ('parsed', 'ingested')"
            " AND (x.kind <> 'golden' OR x.published_version IS NOT NULL)",
            ("review_status", "parse_status", "kind", "published_version"),
        ),
        Gate(
            "dataset",
            "CASE x.kind WHEN 'golden' THEN x.dataset = 'default-kb'"
            " ELSE x.dataset IN ('default-kb', 'corrections') END",
            ("dataset", "kind"),
        ),
        *_SHARED,
        _listed("agent", "%(agent)s = ANY(x.agents)", "agents"),
    ),
}

# Borders are respected: "billing" covers "billing/refunds", not "billing-old"; "0" is the character
# after "/". One array of ids, gathered by three index scans, so that rows outside the scope cost
# nothing; OFFSET 0 keeps the planner from reading the whole organization instead.
_INSIDE: Final = """SELECT i.id FROM unnest(%(folders)s::text[]) AS f CROSS JOIN LATERAL (
    SELECT i.id FROM knowledge_item i WHERE i.organization_id = %(organization)s AND {} OFFSET 0) i"""
_ITSELF: Final = _INSIDE.format('i.folder_key = f COLLATE "C"')
_BELOW: Final = _INSIDE.format(
    "i.folder_key >= (f || '/') COLLATE \"C\" AND i.folder_key < (f || '0') COLLATE \"C\""
)
_SELECTED: Final[dict[CategoryName, str]] = {
    "instruction": "(x.id = ANY(%(instruction_ids)s::uuid[]) OR x.directory_id = ANY(%(directories)s::uuid[]))",
    "knowledge": "x.id = ANY(ARRAY(SELECT unnest(%(item_ids)s::uuid[])"
    f"\n UNION ALL {_ITSELF}\n UNION ALL {_BELOW}))",
}


# The same selection as ways of reaching rows by key. Places of folders are ranges: a folder itself,
# and all that begins with it and "/".
_REACHED: Final[dict[CategoryName, tuple[tuple[str, str], ...]]] = {
    "instruction": (
        ("%(instruction_ids)s::uuid[]) AS wanted(id", "x.id = wanted.id"),
        ("%(directories)s::uuid[]) AS wanted(id", "x.directory_id = wanted.id"),
    ),
    "knowledge": (
        ("%(item_ids)s::uuid[]) AS wanted(id", "x.id = wanted.id"),
        (
            "%(from_keys)s::text[], %(to_keys)s::text[]) AS wanted(low, high",
            'x.folder_key >= wanted.low COLLATE "C" AND x.folder_key < wanted.high COLLATE "C"',
        ),
    ),
}


def allowlist_gate(category: CategoryName, scope: Scope) -> Gate:
    """Return the gate of a category's scope."""
    columns = ("id", "directory_id") if category == "instruction" else ("id", "folder_key")
    if isinstance(scope, Everything):
        return Gate("allowlist", "true", ())
    return Gate("allowlist", _SELECTED[category], columns)


def eligible_sql(category: CategoryName, allowlist: Allowlist) -> str:
    """Return the condition that a truth row `x` passes every gate and the allowlist."""
    gates = (*GATES[category], allowlist_gate(category, allowlist.scope(category)))
    return "\n   AND ".join(
        ["x.organization_id = %(organization)s", *(f"({gate.sql})" for gate in gates)]
    )


def eligible_rows(category: CategoryName, allowlist: Allowlist) -> str:
    """Return the statement of ids and generations of the rows that pass every gate and the allowlist.

    A selection is read by key, row by row and place by place, so that what lies outside costs
    nothing whatever the planner guesses.
    """
    gates = "\n   AND ".join(
        ["x.organization_id = %(organization)s", *(f"({gate.sql})" for gate in GATES[category])]
    )
    rows = f"SELECT x.id, x.generation FROM {TABLES[category]} x\n WHERE {gates}"
    if isinstance(allowlist.scope(category), Everything):
        return rows
    reached = (
        f"SELECT x.id, x.generation FROM unnest({wanted}) CROSS JOIN LATERAL (\n {rows}"
        f"\n   AND {found} OFFSET 0) x"
        for wanted, found in _REACHED[category]
    )
    return "\n UNION ".join(reached)


def parameters(allowlist: Allowlist) -> dict[str, Any]:
    """Return the values that the gates compare with."""
    caller = allowlist.caller
    values: dict[str, Any] = {
        "organization": allowlist.organization_id,
        "agent": allowlist.agent_id,
        "channel": caller.channel,
        "country": caller.country,
        "segments": list(caller.segments),
        "at": allowlist.at,
    }
    for scope, ids in (
        (allowlist.instructions, "instruction_ids"),
        (allowlist.knowledge, "item_ids"),
    ):
        values[ids] = [] if isinstance(scope, Everything) else sorted(scope.ids)
    values["directories"] = _containers(allowlist.instructions, "directories")
    values["folders"] = folders = _containers(allowlist.knowledge, "folders")
    # Nothing sorts between a key and the same key with the lowest character behind it.
    values["from_keys"] = [low for key in folders for low in (key, f"{key}/")]
    values["to_keys"] = [high for key in folders for high in (f"{key}\x01", f"{key}0")]
    return values


def _containers(scope: Scope, name: str) -> list[Any]:
    return [] if isinstance(scope, Everything) else sorted(getattr(scope, name))
