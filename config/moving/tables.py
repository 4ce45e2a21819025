"""Which tables hold what belongs to an organization, and which of them travel with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.db import models

from tenants.models import Organization

# Made again from the truth rows where the organization arrives: keys of words and documents
# carry the number of the organization, vectors the space of the installation.
DERIVED: Final = frozenset(
    {
        "knowledge.LexicalEntry", "knowledge.Document", "knowledge.Chunk", "knowledge.Vector",
        "knowledge.EmbeddedText", "knowledge.IndexState", "knowledge.CalibrationProfile",
        "knowledge.CorpusTerm", "knowledge.SpaceGap", "scopes.CanaryLook",
    }
)  # fmt: skip
# What lets somebody in is issued anew, and never lies in a file.
CREDENTIALS: Final = frozenset(
    {
        "tenants.ServiceKeyBinding",
        "tenants.ApiToken",
        "tenants.Invitation",
        "tenants.AnsweredRequest",
    }
)
_TOP_DOWN: Final = ("voiceapi", "search", "golden", "scopes", "knowledge", "tenants")
Model = type[models.Model]


def tenant_models() -> list[Model]:
    """Return every table with a column for the organization, those that refer to others first."""
    ours = [model for model in apps.get_models() if _has_organization(model)]
    return [model for app in _TOP_DOWN for model in _sorted(m for m in ours if _app(m) == app)]


def moved_models() -> list[Model]:
    """Return the tables that travel."""
    stay = DERIVED | CREDENTIALS
    return [model for model in tenant_models() if model._meta.label not in stay]


def user_columns(model: Model) -> list[str]:
    """Return the columns that name a person."""
    fields = (f for f in model._meta.concrete_fields if isinstance(f, models.ForeignKey))
    user = settings.AUTH_USER_MODEL
    return [f.column for f in fields if _target(f)._meta.label == user]


def columns(model: Model) -> list[str]:
    """Return the columns that are carried; a number that the database gave is given anew."""
    fields = model._meta.concrete_fields
    return [str(f.column) for f in fields if not isinstance(f, models.AutoField)]


def _has_organization(model: Model) -> bool:
    fields = model._meta.concrete_fields
    return any(isinstance(f, models.ForeignKey) and _target(f) is Organization for f in fields)


def _app(model: Model) -> str:
    return model._meta.app_label


def _sorted(found: Iterable[Model]) -> list[Model]:
    """Put a table before those that it refers to; the two halves of a golden answer refer to each other."""
    left, done = list(found), []
    while left:
        free = [
            m for m in left if not any(m in _targets(other) for other in left if other is not m)
        ]
        chosen = (free or left)[0]
        left.remove(chosen)
        done.append(chosen)
    return done


def _targets(model: Model) -> set[Any]:
    fields = (f for f in model._meta.concrete_fields if isinstance(f, models.ForeignKey))
    # What is live points back at a version; it is let go before anything is deleted.
    return {_target(f) for f in fields if f.name != "published_version"}


def _target(field: Any) -> Any:
    return field.remote_field.model
