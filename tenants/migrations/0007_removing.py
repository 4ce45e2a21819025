"""The owner of the tables, and nobody else, may delete the history of an organization that leaves."""

from __future__ import annotations

from django.db import migrations

REFUSE = """
CREATE OR REPLACE FUNCTION earmark_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  {unless}
  RAISE EXCEPTION '% rows are only ever added', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""
LEAVING = """IF TG_OP = 'DELETE' AND current_setting('app.removing', true) = OLD.organization_id::text
    AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RETURN OLD;
  END IF;"""


class Migration(migrations.Migration):
    dependencies = [("tenants", "0006_invitations")]

    operations = [
        migrations.RunSQL(REFUSE.replace("{unless}", LEAVING), REFUSE.replace("{unless}", "")),
    ]
