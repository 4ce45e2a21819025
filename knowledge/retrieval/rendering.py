"""Cut results out of live truth rows: the statement that returns text asks every gate again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import regex

from knowledge.alarms import FOREIGN_ROWS
from knowledge.errors import KnowledgeError
from knowledge.retrieval.eligibility import TABLES, eligible_sql, parameters
from knowledge.retrieval.excerpts import cut
from knowledge.retrieval.policy import RetrievalPolicy
from knowledge.retrieval.readout import Read, passage_out, read_out
from knowledge.retrieval.types import CATEGORIES, Allowlist, CategoryName, Focus, Ranked, Result
from knowledge.text.normalising import normalise
from tenants.prepared import rows_of

log = logging.getLogger(__name__)
# Words, and the signs that tell one fact from another: of money, share, size, below and above, C++ and C#,
# a figure below zero, and whatever stands inside a figure. Not those that lay out a table or a heading.
_TELLING: Final = regex.compile(
    r"(?V1)[\p{L}\p{M}\p{N}]+|[[\p{S}%‰]--[|~=^`]]|(?<=[\p{L}\p{N}])\#|\#(?=\p{N})"
    r"|(?<![\p{L}\p{N}])-(?=\p{Sc}?\p{N})|(?<=\p{N})[.,:/-](?=\p{N})"
)
# So far above a passage its table may begin, to name the columns.
_LOOKED_BACK: Final = 100_000
# So much of an instruction before and behind what was found is read to choose from.
_AROUND: Final = 10_000


class ForeignRow(KnowledgeError):
    """A row of another organization came out of a search; the answer was thrown away."""

    code = "foreign_row"


# An instruction is read from the body around what was found, however long it is; of an item only the
# passage is fetched.
_EXTRA: dict[CategoryName, str] = {
    "instruction": "'instruction', NULL, NULL, '',"
    f" substr(x.body, greatest(coalesce(l.start, 0) - {_AROUND}, 0) + 1,"
    f" least(coalesce(l.start, 0), {_AROUND}) + coalesce(l.\"end\" - l.start, 0) + {_AROUND}), ''",
    "knowledge": "x.kind, nullif(x.url, ''), x.metadata ->> 'golden_asset_id', x.folder_key,"
    " left(x.body, 4000), CASE WHEN strpos(substr(x.body, l.start + 1, 200), '|') > 0"
    f" THEN right(left(x.body, l.start), {_LOOKED_BACK}) ELSE '' END",
}


@dataclass(frozen=True)
class Asking:
    """For whom, about what, and how briefly."""

    allowlist: Allowlist
    focus: Focus
    policy: RetrievalPolicy


def render(ranking: Sequence[Ranked], asking: Asking, *, limit: int) -> list[Result]:
    """Return at most `limit` results with bounded content, in the order of the ranking.

    Raises: ForeignRow
    Cost:   one statement for each category present.
    """
    rows = _rows(ranking, asking.allowlist)
    results: list[Result] = []
    seen: set[tuple[str, str]] = set()
    left = asking.policy.characters_all
    for ranked in ranking:
        row = rows.get((ranked.category, ranked.asset_id))
        if row is None:
            continue
        room = min(asking.policy.characters_each, left)
        if row["kind"] == "golden" and left < len(row["body"]) <= asking.policy.characters_each:
            # An answer that staff stand behind is heard whole; half of it is another answer.
            continue
        is_first = all(result.type != "instruction" for result in results)
        content = _content(row, asking.focus, room, is_first=is_first)
        if not content or _is_repeated(content, ranked.category, seen):
            continue
        results.append(_result(ranked, row, content))
        left -= len(content)
        if len(results) == limit or left < asking.policy.characters_each // 10:
            break
    return results


def _content(row: dict[str, Any], focus: Focus, room: int, *, is_first: bool) -> str:
    """Return what is read of a row: an answer whole, the needed steps of an instruction, a passage."""
    if row["kind"] == "golden":
        return cut(str(row["body"]), room)
    if row["kind"] == "instruction":
        return read_out(_around(row), focus, room, with_prerequisite=is_first)
    if row["passage"] is None:
        return ""
    passage, above = str(row["passage"]), str(row["above"])
    return passage_out(passage, above, focus, room, is_whole=len(above) == row["start"])


def _around(row: dict[str, Any]) -> Read:
    """Return what was fetched of an instruction, from the beginning of a line."""
    left_out = max(row["start"] - _AROUND, 0)
    body, start, end = str(row["body"]), row["start"] - left_out, row["end"] - left_out
    begins = body.find("\n", 0, start) + 1 if left_out else 0
    return Read(body[begins:], (start - begins, end - begins), is_whole=not left_out)


def _is_repeated(content: str, category: CategoryName, seen: set[tuple[str, str]]) -> bool:
    key = (category, " ".join(_TELLING.findall(normalise(content))))
    repeated = key in seen
    seen.add(key)
    return repeated


def _rows(ranking: Sequence[Ranked], allowlist: Allowlist) -> dict[Any, dict[str, Any]]:
    rows: dict[Any, dict[str, Any]] = {}
    for category in CATEGORIES:
        chosen = [ranked for ranked in ranking if ranked.category == category]
        for row in _live_rows(category, chosen, allowlist) if chosen else ():
            rows[category, row["id"]] = row
    return rows


def _live_rows(
    category: CategoryName, chosen: Sequence[Ranked], allowlist: Allowlist
) -> list[dict[str, Any]]:
    sql = f"""
