"""Somebody who publishes, rolls back and archives golden answers whatever happens meanwhile."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from django.db import Error, connection

from golden import drafting, publishing
from golden.acting import Act
from golden.models import GoldenAnswer
from tenants.auditing import Actor
from tests.answers import CONTENT

ANSWERS = 12


class Editor:
    """One person who goes on; a verb that met a database that was down is tried again.

    What took how long is measured around the verb that was acknowledged.
    """

    def __init__(self, bench):
        self.bench, self.stop = bench, threading.Event()
        self.took, self.refused, self.verbs = [], 0, defaultdict(int)
        self.said: dict[UUID, str | None] = {}
        self.versions: dict[UUID, dict[UUID, str]] = defaultdict(dict)
        self.chance = random.Random(11)

    def work(self):
        try:
            for number in range(ANSWERS):
                self.publish(self.insist(self.create), f"It is said first: {number}.")
            while not self.stop.wait(0.05):
                self.change(self.chance.choice(list(self.said)))
        finally:
            connection.close()

    def change(self, pk):
        earlier = [v for v, text in self.versions[pk].items() if text != self.said[pk]]
        kind = self.chance.choice(["publish", "publish", "roll back", "archive"])
        if self.said[pk] is None:
            self.insist(lambda: self.restore(pk))
        elif kind == "archive":
            self.insist(lambda: self.archive(pk))
            return
        elif kind == "roll back" and earlier:
            version = self.chance.choice(earlier)
            self.insist(lambda: self.roll_back(pk, version))
            return
        self.publish(pk, f"It is said now: {self.chance.getrandbits(64)}.")

    def insist(self, attempt):
        while True:
            try:
                return attempt()
            except Error:
                self.refused += 1
                connection.close()
                time.sleep(0.1)

    def create(self):
        content = replace(CONTENT, answer="Nobody has said it yet.")
        return drafting.create_answer(self.bench.acme.organization, content, self.act()).pk

    def publish(self, pk, text):
        self.insist(lambda: self.publish_once(pk, f"{text} {self.bench.word}"))

    def publish_once(self, pk, text):
        row = self.row(pk)
        # It may have been committed though nobody was told.
        if row.published_version is None or row.published_version.answer != text:
            draft = replace(CONTENT, answer=text)
            drafting.save_draft(
                self.bench.organization_id, pk, draft, self.act(), lock_version=row.lock_version
            )
            self.timed("publish", publishing.override_publish, pk)
        self.versions[pk][self.row(pk).published_version_id] = text
        self.said[pk] = text

    def roll_back(self, pk, version):
        if self.row(pk).published_version_id != version:
            self.timed("roll back", publishing.roll_back, pk, version)
        self.said[pk] = self.versions[pk][version]

    def archive(self, pk):
        if self.row(pk).archived_at is None:
            self.timed("archive", publishing.archive, pk)
        self.said[pk] = None

    def restore(self, pk):
        if self.row(pk).archived_at is not None:
            publishing.restore(self.bench.organization_id, pk, self.act())

    def timed(self, name, verb, *of):
        began = time.monotonic()
        verb(self.bench.organization_id, *of, self.act())
        self.took.append(time.monotonic() - began)
        self.verbs[name] += 1

    def row(self, pk):
        with self.bench.acme.context():
            return GoldenAnswer.objects.select_related("published_version").get(pk=pk)

    def act(self):
        return Act(Actor.process("tests"), datetime.now(tz=UTC), "Because.")
