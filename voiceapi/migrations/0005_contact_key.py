"""A call's contact is of the call's own organization; the rows there are are compared in the next migration."""

from __future__ import annotations

from django.db import migrations

from tenants.isolation import AddTenantKeyNotValid, TenantForeignKey


class Migration(migrations.Migration):
    dependencies = [("voiceapi", "0004_session_of_a_call"), ("tenants", "0001_initial")]

    operations = [
        AddTenantKeyNotValid(
            "voicesession",
            TenantForeignKey(
                column="contact_id",
                name="voiceapi_session_contact",
                on_delete="SET NULL (contact_id)",
                to="tenants.Contact",
            ),
        ),
    ]
