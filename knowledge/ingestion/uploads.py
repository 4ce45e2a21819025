"""Files that people hand in: kept in the database, brought in one by one by whoever works the queue."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.core.files.base import ContentFile, File
from django.db import connection
from django.db.models import Q, QuerySet

from knowledge.folders import folder_key
from knowledge.ingestion.batches import batched
from knowledge.ingestion.errors import NOT_IMPORTED, ImportRefused, TooLarge
from knowledge.ingestion.gathering import FileDone, Gathered, gather
from knowledge.ingestion.importing import noted
from knowledge.ingestion.limits import LONGEST_EXTERNAL_ID, MEBIBYTE
from knowledge.ingestion.opening import target_of
from knowledge.ingestion.persistence import persistently
from knowledge.ingestion.recording import close_run
from knowledge.ingestion.repeating import import_again, want_again
from knowledge.ingestion.request import Clock, ImportRequest
from knowledge.ingestion.running import Import
from knowledge.ingestion.sandbox import Sandbox
from knowledge.ingestion.walking import Found, printable
from knowledge.ingestion.writing import write_batch
from knowledge.models import ImportFailure, ImportRun, ImportUpload, Source
from knowledge.reserved import is_reserved
from tenants.auditing import Actor, Change, note
from tenants.isolation import organization_context
from tenants.models import Organization
from tenants.rounds import for_each

LARGEST_UPLOAD: Final = 50 * MEBIBYTE
LARGEST_SENDING: Final = 200 * MEBIBYTE
MOST_FILES: Final = 100
# Of a file that is kept, so much at once is held here; each piece writes what is there once more.
PIECE: Final = 8 * MEBIBYTE
# Renewed with every batch: a file whose process died is taken over after that.
LEASE: Final = timedelta(minutes=10)
BY: Final = Actor.process("uploads")
Outcome = ImportUpload.Outcome
Status = ImportRun.Status
_STANDING: Final = (Outcome.FAILED, Outcome.PARTLY)
_APPEND: Final = (
    "UPDATE knowledge_importupload SET content = content || %s"
    " WHERE organization_id = %s AND id = %s"
)


@dataclass(frozen=True)
class HandedIn:
    """A file as it was sent: its bytes, or a file that is read when it is kept."""

    name: str
    content: bytes | File[bytes]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.content) if isinstance(self.content, bytes) else int(self.content.size)

    def pieces(self) -> Iterator[bytes]:
        """Return it bit by bit, so that no large file is held as a whole."""
        whole = ContentFile(self.content) if isinstance(self.content, bytes) else self.content
        yield from whole.chunks(PIECE)


def hand_in(
    source: Source, folder: str, files: Sequence[HandedIn], *, by: Actor, at: datetime
) -> ImportRun:
    """Keep these files to be brought in; return the record that tells how far they are.

    Needs the organization's context open.
    Raises: ImportRefused, FolderRefused, TooLarge
    """
    if is_reserved(source):
        raise ImportRefused(NOT_IMPORTED)
    if not 0 < len(files) <= MOST_FILES:
        raise ImportRefused(f"Choose 1 to {MOST_FILES} files.")
    folder_key(source.slug, folder)
    for file in files:
        if file.size > LARGEST_UPLOAD:
            raise TooLarge(f"{file.name} is larger than {LARGEST_UPLOAD // MEBIBYTE} MiB.")
    own: dict[str, Any] = {"organization_id": source.organization_id}
    label = f"{len(files)} uploaded → {source.slug}/{folder}".rstrip("/")[:400]
    run = ImportRun.objects.create(
        **own, source=source, label=label, started_at=at, started_by_id=by.user_id
    )
    for file in files:
        _keep(run, folder, file)
    _note(run, "upload", by=by, at=at)
    return run


def _keep(run: ImportRun, folder: str, file: HandedIn) -> None:
    name = printable(file.name).replace("/", "_")[-LONGEST_EXTERNAL_ID:]
    pieces = file.pieces()
    own: dict[str, Any] = {"organization_id": run.organization_id, "run": run, "folder": folder}
    sent = {"name": name, "size": file.size, "content": next(pieces, b"")}
    upload = ImportUpload.objects.create(**own, **sent)
    with connection.cursor() as cursor:
        for piece in pieces:
            cursor.execute(_APPEND, [piece, run.organization_id, upload.pk])


def pause(run: ImportRun, *, by: Actor, at: datetime) -> None:
    """Take up no further file of it; the one under way stops between two batches."""
    _put(run, Status.RUNNING, Status.PAUSED, by=by, at=at)


def resume(run: ImportRun, *, by: Actor, at: datetime) -> None:
    """Go on where it was paused."""
    _put(run, Status.PAUSED, Status.RUNNING, by=by, at=at)


def cancel(run: ImportRun, *, by: Actor, at: datetime) -> None:
    """Give up what is not in yet; what is in stays."""
    _put(run, Status.RUNNING, Status.CANCELLED, by=by, at=at)
    _put(run, Status.PAUSED, Status.CANCELLED, by=by, at=at)
    waiting = ImportUpload.objects.filter(run=run, outcome=Outcome.WAITING)
    waiting.update(outcome=Outcome.CANCELLED, content=b"")
    ImportRun.objects.filter(pk=run.pk).update(finished_at=at)


def retry(run: ImportRun, *, by: Actor, at: datetime) -> int:
    """Try again what failed: files that were handed in, or the whole import of a command.

    Shape: how many files or imports; none where the files are not here and nobody knows where.
    """
    if want_again(run, at=at):
        _note(run, "retry", by=by, at=at)
        return 1
    standing = ImportUpload.objects.filter(run=run, outcome__in=_STANDING)
    # Of an old one the bytes are gone.
    here = standing.filter(Q(size=0) | ~Q(content=b""))
    count = here.update(outcome=Outcome.WAITING, lease_until=None, reason="")
    if count:
        ImportRun.objects.filter(pk=run.pk).update(status=Status.RUNNING, finished_at=None)
        _note(run, "retry", by=by, at=at)
    return count


def import_waiting(*, clock: Clock, seconds: float = float("inf")) -> int:
    """Bring in files that wait, and do again what is wanted; return how many were taken up.

    Once the time is over each organization has one more; what is left goes to the next who asks.
    Raises: RoundIncomplete
    Cost:   two statements for each organization when none waits.
    """

    ends = time.monotonic() + seconds

    def bring_in(organization: Organization) -> int:
        count = 0
        while (pk := _next(organization.pk, at=clock())) is not None:
            if _taken(organization.pk, pk, at=clock()):
                _bring_in(organization.pk, pk, clock)
                count += 1
            if time.monotonic() >= ends:
                break
        return count + import_again(organization.pk, clock=clock)

    return sum(for_each("uploads", Organization.objects.filter(is_active=True), bring_in).values())


def _next(organization_id: int, *, at: datetime) -> UUID | None:
    with organization_context(organization_id):
        return _free(organization_id, at=at).values_list("pk", flat=True).first()


def _taken(organization_id: int, pk: UUID, *, at: datetime) -> bool:
    with organization_context(organization_id):
        return bool(_free(organization_id, at=at).filter(pk=pk).update(lease_until=at + LEASE))


def _free(organization_id: int, *, at: datetime) -> QuerySet[ImportUpload]:
    waiting = ImportUpload.objects.filter(
        organization_id=organization_id,
        outcome=Outcome.WAITING,
        run__in=ImportRun.objects.filter(organization_id=organization_id, status=Status.RUNNING),
    )
    return waiting.filter(Q(lease_until=None) | Q(lease_until__lte=at)).order_by("run_id", "name")


def _bring_in(organization_id: int, pk: UUID, clock: Clock) -> None:
    with organization_context(organization_id):
        upload = ImportUpload.objects.select_related("run__source").get(pk=pk)
        running = _running(upload, clock)
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        path = Path(folder) / f"upload{Path(upload.name).suffix}"
        path.write_bytes(upload.content)
        found = Found(str(path), upload.name, upload.size)
        for batch in batched(_gathered(running, found, sandbox)):
            status = persistently(partial(write_batch, running, batch))
            if status != Status.RUNNING:
                break
            persistently(partial(_renew, upload, at=clock()))
        else:
            persistently(partial(_finish, upload, running))
            return
    # Paused or cancelled: what is in stays, and the file is read again when it goes on.
    persistently(partial(_give_back, upload))


def _running(upload: ImportUpload, clock: Clock) -> Import:
    source = upload.run.source
    assert source is not None
    request = ImportRequest(
        upload.organization_id, (upload.name,), source.slug, upload.folder, by=BY
    )
    return Import(request, target_of(request, source), upload.run, clock)


def _gathered(running: Import, found: Found, sandbox: Sandbox) -> Iterator[Gathered | FileDone]:
    for each in gather(found, running.request.folder, sandbox):
        if isinstance(each, FileDone):
            yield FileDone(found.name)
            continue
        # Staff know the file by its own name, not by where it was put to be read.
        path = each.row.origin.path.replace(found.path, found.name, 1)
        origin = replace(each.row.origin, path=path)
        yield noted(running, replace(each, row=replace(each.row, origin=origin)))


def _finish(upload: ImportUpload, running: Import) -> None:
    counts = {name: count for name, count in running.progress.counts.items() if count}
    failed, written = counts.get("failed", 0), sum(counts.values()) - counts.get("failed", 0)
    outcome = Outcome.DONE if not failed else Outcome.PARTLY if written else Outcome.FAILED
    with organization_context(upload.organization_id):
        told: dict[str, Any] = {"outcome": outcome, "counts": counts, "lease_until": None}
        told["reason"] = _reason(upload) if failed else ""
        rows = ImportUpload.objects.filter(pk=upload.pk, outcome=Outcome.WAITING)
        rows.update(**told, **({"content": b""} if outcome == Outcome.DONE else {}))
        _close_when_done(upload.run, running)


def _reason(upload: ImportUpload) -> str:
    found = ImportFailure.objects.filter(run=upload.run, path__startswith=upload.name)
    newest = found.order_by("-at").first()
    return newest.reason if newest else ""


def _close_when_done(run: ImportRun, running: Import) -> None:
    locked = ImportRun.objects.select_for_update(of=("self",), no_key=True).get(pk=run.pk)
    waiting = ImportUpload.objects.filter(run=run, outcome=Outcome.WAITING).exists()
    if locked.status == Status.RUNNING and not waiting:
        close_run(locked, running.request, Status.DONE, at=running.clock())


def _renew(upload: ImportUpload, *, at: datetime) -> None:
    with organization_context(upload.organization_id):
        ImportUpload.objects.filter(pk=upload.pk).update(lease_until=at + LEASE)


def _give_back(upload: ImportUpload) -> None:
    with organization_context(upload.organization_id):
        ImportUpload.objects.filter(pk=upload.pk).update(lease_until=None)


def _put(run: ImportRun, before: str, after: str, *, by: Actor, at: datetime) -> None:
    if ImportRun.objects.filter(pk=run.pk, status=before).update(status=after):
        _note(run, str(after), by=by, at=at)


def _note(run: ImportRun, verb: str, *, by: Actor, at: datetime) -> None:
    told = Change(f"import.{verb}", "import_run", str(run.pk), {}, {"label": run.label})
    note(run.organization_id, told, by=by, at=at)
