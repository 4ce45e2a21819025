"""Deletes an organization and everything of it, the history that nothing else deletes included."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connections, transaction

from config.moving.tables import tenant_models
from tenants.models import Organization

OWNER = "owner"


def remove(organization: Organization, tell: Callable[[str], object] = lambda _line: None) -> int:
    """Delete every row of an organization, keys that spoke for nobody else, and itself; all or nothing.

    Runs as the owner of the tables: the application may not delete history, whatever it says.
    Shape: how many rows went. People stay; they may belong to other organizations.
    """
    total = 0
    number = organization.pk
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute("SELECT set_config('app.removing', %s, true)", [str(number)])
        # An answer and its live version refer to each other.
        cursor.execute(
            "UPDATE golden_goldenanswer SET published_version_id = NULL WHERE organization_id = %s",
            [number],
        )
        for model in tenant_models():
            table = model._meta.db_table
            cursor.execute(f"DELETE FROM {table} WHERE organization_id = %s", [number])  # noqa: S608
            total += cursor.rowcount
            tell(f"{table}: {cursor.rowcount}")
        cursor.execute(
            "DELETE FROM tenants_servicekey k WHERE NOT EXISTS"
            " (SELECT FROM tenants_servicekeybinding b WHERE b.key_id = k.id)"
        )
        cursor.execute("DELETE FROM tenants_organization WHERE id = %s", [number])
    return total
