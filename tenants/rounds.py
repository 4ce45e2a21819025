"""A round of organizations: what fails for one of them is told and does not keep the others waiting."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from django.db import connection

from tenants.errors import EarmarkError
from tenants.models import Organization

T = TypeVar("T")
_logger: Final = logging.getLogger(__name__)


class RoundIncomplete(EarmarkError):
    """It failed for some organizations and was done for the others."""

    code = "round_incomplete"

    @property
    def done(self) -> Mapping[str, Any]:
        """Return what came of it for the others, by slug."""
        done: Mapping[str, Any] = self.data.get("done", {})
        return done


def for_each(
    name: str, organizations: Iterable[Organization], do: Callable[[Organization], T | None]
) -> dict[str, T]:
    """Do something for each organization, whatever happens to the ones before it.

    Shape:  slug -> what came of it, where something did
    Raises: RoundIncomplete at the end, when it failed for one
    """
    done: dict[str, T] = {}
    failed: dict[str, Exception] = {}
    for organization in organizations:
        try:
            if (result := do(organization)) is not None:
                done[organization.slug] = result
        except Exception as error:
            failed[organization.slug] = error
            _tell(name, organization, error)
    if failed:
        named = ", ".join(f"{slug} ({type(error).__name__})" for slug, error in failed.items())
        told = f"{name.capitalize()} failed for {named} and was done for the others."
        raise RoundIncomplete(told, done=done) from next(iter(failed.values()))
    return done


def outcome_of(work: Callable[[], dict[str, T]]) -> tuple[Mapping[str, T], RoundIncomplete | None]:
    """Return what a round came to, also when it was incomplete, and what is to be said of that."""
    try:
        return work(), None
    except RoundIncomplete as error:
        return error.done, error


def _tell(name: str, organization: Organization, error: Exception) -> None:
    # The text of an error may quote content; its class and whose it was say where to look.
    named = {"round": name, "organization": organization.slug, "error": type(error).__name__}
    _logger.error("organization failed", extra=named)
    # The next one begins with a connection that works, outside of a transaction.
    connection.close_if_unusable_or_obsolete()
