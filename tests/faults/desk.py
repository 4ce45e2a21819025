"""Somebody who publishes golden answers, and what must be true of every publish that was acknowledged."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

from django.db import connection

from golden import drafting, publishing
from golden.acting import Act
from golden.models import GoldenAnswer, Publication
from knowledge.models import Item
from tenants.auditing import Actor
from tenants.models import AuditEntry
from tests.answers import CONTENT

BY = Actor.process("tests")
# A second, and what the machine may be doing beside; one that waited for the broker takes five.
PROMPT_S = 1.0 + 1.5
VERBS = ("golden.override", "golden.roll_back", "golden.archive")


class Desk:
    """Publishes answers and says how long each publish took."""

    def __init__(self, bench):
        self.bench, self.answers = bench, []
        self.said, self.acknowledged = {}, []

    def act(self):
        return Act(BY, datetime.now(tz=UTC), "Because.")

    def publish(self, text):
        content = self._content(text)
        made = drafting.create_answer(self.bench.acme.organization, content, self.act())
        self.answers.append(made.pk)
        return self._timed(publishing.override_publish, made.pk, says=text)

    def publish_again(self, text):
        pk = self.answers[-1]
        lock_version = self._row(pk).lock_version
        drafting.save_draft(
            self.bench.organization_id,
            pk,
            self._content(text),
            self.act(),
            lock_version=lock_version,
        )
        return self._timed(publishing.override_publish, pk, says=text)

    def roll_back(self, version, text):
        return self._timed(publishing.roll_back, self.answers[-1], version, says=text)

    def archive(self):
        return self._timed(publishing.archive, self.answers[-1], says=None)

    def live_version(self):
        return self._row(self.answers[-1]).published_version_id

    def served(self):
        """What is live now, without the organization's word."""
        with self.bench.acme.context():
            live = Item.objects.exclude(published_version=None)
            bodies = live.values_list("body", flat=True)
            return sorted(body.removesuffix(f" {self.bench.word}") for body in bodies)

    def account(self):
        """Assert that every acknowledged publish is served, in the history and in the audit trail."""
        expected = sorted(text for text in self.said.values() if text is not None)
        with self.bench.acme.context():
            history = Publication.objects.count()
            noted = AuditEntry.objects.filter(verb__in=VERBS).count()
        assert self.served() == expected
        assert history == noted == len(self.acknowledged)
        return {"published": len(self.acknowledged), "in the history": history}

    def _content(self, text):
        return replace(CONTENT, answer=f"{text} {self.bench.word}")

    def _row(self, pk):
        with self.bench.acme.context():
            return GoldenAnswer.objects.get(pk=pk)

    def _timed(self, verb, pk, *of, says):
        began = time.monotonic()
        verb(self.bench.organization_id, pk, *of, self.act())
        self.said[pk] = says
        self.acknowledged.append(pk)
        return time.monotonic() - began


def publish_and_let_go(desk, text):
    """Publish in a thread of its own."""
    try:
        desk.publish(text)
    finally:
        connection.close()
