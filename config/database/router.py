"""Only the owner role changes tables; everything else runs as the application role."""

from __future__ import annotations

from typing import Any


class OwnerMigrates:
    """Migrations run on the alias `owner` and nowhere else."""

    def allow_migrate(self, db: str, _app_label: str, **_hints: Any) -> bool:
        """Whether `db` may be migrated."""
        return db == "owner"
