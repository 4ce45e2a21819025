"""What both legs find inside the allowlist: one statement for each category.

Plan expected: the gates select live truth rows first; vectors are then read index-only from
knowledge_vector_search, lexical rows by asset or by their GIN index. There is no approximate
index and every limit comes after every gate, so filler outside the scope changes neither the
result nor recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import neg
from typing import Any, Final
from uuid import UUID

from pgvector import HalfVector

from knowledge.embedding.protocol import Vector
from knowledge.retrieval.eligibility import TABLES, eligible_rows, parameters
from knowledge.retrieval.statistics import CorpusStatistics
from knowledge.retrieval.types import Allowlist, Candidate, CategoryName, Query
from tenants.prepared import rows_of

# Looking through the words of one document costs as much as reading so many rows of posting lists.
ROWS_FOR_ONE_DOCUMENT: Final = 6
_PINNED: Final = "SELECT e.id, 0 FROM eligible e WHERE e.id = ANY(%(pinned)s::uuid[])"
KINDS: Final[dict[CategoryName, str]] = {"instruction": "'instruction'", "knowledge": "x.kind"}
# Whether the organization still lets an answer come first that nobody verified in time.
LEADS: Final[dict[CategoryName, str]] = {
    "instruction": "false",
    "knowledge": "(x.kind = 'golden' AND (x.leads_until IS NULL OR %(at)s < x.leads_until"
    " OR (SELECT o.overdue_answers_lead FROM tenants_organization o WHERE o.id = %(organization)s)))",
}


@dataclass(frozen=True)
class Probe:
    """What to look for, and how deep.

    Units: depth in rows by leg and query; lexical_rows as in the policy.
    """

    queries: Sequence[Query]
    vectors: Sequence[Vector] | None
    space_id: int | None
    depth: int
    lexical_rows: int
    pinned: Sequence[UUID] = ()


def candidates(
    category: CategoryName, probe: Probe, allowlist: Allowlist, statistics: CorpusStatistics
) -> list[Candidate]:
    """Return the passages that either leg found for any query, with both signals for all.

    Cost: one statement, about half a microsecond for each vector in scope.
    """
    sql = candidate_sql(category, probe, allowlist)
    values = parameters(allowlist) | _values(probe, statistics)
    return [_candidate(category, row) for row in rows_of(sql, values)]


def candidate_sql(category: CategoryName, probe: Probe, allowlist: Allowlist) -> str:
    """Return the statement; the parameters of gates and probe belong to it."""
    shape = Shape(
        category,
        len(probe.queries),
        is_dense=probe.vectors is not None,
        is_worded=any(query.tokens or query.whole is not None for query in probe.queries),
        is_pinned=bool(probe.pinned),
    )
    return _statement(shape, eligible_rows(category, allowlist))


@dataclass(frozen=True)
class Shape:
    """What decides the text of the statement beside the scope; the rest are parameters."""

    category: CategoryName
    queries: int
    is_dense: bool
    is_worded: bool
    is_pinned: bool

    @property
    def numbers(self) -> range:
        """The queries by number."""
        return range(self.queries)


@lru_cache(128)
def _statement(shape: Shape, eligible: str) -> str:
    parts = [f"eligible AS MATERIALIZED (\n{eligible})"]
    if shape.is_worded:
        parts.append(_lexical(shape.numbers))
    if shape.is_dense:
        parts.append(_scored(shape.numbers))
    if shape.is_dense or shape.is_worded:
        parts.append(_found(shape))
    parts += [_picked(shape), _near(shape)] if shape.is_dense else [_words_alone(shape)]
    return "WITH " + ",\n".join(parts) + _selected(shape)


# A scope may hold three rows or a million, and the planner's estimate of it is a guess. So that no
# guess costs anything, "IN (...) IS TRUE" is one hashed look-up for each row and never a loop, and
# OFFSET 0 keeps a look-up by key what it is.
def _scored(numbers: range) -> str:
    distances = ", ".join(f"v.embedding <#> %(vector{i})s::halfvec AS d{i}" for i in numbers)
    return f"""scored AS MATERIALIZED (
  SELECT v.* FROM eligible e CROSS JOIN LATERAL (
    SELECT v.asset_id, v.position, {distances} FROM knowledge_vector v
     WHERE v.organization_id = %(organization)s AND v.space_id = %(space)s
       AND v.asset_id = e.id AND v.generation = e.generation OFFSET 0) v)"""


def _lexical(numbers: range) -> str:
    """Find rows by their words: document by document where those are few beside
    the posting lists, else through the GIN index.

    Codes count in any language, words in their own.
    """
    names = ", ".join(f"w{i}" for i in numbers)
    weights = ", ".join(f"%(weights{i})s::float8[]" for i in numbers)
    sums = ", ".join(
        f"coalesce(sum(a.w{i}) FILTER (WHERE a.is_code OR l.language = ''"
        f" OR %(language{i})s IN ('', l.language)), 0) AS s{i}"
        for i in numbers
    )
    columns = "l.organization_id, l.asset_id, l.position, l.language, l.tokens, l.generation"
    return f"""size AS (SELECT count(*) AS rows FROM eligible),
