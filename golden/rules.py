"""Domain rules: hard constraints that are put into the prompt of the agents they apply to."""

from __future__ import annotations

from typing import Final

from django.db import connection

from golden.models import AssetKind
from knowledge.retrieval.eligibility import GATES, parameters
from knowledge.retrieval.types import Allowlist

# The gates that a rule has; it is in no dataset and under no allowlist, for it is never searched.
_HAS: Final = frozenset({"visibility", "channel", "segment", "jurisdiction", "validity", "agent"})
_GATES: Final = " AND ".join(f"({gate.sql})" for gate in GATES["knowledge"] if gate.name in _HAS)
_APPLYING: Final = f"""
SELECT x.answer FROM golden_goldenanswer g
  JOIN golden_answerversion x ON x.organization_id = g.organization_id AND x.id = g.published_version_id
 WHERE g.organization_id = %(organization)s AND g.kind = %(kind)s AND g.archived_at IS NULL AND {_GATES}
 ORDER BY x.question, g.id
"""  # noqa: S608 - constants of our own


def rules_for(allowlist: Allowlist) -> tuple[str, ...]:
    """Return the published rules that apply to this agent, caller and instant.

    Cost: one statement.
    """
    with connection.cursor() as cursor:
        cursor.execute(_APPLYING, parameters(allowlist) | {"kind": AssetKind.RULE.value})
        return tuple(text for (text,) in cursor.fetchall())
