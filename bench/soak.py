"""`make soak`: hours at half load while answers are published and documents imported; is anything growing?

MINUTES=60 at first. Memory of every process, connections, and the age of the oldest change that waits
for the index are noted every few seconds; the verdict is by the slope of a line through each. Canaries are
looked for every minute meanwhile. Plot and figures stay in `.earmark/soak/`. MODE=celery indexes by Celery
with Redis instead of the index process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evals.settings")

import django

django.setup()

import numpy as np  # noqa: E402 - Django comes first
import psycopg  # noqa: E402
from django.db import connections  # noqa: E402

from bench.load import put, targets_of  # noqa: E402
from bench.loading import loaded  # noqa: E402
from bench.scopes import Scope, scope_of  # noqa: E402
from bench.serving import Target, earmark, embedder, environment_for  # noqa: E402
from bench.soak_indexing import beside, indexing, looks, neighbour  # noqa: E402
from bench.soak_picture import plot  # noqa: E402
from config.private import ROOT, home  # noqa: E402
from config.provision import create_database  # noqa: E402
from config.scratch import drop, point_at, superuser  # noqa: E402

MODE: Final = os.environ.get("MODE") or "drain"
PASSAGES: Final = int(os.environ.get("PASSAGES") or 10_000)
EVERY_S: Final = 5.0
CLIENTS: Final = 8
# The first part is warming up: the cache of query vectors alone takes 25 minutes to fill.
WARMING: Final = 1 / 2
# What the fitted line may rise by over the rest, and a step that is noise in any case.
MOST_RISE: Final = {"memory_mb": 0.05, "connections": 0.1, "pending_s": 0.5}
NOISE: Final = {"memory_mb": 10.0, "connections": 2.0, "pending_s": 10.0}
_AGE: Final = """
SELECT coalesce(extract(epoch FROM now() - min(desired_at)), 0) FROM knowledge_indexstate
 WHERE desired_generation > applied_generation AND status <> 'failed'
"""
_WAITING: Final = """
SELECT count(*), count(*) FILTER (WHERE desired_generation > applied_generation AND status <> 'failed')
  FROM knowledge_indexstate
"""


@dataclass(frozen=True)
class Sample:
    """One look.

    Units: seconds since the beginning; megabytes of all our processes together, shared pages counted
           once for each (PSS); seconds that the oldest change has been waiting.
    """

    at: float
    memory_mb: float
    connections: int
    pending_s: float
    memory_of: dict[str, float]


def main() -> int:
    """Run, print, plot; 1 when something grows or an answer was broken."""
    minutes = float(os.environ.get("MINUTES") or 60)
    with _place() as (database, corpus, scopes), embedder() as stub, ExitStack() as stack:
        neighbour()
        environment = stack.enter_context(indexing(MODE, environment_for(database, stub)))
        _settle(database)
        port = stack.enter_context(earmark(database, stub))
        target = targets_of(corpus, scopes, port)["earmark whole"]
        pace = _half(target)
        slug = str((target.body or {})["organization"])
        stack.enter_context(beside([sys.executable, "-m", "bench.writing", slug], environment))
        samples, heard = _watched(database, target, pace, minutes * 60)
        with superuser(database) as connection:
            heard["canaries"] = looks(connection)
    verdicts = {name: verdict(samples, name) for name in MOST_RISE}
    return _tell(samples, heard, verdicts, minutes, pace)


@contextmanager
def _place() -> Iterator[tuple[str, Any, dict[str, Scope]]]:
    """Copy the corpus: what is measured elsewhere stays as it was."""
    corpus = loaded(PASSAGES, organizations=1)
    scopes = {"whole": scope_of(corpus, "whole", None)}
    connections.close_all()
    name = f"soak_{os.getpid()}"
    with superuser() as connection:
        create_database(connection, name, template=corpus.database)
    point_at(name)
    try:
        yield name, corpus, scopes
    finally:
        connections.close_all()
        drop(name)


def _settle(database: str) -> None:
    """Wait until the index process has found and indexed all that the copy holds."""
    print("The index process takes up the corpus ...", flush=True)
    with superuser(database) as connection:
        while not _is_settled(connection):
            time.sleep(EVERY_S)


def _is_settled(connection: psycopg.Connection) -> bool:
    found = connection.execute(_WAITING).fetchone()
    return found is not None and found[0] > 0 and found[1] == 0


def _half(target: Target) -> float:
    """Return the seconds between two questions of one client at half of what the server can do."""
    put(target, clients=CLIENTS, seconds=10)
    heard = put(target, clients=16, seconds=10)
    rate = len(heard["seconds"].get("200", [])) / 10
    print(f"The server answers {rate:.1f} searches a second; asked for half.", flush=True)
    return CLIENTS / max(rate / 2, 0.5)


def _watched(
    database: str, target: Target, pace: float, seconds: float
) -> tuple[list[Sample], dict[str, Any]]:
    heard: dict[str, Any] = {}
    asking = threading.Thread(
        target=lambda: heard.update(put(target, clients=CLIENTS, seconds=seconds, pace=pace))
    )
    began = time.monotonic()
    asking.start()
    samples = []
    with superuser(database) as connection:
        while asking.is_alive():
            samples.append(_sample(connection, database, time.monotonic() - began))
            asking.join(EVERY_S)
    return samples, heard


def _sample(connection: psycopg.Connection, database: str, at: float) -> Sample:
    counted = connection.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
        [database],
    ).fetchone()
    age = connection.execute(_AGE).fetchone()
    memory: dict[str, float] = defaultdict(float)
    for pid in _descendants(os.getpid()):
        memory[_name(pid)] += _pss(pid)
    return Sample(
        round(at, 1),
        round(sum(memory.values()), 1),
        counted[0] if counted else 0,
        float(age[0]) if age else 0.0,
        {name: round(held, 1) for name, held in memory.items() if held},
    )


def _name(pid: int) -> str:
    """Return which of ours it is: the web server, the index process, Celery."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "gone"
    known = {b"gunicorn": "web", b"manage.py": "index", b"celery": "celery"}
    return next((name for word, name in known.items() if word in command), "other")


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(number) for number in task.read_text().split()]
        except OSError:
            continue
        found += [one for child in children for one in (child, *_descendants(child))]
    return found


