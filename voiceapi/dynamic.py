"""Instructions that a runtime asks for by id, for the prompt of one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from knowledge.retrieval.eligibility import GATES, TABLES, parameters
from knowledge.retrieval.types import Allowlist

_GATES: Final = " AND ".join(f"({gate.sql})" for gate in GATES["instruction"])
_WANTED: Final = f"""
SELECT x.id, x.title, x.body FROM {TABLES["instruction"]} x
 WHERE x.organization_id = %(organization)s AND x.id = ANY(%(wanted)s) AND {_GATES}
"""  # noqa: S608 - constants of our own


@dataclass(frozen=True)
class AddedInstruction:
    """An instruction whose text goes into a prompt."""

    id: UUID
    title: str
    body: str


def dynamic_instructions(
    wanted: Sequence[str], allowlist: Allowlist
) -> tuple[AddedInstruction, ...]:
    """Return those that pass every gate, the allowlist apart, once each and in the order asked.

    One that is not there, foreign or not for this caller is left out without a word.
    """
    ids = list(dict.fromkeys(filter(None, map(_uuid, wanted))))
    values = parameters(allowlist) | {"wanted": ids}
    with connection.cursor() as cursor:
        cursor.execute(_WANTED, values)
        found = {row[0]: AddedInstruction(*row) for row in cursor.fetchall()}
    return tuple(found[identifier] for identifier in ids if identifier in found)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
