"""A contract version is written down, told of and released; a new one is served beside it."""

from __future__ import annotations

import copy
import json
import shutil
from importlib import import_module

import anyio
import anyio.to_thread
import httpx
import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client

from knowledge.embedding.spaces import ensure_space
from knowledge.passages import CHUNKER_VERSION
from tests.embedders import CountingEmbedder
from tests.voice import names, runtime
from tests.world import world
from voiceapi import contract, publishing, versions

ROOT = django_settings.BASE_DIR
OLD, NEW = "/internal/voice/v1", "/internal/voice/v2"


class Addresses:
    """The addresses of a server that serves what is served now."""

    def __init__(self):
        self.urlpatterns = contract.roots()


@pytest.fixture
def folder(settings, tmp_path):
    """A copy of what is published, to be written over."""
    shutil.copytree(ROOT / "contracts", tmp_path / "contracts")
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    settings.BASE_DIR = tmp_path
    return tmp_path


@pytest.fixture
def both(folder, settings, monkeypatch):
    """A server that serves a version 2 beside version 1, published as it should be."""
    second = {2: "tests.contract.next_contract"}
    monkeypatch.setattr(contract, "SERVED", dict(contract.SERVED) | second)
    settings.ROOT_URLCONF = Addresses()
    publishing.write()
    return folder


def file(folder, version):
    return folder / "contracts" / f"voice-v{version}" / "openapi.json"


def published(version=1):
    return json.loads(file(ROOT, version).read_text("utf-8"))


def changed(document, *, where):
    copied = copy.deepcopy(document)
    where(copied["components"]["schemas"]["SearchResult"])
    return copied


def grown():
    return changed(
        published(), where=lambda shape: shape["properties"].update(score={"type": "number"})
    )


def tell_of(folder, version):
    wire = publishing.fingerprint(publishing.document(version))
    with (folder / "CHANGELOG.md").open("a", encoding="utf-8") as changelog:
        changelog.write(f"\n- Voice {versions.mention(version, wire)}.\n")


def test_a_change_of_the_wire_needs_a_new_version():
    with pytest.raises(versions.WireChanged):
        publishing.check_one(1, grown())


def test_a_change_of_wording_needs_only_a_new_file():
    reworded = changed(published(), where=lambda shape: shape.update(description="A passage."))
    with pytest.raises(publishing.ContractStale):
        publishing.check_one(1, reworded)


def test_a_property_called_title_is_no_wording():
    without = changed(published(), where=lambda shape: shape["properties"].pop("title"))
    assert publishing.fingerprint(without) != publishing.fingerprint(published())


def test_writing_refuses_a_changed_wire_and_writes_nothing(folder, monkeypatch):
    monkeypatch.setattr(publishing, "document", lambda _version: grown())
    with pytest.raises(versions.WireChanged):
        publishing.write()
    assert json.loads(file(folder, 1).read_text("utf-8")) == published()


def test_a_version_that_is_not_released_may_be_amended(folder, monkeypatch):
    monkeypatch.setattr(publishing, "document", lambda _version: grown())
    publishing.write(amend=True)
    assert versions.on_record()["1"].wire == publishing.fingerprint(grown())


def test_a_wire_that_the_changelog_does_not_name_is_refused(folder, monkeypatch):
    monkeypatch.setattr(publishing, "document", lambda _version: grown())
    publishing.write(amend=True)
    with pytest.raises(versions.ChangelogSilent, match=r"contract 1, wire [0-9a-f]{12}"):
        publishing.check()
    tell_of(folder, 1)
    publishing.check()


def test_a_released_version_is_not_amended(folder, monkeypatch):
    call_command("contract", "--release")
    monkeypatch.setattr(publishing, "document", lambda _version: grown())
    with pytest.raises(CommandError, match="is released"):
        call_command("contract", "--write", "--amend")
    assert versions.on_record()["1"].wire == publishing.fingerprint(published())


def test_a_released_version_may_still_be_reworded(folder, monkeypatch):
    publishing.release()
    reworded = changed(published(), where=lambda shape: shape.update(description="A passage."))
    monkeypatch.setattr(publishing, "document", lambda _version: reworded)
    publishing.write()
    assert versions.on_record()["1"].released


