"""Invitations, apart by organization, with their look-up; and how often somebody may try."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from tenants.isolation import row_security

# Whoever follows a link is nobody yet: the look-up answers one invitation by the hash of its secret.
INVITATION_LOOKUP = """
CREATE FUNCTION earmark_invitation(wanted bytea)
RETURNS TABLE (id uuid, organization_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT i.id, i.organization_id FROM public.tenants_invitation i WHERE i.secret_sha256 = wanted
$$;
"""

# Unlogged: lost with a crash, and no harm. Names are hashes of addresses and mailboxes.
ATTEMPTS = """
CREATE UNLOGGED TABLE tenants_attempt (
  name text PRIMARY KEY, paid_until timestamptz NOT NULL
) WITH (fillfactor = 50)
"""


def _person(related_name: str, **options) -> models.ForeignKey:
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related_name,
        to=settings.AUTH_USER_MODEL,
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [("tenants", "0005_second_factor")]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("email", models.EmailField(max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer"),
                            ("editor", "Editor"),
                            ("author", "Author"),
                            ("approver", "Approver"),
                            ("publisher", "Publisher"),
                            ("admin", "Admin"),
                        ],
                        max_length=16,
                    ),
                ),
                ("secret_sha256", models.BinaryField(max_length=32, unique=True)),
                ("sent_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("accepted_by", _person("invitations_accepted", blank=True)),
                ("invited_by", _person("invitations_made")),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
                    ),
                ),
            ],
            options={"ordering": ["-sent_at", "id"]},
        ),
        row_security("tenants_invitation"),
        migrations.RunSQL(INVITATION_LOOKUP, "DROP FUNCTION earmark_invitation(bytea)"),
        migrations.RunSQL(ATTEMPTS, "DROP TABLE tenants_attempt"),
    ]
