"""Which legs a look asked, and why one could not be."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scopes", "0004_canary_look"), ("knowledge", "0016_canary_vectors")]

    operations = [
        migrations.AddField(
            model_name="canarylook",
            name="lexical_searches",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="canarylook",
            name="dense_searches",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="canarylook",
            name="dense_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="canarylook",
            name="unasked",
            field=models.CharField(
                blank=True,
                choices=[("no_space", "No Space"), ("no_vectors", "No Vectors")],
                db_default="",
                default="",
                max_length=16,
            ),
        ),
    ]
