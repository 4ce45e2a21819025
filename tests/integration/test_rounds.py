"""What fails for one organization keeps no other waiting, is told, and is tried again in good time."""

from __future__ import annotations

import io
import logging
from collections import Counter
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from knowledge.calibration import refitting
from knowledge.calibration.fitting import fit
from knowledge.calibration.refitting import LONGEST_FIT, refit_all_due
from knowledge.embedding.spaces import ensure_space
from knowledge.errors import EmbeddingUnavailable
from knowledge.indexing import reconciling
from knowledge.indexing.converge import Workshop, converge_batch
from knowledge.indexing.draining import due_assets
from knowledge.indexing.reconciling import reconcile_all
from knowledge.indexing.state import raise_desired_for_all
from knowledge.ingestion import uploads
from knowledge.models import CalibrationProfile, CorpusTerm, Document, IndexState
from knowledge.passages import CHUNKER_VERSION
from knowledge.shelving import purging, working
from knowledge.sources import scheduling
from scopes import probing
from tenants.rounds import RoundIncomplete
from tests.embedders import CountingEmbedder
from tests.world import AT, tenant
from voiceapi import retention

pytestmark = pytest.mark.django_db(transaction=True)
SPACE = CountingEmbedder().space


def space():
    return ensure_space(SPACE, chunker_version=CHUNKER_VERSION)


def reconciled():
    return reconcile_all(space=space(), at=AT)


def refitted():
    return refit_all_due(CountingEmbedder(), at=AT)


ROUNDS = {
    "reconcile": (reconciling, "reconcile", reconciled),
    "refit": (refitting, "_is_due", refitted),
    "retention": (retention, "_old_searches", lambda: retention.forget_old(AT)),
    "purge": (purging, "_purge", lambda: purging.purge_deleted(AT)),
    "canaries": (probing, "look_at", lambda: probing.look_everywhere(AT)),
    "uploads": (uploads, "_next", lambda: uploads.import_waiting(clock=lambda: AT)),
    "bulk": (working, "_next", lambda: working.work_waiting(clock=lambda: AT)),
    "sources": (scheduling, "_due", lambda: scheduling.sync_due(clock=lambda: AT)),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_what_fails_for_one_organization_is_done_for_the_next(name, monkeypatch, caplog):
    first, second = tenant("acme"), tenant("globex")
    module, part, begin = ROUNDS[name]
    space()
    real, reached = getattr(module, part), []

    def failing(organization, *arguments, **more):
        pk = getattr(organization, "pk", organization)
        reached.append(pk)
        if pk == first.organization.pk:
            raise ValueError("what somebody said on the phone")
        return real(organization, *arguments, **more)

    monkeypatch.setattr(module, part, failing)
    with caplog.at_level(logging.ERROR), pytest.raises(RoundIncomplete) as told:
        begin()
    assert second.organization.pk in reached
    assert "acme (ValueError)" in str(told.value)
    assert [record.organization for record in caplog.records] == ["acme"]
    assert "phone" not in caplog.text


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("index", "reconcile"), '"globex"'),
        (("retention", "run"), "globex: 0 searches"),
        (("canaries",), "globex: "),
    ],
)
def test_a_command_says_what_was_done_before_it_fails(command, said, monkeypatch):
    first, second = tenant("acme"), tenant("globex")
    for one in (first, second):
        one.agent("front-desk")
    name = {"index": "reconcile", "retention": "retention", "canaries": "canaries"}[command[0]]
    module, part, _begin = ROUNDS[name]
    real = getattr(module, part)

    def failing(organization, *arguments, **more):
        if getattr(organization, "pk", organization) == first.organization.pk:
            raise ValueError
        return real(organization, *arguments, **more)

    monkeypatch.setattr(module, part, failing)
    monkeypatch.setattr("knowledge.management.commands.index.current_embedder", CountingEmbedder)
    output = io.StringIO()
    with pytest.raises(CommandError, match="acme"):
        call_command(*command, stdout=output)
    assert said in output.getvalue()


def test_a_round_after_a_lost_connection_goes_on_with_the_next(monkeypatch):
    first, second = tenant("acme"), tenant("globex")
    in_use, real, done = space(), reconciling.reconcile, []

    def cut_off(pk, **more):
        if pk == first.organization.pk:
            connection.connection.close()
        real(pk, **more)
        done.append(pk)

    monkeypatch.setattr(reconciling, "reconcile", cut_off)
    try:
        with pytest.raises(RoundIncomplete):
            reconcile_all(space=in_use, at=AT)
    finally:
        connection.close()
    assert done == [second.organization.pk]


class Statements(Counter[str]):
    def __call__(self, execute, sql, params, many, context):
        self["raised"] += "INSERT INTO knowledge_indexstate" in sql
        return execute(sql, params, many, context)


