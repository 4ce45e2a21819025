"""What docs/decisions/0002-isolation.md promises, asked of the database's own catalogue: every table, every key."""

from __future__ import annotations

from typing import Final

import pytest
from django.db import connection

from tenants.isolation import organization_context
from tests.every_table import furnished

pytestmark = pytest.mark.django_db

# Those that the database shows without a context, and why.
OPEN: Final = {
    "knowledge_corpusterm": "How often a hash occurs; reached through its profile, which is closed.",
    "knowledge_embeddedtext": "Vectors by the hash of their text, for the index alone.",
    "knowledge_lexicalentry": "A GIN index cannot be used under row security; joined to truth rows.",
    "knowledge_spacegap": "Names only; the index process looks for work of every organization.",
    "knowledge_vector": "Read index-only; joined to truth rows.",
    "tenants_membership": "Says which organizations somebody may see, before any context is known.",
}
TENANT_TABLES: Final = """
SELECT c.oid::regclass::text FROM pg_class c
 WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND EXISTS (
   SELECT FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attname = 'organization_id' AND NOT a.attisdropped)
 ORDER BY 1
"""
SECURED: Final = """
SELECT oid::regclass::text FROM pg_class
 WHERE relrowsecurity AND oid::regclass::text = ANY(%s) ORDER BY 1
"""
# What widens: policies that permit are joined by OR, those that restrict by AND.
PERMITTING: Final = """
SELECT tablename, policyname, cmd, roles::text[], qual, with_check FROM pg_policies
 WHERE permissive = 'PERMISSIVE' AND tablename = ANY(%s) ORDER BY 1, 2
"""
# Keys of one tenant table into another, by the columns that point.
KEYS: Final = """
SELECT k.conrelid::regclass::text, k.confrelid::regclass::text, k.convalidated,
       ARRAY(SELECT attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u(number, place)
               JOIN pg_attribute ON attrelid = k.conrelid AND attnum = u.number ORDER BY place),
       ARRAY(SELECT attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u(number, place)
               JOIN pg_attribute ON attrelid = k.confrelid AND attnum = u.number ORDER BY place)
  FROM pg_constraint k
 WHERE k.contype = 'f' AND k.conrelid::regclass::text = ANY(%(tables)s)
   AND k.confrelid::regclass::text = ANY(%(tables)s)
"""


def asked(sql, values=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def tables():
    return [name for (name,) in asked(TENANT_TABLES)]


def closed():
    return [name for name in tables() if name not in OPEN]


def rows_of_acme(acme, names):
    sql = "SELECT count(*) FROM {} WHERE organization_id = %s"
    return {name: asked(sql.format(name), [acme.organization.pk])[0][0] for name in names}


@pytest.fixture
def office():
    made = furnished()
    with made.acme.context():
        there = rows_of_acme(made.acme, tables())
    assert [name for name, rows in there.items() if not rows] == [], "See tests/every_table.py."
    return made


def test_every_table_of_an_organization_has_row_security():
    assert [name for (name,) in asked(SECURED, [tables()])] == closed()


def test_every_table_permits_rows_of_the_context_and_nothing_else():
    permitting = asked(PERMITTING, [tables()])
    assert [row[0] for row in permitting] == closed()
    assert {row[1:4] for row in map(_hashable, permitting)} == {
        ("organization", "ALL", ("public",))
    }
    rules = {rule for row in permitting for rule in row[4:]}
    assert len(rules) == 1
    assert "current_setting('app.organization'" in rules.pop()


def _hashable(row):
    return (*row[:3], tuple(row[3]), *row[4:])


def test_no_table_shows_a_row_without_a_context(office):
    assert {name: n for name, n in rows_of_acme(office.acme, closed()).items() if n} == {}


def test_no_table_shows_a_row_to_another_organization(office):
    with organization_context(office.globex.organization.pk):
        assert {name: n for name, n in rows_of_acme(office.acme, closed()).items() if n} == {}


def test_every_table_that_is_open_is_there_and_says_why(office):
    shown = rows_of_acme(office.acme, OPEN)
    assert all(shown.values()), shown


def test_every_key_between_tables_of_an_organization_carries_the_organization():
    keys = asked(KEYS, {"tables": tables()})
    plain = {(table, to, columns[0]) for table, to, _, columns, _ in keys if len(columns) == 1}
    composite = {
        (table, to, columns[1])
        for table, to, _, columns, targets in keys
        if columns[0] == "organization_id" and targets == ["organization_id", "id"]
    }
    assert plain
    assert plain - composite == set()


def test_every_key_was_compared_with_the_rows_there_are():
    keys = asked(KEYS, {"tables": tables()})
    assert keys
    assert [(table, columns) for table, _, validated, columns, _ in keys if not validated] == []
