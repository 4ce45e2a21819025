"""What an import was asked to do, how far it is, and removals that staff refused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0012_instruction_editor"),
    ]

    operations = [
        migrations.AddField(
            model_name="importrun",
            name="again_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="importrun",
            name="details",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="importrun",
            name="request",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="sourceschedule",
            name="refused_removals",
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(
                condition=models.Q(("again_at__isnull", False)),
                fields=["organization", "again_at"],
                name="knowledge_run_again",
            ),
        ),
    ]
