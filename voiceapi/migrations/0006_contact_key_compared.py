"""The key of the migration before, compared with the rows there are; calls go on meanwhile."""

from __future__ import annotations

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("voiceapi", "0005_contact_key")]

    operations = [ValidateConstraint("voicesession", "voiceapi_session_contact")]
