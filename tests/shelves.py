"""What tests of the shelving verbs share: jobs worked to their end, and what an agent would say."""

from __future__ import annotations

from datetime import timedelta

from knowledge.models import BulkEntry, BulkJob, Item, LexicalEntry
from knowledge.retrieval.pipeline import retrieve
from knowledge.retrieval.policy import RetrievalPolicy
from knowledge.shelving.jobs import Order, start_chosen
from knowledge.shelving.working import work_waiting
from scopes.resolution import allowlist_for
from tests.planting import asked
from tests.world import AT, BY

LENIENT = RetrievalPolicy(relevance_floor=0.0)
LATER = AT + timedelta(hours=1)


def says(acme, agent, text):
    """Return the titles that an agent finds now."""
    with acme.context():
        allowlist = allowlist_for(agent, contact=None, channel="phone", country=None, at=AT)
        question = asked(acme.organization.pk, text, None)
        found = retrieve(question, allowlist, limit=5, policy=LENIENT)
        return {result.title for result in found.results}


def order(acme, action, *items, at=AT, target=""):
    """Begin a job on items as they are now."""
    with acme.context():
        rows = Item.objects.filter(pk__in=items)
        seen = dict(rows.values_list("pk", "lock_version"))
        return start_chosen(acme.organization.pk, Order(action, "", target), seen, by=BY, at=at)


def worked(acme, action, *items, at=AT, target=""):
    """Do something to items and return the ended job."""
    job = order(acme, action, *items, at=at, target=target)
    work_waiting(clock=lambda: at)
    return again(acme, job)


def again(acme, job):
    with acme.context():
        return BulkJob.objects.get(pk=job.pk)


def outcomes(acme, job):
    with acme.context():
        entries = BulkEntry.objects.filter(job=job)
        return {
            title: (o, c) for title, o, c in entries.values_list("item__title", "outcome", "code")
        }


def filed(acme):
    """Return where every item is filed, by title."""
    with acme.context():
        return dict(Item.objects.values_list("title", "folder_key"))


def sections(acme, item):
    with acme.context():
        return LexicalEntry.objects.filter(asset_id=item).values_list("generation", flat=True)
