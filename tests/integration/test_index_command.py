from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from knowledge.indexing import nudging
from knowledge.indexing.nudging import nudge_after_commit
from knowledge.models import IndexState
from tests.world import tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme():
    return tenant("acme")


def printed(*arguments, **options):
    output = StringIO()
    call_command("index", *arguments, stdout=output, **options)
    return output.getvalue()


def test_status_tells_pending_failed_and_age_by_organization(acme):
    acme.item("Hours")
    status = json.loads(printed("status", "--json"))
    assert (status["pending"], status["failed"]) == (1, 0)
    assert status["oldest_pending_s"] > 0
    assert [one["organization"] for one in status["organizations"]] == ["acme"]


def test_status_is_a_sentence_for_people(acme):
    assert printed("status").startswith("acme: 0 of 0 indexed")


def test_retry_makes_what_failed_due_again(acme):
    acme.item("Hours")
    with acme.context():
        IndexState.objects.update(status="failed", attempts=5)
    assert printed("retry") == "acme: 1 tried again\n"
    with acme.context():
        assert IndexState.objects.get().status == "pending"


def test_an_unknown_organization_is_refused():
    with pytest.raises(CommandError, match="no organization nobody"):
        printed("retry", "--organization", "nobody")


def listen():
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute(f"LISTEN {nudging.CHANNEL}")


def heard():
    return len(list(connection.connection.notifies(timeout=0.1)))


def test_many_changes_of_one_transaction_nudge_once():
    listen()
    with transaction.atomic():
        for _ in range(3):
            nudge_after_commit()
    assert heard() == 1


def test_a_change_that_is_rolled_back_nudges_nobody():
    listen()
    with transaction.atomic():
        nudge_after_commit()
        transaction.set_rollback(True)
    assert heard() == 0


def test_a_broker_that_raises_does_not_fail_the_save(acme, settings, monkeypatch):
    class Broken:
        def send_task(self, *_arguments, **_options):
            raise OSError

    monkeypatch.setattr(nudging, "current_app", Broken())
    settings.REDIS_URL = "redis://nowhere"
    nudging.breaker.reset()
    acme.item("Hours")
    assert nudging.breaker.is_open
    nudging.breaker.reset()
