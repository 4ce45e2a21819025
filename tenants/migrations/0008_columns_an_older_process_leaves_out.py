"""What a process of the release before leaves out of its inserts has a value in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0007_removing"),
    ]

    operations = [
        migrations.AlterField(
            model_name="organization",
            name="overdue_answers_lead",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="Whether golden answers that nobody verified in time are still served first.",
            ),
        ),
        migrations.AlterField(
            model_name="user",
            name="has_second_factor",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
