from __future__ import annotations

import pytest

from tests.predicates import predicates, without


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT 1 FROM t WHERE a = 1 AND (b = 2 OR c = 3)", ["a = 1", "b = 2 OR c = 3"]),
        ("SELECT 1 FROM t WHERE (a AND (b AND c)) ORDER BY d", ["a", "b", "c"]),
        ("SELECT 1 FROM t JOIN u ON (t.a = u.a) WHERE b LIMIT 1", ["t.a = u.a", "b"]),
        ("SELECT EXISTS (SELECT 1 FROM t WHERE a) FROM u WHERE c", ["a", "c"]),
        ("SELECT 1 FROM t WHERE x BETWEEN 1 AND 2 AND b", ["x BETWEEN 1 AND 2", "b"]),
        ("SELECT sum(a) FILTER (WHERE b) FROM t WHERE c", ["c"]),
        ("WITH e AS (SELECT 1 FROM t WHERE a AND b) SELECT 1 FROM e", ["a", "b"]),
        ("SELECT 1 FROM t WHERE a = ANY(ARRAY(SELECT id FROM e WHERE z)) AND b",
         ["a = ANY(ARRAY(SELECT id FROM e WHERE z))", "b", "z"]),
        ("SELECT 1 FROM t WHERE (CASE WHEN a AND b THEN c ELSE d END) AND e AND f",
         ["CASE WHEN a AND b THEN c ELSE d END", "e", "f"]),
    ],
)  # fmt: skip
def test_conditions_are_told_apart(sql, found):
    assert predicates(sql) == found


def test_a_condition_is_left_out_wherever_it_stands():
    sql = "SELECT 1 FROM t WHERE a AND b UNION SELECT 1 FROM u WHERE b"
    assert without(sql, "b") == "SELECT 1 FROM t WHERE a AND true UNION SELECT 1 FROM u WHERE true"


def test_what_is_left_out_still_takes_its_values():
    sql = "SELECT 1 FROM t WHERE a = %s AND b = %s"
    assert without(sql, "a = %s") == "SELECT 1 FROM t WHERE (true OR (%s)::text IS NULL) AND b = %s"
