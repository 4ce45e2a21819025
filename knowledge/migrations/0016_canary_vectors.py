"""What is derived of canaries is hidden like the canaries themselves."""

from __future__ import annotations

from django.db import migrations

TABLES = ("knowledge_document", "knowledge_chunk")
RANGE = "BETWEEN 'ca9aca9a-ca9a-8000-8000-000000000000' AND 'ca9aca9a-ca9a-8fff-bfff-ffffffffffff'"
SEEN = f"asset_id NOT {RANGE} OR (SELECT current_setting('app.canaries', true)) = 'shown'"
HIDE = [
    f"CREATE POLICY canaries ON {table} AS RESTRICTIVE USING ({SEEN}) WITH CHECK ({SEEN})"
    for table in TABLES
]
SHOW = [f"DROP POLICY canaries ON {table}" for table in TABLES]


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0015_columns_an_older_process_leaves_out")]

    operations = [migrations.RunSQL(HIDE, SHOW)]