def test_what_is_not_as_it_should_be_is_not_released(folder, monkeypatch):
    monkeypatch.setattr(publishing, "document", lambda _version: grown())
    with pytest.raises(versions.WireChanged):
        publishing.release()
    assert not versions.on_record()["1"].released


def test_a_new_version_beside_it_leaves_the_document_of_the_old_one_as_it_is(both):
    assert file(both, 1).read_bytes() == file(ROOT, 1).read_bytes()
    second = json.loads(file(both, 2).read_text("utf-8"))
    assert "searches" in second["components"]["schemas"]["CountedEnd"]["properties"]
    assert {path.removeprefix(NEW) for path in second["paths"]} == {
        path.removeprefix(OLD) for path in published()["paths"]
    }


@pytest.mark.parametrize("version", [1, 2])
def test_a_document_names_its_own_version_only(both, version):
    document = json.loads(file(both, version).read_text("utf-8"))
    opened = document["paths"][f"/internal/voice/v{version}/sessions"]["post"]
    (header,) = [one for one in opened["parameters"] if one["name"] == contract.HEADER]
    assert header["schema"]["enum"] == [version]
    assert document["info"]["version"] == str(version)


@pytest.mark.parametrize("version", [1, 2])
def test_every_version_that_is_served_is_checked(both, version):
    tell_of(both, 2)
    publishing.check()
    file(both, version).write_text("{}", "utf-8")
    with pytest.raises(publishing.ContractStale):
        publishing.check()


def test_the_changelog_has_to_tell_of_the_new_version_too(both):
    with pytest.raises(versions.ChangelogSilent, match="contract 2, wire"):
        publishing.check()


@pytest.mark.parametrize(("base", "version"), [(OLD, 1), (NEW, 2)])
def test_each_address_says_its_own_contract_and_all_that_are_served(both, base, version):
    told = Client().get(f"{base}/contract").json()
    assert (told["version"], told["served"]) == (version, [1, 2])
    assert told["hash"] == contract.summary(version)["hash"]


@pytest.mark.django_db
def test_each_version_is_spoken_at_its_own_address(both):
    here = world()
    voice = runtime(here.acme.organization)

    def post(base, path, version):
        return Client().post(
            f"{base}{path}",
            json.dumps(names(here.receptionist)),
            content_type="application/json",
            headers={"Authorization": f"Bearer {voice.token}", contract.HEADER: str(version)},
        )

    for base, version, fields in (
        (OLD, 1, {"session", "ended_at"}),
        (NEW, 2, {"session", "ended_at", "searches"}),
    ):
        opened = post(base, "/sessions", version).json()
        assert opened["contract"] == contract.summary(version)
        assert set(post(base, f"/sessions/{opened['session']}/end", version).json()) == fields
        refused = post(base, "/sessions", 3 - version)
        assert refused.status_code == 409
        assert refused.json()["error"]["fields"] == {"served": ["1", "2"]}


class InThisProcess(httpx.AsyncBaseTransport):
    """Hands what the worker's client sends to the server, without a network."""

    async def handle_async_request(self, request):
        return await anyio.to_thread.run_sync(self._answered, request.url.raw_path.decode())

    def _answered(self, path):
        try:
            answer = Client().get(path)
        finally:
            connections.close_all()
        return httpx.Response(answer.status_code, content=answer.content)


@pytest.mark.django_db(transaction=True)
def test_the_worker_of_the_old_version_rolls_out_against_a_server_that_has_a_new_one(
    both, monkeypatch
):
    monkeypatch.syspath_prepend(str(ROOT / "worker" / "src"))
    client_class = import_module("earmark_worker.client").VoiceClient
    preflight = import_module("earmark_worker.preflight")
    embedder = CountingEmbedder()
    monkeypatch.setattr("voiceapi.readiness.current_embedder", lambda: embedder)
    monkeypatch.setattr(preflight, "version", lambda _name: contract.OLDEST_WORKER)
    ensure_space(embedder.space, chunker_version=CHUNKER_VERSION)

    async def ask():
        async with client_class("http://here.test", "", transport=InThisProcess()) as client:
            return await preflight.preflight(client)

    assert anyio.run(ask)[-1] == "ready"
