"""The shape every tenant row shares."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _


class TenantModel(models.Model):
    """A row that belongs to one organization; other tenant rows point at (organization, id)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey("tenants.Organization", on_delete=models.PROTECT)

    class Meta:
        abstract = True

    def clean(self) -> None:
        """Refuse a relation into another organization with a sentence before the database does."""
        super().clean()
        wrong = dict.fromkeys(self._foreign_relations(), _("Belongs to another organization."))
        if wrong:
            raise ValidationError(wrong)

    def _foreign_relations(self) -> list[str]:
        return [
            field.name
            for field in self._meta.concrete_fields
            if isinstance(field, models.ForeignKey) and self._points_elsewhere(field)
        ]

    def _points_elsewhere(self, field: models.ForeignKey[Any, Any]) -> bool:
        target = getattr(self, field.name, None) if field.name != "organization" else None
        return isinstance(target, TenantModel) and target.organization_id != self.organization_id
