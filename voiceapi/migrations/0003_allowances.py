"""How far ahead of its rate each key, organization and session is; lost with a crash, and no harm."""

from __future__ import annotations

from django.db import migrations

# Unlogged: a request waits for no disk. Room on every page, so that an update writes no index.
ALLOWANCES = """
CREATE UNLOGGED TABLE voiceapi_allowance (
  kind text NOT NULL, name text NOT NULL, spent_until timestamptz NOT NULL,
  PRIMARY KEY (kind, name)
) WITH (fillfactor = 50)
"""


class Migration(migrations.Migration):
    dependencies = [("voiceapi", "0002_row_security")]

    operations = [migrations.RunSQL(ALLOWANCES, "DROP TABLE voiceapi_allowance")]
