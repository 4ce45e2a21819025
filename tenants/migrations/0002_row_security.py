"""Organizations apart in the database itself, an audit trail that only grows, and key look-up."""

from __future__ import annotations

from django.db import migrations

from tenants.isolation import row_security

APPEND_ONLY = """
CREATE FUNCTION earmark_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% rows are only ever added', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tenants_auditentry
  FOR EACH ROW EXECUTE FUNCTION earmark_refuse_change();
"""

# Before the organization is known there is no context, so the look-up runs as the owner and
# answers one key by its exact name.
KEY_LOOKUP = """
CREATE FUNCTION earmark_service_key(wanted text)
RETURNS TABLE (kid varchar, secret_sha256 bytea, expires_at timestamptz, revoked_at timestamptz, organizations bigint[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT k.kid, k.secret_sha256, k.expires_at, k.revoked_at,
         coalesce(array_agg(b.organization_id) FILTER (WHERE b.is_active), '{}')
    FROM public.tenants_servicekey k LEFT JOIN public.tenants_servicekeybinding b ON b.key_id = k.id
   WHERE k.kid = wanted GROUP BY k.id
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]

    operations = [
        row_security(
            "tenants_segment",
            "tenants_phoneagent",
            "tenants_contact",
            "tenants_contactsegment",
            "tenants_servicekeybinding",
            "tenants_auditentry",
        ),
        migrations.RunSQL(
            APPEND_ONLY,
            "DROP TRIGGER append_only ON tenants_auditentry; DROP FUNCTION earmark_refuse_change()",
        ),
        migrations.RunSQL(KEY_LOOKUP, "DROP FUNCTION earmark_service_key(text)"),
    ]
