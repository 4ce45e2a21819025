"""Ask in a given space and by given rules, without a record: for comparing, never for callers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from knowledge.embedding.selection import current_embedder, embedder_of
from knowledge.models import EmbeddingSpace
from knowledge.retrieval.deadline import Deadline
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.policy import DEFAULT_POLICY, RetrievalPolicy
from knowledge.retrieval.preparing import prepare
from knowledge.retrieval.query import focus_on
from knowledge.retrieval.types import Answer
from scopes.resolution import allowlist_for
from search.as_agent import DEADLINE_S, Call
from tenants.isolation import organization_context
from tenants.models import PhoneAgent


@dataclass(frozen=True)
class Variant:
    """How to search; without a space in the one that callers are answered from."""

    policy: RetrievalPolicy = DEFAULT_POLICY
    space: EmbeddingSpace | None = None


def try_variant(
    agent: PhoneAgent, queries: tuple[str, ...], call: Call, variant: Variant, *, limit: int
) -> Answer:
    """Answer as the agent would be answered if the variant were in use.

    Raises: EmbeddingMisconfigured
    Cost:   one search.
    """
    embedder = embedder_of(variant.space) if variant.space else current_embedder()
    patterns = agent.organization.code_patterns
    understood = prepare(
        queries,
        organization_id=agent.organization_id,
        code_patterns=patterns,
        embedder=embedder,
        deadline=Deadline.after(DEADLINE_S),
    )
    focus = focus_on(understood.queries, "", None, code_patterns=patterns)
    understood = replace(understood, focus=focus)
    with organization_context(agent.organization_id, snapshot=True):
        allowlist = allowlist_for(
            agent, contact=call.contact, channel=call.channel, country=call.country, at=call.at
        )
        return retrieve(understood, allowlist, limit=limit, policy=variant.policy)