def _pss(pid: int) -> float:
    # The clients keep every time they measured; they are not what is looked at.
    try:
        if b"bench." in Path(f"/proc/{pid}/cmdline").read_bytes():
            return 0.0
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def verdict(samples: list[Sample], name: str) -> dict[str, Any]:
    """Return the slope of a line through what came after warming up, and whether that is flat."""
    kept = samples[int(len(samples) * WARMING) :]
    x = np.array([sample.at for sample in kept])
    y = np.array([float(getattr(sample, name)) for sample in kept])
    slope = float(np.polyfit(x, y, 1)[0]) if len(kept) > 2 else 0.0
    rise = slope * float(x[-1] - x[0])
    allowed = max(MOST_RISE[name] * float(np.median(y)), NOISE[name])
    return {
        "median": round(float(np.median(y)), 1),
        "slope_an_hour": round(slope * 3600, 2),
        "rise": round(rise, 1),
        "allowed": round(allowed, 1),
        "flat": rise <= allowed,
    }


def _tell(
    samples: list[Sample],
    heard: dict[str, Any],
    verdicts: dict[str, dict[str, Any]],
    minutes: float,
    pace: float,
) -> int:
    statuses = {status: len(times) for status, times in heard["seconds"].items()}
    broken = heard["broken"] + sum(
        n for status, n in statuses.items() if status not in ("200", "503")
    )
    at = datetime.now(UTC)  # noqa: TID251 - a command
    folder = home() / "soak"
    folder.mkdir(exist_ok=True)
    report = {
        "at": at.isoformat(timespec="seconds"), "minutes": minutes, "rate": round(CLIENTS / pace, 2),
        "mode": MODE, "canaries": heard["canaries"], "statuses": statuses, "broken": broken, "verdicts": verdicts,
        "samples": [asdict(sample) for sample in samples],
    }  # fmt: skip
    base = folder / f"{at:%Y-%m-%d-%H%M}"
    base.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    base.with_suffix(".svg").write_text(plot(report), "utf-8")
    print(
        f"F15 ({MODE}): {minutes:g} minutes at {report['rate']} searches a second: {statuses}, broken {broken}"
    )
    print("canaries    ", ", ".join(f"{name} {n}" for name, n in heard["canaries"].items()))
    for name, found in verdicts.items():
        word = "flat" if found["flat"] else "GROWS"
        print(f"{name:12} {word}: median {found['median']}, {found['slope_an_hour']:+} an hour")
    first, last = samples[int(len(samples) * WARMING)].memory_of, samples[-1].memory_of
    print(
        "memory of   ",
        ", ".join(f"{name} {first.get(name, 0)} to {mb}" for name, mb in last.items()),
    )
    print(f"Plot: {base.with_suffix('.svg').relative_to(ROOT)}")
    is_sound = heard["canaries"]["sound"] and all(found["flat"] for found in verdicts.values())
    return 1 if broken or not is_sound else 0


if __name__ == "__main__":
    sys.exit(main())