worded AS MATERIALIZED (
  SELECT l.* FROM eligible e CROSS JOIN LATERAL (
    SELECT {columns} FROM knowledge_lexicalentry l
     WHERE l.organization_id = %(organization)s AND l.asset_id = e.id
       AND l.generation = e.generation OFFSET 0) l
   WHERE (SELECT rows FROM size) BETWEEN 1 AND %(few)s::bigint AND l.tokens && %(generating)s::bigint[]
  UNION ALL
  SELECT l.* FROM (
    SELECT {columns} FROM knowledge_lexicalentry l
     WHERE l.tokens && %(generating)s::bigint[] OFFSET 0) l
   WHERE (SELECT rows FROM size) > %(few)s::bigint AND l.organization_id = %(organization)s
     AND ((l.asset_id, l.generation) IN (SELECT id, generation FROM eligible)) IS TRUE),
asked AS MATERIALIZED (
  SELECT * FROM unnest(%(tokens)s::bigint[], %(codes)s::boolean[], {weights}) AS a(token, is_code, {names})),
lexical AS MATERIALIZED (
  SELECT l.asset_id, l.position, {sums} FROM worded l JOIN asked a ON a.token = ANY(l.tokens)
   GROUP BY l.asset_id, l.position)"""


def _found(shape: Shape) -> str:
    tables = [("lexical", f"s{i} > 0", f"s{i} DESC") for i in shape.numbers if shape.is_worded]
    tables += [("scored", "true", f"d{i}") for i in shape.numbers if shape.is_dense]
    legs = [
        f"(SELECT asset_id, position FROM {table} WHERE {condition}"
        f" ORDER BY {order}, asset_id, position LIMIT %(depth)s)"
        for table, condition, order in tables
    ]
    if shape.is_worded:
        legs.append("SELECT asset_id, position FROM worded WHERE tokens && %(whole)s::bigint[]")
    return "found AS MATERIALIZED (" + "\n UNION ".join(legs) + ")"


def _words_alone(shape: Shape) -> str:
    legs = ["SELECT asset_id, position FROM found"] if shape.is_worded else []
    legs += [_PINNED] if shape.is_pinned or not legs else []
    return f"""shown AS (
  SELECT asset_id, position, NULL::float8[] AS distances, NULL::float8[] AS titles,
         NULL::float8[] AS phrasings
    FROM ({" UNION ".join(legs)}) AS p(asset_id, position))"""


def _picked(shape: Shape) -> str:
    """Let a near title or phrasing, and a pin, bring in the best passage of its document.

    What both read of the documents found is set aside first: one pass over the whole scope.
    """
    nearest = f"least({', '.join(f's.d{i}' for i in shape.numbers)})"
    pinned = "s.asset_id = ANY(%(pinned)s::uuid[]) OR " if shape.is_pinned else ""
    bare = f"""
  UNION {_PINNED} AND NOT EXISTS (SELECT 1 FROM scored s WHERE s.asset_id = e.id)"""
    return f"""touched AS MATERIALIZED (SELECT s.* FROM scored s
  WHERE {pinned}(s.asset_id IN (SELECT asset_id FROM found)) IS TRUE),
