"""One Idempotency-Key sent by several at once: done once, answered the same."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from knowledge.models import Item
from tenants.models import AuditEntry
from tests.people import offices

pytestmark = pytest.mark.django_db(transaction=True)
ITEM = {"source": "help", "external_id": "a-1", "title": "Hours", "body": "We open at seven."}


def at_once(count, work):
    answers, gate = [], threading.Barrier(count)

    def run():
        gate.wait()
        try:
            answers.append(work())
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_key_sent_by_four_at_once_is_done_once():
    made = offices()
    made.acme.source()
    answers = at_once(4, lambda: made.editor.post("items", ITEM, Idempotency_Key="k"))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    with made.acme.context():
        assert Item.objects.count() == 1
        assert AuditEntry.objects.filter(verb="item.push").count() == 1


def test_of_two_changes_of_one_version_one_is_told_of_the_other():
    made = offices()
    made.acme.source()
    first = made.editor.post("items", ITEM)
    address = f"items/{first.json()['id']}"
    answers = at_once(
        2, lambda: made.editor.patch(address, {"title": "Times"}, If_Match=first["ETag"])
    )
    assert sorted(answer.status_code for answer in answers) == [200, 412]


def test_a_push_by_four_at_once_makes_one_item():
    made = offices()
    made.acme.source()
    answers = at_once(4, lambda: made.editor.post("items", ITEM))
    assert {answer.status_code for answer in answers} <= {200, 201}
    with made.acme.context():
        assert Item.objects.count() == 1
