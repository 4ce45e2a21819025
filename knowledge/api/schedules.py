"""The addresses of how sources are kept fresh: read, arranged, looked at now, removals agreed to or not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api import fresh_shapes
from knowledge.api.described import CHANGING, MAKING, READING
from knowledge.api.errors import STATUSES, NameTaken
from knowledge.api.showing import written
from knowledge.models import Source, SourceSchedule
from knowledge.reserved import is_reserved
from knowledge.shelving.errors import NotOurs
from knowledge.sources.arranging import arrange, arranged, rearrange
from knowledge.sources.scheduling import ask_now, confirm, refuse
from tenants.api.errors import VersionChanged, VersionMissing
from tenants.api.views import TenantAPIView
from tenants.models import Role
from tenants.refusals import NotFound


class ScheduleRows(TenantAPIView):
    """How schedules are found and told."""

    statuses = STATUSES

    def source(self, pk: str) -> Source:
        """Return the source; needs the context open.

        Raises: NotFound
        """
        rows = Source.objects.filter(organization_id__in=self.organizations())
        return self.find(rows.select_related("organization"), pk)

    def schedule(self, source: Source) -> SourceSchedule:
        """Return the schedule of a source, locked.

        Raises: NotFound
        """
        rows = SourceSchedule.objects.select_for_update(of=("self",), no_key=True)
        found = rows.filter(source=source).select_related("source", "organization").first()
        if found is None:
            raise NotFound
        return found

    def answer(self, schedule: SourceSchedule, status: int = 200) -> Response:
        """Return a schedule; its ETag changes with what is arranged and with what is asked."""
        body = shown_schedule(schedule, at=self.at)
        return Response(body, status=status, headers={"ETag": tag_of(schedule)})

    def require_version(self, schedule: SourceSchedule) -> None:
        """Go on only when If-Match names what is there.

        Raises: VersionMissing, VersionChanged
        """
        given = self.request.headers.get("If-Match")
        if given is None:
            raise VersionMissing
        if given.strip() != tag_of(schedule):
            theirs = shown_schedule(schedule, at=self.at)
            raise VersionChanged(sides={"yours": self.request.data, "theirs": theirs})

    def act(self, pk: str, work: Callable[[SourceSchedule], object], status: int = 200) -> Response:
        """Do something to the version that If-Match names, once for each key."""
        with self.context():
            source = self.source(pk)
            self.require(Role.EDITOR, source.organization_id)

            def once() -> Response:
                schedule = self.schedule(source)
                self.require_version(schedule)
                work(schedule)
                schedule.refresh_from_db()
                return self.answer(schedule, status)

            return self.once(source.organization_id, once)


class ScheduleView(ScheduleRows):
    """How one source is kept fresh."""

    @extend_schema(
        operation_id="schedule_read", responses=fresh_shapes.ScheduleAnswer, parameters=READING
    )
    def get(self, _request: Request, pk: str) -> Response:
        """Read how a source is kept fresh, how old it is and how the last look went."""
        with self.context():
            found = SourceSchedule.objects.filter(source=self.source(pk)).first()
            if found is None:
                raise NotFound
            return self.answer(found)

    @extend_schema(
        operation_id="schedule_make", request=fresh_shapes.ScheduleMade, parameters=MAKING,
        responses={201: fresh_shapes.ScheduleAnswer},
    )  # fmt: skip
    def post(self, request: Request, pk: str) -> Response:
        """Have a source kept fresh from now on."""
        said = self.body(request, fresh_shapes.ScheduleMade)
        with self.context():
            source = self.source(pk)
            self.require(Role.EDITOR, source.organization_id)
            return self.once(source.organization_id, lambda: self._make(source, said))

    def _make(self, source: Source, said: dict[str, Any]) -> Response:
        Source.objects.select_for_update(no_key=True).get(pk=source.pk)
        if is_reserved(source):
            raise NotOurs
        if SourceSchedule.objects.filter(source=source).exists():
            raise NameTaken("The source has a schedule already: change that one.")
        return self.answer(arrange(source, said, by=self.actor, at=self.at), 201)

    @extend_schema(
        operation_id="schedule_change", request=fresh_shapes.ScheduleChange, parameters=CHANGING,
        responses=fresh_shapes.ScheduleAnswer,
    )  # fmt: skip
    def patch(self, request: Request, pk: str) -> Response:
        """Change how a source is kept fresh."""
        said = self.body(request, fresh_shapes.ScheduleChange)
        return self.act(pk, lambda found: rearrange(found, said, by=self.actor, at=self.at))


class SyncView(ScheduleRows):
    """Looking at a source now."""

    @extend_schema(
        operation_id="sources_sync", request=None, parameters=MAKING,
        responses={202: fresh_shapes.ScheduleAnswer},
    )  # fmt: skip
    def post(self, _request: Request, pk: str) -> Response:
        """Have a source looked at as soon as a process is free."""
        with self.context():
            source = self.source(pk)
            self.require(Role.EDITOR, source.organization_id)
            return self.once(source.organization_id, lambda: self._sync(source))

    def _sync(self, source: Source) -> Response:
        schedule = self.schedule(source)
        ask_now(schedule, by=self.actor, at=self.at)
        schedule.refresh_from_db()
        return self.answer(schedule, 202)


class ConfirmView(ScheduleRows):
    """Agreeing to removals."""

    @extend_schema(
        operation_id="sources_confirm_removals", request=None, parameters=CHANGING,
        responses=fresh_shapes.ScheduleAnswer,
    )  # fmt: skip
    def post(self, _request: Request, pk: str) -> Response:
        """Agree to the removals that the last look asked about; they happen with the next look."""
        return self.act(pk, lambda found: confirm(found, by=self.actor, at=self.at))


class RefuseView(ScheduleRows):
    """Keeping what has gone."""

    @extend_schema(
        operation_id="sources_refuse_removals", request=None, parameters=CHANGING,
        responses=fresh_shapes.ScheduleAnswer,
    )  # fmt: skip
    def post(self, _request: Request, pk: str) -> Response:
        """Keep what the last look asked about; so many are not asked about again."""
        return self.act(pk, lambda found: refuse(found, by=self.actor, at=self.at))


def shown_schedule(schedule: SourceSchedule, *, at: datetime) -> dict[str, Any]:
    """Return a schedule as the API tells it."""
    return {**arranged(schedule), "freshness": freshness(schedule, at=at)}


def freshness(schedule: SourceSchedule, *, at: datetime) -> dict[str, Any]:
    """Return how fresh a source is and how its last look went."""
    done = schedule.last_done_at
    return {
        "outcome": schedule.last_outcome,
        "reason": schedule.last_reason,
        "age_seconds": None if done is None else max(0, int((at - done).total_seconds())),
        "last_run_at": written(schedule.last_run_at),
        "last_done_at": written(done),
        "next_run_at": written(schedule.next_run_at) if schedule.is_active else None,
        "is_running": schedule.lease_until is not None and schedule.lease_until > at,
        "asked_removals": schedule.asked_removals,
        "changes": schedule.last_changes or {},
    }


def tag_of(schedule: SourceSchedule) -> str:
    """Return the ETag: what is arranged, and what waits for a word."""
    said = {
        **arranged(schedule),
        "outcome": schedule.last_outcome,
        "asked": schedule.asked_removals,
        "confirmed": schedule.confirmed_removals,
    }
    text = json.dumps(said, sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
