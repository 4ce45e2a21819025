"""Rows whose id lies in the canaries' range are seen only by a transaction that asks for them."""

from __future__ import annotations

from django.db import migrations

TABLES = ("knowledge_source", "knowledge_instruction", "knowledge_item")
RANGE = "BETWEEN 'ca9aca9a-ca9a-8000-8000-000000000000' AND 'ca9aca9a-ca9a-8fff-bfff-ffffffffffff'"
SEEN = f"id NOT {RANGE} OR (SELECT current_setting('app.canaries', true)) = 'shown'"
HIDE = [
    f"CREATE POLICY canaries ON {table} AS RESTRICTIVE USING ({SEEN}) WITH CHECK ({SEEN})"
    for table in TABLES
]
SHOW = [f"DROP POLICY canaries ON {table}" for table in TABLES]

# A canary is kept for every segment, and must not keep one from being deleted.
REFUSE = """
CREATE OR REPLACE FUNCTION earmark_refuse_restricting() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE used boolean;
BEGIN
  IF TG_TABLE_NAME = 'tenants_segment' THEN
    SELECT EXISTS (SELECT 1 FROM public.knowledge_item WHERE organization_id = OLD.organization_id AND segments @> ARRAY[OLD.id]{items})
        OR EXISTS (SELECT 1 FROM public.knowledge_instruction WHERE organization_id = OLD.organization_id AND segments @> ARRAY[OLD.id]{items})
      INTO used;
  ELSE
    SELECT EXISTS (SELECT 1 FROM public.knowledge_item WHERE organization_id = OLD.organization_id AND agents @> ARRAY[OLD.id]) INTO used;
  END IF;
  IF used THEN
    RAISE EXCEPTION 'it still restricts content' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0008_usage_cost")]

    operations = [
        migrations.RunSQL(HIDE, SHOW),
        migrations.RunSQL(
            REFUSE.replace("{items}", f" AND id NOT {RANGE}"), REFUSE.replace("{items}", "")
        ),
    ]
