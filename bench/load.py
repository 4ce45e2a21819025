"""Load over HTTP on the production server, beside a request that does nothing and beside Hayhooks."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.heard import Load, load_of, server_times
from bench.loading import Loaded, loaded
from bench.parts import Options, Outcome
from bench.scopes import Scope, scope_of
from bench.serving import (
    VOICE,
    Target,
    earmark,
    embedder,
    hayhooks,
    headers_with,
    key_for,
    sessions,
)
from bench.stub import LATENCY_S
from config.private import ROOT
from tenants.isolation import organization_context
from tenants.models import PhoneAgent

SCOPES: Final = (("1 %", 0.01), ("whole", None))
# Clients that the usual configuration has places for; beyond them it may refuse, at once.
SATURATED_ABOVE: Final = 16
SLOWEST_REFUSAL_MS: Final = 1_000.0
# What the server itself may spend on refusing, by the median: clients wait for busy cores as well.
SERVER_REFUSES_WITHIN_MS: Final = 50.0
_WARM_UP_S: Final = 3
_MOST: Final = 100_000


def measure(options: Options) -> Outcome:
    """Print throughput and latency by number of clients."""
    passages = max(size for size in options.sizes if size <= _MOST)
    corpus = loaded(passages, organizations=1, peers=options.peers)
    scopes = {name: scope_of(corpus, name, share) for name, share in SCOPES}
    print(f"{passages:,} passages, an embedder that takes {LATENCY_S * 1000:.0f} ms, milliseconds")
    print(f"{'':>16}{'clients':>8}{'answers/s':>11}{'p50':>8}{'p95':>8}{'p99':>8}"
          f"{'refused':>9}{'p95':>7}{'server p50':>12}{'p95':>7}{'other':>7}")  # fmt: skip
    loads: list[Load] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        embedder() as port,
        earmark(corpus.database, port, log := Path(folder) / "log") as ours,
    ):
        filters = {name: scope.filter for name, scope in scopes.items()}
        theirs: AbstractContextManager[dict[str, Target]] = (
            _hayhooks(corpus.database, port, filters) if options.peers else nullcontext({})
        )
        with theirs as peers:
            loads += loads_on(targets_of(corpus, scopes, ours) | peers, options, log)
    return Outcome(
        {"loads": [asdict(load) for load in loads], "ratios": list(_ratios(loads))},
        tuple(_faults(loads)),
    )


def targets_of(corpus: Loaded, scopes: dict[str, Scope], port: int) -> dict[str, Target]:
    """Return a request that only shows its key, and a search in each scope."""
    token, organization = key_for(corpus)
    headers = headers_with(token)
    targets = {"no-op": Target((port,), (f"{VOICE}/nothing",), headers, ok=404)}
    for name, scope in scopes.items():
        with organization_context(corpus.organizations[0]):
            agent = PhoneAgent.objects.get(pk=scope.allowlist.agent_id)
        body = {"organization": organization, "agent": agent.slug}
        paths = tuple(
            f"{VOICE}/sessions/{session}/tools/knowledge-search"
            for session in sessions(port, token, body, 8)
        )
        targets[f"earmark {name}"] = Target((port,), paths, headers, body)
    return targets


@contextmanager
def _hayhooks(
    database: str, port: int, filters: dict[str, dict[str, Any]]
) -> Iterator[dict[str, Target]]:
    """Serve from as many processes as we do."""
    headers = {"Content-Type": "application/json"}
    with hayhooks(database, port, filters) as one, hayhooks(database, port, filters) as two:
        yield {
            f"hayhooks {name}": Target(
                (one, two), ("/search/run",), headers, {"scope": name}, words="query"
            )
            for name in filters
        }


def loads_on(targets: dict[str, Target], options: Options, log: Path) -> Iterator[Load]:
    """Put one load after the other on each target, and say what was heard; our server writes that log."""
    for target in targets.values():
        put(target, clients=8, seconds=min(_WARM_UP_S, options.seconds))
    for clients in options.clients:
        for name, target in targets.items():
            heard = put(target, clients=clients, seconds=options.seconds)
            heard["server"] = server_times(log, heard["refused"])
            load = load_of(name, clients, heard, target.ok, options.seconds)
            print(f"{name:>16}{clients:>8}{load.rate:>11.1f}{load.p50:>8.0f}{load.p95:>8.0f}{load.p99:>8.0f}"
                  f"{load.refused:>9}{load.refused_p95:>7.0f}{load.server_p50:>12.1f}{load.server_p95:>7.1f}"
                  f"{load.other:>7}", flush=True)  # fmt: skip
            yield load


def put(
    target: Target, *, clients: int, seconds: float, pace: float = 0.0, noted_in: Path | None = None
) -> dict[str, Any]:
    """Let so many clients ask, one question after the other, in a process of their own.

    Shape: noted_in: a file that meanwhile says how many answers of each kind there were.
    Units: pace in seconds between the questions of one client; 0 asks as soon as it was answered.
    """
    told = {
        "clients": clients, "seconds": seconds, "ports": target.ports, "paths": target.paths,
        "headers": dict(target.headers), "body": target.body and dict(target.body),
        "words": target.words, "pace": pace, "noted_in": noted_in and str(noted_in),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "bench.clients"],
        input=json.dumps(told), cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    heard: dict[str, Any] = json.loads(done.stdout)
    return heard


def _ratios(loads: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Compare a search with the request that does nothing, and Hayhooks with us, in the same run."""
    found = {(load.target, load.clients): load for load in loads}
    for (target, clients), load in found.items():
        scope = target.removeprefix("earmark ")
        if scope == target:
            continue
        noop, theirs = found["no-op", clients], found.get((f"hayhooks {scope}", clients))
        ratio = {
            "scope": scope,
            "clients": clients,
            "search_to_noop": round(load.p50 / max(noop.p50, 0.1), 2),
            "work_to_noop": round((load.p50 - LATENCY_S * 1000) / max(noop.p50, 0.1), 2),
        }
        if theirs:
            ratio["hayhooks_to_search"] = round(theirs.p50 / max(load.p50, 0.1), 2)
            ratio["answers_to_hayhooks"] = round(load.rate / max(theirs.rate, 0.1), 2)
        print(", ".join(f"{key} {value}" for key, value in ratio.items()), flush=True)
        yield ratio


def _faults(loads: Sequence[Load]) -> Iterator[str]:
    for load in loads:
        where = f"{load.target}, {load.clients} clients"
        if load.target.startswith("hayhooks"):
            continue
        if load.other:
            yield f"{where}: {load.other} were neither an answer nor a refusal: {load.others}."
        if load.refused and load.clients <= SATURATED_ABOVE:
            yield f"{where}: {load.refused} were refused below saturation."
        if load.refused_p95 > SLOWEST_REFUSAL_MS:
            yield f"{where}: a refusal took {load.refused_p95:.0f} ms."
        if load.server_p50 > SERVER_REFUSES_WITHIN_MS:
            yield f"{where}: the server spent {load.server_p50:.0f} ms on a refusal."
