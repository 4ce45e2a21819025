"""A whole search, step by step: four wordings with words to look for, the embedder left out."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bench.asking import VARIANTS, Asked, questions
from bench.data import SEED
from bench.dense import MANY, SHARES, WHOLE
from bench.loading import AT, SPACE_KEY, Loaded, loaded
from bench.measuring import WARM_UP
from bench.parts import Options, Outcome
from bench.scopes import Scope, scope_of
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.types import Query, Understood
from knowledge.text.keys import token_keys
from scopes.resolution import allowlist_for
from tenants.isolation import organization_context
from tenants.models import PhoneAgent

_WORDS = 8


def measure(options: Options) -> Outcome:
    """Print the steps of a whole search for each size and scope."""
    found: dict[str, dict[str, float]] = {}
    for passages in options.sizes:
        for organizations, shares in ((1, WHOLE), (MANY, SHARES)):
            corpus = loaded(passages, organizations=organizations)
            for name, share in shares:
                scope = scope_of(corpus, name, share)
                count = options.questions + WARM_UP
                asked = questions(corpus.made, scope.rows, on_topic=True, count=count)
                laps = found[f"{passages} {name}"] = steps(corpus, scope, asked)
                told = ", ".join(f"{step} {ms}" for step, ms in laps.items())
                print(f"{passages:>9,} {name:>6}  {told} ms", flush=True)
    return Outcome({"steps": found})


def steps(corpus: Loaded, scope: Scope, asked: Sequence[Asked]) -> dict[str, float]:
    """Return the median of every step.

    Units: milliseconds; `all` is from opening the transaction to its end.
    """
    owner = corpus.organizations[0]
    with organization_context(owner):
        agent = PhoneAgent.objects.get(pk=scope.allowlist.agent_id)
    chance = np.random.default_rng(SEED)
    laps: dict[str, list[float]] = defaultdict(list)
    for number, question in enumerate(asked):
        understood = _understood(owner, question, chance)
        for name, taken in _search(agent, understood).items():
            if number >= WARM_UP:
                laps[name].append(taken)
    return {name: round(float(np.median(taken)), 2) for name, taken in laps.items()}


def _search(agent: PhoneAgent, understood: Understood) -> dict[str, float]:
    began = time.perf_counter()
    with organization_context(agent.organization_id, snapshot=True):
        opened = time.perf_counter()
        allowlist = allowlist_for(agent, contact=None, channel="phone", country=None, at=AT)
        scoped = time.perf_counter()
        answer = retrieve(understood, allowlist, limit=5)
    return {
        "open": (opened - began) * 1000,
        "scope": (scoped - opened) * 1000,
        **answer.timings_ms,
        "all": (time.perf_counter() - began) * 1000,
    }


def _understood(owner: int, question: Asked, chance: np.random.Generator) -> Understood:
    # Words of middling frequency: half the corpus's vocabulary is rarer, a few dozen are commoner.
    spoken = chance.integers(30, 3_000, (VARIANTS, _WORDS))
    queries = tuple(
        Query(
            text=" ".join(f"word{n}" for n in row),
            normalised=" ".join(f"word{n}" for n in row),
            language="en",
            tokens=token_keys(owner, [f"word{n}" for n in row]),
            codes=frozenset(),
        )
        for row in spoken
    )
    return Understood(queries, tuple(question.vectors), SPACE_KEY)
