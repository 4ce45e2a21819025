"""`make soak`: hours at half load while answers are published and documents imported; is anything growing?

MINUTES=60 at first. Memory of every process and of the database's backends, connections, and the age of the
oldest change that waits for the index are noted every few seconds; the verdict is by the slope of a line
through each, and that nothing was refused and nine tenths of what was asked for were answered. Canaries are
looked for every minute meanwhile. Samples are written as they come, and every five minutes a line says what
was seen until then; plot, figures and log stay in `.earmark/soak/`. MODE=celery indexes by Celery with Redis
instead of the index process.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any, Final

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evals.settings")

import django

django.setup()

import psycopg  # noqa: E402 - Django comes first
from django.db import connections  # noqa: E402

from bench.load import put, targets_of  # noqa: E402
from bench.loading import loaded  # noqa: E402
from bench.scopes import Scope, scope_of  # noqa: E402
from bench.serving import Target, earmark, embedder, environment_for  # noqa: E402
from bench.soak_indexing import beside, indexing, looks, neighbour  # noqa: E402
from bench.soak_notes import Notes  # noqa: E402
from bench.soak_sampling import sample  # noqa: E402
from bench.soak_verdict import WARMING, faults, rises  # noqa: E402
from config.private import ROOT  # noqa: E402
from config.provision import create_database  # noqa: E402
from config.scratch import drop, point_at, superuser  # noqa: E402

MODE: Final = os.environ.get("MODE") or "drain"
PASSAGES: Final = int(os.environ.get("PASSAGES") or 10_000)
EVERY_S: Final = 5.0
CLIENTS: Final = 8
_WAITING: Final = """
SELECT count(*), count(*) FILTER (WHERE desired_generation > applied_generation AND status <> 'failed')
  FROM knowledge_indexstate
"""


def main() -> int:
    """Run, print, plot; 1 when something grows, was refused or was not answered."""
    minutes = float(os.environ.get("MINUTES") or 60)
    notes = Notes(datetime.now(UTC))  # noqa: TID251 - a command
    with _place() as (database, corpus, scopes), embedder() as stub, ExitStack() as stack:
        neighbour()
        told = environment_for(database, stub)
        environment = stack.enter_context(indexing(MODE, told, notes.log))
        _settle(database)
        port = stack.enter_context(earmark(database, stub, notes.log))
        target = targets_of(corpus, scopes, port)["earmark whole"]
        pace = _half(target)
        slug = str((target.body or {})["organization"])
        writing = [sys.executable, "-m", "bench.writing", slug]
        stack.enter_context(beside(writing, environment, notes.log))
        notes.begin(wanted := _wanted(notes, minutes, pace))
        answers = _watched(database, target, pace, minutes * 60, notes)
        with superuser(database) as connection:
            canaries = looks(connection)
    seen = {"answers": answers, "canaries": canaries, "verdicts": rises(notes.samples)}
    report = wanted | seen
    return _tell(report | {"faults": list(faults(report))}, notes)


def _wanted(notes: Notes, minutes: float, pace: float) -> dict[str, Any]:
    return {
        "at": notes.began.isoformat(timespec="seconds"),
        "mode": MODE,
        "minutes": minutes,
        "rate": round(CLIENTS / pace, 2),
        "asked_for": int(minutes * 60 / pace * CLIENTS),
    }


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
    database: str, target: Target, pace: float, seconds: float, notes: Notes
) -> dict[str, int]:
    """Ask for so long, and look meanwhile; return how many answers of each kind there were."""
    heard: dict[str, Any] = {}

    def ask() -> None:
        heard.update(put(target, clients=CLIENTS, seconds=seconds, pace=pace, noted_in=notes.tally))

    asking = threading.Thread(target=ask)
    began = time.monotonic()
    asking.start()
    with superuser(database) as connection:
        while asking.is_alive():
            notes.add(sample(connection, time.monotonic() - began, notes.answers()))
            asking.join(EVERY_S)
    kinds = {kind: len(times) for kind, times in heard["seconds"].items()}
    return kinds | {"broken": heard["broken"]}


def _tell(report: dict[str, Any], notes: Notes) -> int:
    picture = notes.finish(report)
    answers, verdicts = report["answers"], report["verdicts"]
    print(
        f"F15 ({MODE}): {report['minutes']:g} minutes at {report['rate']} searches a second: {answers}"
    )
    print("canaries    ", ", ".join(f"{name} {n}" for name, n in report["canaries"].items()))
    for name, found in verdicts.items():
        word = "flat" if found["flat"] else "GROWS"
        print(f"{name:12} {word}: median {found['median']}, {found['slope_an_hour']:+} an hour")
    first, last = (notes.samples[place].memory_of for place in (_warm(notes), -1))
    print(
        "memory of   ",
        ", ".join(f"{name} {first.get(name, 0)} to {mb}" for name, mb in last.items()),
    )
    print(f"Plot: {picture.relative_to(ROOT)}; log: {notes.log.relative_to(ROOT)}")
    for fault in report["faults"]:
        print(fault)
    return 1 if report["faults"] else 0


def _warm(notes: Notes) -> int:
    return int(len(notes.samples) * WARMING)


if __name__ == "__main__":
    sys.exit(main())
