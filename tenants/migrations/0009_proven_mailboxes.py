"""Which mailbox was shown to be a person's; of nobody who was here before is that known."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0008_columns_an_older_process_leaves_out"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="proven_email",
            field=models.EmailField(
                blank=True, db_default="", default="", editable=False, max_length=254
            ),
        ),
    ]
