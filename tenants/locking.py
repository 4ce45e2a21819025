"""One change at a time where two at once could cross; whoever only refers to a row never waits.

Every lock in the server is `FOR NO KEY UPDATE`: a row that refers to another one is written while that
is locked, so that a search is recorded while a tree of its organization is moved.
"""

from __future__ import annotations

from tenants.models import Organization


def lock_organization(organization_id: int) -> None:
    """Let changes of an organization that may not cross wait for each other, until the transaction ends."""
    Organization.objects.select_for_update(no_key=True).only("pk").get(pk=organization_id)
