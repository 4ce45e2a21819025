"""One look at a source: what is new or changed comes in, what has gone goes, unless that is a lot."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from django.db import Error

from knowledge.errors import KnowledgeError
from knowledge.ingestion.batches import batched
from knowledge.ingestion.gathering import FileDone, Gathered
from knowledge.ingestion.importing import close, noted, obeyed
from knowledge.ingestion.opening import open_import
from knowledge.ingestion.persistence import persistently
from knowledge.ingestion.pruning import find_gone, withdraw_gone
from knowledge.ingestion.recording import Tally, tell_reason, write_down
from knowledge.ingestion.request import Clock, ImportRequest
from knowledge.ingestion.running import Import
from knowledge.ingestion.sandbox import Sandbox
from knowledge.ingestion.writing import write_batch
from knowledge.models import ImportRun, Item, SourcePage, SourceSchedule, SyncKind
from knowledge.sources.errors import SourceTrouble
from knowledge.sources.fetching import Fetcher
from knowledge.sources.files import gathered_files
from knowledge.sources.sites import Crawl, keep_pages
from tenants.auditing import Actor
from tenants.isolation import organization_context

# A site or folder that suddenly lacks this share of what was there is asked about.
MOST_GONE: Final = 0.3
BY: Final = Actor.process("sources")
Outcome = SourceSchedule.Outcome
_logger = logging.getLogger(__name__)
Status = ImportRun.Status


@dataclass
class Look:
    """How a look at a source went; `asked` is how many removals wait for a word from staff, `refused` how many are kept by one."""

    outcome: str = Outcome.FAILED
    reason: str = ""
    asked: int = 0
    refused: int = 0
    run: ImportRun | None = None
    changes: dict[str, int] = field(default_factory=dict)


def look_at(schedule: SourceSchedule, *, clock: Clock, renew: Callable[[], None]) -> Look:
    """Bring a source up to date; whatever goes wrong is told and deletes nothing.

    `renew` is called now and then, to say that somebody is still at it.
    """
    request = ImportRequest(
        schedule.organization_id, (schedule.get_kind_display(),), schedule.source.slug, by=BY
    )
    running = persistently(partial(open_import, request, clock=clock))
    look, status = Look(run=running.run), Status.FAILED
    try:
        status = Status(_bring_in(schedule, running, renew))
        look.outcome = Outcome.FAILED if status == Status.CANCELLED else Outcome.DONE
        look.reason = "It was cancelled." if status == Status.CANCELLED else ""
        if status == Status.DONE:
            _remove(schedule, running, look)
    except Exception as error:
        # Whatever it was: staff read it where they look, and the schedule goes on.
        known = isinstance(error, KnowledgeError)
        if not known:
            _logger.exception("look failed", extra={"source": schedule.source.slug})
        look.outcome, status = Outcome.FAILED, Status.FAILED
        look.reason = str(error) if known else f"It failed: {type(error).__name__}."
    finally:
        with suppress(Error):
            if look.reason:
                persistently(partial(_tell, running, look.reason))
            persistently(partial(close, running, status))
    names = ("created", "updated", "unchanged", "failed", "pruned")
    look.changes = {name: getattr(running.run, name) for name in names}
    return look


def _tell(running: Import, reason: str) -> None:
    with organization_context(running.organization_id):
        tell_reason(running.run, reason)


def _bring_in(schedule: SourceSchedule, running: Import, renew: Callable[[], None]) -> str:
    with Sandbox() as sandbox:
        if schedule.kind not in {SyncKind.SITE, SyncKind.URLS}:
            return _write(running, gathered_files(running, schedule, sandbox), renew)
        with Fetcher() as fetcher:
            crawl = Crawl(schedule, fetcher, sandbox, *_known(schedule))
            status = _write(running, _noted(running, crawl.gathered()), renew)
    running.present |= crawl.kept
    running.present -= crawl.outside
    running.is_certain = running.is_certain and crawl.is_certain
    tally = Tally()
    tally.counts["unchanged"] = len(crawl.kept)
    with organization_context(schedule.organization_id):
        write_down(running.run, tally, at=running.clock())
    if not running.present:
        raise SourceTrouble("No page was found.")
    if status == Status.DONE:
        keep_pages(crawl, running.refused, at=running.clock())
    return status


def _known(schedule: SourceSchedule) -> tuple[dict[str, SourcePage], frozenset[str]]:
    with organization_context(schedule.organization_id):
        pages = {page.url: page for page in SourcePage.objects.filter(schedule=schedule)}
        live = Item.objects.filter(source_id=schedule.source_id, deleted_at=None)
        return pages, frozenset(live.values_list("external_id", flat=True))


def _write(
    running: Import, gathered: Iterator[Gathered | FileDone], renew: Callable[[], None]
) -> str:
    for batch in batched(gathered):
        status = persistently(partial(write_batch, running, batch))
        persistently(renew)
        if obeyed(running, status, renew) == Status.CANCELLED:
            return Status.CANCELLED
    return Status.DONE


def _noted(
    running: Import, gathered: Iterator[Gathered | FileDone]
) -> Iterator[Gathered | FileDone]:
    for each in gathered:
        yield noted(running, each) if isinstance(each, Gathered) else each


def _remove(schedule: SourceSchedule, running: Import, look: Look) -> None:
    if not running.is_certain:
        look.outcome = Outcome.UNCERTAIN
        look.reason = "Some of it could not be read, so nothing was deleted as gone."
        return
    gone, filed = find_gone(running)
    is_many = len(gone) > MOST_GONE * filed and len(gone) > schedule.confirmed_removals
    if is_many and len(gone) <= schedule.refused_removals:
        look.refused = schedule.refused_removals
        look.reason = f"{len(gone)} of {filed} are gone; they stay, as somebody said."
        return
    if is_many:
        look.outcome, look.asked = Outcome.NEEDS_CONFIRMATION, len(gone)
        look.reason = f"{len(gone)} of {filed} are gone; nothing is deleted until somebody agrees."
        return
    withdraw_gone(running, gone)
