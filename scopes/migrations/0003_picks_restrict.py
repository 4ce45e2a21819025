"""A pick that comes in past every verb restricts for good, also after its target is gone.

Under stored mode "all" the deletion of the last such pick, cascading from its target, would
open the whole category: losing a restriction must never widen.
"""

from __future__ import annotations

from django.db import migrations

TABLES = {
    "scopes_instructionpick": "instruction",
    "scopes_directorypick": "instruction",
    "scopes_itempick": "knowledge",
    "scopes_folderpick": "knowledge",
}
FUNCTION = """
CREATE FUNCTION earmark_pick_restricts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE scopes_agentscope SET mode = 'selected'
   WHERE (organization_id, agent_id) IN (SELECT organization_id, agent_id FROM added)
     AND category = TG_ARGV[0] AND mode <> 'selected';
  RETURN NULL;
END $$;
"""
TRIGGERS = "\n".join(
    f"CREATE TRIGGER pick_restricts AFTER INSERT ON {table} REFERENCING NEW TABLE AS added"
    f" FOR EACH STATEMENT EXECUTE FUNCTION earmark_pick_restricts('{category}');"
    for table, category in TABLES.items()
)
UNDO = "\n".join(f"DROP TRIGGER pick_restricts ON {table};" for table in TABLES)


class Migration(migrations.Migration):
    dependencies = [("scopes", "0002_row_security")]

    operations = [
        migrations.RunSQL(FUNCTION + TRIGGERS, UNDO + "DROP FUNCTION earmark_pick_restricts();"),
    ]
