"""What a process of the release before leaves out of its inserts has a value in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0014_fewer_vector_indexes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="embeddingspace",
            name="asks_dimensions",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AlterField(
            model_name="embeddingspace",
            name="base_url",
            field=models.CharField(blank=True, db_default="", max_length=400),
        ),
        migrations.AlterField(
            model_name="embeddingspace",
            name="passage_prefix",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
        migrations.AlterField(
            model_name="embeddingspace",
            name="query_prefix",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
        migrations.AlterField(
            model_name="searchrecord",
            name="asked",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AlterField(
            model_name="searchrecord",
            name="scope",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AlterField(
            model_name="usageentry",
            name="cost_micros",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
    ]
