"""The two ways of indexing, so that one test does the same fault to both."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from celery import Celery
from redis import Redis

from config.celery import app as product
from knowledge.indexing import nudging
from tests.openai_server import OpenAIServer
from tests.processes import Process, drain, eventually, free_port, redis, worker

SWEEP = "knowledge.sweep"


class Broker:
    """A Redis that this process nudges through, as the web server does."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process = redis(self.port)
        self.app = Celery("tests", broker=self.url)
        self.app.conf.update(
            task_default_queue="earmark",
            broker_transport_options={"socket_timeout": 5, "socket_connect_timeout": 1},
        )

    def restart(self) -> None:
        self.process.close()
        self.process = redis(self.port)

    def close(self) -> None:
        self.process.close()
        nudging.breaker.reset()
        product.set_default()

    def sweep(self) -> None:
        self.app.send_task(SWEEP, retry=True)

    def holds(self) -> str:
        """Everything that lies in it, as text; what a worker takes away meanwhile is not there."""
        with Redis.from_url(self.url, decode_responses=True) as client:
            read = {
                "list": lambda key: client.lrange(key, 0, -1),
                "zset": lambda key: client.zrange(key, 0, -1),
                "hash": client.hgetall,
                "set": client.smembers,
                "string": client.get,
            }
            kinds = {key: client.type(key) for key in client.scan_iter()}
            held = {key: read[kind](key) for key, kind in kinds.items() if kind in read}
        return json.dumps(held, default=list)


@contextmanager
def used_broker(settings) -> Iterator[Broker]:
    """Nudge through a broker of one's own for a block."""
    broker = Broker()
    broker.app.set_default()
    settings.REDIS_URL = broker.url
    nudging.breaker.reset()
    try:
        yield broker
    finally:
        broker.close()


def kill_a_child_of(process: Process) -> None:
    eventually(lambda: any("ready." in line for line in process.lines()) and children_of(process))
    os.kill(children_of(process)[0], signal.SIGKILL)


def children_of(process: Process) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True)
    pairs = [line.split() for line in listed.stdout.decode().splitlines()]
    return [int(pid) for pid, parent in pairs if int(parent) == process.pid]


class Mode(Protocol):
    """Who brings changes into the index. What it starts ends with the test; its logs are kept until then."""

    name: str

    def start(self) -> Process:
        """Start one more process."""

    def sweep(self) -> None:
        """Do what the schedule does, without waiting for it."""

    def reconcile(self) -> None:
        """Compare truth and index now."""

    def written(self) -> str:
        """Return all that its processes have logged, and what lies in its broker."""


class Drains:
    """The index process; it looks by itself twice a second."""

    name = "drain"

    def __init__(self, server: OpenAIServer) -> None:
        self.server = server
        self.processes: list[Process] = []

    def start(self) -> Process:
        return self._started(drain(self.server.base_url))

    def sweep(self) -> None:
        """It does."""

    def reconcile(self) -> None:
        """It does when it starts, and every ten minutes."""

    def written(self) -> str:
        return "\n".join(line for process in self.processes for line in process.lines())

    def close(self) -> None:
        for process in self.processes:
            process.close()

    def _started(self, process: Process) -> Process:
        self.processes.append(process)
        return process


class Workers(Drains):
    """Celery workers, and what its schedule would send, without the schedule's waits."""

    name = "Celery"

    def __init__(self, server: OpenAIServer, broker: Broker) -> None:
        super().__init__(server)
        self.broker = broker
        self._swept = 0.0

    def start(self) -> Process:
        return self._started(worker(self.server.base_url, self.broker.url))

    def sweep(self) -> None:
        if time.monotonic() - self._swept >= 1.0:
            self._swept = time.monotonic()
            self.broker.sweep()

    def reconcile(self) -> None:
        self.broker.app.send_task("knowledge.reconcile", retry=True)

    def written(self) -> str:
        return f"{super().written()}\n{self.broker.holds()}"