SELECT x.organization_id, x.id, x.title, x.valid_until, {_EXTRA[category]},
       CASE WHEN l.id IS NULL THEN left(x.body, 4000)
            WHEN last."end" = char_length(x.body) THEN substr(x.body, l.start + 1, l."end" - l.start) END,
       coalesce(l.start, 0), coalesce(l."end", 0)
  FROM unnest(%(assets)s::uuid[], %(positions)s::integer[]) AS p(asset_id, position)
  JOIN {TABLES[category]} x ON x.id = p.asset_id AND {eligible_sql(category, allowlist)}
  LEFT JOIN knowledge_lexicalentry l ON l.organization_id = x.organization_id
   AND l.asset_id = x.id AND l.position = p.position AND l.generation = x.generation
  LEFT JOIN LATERAL (SELECT e."end" FROM knowledge_lexicalentry e WHERE e.organization_id = l.organization_id
   AND e.asset_id = l.asset_id AND e.generation = l.generation ORDER BY e.position DESC LIMIT 1) last ON true"""
    values = parameters(allowlist) | {
        "assets": [ranked.asset_id for ranked in chosen],
        "positions": [ranked.position for ranked in chosen],
    }
    names = (
        "organization", "id", "title", "valid_until", "kind", "url", "answer", "place", "body",
        "above", "passage", "start", "end",
    )  # fmt: skip
    rows = [dict(zip(names, row, strict=True)) for row in rows_of(sql, values)]
    _assert_own(rows, allowlist.organization_id)
    _tell_misplaced(rows)
    return rows


def _tell_misplaced(rows: Sequence[dict[str, Any]]) -> None:
    # Its passages were cut from another text than is stored: reconciling cuts them again.
    for row in rows:
        if row["passage"] is None:
            log.warning(
                "misplaced", extra={"organization": row["organization"], "asset": row["id"]}
            )


def _assert_own(rows: Sequence[dict[str, Any]], organization_id: int) -> None:
    if any(row["organization"] != organization_id for row in rows):
        log.critical("foreign_row", extra={"organization": organization_id})
        FOREIGN_ROWS.inc()
        raise ForeignRow


def _result(ranked: Ranked, row: dict[str, Any], content: str) -> Result:
    golden = row["kind"] == "golden"
    return Result(
        type=_type(ranked.category, golden=golden),
        id=str((row["answer"] if golden else None) or row["id"]),
        chunk=ranked.position if ranked.category == "knowledge" and not golden else None,
        title=row["title"],
        content=content,
        url=row["url"],
        valid_until=row["valid_until"],
        asset_id=row["id"],
        place=row["place"],
    )


def _type(category: CategoryName, *, golden: bool) -> Literal["golden", "instruction", "knowledge"]:
    return "golden" if golden else category