def test_many_missing_rows_are_raised_a_part_at_a_time(monkeypatch):
    acme = tenant("acme")
    for number in range(12):
        acme.item(f"Item {number}")
    with acme.context():
        IndexState.objects.all().delete()
    monkeypatch.setattr(reconciling, "COMPARED_AT_ONCE", 5)
    with connection.execute_wrapper(counted := Statements()):
        found = reconciled()["acme"]
    assert (found.missing, counted["raised"]) == (12, 3)


def test_what_was_raised_stays_raised_when_a_later_part_fails(monkeypatch):
    acme = tenant("acme")
    for number in range(12):
        acme.item(f"Item {number}")
    with acme.context():
        IndexState.objects.all().delete()
    monkeypatch.setattr(reconciling, "COMPARED_AT_ONCE", 5)
    real, parts = raise_desired_for_all, []

    def cancelled(*arguments, **more):
        parts.append(1)
        if len(parts) == 3:
            raise TimeoutError
        real(*arguments, **more)

    monkeypatch.setattr(reconciling, "raise_desired_for_all", cancelled)
    with pytest.raises(RoundIncomplete):
        reconciled()
    with acme.context():
        assert IndexState.objects.count() == 10


def test_whoever_is_behind_one_that_takes_too_long_is_first_another_time(monkeypatch):
    for slug in ("acme", "globex", "initech"):
        tenant(slug)
    in_use, begun = space(), []

    def killed(pk, **_more):
        begun.append(pk)
        raise SystemExit

    monkeypatch.setattr(reconciling, "reconcile", killed)
    for number in range(3):
        with pytest.raises(SystemExit):
            reconcile_all(space=in_use, at=AT + number * timedelta(minutes=10))
    assert len(set(begun)) == 3


def test_documents_of_nothing_are_found_a_part_at_a_time(monkeypatch):
    acme = tenant("acme")
    items = [acme.item(f"Item {number}") for number in range(7)]
    indexed()
    for item in items[:6]:
        acme.change_item(item, deleted_at=AT)
    monkeypatch.setattr(reconciling, "COMPARED_AT_ONCE", 2)
    assert reconciled()["acme"].surplus == 6
    indexed()
    with acme.context():
        assert Document.objects.get().asset_id == items[6]


def indexed():
    workshop = Workshop(CountingEmbedder(), lambda: AT, lambda: True)
    while due := due_assets(at=AT, most=10):
        for organization_id, assets in due.items():
            converge_batch(organization_id, assets, workshop)


def test_a_calibration_that_failed_waits_before_it_is_tried_again():
    acme = tenant("acme")
    acme.item("Hours", "We open at seven in the morning.")
    indexed()

    def down(_texts):
        raise EmbeddingUnavailable

    embedder, began = CountingEmbedder(before=down), AT + timedelta(minutes=1)
    for seconds in (0, 5, 300, 599):
        try:
            refit_all_due(embedder, at=began + timedelta(seconds=seconds))
        except RoundIncomplete:
            assert seconds == 0
    assert len(embedder.calls) == 1
    assert refit_all_due(CountingEmbedder(), at=began + LONGEST_FIT) == ["acme"]


def test_new_content_does_not_shorten_the_wait_of_a_calibration_that_failed(monkeypatch):
    acme = tenant("acme")
    acme.item("Hours", "We open at seven in the morning.")
    indexed()
    at = AT + timedelta(minutes=1)
    monkeypatch.setattr(refitting, "fit", failing_count)
    with pytest.raises(RoundIncomplete):
        refit_all_due(CountingEmbedder(), at=at)
    with acme.context():
        IndexState.objects.update(applied_at=at + timedelta(minutes=1))
    assert refit_all_due(CountingEmbedder(), at=at + timedelta(minutes=3)) == []


def failing_count(*arguments, **more):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("knowledge.calibration.fitting.passages_by_language", cancelled)
        return fit(*arguments, **more)


def cancelled(_organization_id):
    raise TimeoutError


def test_one_bare_draft_is_all_that_is_left_of_calibrations_that_failed():
    acme = tenant("acme")
    acme.item("Hours", "We open at seven in the morning.")
    indexed()

    def down(_texts):
        raise EmbeddingUnavailable

    for minutes in (1, 20, 40):
        with pytest.raises(RoundIncomplete):
            refit_all_due(CountingEmbedder(before=down), at=AT + timedelta(minutes=minutes))
    with acme.context():
        profile = CalibrationProfile.objects.get()
        assert (profile.is_active, profile.fitted_at) == (False, AT + timedelta(minutes=40))
        assert not CorpusTerm.objects.exists()
