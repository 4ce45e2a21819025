"""A look for canaries, and what tests of it need: somebody to look at, and a canary that got out."""

from __future__ import annotations

from knowledge.canaries import canaries_shown, canary_id
from knowledge.embedding.spaces import ensure_space
from knowledge.models import EmbeddingSpace, Instruction, Item
from knowledge.passages import CHUNKER_VERSION
from scopes import probing
from scopes.looks import Look
from tests.embedders import CountingEmbedder
from tests.world import Tenant, tenant


def looked_at() -> Tenant:
    """An organization with an agent and a caller in a segment."""
    made = tenant("acme")
    made.agent("front-desk")
    made.contact("crm-1", made.segment("gold"))
    return made


def neighbour() -> Tenant:
    """Another organization, with an agent to look from."""
    made = tenant("globex")
    made.agent("rival-desk")
    return made


def look_at(organization, *, at) -> Look:
    """Look at an organization that can be looked at."""
    look = probing.look_at(organization, at=at)
    assert look is not None
    return look


def poison(acme: Tenant, category: str, name: str, **columns) -> None:
    """Open one of its canaries."""
    model = Item if category == "knowledge" else Instruction
    with acme.context(), canaries_shown():
        rows = model.objects.filter(pk=canary_id(acme.organization.pk, category, name))
        assert rows.update(**columns) == 1


def in_use(embedder: CountingEmbedder | None = None) -> EmbeddingSpace:
    """The embedding space of a test's embedder, which is searched from now on."""
    spec = (embedder or CountingEmbedder()).space
    return ensure_space(spec, chunker_version=CHUNKER_VERSION)
