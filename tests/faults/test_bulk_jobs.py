"""Work on many items while the process that does it is killed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from knowledge.models import BulkJob, Item
from knowledge.shelving.jobs import Order, start
from tenants.models import AuditEntry
from tests.planting import plant_items
from tests.processes import drain, eventually, running
from tests.world import BY

pytestmark = pytest.mark.slow
COUNT = 2_000


def begun(bench):
    bench.acme.source()
    with bench.acme.context():
        plant_items(bench.acme, "help/many", COUNT)
        rows, at = Item.objects.filter(folder_key="help/many"), datetime.now(tz=UTC)
        return start(bench.organization_id, Order("delete", "all"), rows, by=BY, at=at)


def test_a_job_goes_on_after_a_kill_and_does_nothing_twice(bench):
    job = begun(bench)

    def handled():
        with bench.acme.context():
            return BulkJob.objects.get(pk=job.pk).handled

    first = drain(bench.server.base_url)
    with running(first):
        eventually(lambda: handled() > 0)
        first.kill()
    with bench.acme.context():
        BulkJob.objects.exclude(lease_until=None).update(
            lease_until=datetime.now(tz=UTC) - timedelta(seconds=1)
        )
    with running(drain(bench.server.base_url)):
        eventually(lambda: handled() == COUNT, within_s=240)
    with bench.acme.context():
        assert not Item.objects.filter(deleted_at=None).exists()
        assert BulkJob.objects.get(pk=job.pk).done == COUNT
        assert AuditEntry.objects.filter(verb="item.withdraw").count() == COUNT