picked AS MATERIALIZED (SELECT asset_id, position FROM found WHERE position >= 0
  UNION (SELECT DISTINCT ON (s.asset_id) s.asset_id, s.position FROM touched s
    WHERE s.position >= 0 AND ({pinned}s.asset_id IN (SELECT asset_id FROM found WHERE position < 0))
    ORDER BY s.asset_id, {nearest}, s.position){bare if shape.is_pinned else ""})"""


def _near(shape: Shape) -> str:
    """Give every picked passage its distances, and of its document's titles the nearest and the mean."""
    numbers = shape.numbers
    titles = ", ".join(
        f"{what}(s.d{i}) FILTER (WHERE s.position < 0) OVER same AS {letter}{i}"
        for i in numbers
        for what, letter in (("min", "t"), ("avg", "p"))
    )
    near = f"""
  SELECT s.asset_id, s.position, {_array("d", numbers)} AS distances, {_array("t", numbers)} AS titles,
         {_array("p", numbers)} AS phrasings
    FROM (SELECT s.*, {titles} FROM touched s
          WINDOW same AS (PARTITION BY s.asset_id)) s
   WHERE ((s.asset_id, s.position) IN (SELECT asset_id, position FROM picked)) IS TRUE"""
    if not (shape.is_worded or shape.is_pinned):
        return f"shown AS ({near})"
    return f"""near AS MATERIALIZED ({near}),
shown AS (
  SELECT * FROM near
  UNION ALL
  SELECT p.asset_id, p.position, NULL, NULL, NULL FROM picked p
   WHERE ((p.asset_id, p.position) IN (SELECT asset_id, position FROM near)) IS NOT TRUE)"""


def _array(letter: str, numbers: range) -> str:
    columns = ", ".join(f"s.{letter}{i}" for i in numbers)
    return f"CASE WHEN s.{letter}0 IS NOT NULL THEN ARRAY[{columns}] END"


def _selected(shape: Shape) -> str:
    category = shape.category
    words, entry = "NULL::bigint[], '', false", ""
    if shape.is_worded:
        words = """ARRAY(SELECT a.token FROM asked a WHERE a.token = ANY(l.tokens)), l.language,
       coalesce(l.tokens && %(whole)s::bigint[], false)"""
        entry = """
  LEFT JOIN LATERAL (
    SELECT l.language, l.tokens FROM knowledge_lexicalentry l
     WHERE l.organization_id = %(organization)s AND l.asset_id = p.asset_id
       AND l.position = p.position AND l.generation = x.generation OFFSET 0) l ON true"""
    return f"""
SELECT p.asset_id, p.position, x.kind, x.title, x.content_hash, p.distances, p.titles, p.phrasings,
       {words}, x.leads
  FROM shown p CROSS JOIN LATERAL (
    SELECT {KINDS[category]} AS kind, x.title, x.content_hash, x.generation, {LEADS[category]} AS leads
      FROM {TABLES[category]} x
     WHERE x.organization_id = %(organization)s AND x.id = p.asset_id OFFSET 0) x{entry}"""


def _values(probe: Probe, statistics: CorpusStatistics) -> dict[str, Any]:
    tokens = sorted({token for query in probe.queries for token in query.tokens})
    codes = {token for query in probe.queries for token in query.codes}
    generating = statistics.rarest(tokens, probe.lexical_rows)
    whole = sorted({query.whole for query in probe.queries if query.whole is not None})
    values: dict[str, Any] = {
        "space": probe.space_id,
        "depth": probe.depth,
        "tokens": tokens,
        "codes": [token in codes for token in tokens],
        "few": statistics.rows(generating) // ROWS_FOR_ONE_DOCUMENT,
        "pinned": list(probe.pinned),
        "whole": whole,
        "generating": [*generating, *whole],
    }
    for i, query in enumerate(probe.queries):
        values[f"language{i}"] = query.language
        values[f"weights{i}"] = [
            statistics.weight(token) if token in query.tokens else 0.0 for token in tokens
        ]
    for i, vector in enumerate(probe.vectors or ()):
        values[f"vector{i}"] = HalfVector(vector)
    return values


_LEGS: Final = {
    (dense, lexical, exact): frozenset(
        name for name, there in (("dense", dense), ("lexical", lexical), ("exact", exact)) if there
    )
    for dense in (True, False)
    for lexical in (True, False)
    for exact in (True, False)
}


def _candidate(category: CategoryName, row: tuple[Any, ...]) -> Candidate:
    asset_id, position, kind, title, content_hash, distances, titles, phrasings = row[:8]
    matched, language, exact, leads = row[8:]
    return Candidate(
        category,
        asset_id,
        position,
        kind,
        title,
        content_hash,
        cosines=distances and tuple(map(neg, distances)),
        title_cosines=titles and tuple(map(neg, titles)),
        matched=frozenset(matched or ()),
        language=language or "",
        legs=_LEGS[distances is not None, bool(matched), exact],
        exact=exact,
        leads=leads,
        phrasing_cosines=phrasings and tuple(map(neg, phrasings)),
    )
