"""The queue takes turns: an import of one organization holds up neither another's change nor its own newest."""

from __future__ import annotations

from django.db import migrations

TURNS = """
CREATE INDEX knowledge_state_turn ON knowledge_indexstate (organization_id, next_attempt_at)
 WHERE applied_generation < desired_generation AND NOT status = 'failed';
"""

# Every organization in turn; within one, three of those that wait longest, then one of the newest.
FAIR = """
CREATE OR REPLACE FUNCTION earmark_due_index_states(due timestamptz, most integer)
RETURNS TABLE (organization_id bigint, category varchar, asset_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT t.organization_id, t.category, t.asset_id
    FROM public.tenants_organization o CROSS JOIN LATERAL (
      SELECT e.*, e.place + (e.place - 1) / 3 AS turn FROM (
        SELECT s.organization_id, s.category, s.asset_id, s.next_attempt_at,
               row_number() OVER (ORDER BY s.next_attempt_at, s.id) AS place
          FROM public.knowledge_indexstate s
         WHERE s.organization_id = o.id AND s.applied_generation < s.desired_generation
           AND NOT s.status = 'failed' AND s.next_attempt_at <= due
           AND (s.lease_until IS NULL OR s.lease_until < due)
         ORDER BY s.next_attempt_at, s.id LIMIT most) AS e
      UNION ALL
      SELECT l.*, l.place * 4 AS turn FROM (
        SELECT s.organization_id, s.category, s.asset_id, s.next_attempt_at,
               row_number() OVER (ORDER BY s.next_attempt_at DESC, s.id DESC) AS place
          FROM public.knowledge_indexstate s
         WHERE s.organization_id = o.id AND s.applied_generation < s.desired_generation
           AND NOT s.status = 'failed' AND s.next_attempt_at <= due
           AND (s.lease_until IS NULL OR s.lease_until < due)
         ORDER BY s.next_attempt_at DESC, s.id DESC LIMIT most / 4) AS l
    ) AS t
   GROUP BY t.organization_id, t.category, t.asset_id
   ORDER BY min(t.turn), min(t.next_attempt_at), t.asset_id LIMIT most
$$;
"""
IN_ORDER = """
CREATE OR REPLACE FUNCTION earmark_due_index_states(due timestamptz, most integer)
RETURNS TABLE (organization_id bigint, category varchar, asset_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT s.organization_id, s.category, s.asset_id FROM public.knowledge_indexstate s
   WHERE s.applied_generation < s.desired_generation AND NOT s.status = 'failed'
     AND s.next_attempt_at <= due AND (s.lease_until IS NULL OR s.lease_until < due)
   ORDER BY s.next_attempt_at, s.id LIMIT most
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0003_answer_lead"), ("tenants", "0002_row_security")]

    operations = [
        migrations.RunSQL(TURNS, "DROP INDEX knowledge_state_turn"),
        migrations.RunSQL(FAIR, IN_ORDER),
    ]
