"""What a deployment asks before workers roll."""

from __future__ import annotations

import hashlib

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from knowledge.embedding.spaces import ensure_space
from knowledge.passages import CHUNKER_VERSION
from tests.embedders import CountingEmbedder
from tests.voice import Runtime
from voiceapi import readiness

pytestmark = pytest.mark.django_db


@pytest.fixture
def voice():
    return Runtime(token="none")


@pytest.fixture
def embedder(monkeypatch):
    embedder = CountingEmbedder()
    monkeypatch.setattr("voiceapi.readiness.current_embedder", lambda: embedder)
    return embedder


@pytest.fixture
def active(embedder):
    return ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)


def failing(answer):
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert answer.json()["error"]["code"] == "not_ready"
    return set(answer.json()["error"]["fields"])


def test_the_contract_needs_no_header_and_names_the_published_file(voice):
    answer = voice.get("/contract")
    published = (settings.BASE_DIR / "contracts/voice-v1/openapi.json").read_bytes()
    assert answer.status_code == 200
    assert answer.json() == {
        "version": 1,
        "hash": "sha256:" + hashlib.sha256(published).hexdigest(),
        "served": [1],
        "oldest_worker": "0.1.0",
    }


@pytest.mark.parametrize("query", ["", "?version=1"])
def test_a_server_with_everything_in_place_is_ready(voice, active, query):
    answer = voice.get(f"/ready{query}")
    assert (answer.status_code, answer.json()["ready"]) == (200, True)


@pytest.mark.parametrize("version", ["2", "0", "", "one", "1.0", "%00"])
def test_another_contract_is_not_ready(voice, active, version):
    assert failing(voice.get(f"/ready?version={version}")) == {"contract"}


def test_without_an_active_space_it_is_not_ready(voice, embedder):
    assert failing(voice.get("/ready?version=1")) == {"embedding"}


def test_with_another_space_active_it_is_not_ready(voice, active, embedder):
    embedder.model = "another"
    assert failing(voice.get("/ready?version=1")) == {"embedding"}


def test_with_a_migration_missing_it_is_not_ready(voice, active, monkeypatch):
    monkeypatch.setattr(readiness, "_migrated", set())
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'voiceapi'")
    assert failing(voice.get("/ready?version=1")) == {"migrations"}


def test_without_a_database_it_is_not_ready(voice, active, monkeypatch):
    def fail():
        raise OperationalError

    monkeypatch.setattr("voiceapi.readiness.active_space", fail)
    assert failing(voice.get("/ready?version=2")) == {"contract", "database"}
