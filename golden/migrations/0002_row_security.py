"""Answers are seen by their organization only; versions and publications never change."""

from __future__ import annotations

from django.db import migrations

from tenants.isolation import row_security

IMMUTABLE = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON golden_answerversion
  FOR EACH ROW EXECUTE FUNCTION earmark_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON golden_publication
  FOR EACH ROW EXECUTE FUNCTION earmark_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("golden", "0001_initial"), ("tenants", "0002_row_security")]

    operations = [
        row_security(
            "golden_goldenanswer",
            "golden_answerdraft",
            "golden_answerversion",
            "golden_publishrequest",
            "golden_publication",
        ),
        migrations.RunSQL(
            IMMUTABLE,
            "DROP TRIGGER append_only ON golden_answerversion;"
            " DROP TRIGGER append_only ON golden_publication",
        ),
    ]
