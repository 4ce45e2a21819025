"""Tokens of people's programs and answers remembered, apart by organization, and token look-up."""

from __future__ import annotations

import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from tenants.isolation import row_security

# Before the person is known there is no context: the look-up answers one token by its exact name.
TOKEN_LOOKUP = """
CREATE FUNCTION earmark_api_token(wanted text)
RETURNS TABLE (kid varchar, secret_sha256 bytea, expires_at timestamptz, revoked_at timestamptz,
               organization_id bigint, user_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT t.kid, t.secret_sha256, t.expires_at, t.revoked_at, t.organization_id, t.user_id
    FROM public.tenants_apitoken t WHERE t.kid = wanted
$$;
"""


def _own(name: str, fields: list, options: dict) -> migrations.CreateModel:
    return migrations.CreateModel(
        name=name,
        fields=[
            (
                "id",
                models.UUIDField(
                    default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                ),
            ),
            *fields,
            (
                "organization",
                models.ForeignKey(
                    on_delete=django.db.models.deletion.PROTECT, to="tenants.organization"
                ),
            ),
            (
                "user",
                models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                ),
            ),
        ],
        options=options,
    )


class Migration(migrations.Migration):
    dependencies = [("tenants", "0003_overdue_answers")]

    operations = [
        _own(
            "ApiToken",
            [
                ("label", models.CharField(blank=True, max_length=200)),
                ("kid", models.CharField(max_length=32, unique=True)),
                ("secret_sha256", models.BinaryField(max_length=32)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ],
            {"ordering": ["-created_at", "id"]},
        ),
        _own(
            "AnsweredRequest",
            [
                ("key", models.CharField(max_length=200)),
                ("request_sha256", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("body", models.TextField(blank=True)),
                ("headers", models.JSONField(default=dict)),
                ("at", models.DateTimeField()),
            ],
            {
                "indexes": [
                    models.Index(fields=["organization", "at"], name="tenants_answered_age")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "user", "key"), name="tenants_answered_once"
                    )
                ],
            },
        ),
        row_security("tenants_apitoken", "tenants_answeredrequest"),
        migrations.RunSQL(TOKEN_LOOKUP, "DROP FUNCTION earmark_api_token(text)"),
    ]
