"""Row security on truth, the covering index that search reads, and what the database refuses."""

from __future__ import annotations

from django.db import migrations

from tenants.isolation import row_security

# The embedding stays inline and the index alone answers a scan (performance-findings 1a).
COVERING = """
ALTER TABLE knowledge_vector ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE INDEX knowledge_vector_search ON knowledge_vector
  (organization_id, space_id, asset_id) INCLUDE (generation, position, embedding);
ALTER TABLE knowledge_vector SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
"""

# "Empty = everyone" is a stored fact, so what restricts something may not vanish silently.
RESTRICTING = """
CREATE FUNCTION earmark_refuse_restricting() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE used boolean;
BEGIN
  IF TG_TABLE_NAME = 'tenants_segment' THEN
    SELECT EXISTS (SELECT 1 FROM public.knowledge_item WHERE organization_id = OLD.organization_id AND segments @> ARRAY[OLD.id])
        OR EXISTS (SELECT 1 FROM public.knowledge_instruction WHERE organization_id = OLD.organization_id AND segments @> ARRAY[OLD.id])
      INTO used;
  ELSE
    SELECT EXISTS (SELECT 1 FROM public.knowledge_item WHERE organization_id = OLD.organization_id AND agents @> ARRAY[OLD.id]) INTO used;
  END IF;
  IF used THEN
    RAISE EXCEPTION 'it still restricts content' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER refuse_restricting BEFORE DELETE ON tenants_segment
  FOR EACH ROW EXECUTE FUNCTION earmark_refuse_restricting();
CREATE TRIGGER refuse_restricting BEFORE DELETE ON tenants_phoneagent
  FOR EACH ROW EXECUTE FUNCTION earmark_refuse_restricting();
"""
NOT_RESTRICTING = """
DROP TRIGGER refuse_restricting ON tenants_segment;
DROP TRIGGER refuse_restricting ON tenants_phoneagent;
DROP FUNCTION earmark_refuse_restricting();
"""

# The drain works for every organization; it learns which rows are due and nothing else.
DUE = """
CREATE FUNCTION earmark_due_index_states(due timestamptz, most integer)
RETURNS TABLE (organization_id bigint, category varchar, asset_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT s.organization_id, s.category, s.asset_id FROM public.knowledge_indexstate s
   WHERE s.applied_generation < s.desired_generation AND NOT s.status = 'failed'
     AND s.next_attempt_at <= due AND (s.lease_until IS NULL OR s.lease_until < due)
   ORDER BY s.next_attempt_at, s.id LIMIT most
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial"), ("tenants", "0002_row_security")]

    operations = [
        row_security(
            "knowledge_instructiondirectory",
            "knowledge_instruction",
            "knowledge_source",
            "knowledge_item",
            "knowledge_entityalias",
            "knowledge_document",
            "knowledge_chunk",
            "knowledge_indexstate",
            "knowledge_calibrationprofile",
            "knowledge_searchrecord",
            "knowledge_importrun",
            "knowledge_importfailure",
        ),
        migrations.RunSQL(COVERING, "DROP INDEX knowledge_vector_search"),
        migrations.RunSQL(RESTRICTING, NOT_RESTRICTING),
        migrations.RunSQL(DUE, "DROP FUNCTION earmark_due_index_states(timestamptz, integer)"),
    ]
